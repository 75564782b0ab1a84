package test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	domainDN    = "DC=corp,DC=example"
	usersDN     = "CN=Users,DC=corp,DC=example"
	computersDN = "CN=Computers,DC=corp,DC=example"
	dcOU        = "OU=Domain Controllers,DC=corp,DC=example"
	oddOU       = "OU=Odd Names,OU=Corp,DC=corp,DC=example"
)

// Requests about OUs.
func CreateOU(name, parent string, more ...string) Call {
	return Call{Method: http.MethodPost, Path: "/api/OU", Params: params("OUName", name, "OUDestinationPath", parent, more)}
}

func UpdateOU(dn string, more ...string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU", Params: params("OUPath", dn, "", "", more)}
}

func MoveOU(dn, parent string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU/Move", Params: params("OUPath", dn, "OUDestinationPath", parent, nil)}
}

func RenameOU(dn, name string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU/Rename", Params: params("OUPath", dn, "OUNewName", name, nil)}
}

func RemoveOU(dn string, more ...string) Call {
	return Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove", Params: params("OUPath", dn, "", "", more)}
}

func ReadOU(dn string) Call {
	return Call{Method: http.MethodGet, Path: "/api/OU/Path/Details", Params: params("OUPath", dn, "", "", nil)}
}

// params are names and values in turn; an empty name is left out.
func params(name1, value1, name2, value2 string, more []string) map[string]any {
	out := map[string]any{}
	if name1 != "" {
		out[name1] = value1
	}
	if name2 != "" {
		out[name2] = value2
	}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// As is the same request with another token.
func (c Call) As(token string) Call {
	c.Token = token
	return c
}

// same sends a request that succeeds and finds nothing to change.
func (s *System) ChangesNothing(c Call) {
	s.T.Helper()
	start := s.Snapshot()
	a := s.Do(c)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(s.T, a.Envelope.Output, "nothing was changed")
	assert.Empty(s.T, start.Compare(s.Snapshot()))
}

// field tells which parameter a refusal is about.
func FirstField(a Answer) string {
	if len(a.Envelope.Error.Details) == 0 {
		return ""
	}
	return a.Envelope.Error.Details[0].Field
}

func TestTheLifeOfAnOU(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	path := "OU=Story," + EmptyOU

	a := s.Do(CreateOU("Story", strings.ToLower(EmptyOU), "OUDescription", "Once upon a time"))
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	made := s.Record(a)
	assert.Equal(t, path, made["path"])
	assert.Equal(t, []any{"Story", true, "Once upon a time", false}, []any{made["name"], made["protected"], made["description"], made["container"]})
	guid := made["guid"].(string)
	byGUID := func(guid string) map[string]any {
		return s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Guid/Details", map[string]any{"OUGuid": guid})
	}
	assert.Equal(t, made, byGUID(guid))
	assert.Equal(t, made, byGUID("{"+strings.ToUpper(guid)+"}"))
	assert.Equal(t, made, s.OK(ReadOU(strings.ToUpper(path)), http.StatusOK))
	assert.Contains(t, s.Get("/api/OU/All").Envelope.Result, made)
	exists := s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": true, "guid": guid, "distinguishedName": path}, exists)
	for _, name := range []string{"Story", "STORY"} {
		assert.Equal(t, "OUName", FirstField(s.Rejects(CreateOU(name, EmptyOU), http.StatusConflict, "conflict")))
	}

	// Absent, empty and equal values.
	s.Rejects(UpdateOU(path), http.StatusBadRequest, "invalid_request")
	s.Rejects(UpdateOU(path, "IsProtected", ""), http.StatusBadRequest, "invalid_request")
	s.ChangesNothing(UpdateOU(path, "OUDescription", "Once upon a time", "IsProtected", "true"))
	assert.Equal(t, "once upon a time", s.OK(UpdateOU(path, "OUDescription", "once upon a time"), http.StatusOK)["description"], "the case is a change")
	now := s.OK(UpdateOU(path, "IsProtected", "false"), http.StatusOK)
	assert.Equal(t, []any{false, "once upon a time"}, []any{now["protected"], now["description"]})
	now = s.OK(UpdateOU(path, "OUDescription", ""), http.StatusOK)
	assert.Equal(t, []any{false, nil}, []any{now["protected"], now["description"]})
	s.ChangesNothing(UpdateOU(path, "OUDescription", ""))
	assert.Equal(t, true, s.OK(UpdateOU(path, "IsProtected", "TRUE"), http.StatusOK)["protected"])

	// Renamed though it is protected (facts E40).
	assert.Equal(t, "OUNewName", FirstField(s.Rejects(RenameOU(path, ""), http.StatusBadRequest, "invalid_request")))
	renamed := s.OK(RenameOU(path, "Story, told"), http.StatusOK)
	assert.Equal(t, `OU=Story\, told,`+EmptyOU, renamed["path"])
	assert.Equal(t, true, renamed["protected"])
	assert.Equal(t, guid, renamed["guid"])
	path = renamed["path"].(string)
	s.ChangesNothing(RenameOU(path, "Story, told"))
	path = s.OK(RenameOU(path, "story, told"), http.StatusOK)["path"].(string)
	assert.Equal(t, `OU=story\, told,`+EmptyOU, path, "another case is another name")

	// Moved with its protection (facts E41).
	s.ChangesNothing(MoveOU(path, EmptyOU))
	for _, below := range []string{path, strings.ToLower(path)} {
		assert.Equal(t, "OUDestinationPath", FirstField(s.Rejects(MoveOU(path, below), http.StatusUnprocessableEntity, "unprocessable")))
	}
	s.OK(CreateOU("Inner", path), http.StatusCreated)
	s.Rejects(MoveOU(path, "OU=Inner,"+path), http.StatusUnprocessableEntity, "unprocessable")
	a = s.Do(MoveOU(path, domainDN))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, `OU=story\, told,`+domainDN, s.Record(a)["path"])
	assert.Equal(t, true, s.Record(a)["protected"])
	path = s.Record(a)["path"].(string)
	assert.Equal(t, true, byGUID(guid)["protected"])
	assert.Equal(t, true, s.OK(ReadOU("OU=Inner,"+path), http.StatusOK)["protected"], "what is below stays as it was")
	s.OK(CreateOU("story, told", EmptyOU), http.StatusCreated)
	assert.Equal(t, "OUDestinationPath", FirstField(s.Rejects(MoveOU(path, EmptyOU), http.StatusConflict, "conflict")))
	s.OK(CreateOU("other", EmptyOU), http.StatusCreated)
	s.Rejects(RenameOU("OU=other,"+EmptyOU, "Story, Told"), http.StatusConflict, "conflict")
	assert.Equal(t, true, s.OK(ReadOU(path), http.StatusOK)["protected"])

	// Removed: protected, not empty, then whole.
	s.Rejects(RemoveOU(path), http.StatusConflict, "protected")
	s.Rejects(RemoveOU(path, "Force", "true"), http.StatusConflict, "not_empty")
	s.Rejects(RemoveOU(path, "Recursive", "true"), http.StatusConflict, "protected")
	a = s.Do(RemoveOU(path, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "The OU '"+path+"' was removed: 2 organizationalUnits.", a.Envelope.Output)
	assert.Equal(t, guid, s.Record(a)["guid"])
	s.Rejects(RemoveOU(path, "Force", "true"), http.StatusNotFound, "not_found")
	s.Rejects(ReadOU(path), http.StatusNotFound, "not_found")
	s.Rejects(Call{Method: http.MethodGet, Path: "/api/OU/Guid/Details?OUGuid=" + guid}, http.StatusNotFound, "not_found")
	exists = s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": false, "guid": nil, "distinguishedName": nil}, exists)
	for _, name := range []string{`story\, told`, "other"} {
		s.OK(RemoveOU("OU="+name+","+EmptyOU, "Force", "true"), http.StatusOK)
	}
	// All that is left is the parents' part of the protection (facts E38).
	for _, line := range start.Compare(s.Snapshot()) {
		assert.Regexp(t, "^~ ("+EmptyOU+"|"+domainDN+") ", line)
	}
}

func TestWhatIsNotAnOUIsNotChanged(t *testing.T) {
	for _, culture := range Cultures {
		t.Run(culture, func(t *testing.T) {
			s := New(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, dn := range []string{usersDN, computersDN, domainDN, "CN=Builtin," + domainDN, "CN=System," + domainDN} {
				s.Rejects(UpdateOU(dn, "OUDescription", "x"), http.StatusConflict, "protected")
				s.Rejects(MoveOU(dn, EmptyOU), http.StatusConflict, "protected")
				s.Rejects(RenameOU(dn, "x"), http.StatusConflict, "protected")
				s.Rejects(RemoveOU(dn, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			}
			for _, dn := range []string{SampleUserDN, "OU=None," + domainDN, "CN=FS1,OU=Servers,OU=Devices," + CorpOU} {
				for _, c := range []Call{UpdateOU(dn, "OUDescription", "x"), MoveOU(dn, EmptyOU), RenameOU(dn, "x"), RemoveOU(dn), ReadOU(dn)} {
					assert.Equal(t, "OUPath", FirstField(s.Rejects(c, http.StatusNotFound, "not_found")))
				}
				assert.Equal(t, "OUDestinationPath", FirstField(s.Rejects(CreateOU("x", dn), http.StatusUnprocessableEntity, "unprocessable")))
				assert.Equal(t, "OUDestinationPath", FirstField(s.Rejects(MoveOU(EmptyOU, dn), http.StatusUnprocessableEntity, "unprocessable")))
			}
			for _, c := range []Call{UpdateOU("x", "OUDescription", "x"), MoveOU("x", EmptyOU), RenameOU("x", "x"), RemoveOU("x"), ReadOU("x")} {
				assert.Equal(t, "OUPath", FirstField(s.Rejects(c, http.StatusBadRequest, "invalid_request")))
			}
			// An OU does not lie in a container, says the directory.
			for _, c := range []Call{CreateOU("x", usersDN), MoveOU(EmptyOU, usersDN)} {
				a := s.Rejects(c, http.StatusUnprocessableEntity, "unprocessable")
				assert.Equal(t, "OUDestinationPath", FirstField(a))
				assert.Contains(t, a.Envelope.Error.Message, "is a container: an OU lies in an OU or in the domain itself")
			}
			// The system's own OU.
			s.Rejects(MoveOU(dcOU, EmptyOU), http.StatusConflict, "protected")
			s.Rejects(RenameOU(dcOU, "x"), http.StatusConflict, "protected")
			s.Rejects(RemoveOU(dcOU, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			s.Rejects(UpdateOU(dcOU, "IsProtected", "false").As(PlainToken), http.StatusForbidden, "forbidden")
		})
	}
}

func TestOddNamesOfOUs(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1})
	for _, name := range []string{`a,b`, ` lead`, `trail `, `#x`, `a+b=c;d<e>"f"\`, `a/b`, "Ω😀", "*", "(x)", `\2a`, "CN=x", "$(Get-Date)", strings.Repeat("ä", 64)} {
		made := s.OK(CreateOU(name, oddOU), http.StatusCreated)
		assert.Equal(t, name, made["name"])
		path := made["path"].(string)
		assert.Equal(t, made, s.OK(ReadOU(path), http.StatusOK), name)
		s.Rejects(CreateOU(name, oddOU), http.StatusConflict, "conflict")
		moved := s.OK(MoveOU(path, EmptyOU), http.StatusOK)
		assert.Equal(t, name, moved["name"])
		assert.Equal(t, true, moved["protected"], name)
		plain := s.OK(RenameOU(moved["path"].(string), "plain"), http.StatusOK)
		again := s.OK(RenameOU(plain["path"].(string), name), http.StatusOK)
		assert.Equal(t, moved["path"], again["path"], name)
		s.OK(RemoveOU(again["path"].(string), "Force", "true"), http.StatusOK)
	}
	// An OU and something else may have one name, because their names are of different types.
	s.Expect(http.StatusCreated, http.MethodPost, "/api/Computers/TWIN/Register", map[string]any{"OUPath": EmptyOU})
	s.OK(CreateOU("TWIN", EmptyOU), http.StatusCreated)
	s.Expect(http.StatusOK, http.MethodDelete, "/api/Computers/TWIN/Remove", nil)
	s.Expect(http.StatusCreated, http.MethodPost, "/api/Computers/TWIN/Register", map[string]any{"OUPath": EmptyOU})
}

func TestLimitsOfTokensOnOUs(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1})
	inside := "OU=Sales," + LimitedOU
	s.Rejects(CreateOU("x", EmptyOU).As(LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(UpdateOU(EmptyOU, "OUDescription", "x").As(LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(RenameOU(EmptyOU, "x").As(LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(RemoveOU(EmptyOU).As(LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(MoveOU(EmptyOU, LimitedOU).As(LimitedToken), http.StatusForbidden, "limit")
	assert.Equal(t, "OUDestinationPath", FirstField(s.Rejects(MoveOU(inside, EmptyOU).As(LimitedToken), http.StatusForbidden, "limit")))
	s.Rejects(ReadOU(EmptyOU).As(LimitedToken), http.StatusForbidden, "limit")
	guid := s.OK(ReadOU(EmptyOU), http.StatusOK)["guid"].(string)
	s.Rejects(Call{Method: http.MethodGet, Path: "/api/OU/Guid/Details?OUGuid=" + guid, Token: LimitedToken}, http.StatusForbidden, "limit")

	made := s.OK(CreateOU("Limited", inside).As(LimitedToken), http.StatusCreated)
	moved := s.OK(MoveOU(made["path"].(string), LimitedOU).As(LimitedToken), http.StatusOK)
	listed := s.Do(Call{Method: http.MethodGet, Path: "/api/OU/All", Token: LimitedToken})
	assert.Contains(t, listed.Envelope.Result, moved)
	for _, ou := range listed.Envelope.Result {
		assert.True(t, strings.HasSuffix(ou["path"].(string), LimitedOU), ou["path"])
	}
	s.OK(RemoveOU(moved["path"].(string), "Force", "true").As(LimitedToken), http.StatusOK)
}

// grow makes an OU with a user, two groups, a computer and a protected OU below it.
func (s *System) CreateTree(parent string) string {
	s.T.Helper()
	root := s.OK(CreateOU("Tree", parent), http.StatusCreated)["path"].(string)
	s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/tree.user", map[string]any{"OUPath": root})
	s.Expect(http.StatusCreated, http.MethodPost, "/api/Computers/TREE-PC/Register", map[string]any{"OUPath": root})
	inner := s.OK(CreateOU("Inner", root), http.StatusCreated)["path"].(string)
	s.AddObject("CN=tree group 1,"+inner, "group", "sAMAccountName", "tree group 1", "groupType", "-2147483646")
	s.AddObject("CN=tree group 2,"+inner, "group", "sAMAccountName", "tree group 2", "groupType", "-2147483646")
	return root
}

// add puts an object into the directory past the gateway; attributes are names
// and values in turn.
func (s *System) AddObject(dn, class string, attributes ...string) {
	s.T.Helper()
	values := []directory.Values{{Name: "objectClass", Values: []any{class}}}
	for i := 0; i+1 < len(attributes); i += 2 {
		values = append(values, directory.Values{Name: attributes[i], Values: []any{attributes[i+1]}})
	}
	_, err := s.DC1().Add(context.Background(), dn, values...)
	require.NoError(s.T, err)
}

// set changes an attribute past the gateway.
func (s *System) SetAttribute(dn, attribute string, values ...any) {
	s.T.Helper()
	require.NoError(s.T, s.DC1().Modify(context.Background(), dn, []directory.Change{{Op: directory.OpReplace, Name: attribute, Values: values}}, directory.ModifyOptions{}))
}

// denyTo adds a Deny entry for everyone, as an administrator may have done.
func (s *System) DenyEveryone(dn string, rights directory.Rights, inherit bool) {
	s.T.Helper()
	acl, err := s.DC1().ACL(context.Background(), dn)
	require.NoError(s.T, err)
	require.NoError(s.T, s.DC1().SetACL(context.Background(), dn, append(acl, directory.ACE{Trustee: directory.Everyone, Rights: rights, Inherit: inherit})))
}

func TestRemovingATreeOfOUs(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=6")
	root := s.CreateTree(EmptyOU)

	s.Rejects(RemoveOU(root), http.StatusConflict, "protected")
	s.Rejects(RemoveOU(root, "Force", "true"), http.StatusConflict, "not_empty")
	assert.Equal(t, true, s.OK(ReadOU(root), http.StatusOK)["protected"])
	a := s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true").As(NoTreeToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "ou:delete-tree")
	s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "false").As(NoTreeToken), http.StatusConflict, "not_empty")

	s.OK(UpdateOU(root, "IsProtected", "false"), http.StatusOK)
	a = s.Rejects(RemoveOU(root, "Recursive", "true"), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "OU=Inner,", "the one that is protected is named")

	s.AddObject("CN=one too many,"+root, "container")
	a = s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "too_many")
	assert.Contains(t, a.Envelope.Output, " 7 objects")
	require.NoError(t, s.DC1().Delete(context.Background(), "CN=one too many,"+root))

	s.SetAttribute("CN=tree.user,"+root, "adminCount", "1")
	a = s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true").As(PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "CN=tree.user,"+root)

	// The groups in it are as guarded as they are alone.
	group := "CN=tree group 1,OU=Inner," + root
	a = s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true").As(GroupToken), http.StatusForbidden, "limit")
	assert.Contains(t, a.Envelope.Output, group)
	require.NoError(t, s.DC1().Delete(context.Background(), "CN=tree.user,"+root))
	s.AddObject("CN=tree.user,"+root, "user", "sAMAccountName", "tree.user")
	s.SetAttribute("CN=DnsAdmins,"+usersDN, "adminCount", "1")
	s.SetAttribute("CN=DnsAdmins,"+usersDN, "member", group)
	a = s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true").As(PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "DnsAdmins")
	s.SetAttribute(group, "member", SampleUserDN)
	s.SetAttribute(SampleUserDN, "primaryGroupID", s.Stored(group, "objectSid").SID.RID())
	a = s.Rejects(RemoveOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "conflict")
	assert.Contains(t, a.Envelope.Output, SampleUserDN)
	s.SetAttribute(SampleUserDN, "primaryGroupID", 513)

	a = s.Do(RemoveOU(root, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "The OU '"+root+"' was removed: 1 computer, 2 groups, 2 organizationalUnits, 1 user.", a.Envelope.Output)
	s.Rejects(ReadOU("OU=Inner,"+root), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/tree.user/Exists", nil)["exists"])
}

// TestHalfAProtection removes an OU that has its own part of a protection where
// the parent's part is missing: it reads as none (facts E37, E41).
func TestHalfAProtection(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1})
	half := s.OK(CreateOU("Half", EmptyOU, "IsProtected", "false"), http.StatusCreated)["path"].(string)
	s.OK(CreateOU("Inner", half, "IsProtected", "false"), http.StatusCreated)
	s.DenyEveryone(half, directory.RightDelete|directory.RightDeleteTree, false)
	assert.Equal(t, false, s.OK(ReadOU(half), http.StatusOK)["protected"])
	a := s.Rejects(RemoveOU(half, "Recursive", "true"), http.StatusForbidden, "directory_denied")
	assert.Equal(t, "none", a.Envelope.Error.Outcome)
	// What is denied from above stays denied: the half that was lifted is told.
	s.DenyEveryone(EmptyOU, directory.RightDeleteTree, true)
	a = s.Do(RemoveOU(half, "Recursive", "true", "Force", "true"))
	assert.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	assert.Equal(t, "This remains: "+half, a.Envelope.Error.Details[len(a.Envelope.Error.Details)-1].Message)
	require.NoError(t, s.DC1().SetACL(context.Background(), EmptyOU, nil))
	s.DenyEveryone(half, directory.RightDelete|directory.RightDeleteTree, false)
	s.OK(RemoveOU(half, "Recursive", "true", "Force", "true"), http.StatusOK)
	s.Rejects(ReadOU(half), http.StatusNotFound, "not_found")
}

func TestATreeWithAControllerStays(t *testing.T) {
	var ldif strings.Builder
	for name, attributes := range map[string]string{
		"DCX":      "userAccountControl: 532480\n",
		"RODCX":    "userAccountControl: 83890176\nprimaryGroupID: 521\n",
		"CRITICAL": "userAccountControl: 4096\nisCriticalSystemObject: TRUE\n",
	} {
		parent := "OU=With " + name + "," + EmptyOU
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: organizationalUnit\nadgatewayProtected: TRUE\n\ndn: OU=Inner,%s\nobjectClass: organizationalUnit\n\n", parent, parent)
		fmt.Fprintf(&ldif, "dn: CN=%s,OU=Inner,%s\nobjectClass: computer\nsAMAccountName: %s$\n%s\n", name, parent, name, attributes)
	}
	file := filepath.Join(t.TempDir(), "controllers.ldif")
	require.NoError(t, os.WriteFile(file, []byte(ldif.String()), 0o600))
	s := New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	for _, name := range []string{"DCX", "RODCX", "CRITICAL"} {
		parent := "OU=With " + name + "," + EmptyOU
		a := s.Rejects(RemoveOU(parent, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
		assert.Contains(t, a.Envelope.Output, "'CN="+name+",")
		assert.Equal(t, true, s.OK(ReadOU(parent), http.StatusOK)["protected"])
		s.Rejects(Call{Method: http.MethodDelete, Path: "/api/Computers/" + name + "/Remove"}, http.StatusConflict, "protected")
	}
}

// TestWhatFailsIsTakenBack makes a later step of each change fail: everything
// is as it was, protection included.
func TestWhatFailsIsTakenBack(t *testing.T) {
	for _, culture := range Cultures {
		t.Run(culture, func(t *testing.T) {
			s := New(t, sandbox.Options{Seed: 1, Culture: culture})
			root := s.CreateTree(EmptyOU)
			taken := func(c Call) {
				t.Helper()
				a := s.Rejects(c, http.StatusForbidden, "directory_denied")
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
				assert.Equal(t, true, s.OK(ReadOU(root), http.StatusOK)["protected"])
			}
			// The move itself is denied.
			s.OK(CreateOU("Closed", CorpOU, "IsProtected", "false"), http.StatusCreated)
			closed := "OU=Closed," + CorpOU
			s.DenyEveryone(closed, directory.RightCreateChild, false)
			taken(MoveOU(root, closed))
			// The move succeeds, but the protection cannot be restored there.
			s.OK(CreateOU("Sealed", CorpOU, "IsProtected", "false"), http.StatusCreated)
			sealed := "OU=Sealed," + CorpOU
			s.DenyEveryone(sealed, directory.RightWriteDacl, false)
			taken(MoveOU(root, sealed))
			// An OU is made, but cannot be protected.
			taken(CreateOU("x", sealed))
			s.OK(CreateOU("x", sealed, "IsProtected", "false"), http.StatusCreated)
			// Protections are lifted, but the tree may not be removed.
			s.DenyEveryone(EmptyOU, directory.RightDeleteTree, true)
			taken(RemoveOU(root, "Force", "true", "Recursive", "true"))
			assert.Equal(t, true, s.OK(ReadOU("OU=Inner,"+root), http.StatusOK)["protected"])
			// The description is changed, then the protection fails.
			s.OK(UpdateOU(root, "OUDescription", "before"), http.StatusOK)
			s.DenyEveryone(root, directory.RightWriteDacl, false)
			taken(UpdateOU(root, "OUDescription", "after", "IsProtected", "false"))
			assert.Equal(t, "before", s.OK(ReadOU(root), http.StatusOK)["description"])
		})
	}
}
