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
func makeOU(name, parent string, more ...string) call {
	return call{method: http.MethodPost, path: "/api/OU", params: params("OUName", name, "OUDestinationPath", parent, more)}
}

func changeOU(dn string, more ...string) call {
	return call{method: http.MethodPut, path: "/api/OU", params: params("OUPath", dn, "", "", more)}
}

func moveOU(dn, parent string) call {
	return call{method: http.MethodPut, path: "/api/OU/Move", params: params("OUPath", dn, "OUDestinationPath", parent, nil)}
}

func renameOU(dn, name string) call {
	return call{method: http.MethodPut, path: "/api/OU/Rename", params: params("OUPath", dn, "OUNewName", name, nil)}
}

func removeOU(dn string, more ...string) call {
	return call{method: http.MethodDelete, path: "/api/OU/Path/Remove", params: params("OUPath", dn, "", "", more)}
}

func readOU(dn string) call {
	return call{method: http.MethodGet, path: "/api/OU/Path/Details", params: params("OUPath", dn, "", "", nil)}
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

// as is the same request with another token.
func (c call) as(token string) call {
	c.token = token
	return c
}

// same sends a request that succeeds and finds nothing to change.
func (s *system) same(c call) {
	s.t.Helper()
	start := s.snapshot()
	a := s.do(c)
	require.Equal(s.t, http.StatusOK, a.status, "%s", a.body)
	assert.Contains(s.t, a.envelope.Output, "nothing was changed")
	assert.Empty(s.t, start.Compare(s.snapshot()))
}

// field tells which parameter a refusal is about.
func field(a answer) string {
	if len(a.envelope.Error.Details) == 0 {
		return ""
	}
	return a.envelope.Error.Details[0].Field
}

func TestTheLifeOfAnOU(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	path := "OU=Story," + emptyOU

	a := s.do(makeOU("Story", strings.ToLower(emptyOU), "OUDescription", "Once upon a time"))
	require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
	made := s.record(a)
	assert.Equal(t, path, made["path"])
	assert.Equal(t, []any{"Story", true, "Once upon a time", false}, []any{made["name"], made["protected"], made["description"], made["container"]})
	guid := made["guid"].(string)
	byGUID := func(guid string) map[string]any {
		return s.done(http.StatusOK, http.MethodGet, "/api/OU/Guid/Details", map[string]any{"OUGuid": guid})
	}
	assert.Equal(t, made, byGUID(guid))
	assert.Equal(t, made, byGUID("{"+strings.ToUpper(guid)+"}"))
	assert.Equal(t, made, s.ok(readOU(strings.ToUpper(path)), http.StatusOK))
	assert.Contains(t, s.get("/api/OU/All").envelope.Result, made)
	exists := s.done(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": true, "guid": guid, "distinguishedName": path}, exists)
	for _, name := range []string{"Story", "STORY"} {
		assert.Equal(t, "OUName", field(s.refused(makeOU(name, emptyOU), http.StatusConflict, "conflict")))
	}

	// Absent, empty and equal values.
	s.refused(changeOU(path), http.StatusBadRequest, "invalid_request")
	s.refused(changeOU(path, "IsProtected", ""), http.StatusBadRequest, "invalid_request")
	s.same(changeOU(path, "OUDescription", "Once upon a time", "IsProtected", "true"))
	assert.Equal(t, "once upon a time", s.ok(changeOU(path, "OUDescription", "once upon a time"), http.StatusOK)["description"], "the case is a change")
	now := s.ok(changeOU(path, "IsProtected", "false"), http.StatusOK)
	assert.Equal(t, []any{false, "once upon a time"}, []any{now["protected"], now["description"]})
	now = s.ok(changeOU(path, "OUDescription", ""), http.StatusOK)
	assert.Equal(t, []any{false, nil}, []any{now["protected"], now["description"]})
	s.same(changeOU(path, "OUDescription", ""))
	assert.Equal(t, true, s.ok(changeOU(path, "IsProtected", "TRUE"), http.StatusOK)["protected"])

	// Renamed though it is protected (facts E40).
	assert.Equal(t, "OUNewName", field(s.refused(renameOU(path, ""), http.StatusBadRequest, "invalid_request")))
	renamed := s.ok(renameOU(path, "Story, told"), http.StatusOK)
	assert.Equal(t, `OU=Story\, told,`+emptyOU, renamed["path"])
	assert.Equal(t, true, renamed["protected"])
	assert.Equal(t, guid, renamed["guid"])
	path = renamed["path"].(string)
	s.same(renameOU(path, "Story, told"))
	path = s.ok(renameOU(path, "story, told"), http.StatusOK)["path"].(string)
	assert.Equal(t, `OU=story\, told,`+emptyOU, path, "another case is another name")

	// Moved with its protection (facts E41).
	s.same(moveOU(path, emptyOU))
	for _, below := range []string{path, strings.ToLower(path)} {
		assert.Equal(t, "OUDestinationPath", field(s.refused(moveOU(path, below), http.StatusUnprocessableEntity, "unprocessable")))
	}
	s.ok(makeOU("Inner", path), http.StatusCreated)
	s.refused(moveOU(path, "OU=Inner,"+path), http.StatusUnprocessableEntity, "unprocessable")
	a = s.do(moveOU(path, domainDN))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, `OU=story\, told,`+domainDN, s.record(a)["path"])
	assert.Equal(t, true, s.record(a)["protected"])
	path = s.record(a)["path"].(string)
	assert.Equal(t, true, byGUID(guid)["protected"])
	assert.Equal(t, true, s.ok(readOU("OU=Inner,"+path), http.StatusOK)["protected"], "what is below stays as it was")
	s.ok(makeOU("story, told", emptyOU), http.StatusCreated)
	assert.Equal(t, "OUDestinationPath", field(s.refused(moveOU(path, emptyOU), http.StatusConflict, "conflict")))
	s.ok(makeOU("other", emptyOU), http.StatusCreated)
	s.refused(renameOU("OU=other,"+emptyOU, "Story, Told"), http.StatusConflict, "conflict")
	assert.Equal(t, true, s.ok(readOU(path), http.StatusOK)["protected"])

	// Removed: protected, not empty, then whole.
	s.refused(removeOU(path), http.StatusConflict, "protected")
	s.refused(removeOU(path, "Force", "true"), http.StatusConflict, "not_empty")
	s.refused(removeOU(path, "Recursive", "true"), http.StatusConflict, "protected")
	a = s.do(removeOU(path, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, "The OU '"+path+"' was removed: 2 organizationalUnits.", a.envelope.Output)
	assert.Equal(t, guid, s.record(a)["guid"])
	s.refused(removeOU(path, "Force", "true"), http.StatusNotFound, "not_found")
	s.refused(readOU(path), http.StatusNotFound, "not_found")
	s.refused(call{method: http.MethodGet, path: "/api/OU/Guid/Details?OUGuid=" + guid}, http.StatusNotFound, "not_found")
	exists = s.done(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": false, "guid": nil, "distinguishedName": nil}, exists)
	for _, name := range []string{`story\, told`, "other"} {
		s.ok(removeOU("OU="+name+","+emptyOU, "Force", "true"), http.StatusOK)
	}
	// All that is left is the parents' part of the protection (facts E38).
	for _, line := range start.Compare(s.snapshot()) {
		assert.Regexp(t, "^~ ("+emptyOU+"|"+domainDN+") ", line)
	}
}

func TestWhatIsNotAnOUIsNotChanged(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, dn := range []string{usersDN, computersDN, domainDN, "CN=Builtin," + domainDN, "CN=System," + domainDN} {
				s.refused(changeOU(dn, "OUDescription", "x"), http.StatusConflict, "protected")
				s.refused(moveOU(dn, emptyOU), http.StatusConflict, "protected")
				s.refused(renameOU(dn, "x"), http.StatusConflict, "protected")
				s.refused(removeOU(dn, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			}
			for _, dn := range []string{sampleUserDN, "OU=None," + domainDN, "CN=FS1,OU=Servers,OU=Devices," + corpOU} {
				for _, c := range []call{changeOU(dn, "OUDescription", "x"), moveOU(dn, emptyOU), renameOU(dn, "x"), removeOU(dn), readOU(dn)} {
					assert.Equal(t, "OUPath", field(s.refused(c, http.StatusNotFound, "not_found")))
				}
				assert.Equal(t, "OUDestinationPath", field(s.refused(makeOU("x", dn), http.StatusUnprocessableEntity, "unprocessable")))
				assert.Equal(t, "OUDestinationPath", field(s.refused(moveOU(emptyOU, dn), http.StatusUnprocessableEntity, "unprocessable")))
			}
			for _, c := range []call{changeOU("x", "OUDescription", "x"), moveOU("x", emptyOU), renameOU("x", "x"), removeOU("x"), readOU("x")} {
				assert.Equal(t, "OUPath", field(s.refused(c, http.StatusBadRequest, "invalid_request")))
			}
			// An OU does not lie in a container, says the directory.
			for _, c := range []call{makeOU("x", usersDN), moveOU(emptyOU, usersDN)} {
				a := s.refused(c, http.StatusUnprocessableEntity, "unprocessable")
				assert.Equal(t, "OUDestinationPath", field(a))
				assert.Contains(t, a.envelope.Error.Message, "is a container: an OU lies in an OU or in the domain itself")
			}
			// The system's own OU.
			s.refused(moveOU(dcOU, emptyOU), http.StatusConflict, "protected")
			s.refused(renameOU(dcOU, "x"), http.StatusConflict, "protected")
			s.refused(removeOU(dcOU, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			s.refused(changeOU(dcOU, "IsProtected", "false").as(plainToken), http.StatusForbidden, "forbidden")
		})
	}
}

func TestOddNamesOfOUs(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for _, name := range []string{`a,b`, ` lead`, `trail `, `#x`, `a+b=c;d<e>"f"\`, `a/b`, "Ω😀", "*", "(x)", `\2a`, "CN=x", "$(Get-Date)", strings.Repeat("ä", 64)} {
		made := s.ok(makeOU(name, oddOU), http.StatusCreated)
		assert.Equal(t, name, made["name"])
		path := made["path"].(string)
		assert.Equal(t, made, s.ok(readOU(path), http.StatusOK), name)
		s.refused(makeOU(name, oddOU), http.StatusConflict, "conflict")
		moved := s.ok(moveOU(path, emptyOU), http.StatusOK)
		assert.Equal(t, name, moved["name"])
		assert.Equal(t, true, moved["protected"], name)
		plain := s.ok(renameOU(moved["path"].(string), "plain"), http.StatusOK)
		again := s.ok(renameOU(plain["path"].(string), name), http.StatusOK)
		assert.Equal(t, moved["path"], again["path"], name)
		s.ok(removeOU(again["path"].(string), "Force", "true"), http.StatusOK)
	}
	// An OU and something else may have one name, because their names are of different types.
	s.done(http.StatusCreated, http.MethodPost, "/api/Computers/TWIN/Register", map[string]any{"OUPath": emptyOU})
	s.ok(makeOU("TWIN", emptyOU), http.StatusCreated)
	s.done(http.StatusOK, http.MethodDelete, "/api/Computers/TWIN/Remove", nil)
	s.done(http.StatusCreated, http.MethodPost, "/api/Computers/TWIN/Register", map[string]any{"OUPath": emptyOU})
}

func TestLimitsOfTokensOnOUs(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	inside := "OU=Sales," + limitedOU
	s.refused(makeOU("x", emptyOU).as(limitedToken), http.StatusForbidden, "limit")
	s.refused(changeOU(emptyOU, "OUDescription", "x").as(limitedToken), http.StatusForbidden, "limit")
	s.refused(renameOU(emptyOU, "x").as(limitedToken), http.StatusForbidden, "limit")
	s.refused(removeOU(emptyOU).as(limitedToken), http.StatusForbidden, "limit")
	s.refused(moveOU(emptyOU, limitedOU).as(limitedToken), http.StatusForbidden, "limit")
	assert.Equal(t, "OUDestinationPath", field(s.refused(moveOU(inside, emptyOU).as(limitedToken), http.StatusForbidden, "limit")))
	s.refused(readOU(emptyOU).as(limitedToken), http.StatusForbidden, "limit")
	guid := s.ok(readOU(emptyOU), http.StatusOK)["guid"].(string)
	s.refused(call{method: http.MethodGet, path: "/api/OU/Guid/Details?OUGuid=" + guid, token: limitedToken}, http.StatusForbidden, "limit")

	made := s.ok(makeOU("Limited", inside).as(limitedToken), http.StatusCreated)
	moved := s.ok(moveOU(made["path"].(string), limitedOU).as(limitedToken), http.StatusOK)
	listed := s.do(call{method: http.MethodGet, path: "/api/OU/All", token: limitedToken})
	assert.Contains(t, listed.envelope.Result, moved)
	for _, ou := range listed.envelope.Result {
		assert.True(t, strings.HasSuffix(ou["path"].(string), limitedOU), ou["path"])
	}
	s.ok(removeOU(moved["path"].(string), "Force", "true").as(limitedToken), http.StatusOK)
}

// grow makes an OU with a user, two groups, a computer and a protected OU below it.
func (s *system) grow(parent string) string {
	s.t.Helper()
	root := s.ok(makeOU("Tree", parent), http.StatusCreated)["path"].(string)
	s.done(http.StatusCreated, http.MethodPost, "/api/ADUser/tree.user", map[string]any{"OUPath": root})
	s.done(http.StatusCreated, http.MethodPost, "/api/Computers/TREE-PC/Register", map[string]any{"OUPath": root})
	inner := s.ok(makeOU("Inner", root), http.StatusCreated)["path"].(string)
	s.add("CN=tree group 1,"+inner, "group", "sAMAccountName", "tree group 1", "groupType", "-2147483646")
	s.add("CN=tree group 2,"+inner, "group", "sAMAccountName", "tree group 2", "groupType", "-2147483646")
	return root
}

// add puts an object into the directory past the gateway; attributes are names
// and values in turn.
func (s *system) add(dn, class string, attributes ...string) {
	s.t.Helper()
	values := []directory.Values{{Name: "objectClass", Values: []any{class}}}
	for i := 0; i+1 < len(attributes); i += 2 {
		values = append(values, directory.Values{Name: attributes[i], Values: []any{attributes[i+1]}})
	}
	_, err := s.dc1().Add(context.Background(), dn, values...)
	require.NoError(s.t, err)
}

// set changes an attribute past the gateway.
func (s *system) set(dn, attribute string, values ...any) {
	s.t.Helper()
	require.NoError(s.t, s.dc1().Modify(context.Background(), dn, []directory.Change{{Op: directory.OpReplace, Name: attribute, Values: values}}, directory.ModifyOptions{}))
}

// denyTo adds a Deny entry for everyone, as an administrator may have done.
func (s *system) denyTo(dn string, rights directory.Rights, inherit bool) {
	s.t.Helper()
	acl, err := s.dc1().ACL(context.Background(), dn)
	require.NoError(s.t, err)
	require.NoError(s.t, s.dc1().SetACL(context.Background(), dn, append(acl, directory.ACE{Trustee: directory.Everyone, Rights: rights, Inherit: inherit})))
}

func TestRemovingATreeOfOUs(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=6")
	root := s.grow(emptyOU)

	s.refused(removeOU(root), http.StatusConflict, "protected")
	s.refused(removeOU(root, "Force", "true"), http.StatusConflict, "not_empty")
	assert.Equal(t, true, s.ok(readOU(root), http.StatusOK)["protected"])
	a := s.refused(removeOU(root, "Force", "true", "Recursive", "true").as(noTreeToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.envelope.Output, "ou:delete-tree")
	s.refused(removeOU(root, "Force", "true", "Recursive", "false").as(noTreeToken), http.StatusConflict, "not_empty")

	s.ok(changeOU(root, "IsProtected", "false"), http.StatusOK)
	a = s.refused(removeOU(root, "Recursive", "true"), http.StatusConflict, "protected")
	assert.Contains(t, a.envelope.Output, "OU=Inner,", "the one that is protected is named")

	s.add("CN=one too many,"+root, "container")
	a = s.refused(removeOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "too_many")
	assert.Contains(t, a.envelope.Output, " 7 objects")
	require.NoError(t, s.dc1().Delete(context.Background(), "CN=one too many,"+root))

	s.set("CN=tree.user,"+root, "adminCount", "1")
	a = s.refused(removeOU(root, "Force", "true", "Recursive", "true").as(plainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.envelope.Output, "CN=tree.user,"+root)

	// The groups in it are as guarded as they are alone.
	group := "CN=tree group 1,OU=Inner," + root
	a = s.refused(removeOU(root, "Force", "true", "Recursive", "true").as(groupToken), http.StatusForbidden, "limit")
	assert.Contains(t, a.envelope.Output, group)
	require.NoError(t, s.dc1().Delete(context.Background(), "CN=tree.user,"+root))
	s.add("CN=tree.user,"+root, "user", "sAMAccountName", "tree.user")
	s.set("CN=DnsAdmins,"+usersDN, "adminCount", "1")
	s.set("CN=DnsAdmins,"+usersDN, "member", group)
	a = s.refused(removeOU(root, "Force", "true", "Recursive", "true").as(plainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.envelope.Output, "DnsAdmins")
	s.set(group, "member", sampleUserDN)
	s.set(sampleUserDN, "primaryGroupID", s.stored(group, "objectSid").SID.RID())
	a = s.refused(removeOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "conflict")
	assert.Contains(t, a.envelope.Output, sampleUserDN)
	s.set(sampleUserDN, "primaryGroupID", 513)

	a = s.do(removeOU(root, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	assert.Equal(t, "The OU '"+root+"' was removed: 1 computer, 2 groups, 2 organizationalUnits, 1 user.", a.envelope.Output)
	s.refused(readOU("OU=Inner,"+root), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.done(http.StatusOK, http.MethodGet, "/api/ADUser/tree.user/Exists", nil)["exists"])
}

// TestHalfAProtection removes an OU that has its own part of a protection where
// the parent's part is missing: it reads as none (facts E37, E41).
func TestHalfAProtection(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	half := s.ok(makeOU("Half", emptyOU, "IsProtected", "false"), http.StatusCreated)["path"].(string)
	s.ok(makeOU("Inner", half, "IsProtected", "false"), http.StatusCreated)
	s.denyTo(half, directory.RightDelete|directory.RightDeleteTree, false)
	assert.Equal(t, false, s.ok(readOU(half), http.StatusOK)["protected"])
	a := s.refused(removeOU(half, "Recursive", "true"), http.StatusForbidden, "directory_denied")
	assert.Equal(t, "none", a.envelope.Error.Outcome)
	// What is denied from above stays denied: the half that was lifted is told.
	s.denyTo(emptyOU, directory.RightDeleteTree, true)
	a = s.do(removeOU(half, "Recursive", "true", "Force", "true"))
	assert.Equal(t, http.StatusForbidden, a.status, "%s", a.body)
	assert.Equal(t, "partial", a.envelope.Error.Outcome)
	assert.Equal(t, "This remains: "+half, a.envelope.Error.Details[len(a.envelope.Error.Details)-1].Message)
	require.NoError(t, s.dc1().SetACL(context.Background(), emptyOU, nil))
	s.denyTo(half, directory.RightDelete|directory.RightDeleteTree, false)
	s.ok(removeOU(half, "Recursive", "true", "Force", "true"), http.StatusOK)
	s.refused(readOU(half), http.StatusNotFound, "not_found")
}

func TestATreeWithAControllerStays(t *testing.T) {
	var ldif strings.Builder
	for name, attributes := range map[string]string{
		"DCX":      "userAccountControl: 532480\n",
		"RODCX":    "userAccountControl: 83890176\nprimaryGroupID: 521\n",
		"CRITICAL": "userAccountControl: 4096\nisCriticalSystemObject: TRUE\n",
	} {
		parent := "OU=With " + name + "," + emptyOU
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: organizationalUnit\nadgatewayProtected: TRUE\n\ndn: OU=Inner,%s\nobjectClass: organizationalUnit\n\n", parent, parent)
		fmt.Fprintf(&ldif, "dn: CN=%s,OU=Inner,%s\nobjectClass: computer\nsAMAccountName: %s$\n%s\n", name, parent, name, attributes)
	}
	file := filepath.Join(t.TempDir(), "controllers.ldif")
	require.NoError(t, os.WriteFile(file, []byte(ldif.String()), 0o600))
	s := newSystem(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	for _, name := range []string{"DCX", "RODCX", "CRITICAL"} {
		parent := "OU=With " + name + "," + emptyOU
		a := s.refused(removeOU(parent, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
		assert.Contains(t, a.envelope.Output, "'CN="+name+",")
		assert.Equal(t, true, s.ok(readOU(parent), http.StatusOK)["protected"])
		s.refused(call{method: http.MethodDelete, path: "/api/Computers/" + name + "/Remove"}, http.StatusConflict, "protected")
	}
}

// TestWhatFailsIsTakenBack makes a later step of each change fail: everything
// is as it was, protection included.
func TestWhatFailsIsTakenBack(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			root := s.grow(emptyOU)
			taken := func(c call) {
				t.Helper()
				a := s.refused(c, http.StatusForbidden, "directory_denied")
				assert.Equal(t, "none", a.envelope.Error.Outcome)
				assert.Equal(t, true, s.ok(readOU(root), http.StatusOK)["protected"])
			}
			// The move itself is denied.
			s.ok(makeOU("Closed", corpOU, "IsProtected", "false"), http.StatusCreated)
			closed := "OU=Closed," + corpOU
			s.denyTo(closed, directory.RightCreateChild, false)
			taken(moveOU(root, closed))
			// The move succeeds, but the protection cannot be restored there.
			s.ok(makeOU("Sealed", corpOU, "IsProtected", "false"), http.StatusCreated)
			sealed := "OU=Sealed," + corpOU
			s.denyTo(sealed, directory.RightWriteDacl, false)
			taken(moveOU(root, sealed))
			// An OU is made, but cannot be protected.
			taken(makeOU("x", sealed))
			s.ok(makeOU("x", sealed, "IsProtected", "false"), http.StatusCreated)
			// Protections are lifted, but the tree may not be removed.
			s.denyTo(emptyOU, directory.RightDeleteTree, true)
			taken(removeOU(root, "Force", "true", "Recursive", "true"))
			assert.Equal(t, true, s.ok(readOU("OU=Inner,"+root), http.StatusOK)["protected"])
			// The description is changed, then the protection fails.
			s.ok(changeOU(root, "OUDescription", "before"), http.StatusOK)
			s.denyTo(root, directory.RightWriteDacl, false)
			taken(changeOU(root, "OUDescription", "after", "IsProtected", "false"))
			assert.Equal(t, "before", s.ok(readOU(root), http.StatusOK)["description"])
		})
	}
}
