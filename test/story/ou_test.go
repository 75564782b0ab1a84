// Package story tests users, groups, memberships, OUs, computers and DNS records through all their endpoints,
// from creation to removal, with their rules, limits and failures. Each change is read back in a second way.
package story

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

const (
	domainDN    = "DC=corp,DC=example"
	usersDN     = "CN=Users,DC=corp,DC=example"
	computersDN = "CN=Computers,DC=corp,DC=example"
	dcOU        = "OU=Domain Controllers,DC=corp,DC=example"
	oddOU       = "OU=Odd Names,OU=Corp,DC=corp,DC=example"
)

func TestTheLifeOfAnOU(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	path := "OU=Story," + systemtest.EmptyOU

	a := s.Do(systemtest.CreateOU("Story", strings.ToLower(systemtest.EmptyOU), "OUDescription", "Once upon a time"))
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
	assert.Equal(t, made, s.OK(systemtest.ReadOU(strings.ToUpper(path)), http.StatusOK))
	assert.Contains(t, s.Get("/api/OU/All").Envelope.Result, made)
	exists := s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": true, "guid": guid, "distinguishedName": path}, exists)
	for _, name := range []string{"Story", "STORY"} {
		assert.Equal(t, "OUName", systemtest.FirstField(s.Rejects(systemtest.CreateOU(name, systemtest.EmptyOU), http.StatusConflict, "conflict")))
	}

	// Missing, empty and unchanged values change nothing.
	s.ChangesNothing(systemtest.UpdateOU(path))
	s.ChangesNothing(systemtest.UpdateOU(path, "IsProtected", ""))
	s.ChangesNothing(systemtest.UpdateOU(path, "OUDescription", "Once upon a time", "IsProtected", "true"))
	assert.Equal(t, "once upon a time", s.OK(systemtest.UpdateOU(path, "OUDescription", "once upon a time"), http.StatusOK)["description"], "the case is a change")
	now := s.OK(systemtest.UpdateOU(path, "IsProtected", "false"), http.StatusOK)
	assert.Equal(t, []any{false, "once upon a time"}, []any{now["protected"], now["description"]})
	now = s.OK(systemtest.UpdateOU(path, "OUDescription", ""), http.StatusOK)
	assert.Equal(t, []any{false, nil}, []any{now["protected"], now["description"]})
	s.ChangesNothing(systemtest.UpdateOU(path, "OUDescription", ""))
	assert.Equal(t, true, s.OK(systemtest.UpdateOU(path, "IsProtected", "TRUE"), http.StatusOK)["protected"])

	// A protected OU can be renamed (facts E40).
	assert.Equal(t, "OUNewName", systemtest.FirstField(s.Rejects(systemtest.RenameOU(path, ""), http.StatusBadRequest, "invalid_request")))
	renamed := s.OK(systemtest.RenameOU(path, "Story, told"), http.StatusOK)
	assert.Equal(t, `OU=Story\, told,`+systemtest.EmptyOU, renamed["path"])
	assert.Equal(t, true, renamed["protected"])
	assert.Equal(t, guid, renamed["guid"])
	path = renamed["path"].(string)
	s.ChangesNothing(systemtest.RenameOU(path, "Story, told"))
	path = s.OK(systemtest.RenameOU(path, "story, told"), http.StatusOK)["path"].(string)
	assert.Equal(t, `OU=story\, told,`+systemtest.EmptyOU, path, "a change of case is a change")

	// A move keeps the protection (facts E41).
	s.ChangesNothing(systemtest.MoveOU(path, systemtest.EmptyOU))
	for _, below := range []string{path, strings.ToLower(path)} {
		assert.Equal(t, "OUDestinationPath", systemtest.FirstField(s.Rejects(systemtest.MoveOU(path, below), http.StatusUnprocessableEntity, "unprocessable")))
	}
	s.OK(systemtest.CreateOU("Inner", path), http.StatusCreated)
	s.Rejects(systemtest.MoveOU(path, "OU=Inner,"+path), http.StatusUnprocessableEntity, "unprocessable")
	a = s.Do(systemtest.MoveOU(path, domainDN))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, `OU=story\, told,`+domainDN, s.Record(a)["path"])
	assert.Equal(t, true, s.Record(a)["protected"])
	path = s.Record(a)["path"].(string)
	assert.Equal(t, true, byGUID(guid)["protected"])
	assert.Equal(t, true, s.OK(systemtest.ReadOU("OU=Inner,"+path), http.StatusOK)["protected"], "what is below stays as it was")
	s.OK(systemtest.CreateOU("story, told", systemtest.EmptyOU), http.StatusCreated)
	assert.Equal(t, "OUDestinationPath", systemtest.FirstField(s.Rejects(systemtest.MoveOU(path, systemtest.EmptyOU), http.StatusConflict, "conflict")))
	s.OK(systemtest.CreateOU("other", systemtest.EmptyOU), http.StatusCreated)
	s.Rejects(systemtest.RenameOU("OU=other,"+systemtest.EmptyOU, "Story, Told"), http.StatusConflict, "conflict")
	assert.Equal(t, true, s.OK(systemtest.ReadOU(path), http.StatusOK)["protected"])

	// The OU cannot be removed while it is protected, or while it is not empty. Then the whole tree is removed.
	s.Rejects(systemtest.RemoveOU(path), http.StatusConflict, "protected")
	s.Rejects(systemtest.RemoveOU(path, "Force", "true"), http.StatusConflict, "not_empty")
	s.Rejects(systemtest.RemoveOU(path, "Recursive", "true"), http.StatusConflict, "protected")
	a = s.Do(systemtest.RemoveOU(path, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "The OU '"+path+"' was removed: 2 organizationalUnits.", a.Envelope.Output)
	assert.Equal(t, guid, s.Record(a)["guid"])
	s.Rejects(systemtest.RemoveOU(path, "Force", "true"), http.StatusNotFound, "not_found")
	s.Rejects(systemtest.ReadOU(path), http.StatusNotFound, "not_found")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/OU/Guid/Details?OUGuid=" + guid}, http.StatusNotFound, "not_found")
	exists = s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Exists", map[string]any{"OUPath": path})
	assert.Equal(t, map[string]any{"exists": false, "guid": nil, "distinguishedName": nil}, exists)
	for _, name := range []string{`story\, told`, "other"} {
		s.OK(systemtest.RemoveOU("OU="+name+","+systemtest.EmptyOU, "Force", "true"), http.StatusOK)
	}
	// Only the parents' parts of the protection remain (facts E38).
	for _, line := range start.Compare(s.Snapshot()) {
		assert.Regexp(t, "^~ ("+systemtest.EmptyOU+"|"+domainDN+") ", line)
	}
}

func TestObjectsThatAreNotOUsAreNotChanged(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, dn := range []string{usersDN, computersDN, domainDN, "CN=Builtin," + domainDN, "CN=System," + domainDN} {
				s.Rejects(systemtest.UpdateOU(dn, "OUDescription", "x"), http.StatusConflict, "protected")
				s.Rejects(systemtest.MoveOU(dn, systemtest.EmptyOU), http.StatusConflict, "protected")
				s.Rejects(systemtest.RenameOU(dn, "x"), http.StatusConflict, "protected")
				s.Rejects(systemtest.RemoveOU(dn, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			}
			for _, dn := range []string{systemtest.SampleUserDN, "OU=None," + domainDN, "CN=FS1,OU=Servers,OU=Devices," + systemtest.CorpOU} {
				for _, c := range []systemtest.Call{systemtest.UpdateOU(dn, "OUDescription", "x"), systemtest.MoveOU(dn, systemtest.EmptyOU), systemtest.RenameOU(dn, "x"), systemtest.RemoveOU(dn), systemtest.ReadOU(dn)} {
					assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(c, http.StatusNotFound, "not_found")))
				}
				assert.Equal(t, "OUDestinationPath", systemtest.FirstField(s.Rejects(systemtest.CreateOU("x", dn), http.StatusUnprocessableEntity, "unprocessable")))
				assert.Equal(t, "OUDestinationPath", systemtest.FirstField(s.Rejects(systemtest.MoveOU(systemtest.EmptyOU, dn), http.StatusUnprocessableEntity, "unprocessable")))
			}
			for _, c := range []systemtest.Call{systemtest.UpdateOU("x", "OUDescription", "x"), systemtest.MoveOU("x", systemtest.EmptyOU), systemtest.RenameOU("x", "x"), systemtest.RemoveOU("x"), systemtest.ReadOU("x")} {
				assert.Equal(t, "OUPath", systemtest.FirstField(s.Rejects(c, http.StatusBadRequest, "invalid_request")))
			}
			// The directory does not allow an OU in a container.
			for _, c := range []systemtest.Call{systemtest.CreateOU("x", usersDN), systemtest.MoveOU(systemtest.EmptyOU, usersDN)} {
				a := s.Rejects(c, http.StatusUnprocessableEntity, "unprocessable")
				assert.Equal(t, "OUDestinationPath", systemtest.FirstField(a))
				assert.Contains(t, a.Envelope.Error.Message, "is a container: an OU lies in an OU or in the domain itself")
			}
			// The system's own OU cannot be changed.
			s.Rejects(systemtest.MoveOU(dcOU, systemtest.EmptyOU), http.StatusConflict, "protected")
			s.Rejects(systemtest.RenameOU(dcOU, "x"), http.StatusConflict, "protected")
			s.Rejects(systemtest.RemoveOU(dcOU, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
			s.Rejects(systemtest.UpdateOU(dcOU, "IsProtected", "false").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
		})
	}
}

func TestOddNamesOfOUs(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, name := range []string{`a,b`, ` lead`, `trail `, `#x`, `a+b=c;d<e>"f"\`, `a/b`, "Ω😀", "*", "(x)", `\2a`, "CN=x", "$(Get-Date)", strings.Repeat("ä", 64)} {
		made := s.OK(systemtest.CreateOU(name, oddOU), http.StatusCreated)
		assert.Equal(t, name, made["name"])
		path := made["path"].(string)
		assert.Equal(t, made, s.OK(systemtest.ReadOU(path), http.StatusOK), name)
		s.Rejects(systemtest.CreateOU(name, oddOU), http.StatusConflict, "conflict")
		moved := s.OK(systemtest.MoveOU(path, systemtest.EmptyOU), http.StatusOK)
		assert.Equal(t, name, moved["name"])
		assert.Equal(t, true, moved["protected"], name)
		plain := s.OK(systemtest.RenameOU(moved["path"].(string), "plain"), http.StatusOK)
		again := s.OK(systemtest.RenameOU(plain["path"].(string), name), http.StatusOK)
		assert.Equal(t, moved["path"], again["path"], name)
		s.OK(systemtest.RemoveOU(again["path"].(string), "Force", "true"), http.StatusOK)
	}
}

func TestLimitsOfTokensOnOUs(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	inside := "OU=Sales," + systemtest.LimitedOU
	s.Rejects(systemtest.CreateOU("x", systemtest.EmptyOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(systemtest.UpdateOU(systemtest.EmptyOU, "OUDescription", "x").As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(systemtest.RenameOU(systemtest.EmptyOU, "x").As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(systemtest.RemoveOU(systemtest.EmptyOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	s.Rejects(systemtest.MoveOU(systemtest.EmptyOU, systemtest.LimitedOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	assert.Equal(t, "OUDestinationPath", systemtest.FirstField(s.Rejects(systemtest.MoveOU(inside, systemtest.EmptyOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")))
	s.Rejects(systemtest.ReadOU(systemtest.EmptyOU).As(systemtest.LimitedToken), http.StatusForbidden, "limit")
	guid := s.OK(systemtest.ReadOU(systemtest.EmptyOU), http.StatusOK)["guid"].(string)
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/OU/Guid/Details?OUGuid=" + guid, Token: systemtest.LimitedToken}, http.StatusNotFound, "not_found")

	made := s.OK(systemtest.CreateOU("Limited", inside).As(systemtest.LimitedToken), http.StatusCreated)
	moved := s.OK(systemtest.MoveOU(made["path"].(string), systemtest.LimitedOU).As(systemtest.LimitedToken), http.StatusOK)
	listed := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/OU/All", Token: systemtest.LimitedToken})
	assert.Contains(t, listed.Envelope.Result, moved)
	for _, ou := range listed.Envelope.Result {
		assert.True(t, strings.HasSuffix(ou["path"].(string), systemtest.LimitedOU), ou["path"])
	}
	s.OK(systemtest.RemoveOU(moved["path"].(string), "Force", "true").As(systemtest.LimitedToken), http.StatusOK)
}

func TestRemovingATreeOfOUs(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=6")
	root := s.CreateTree(systemtest.EmptyOU)

	s.Rejects(systemtest.RemoveOU(root), http.StatusConflict, "protected")
	s.Rejects(systemtest.RemoveOU(root, "Force", "true"), http.StatusConflict, "not_empty")
	assert.Equal(t, true, s.OK(systemtest.ReadOU(root), http.StatusOK)["protected"])
	a := s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true").As(systemtest.NoTreeToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "ou:delete-tree")
	s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "false").As(systemtest.NoTreeToken), http.StatusConflict, "not_empty")

	s.OK(systemtest.UpdateOU(root, "IsProtected", "false"), http.StatusOK)
	a = s.Rejects(systemtest.RemoveOU(root, "Recursive", "true"), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "OU=Inner,", "the one that is protected is named")

	s.AddObject("CN=one too many,"+root, "container")
	a = s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "too_many")
	assert.Contains(t, a.Envelope.Output, " 7 objects")
	require.NoError(t, s.DC1().Delete(context.Background(), "CN=one too many,"+root))

	s.SetAttribute("CN=tree.user,"+root, "adminCount", "1")
	a = s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "CN=tree.user,"+root)

	// The groups in the tree stay guarded.
	group := "CN=tree group 1,OU=Inner," + root
	a = s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true").As(systemtest.GroupToken), http.StatusForbidden, "limit")
	assert.NotContains(t, a.Envelope.Output, group)
	require.NoError(t, s.DC1().Delete(context.Background(), "CN=tree.user,"+root))
	s.AddObject("CN=tree.user,"+root, "user", "sAMAccountName", "tree.user")
	s.SetAttribute("CN=DnsAdmins,"+usersDN, "adminCount", "1")
	s.SetAttribute("CN=DnsAdmins,"+usersDN, "member", group)
	a = s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true").As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "guarded objects lie below it")
	s.SetAttribute(group, "member", systemtest.SampleUserDN)
	s.SetAttribute(systemtest.SampleUserDN, "primaryGroupID", s.Stored(group, "objectSid").SID.RID())
	a = s.Rejects(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true"), http.StatusConflict, "conflict")
	assert.Contains(t, a.Envelope.Output, systemtest.SampleUserDN)
	s.SetAttribute(systemtest.SampleUserDN, "primaryGroupID", 513)

	a = s.Do(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "The OU '"+root+"' was removed: 1 computer, 2 groups, 2 organizationalUnits, 1 user.", a.Envelope.Output)
	s.Rejects(systemtest.ReadOU("OU=Inner,"+root), http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/tree.user/Exists", nil)["exists"])
}

// TestHalfAProtection: an OU can be removed if it has its own part of a protection but the parent's part is
// missing. Such an OU counts as unprotected (facts E37, E41).
func TestHalfAProtection(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	half := s.OK(systemtest.CreateOU("Half", systemtest.EmptyOU, "IsProtected", "false"), http.StatusCreated)["path"].(string)
	s.OK(systemtest.CreateOU("Inner", half, "IsProtected", "false"), http.StatusCreated)
	s.DenyEveryone(half, directory.RightDelete|directory.RightDeleteTree, false)
	assert.Equal(t, false, s.OK(systemtest.ReadOU(half), http.StatusOK)["protected"])
	a := s.Rejects(systemtest.RemoveOU(half, "Recursive", "true"), http.StatusForbidden, "directory_denied")
	assert.Equal(t, "none", a.Envelope.Error.Outcome)
	// An inherited Deny entry remains. The missing half of the protection is restored, and the answer reports
	// that.
	s.DenyEveryone(systemtest.EmptyOU, directory.RightDeleteTree, true)
	a = s.Do(systemtest.RemoveOU(half, "Recursive", "true", "Force", "true"))
	assert.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	assert.Equal(t, "This remains: "+half, a.Envelope.Error.Details[len(a.Envelope.Error.Details)-1].Message)
	assert.Equal(t, true, s.OK(systemtest.ReadOU(half), http.StatusOK)["protected"])
	require.NoError(t, s.DC1().SetACL(context.Background(), systemtest.EmptyOU, nil))
	assert.Equal(t, false, s.OK(systemtest.ReadOU(half), http.StatusOK)["protected"])
	s.OK(systemtest.RemoveOU(half, "Recursive", "true", "Force", "true"), http.StatusOK)
	s.Rejects(systemtest.ReadOU(half), http.StatusNotFound, "not_found")
}

// TestCreatingAnOUWhoseAccessListsAreHidden: the module fails after it has created the OU, whether or not the
// OU is protected (facts E73). The OU is then removed.
func TestCreatingAnOUWhoseAccessListsAreHidden(t *testing.T) {
	for _, isProtected := range []string{"true", "false"} {
		t.Run(isProtected, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			s.DenyEveryone(systemtest.EmptyOU, directory.RightReadControl, false)
			start := s.Snapshot()
			create := systemtest.CreateOU("Hidden", systemtest.EmptyOU, "IsProtected", isProtected)
			a := s.Rejects(create, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			assert.Equal(t, "OUDestinationPath", systemtest.FirstField(a))
			assert.Empty(t, start.Compare(s.Snapshot()), "the OU was removed again")

			// If the OU cannot be removed, the error names it.
			s.DenyEveryone(systemtest.EmptyOU, directory.RightDelete|directory.RightDeleteChild, true)
			a = s.Do(create)
			require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
			assert.Equal(t, "partial", a.Envelope.Error.Outcome)
			assert.Equal(t, "This remains: OU=Hidden,"+systemtest.EmptyOU, a.Envelope.Error.Details[len(a.Envelope.Error.Details)-1].Message)

			// An existing OU is not mistaken for the new one.
			s.Rejects(create, http.StatusConflict, "conflict")
			s.OK(systemtest.ReadOU("OU=Hidden,"+systemtest.EmptyOU), http.StatusOK)
		})
	}
}

func TestATreeWithAControllerIsNotRemoved(t *testing.T) {
	var ldif strings.Builder
	for name, attributes := range map[string]string{
		"DCX":      "userAccountControl: 532480\n",
		"RODCX":    "userAccountControl: 83890176\nprimaryGroupID: 521\n",
		"CRITICAL": "userAccountControl: 4096\nisCriticalSystemObject: TRUE\n",
	} {
		parent := "OU=With " + name + "," + systemtest.EmptyOU
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: organizationalUnit\nadgatewayProtected: TRUE\n\ndn: OU=Inner,%s\nobjectClass: organizationalUnit\n\n", parent, parent)
		fmt.Fprintf(&ldif, "dn: CN=%s,OU=Inner,%s\nobjectClass: computer\nsAMAccountName: %s$\n%s\n", name, parent, name, attributes)
	}
	file := filepath.Join(t.TempDir(), "controllers.ldif")
	require.NoError(t, os.WriteFile(file, []byte(ldif.String()), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	for _, name := range []string{"DCX", "RODCX", "CRITICAL"} {
		parent := "OU=With " + name + "," + systemtest.EmptyOU
		a := s.Rejects(systemtest.RemoveOU(parent, "Force", "true", "Recursive", "true"), http.StatusConflict, "protected")
		assert.Contains(t, a.Envelope.Output, "'CN="+name+",")
		assert.Equal(t, true, s.OK(systemtest.ReadOU(parent), http.StatusOK)["protected"])
		s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: "/api/Computers/" + name + "/Remove"}, http.StatusConflict, "protected")
	}
}

// TestFailedChangesAreUndone: if a late step of a change fails, all earlier steps are undone, including those
// that lifted a protection.
func TestFailedChangesAreUndone(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			root := s.CreateTree(systemtest.EmptyOU)
			taken := func(c systemtest.Call) {
				t.Helper()
				a := s.Rejects(c, http.StatusForbidden, "directory_denied")
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
				assert.Equal(t, true, s.OK(systemtest.ReadOU(root), http.StatusOK)["protected"])
			}
			// The move itself is denied.
			s.OK(systemtest.CreateOU("Closed", systemtest.CorpOU, "IsProtected", "false"), http.StatusCreated)
			closed := "OU=Closed," + systemtest.CorpOU
			s.DenyEveryone(closed, directory.RightCreateChild, false)
			taken(systemtest.MoveOU(root, closed))
			// The move succeeds, but the protection cannot be restored at the destination.
			s.OK(systemtest.CreateOU("Sealed", systemtest.CorpOU, "IsProtected", "false"), http.StatusCreated)
			sealed := "OU=Sealed," + systemtest.CorpOU
			s.DenyEveryone(sealed, directory.RightWriteDacl, false)
			taken(systemtest.MoveOU(root, sealed))
			// An OU is created but cannot be protected.
			taken(systemtest.CreateOU("x", sealed))
			s.OK(systemtest.CreateOU("x", sealed, "IsProtected", "false"), http.StatusCreated)
			// Protections are lifted, but the tree cannot be removed.
			s.DenyEveryone(systemtest.EmptyOU, directory.RightDeleteTree, true)
			taken(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true"))
			assert.Equal(t, true, s.OK(systemtest.ReadOU("OU=Inner,"+root), http.StatusOK)["protected"])
			// The description is changed, but then the protection fails.
			s.OK(systemtest.UpdateOU(root, "OUDescription", "before"), http.StatusOK)
			s.DenyEveryone(root, directory.RightWriteDacl, false)
			taken(systemtest.UpdateOU(root, "OUDescription", "after", "IsProtected", "false"))
			assert.Equal(t, "before", s.OK(systemtest.ReadOU(root), http.StatusOK)["description"])
		})
	}
}
