package story

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

func restore(guid string, pairs ...string) systemtest.Call {
	c := systemtest.Call{Method: http.MethodPut, Path: "/api/RecycleBin/" + guid + "/Restore",
		Params: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		c.Params[pairs[i]] = pairs[i+1]
	}
	return c
}

func deleted(guid string) systemtest.Call {
	return systemtest.Call{Method: http.MethodGet, Path: "/api/RecycleBin/" + guid}
}

func removal(path string) systemtest.Call {
	return systemtest.Call{Method: http.MethodDelete, Path: path}
}

// requireBack requires the world to be as it was at the start, except for the named attributes and those that
// every restored object keeps from its deletion.
func requireBack(t *testing.T, s *systemtest.System, start sandboxtest.Snapshot, changed ...string) {
	t.Helper()
	for _, difference := range start.Compare(s.Snapshot()) {
		words := strings.Fields(difference)
		attribute := words[len(words)-1]
		assert.True(t, slices.Contains(append(changed, "lastKnownParent", "msDS-LastKnownRDN"), attribute),
			difference)
	}
}

func TestTheLifeOfADeletedUser(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	guid := systemtest.SampleUserGUID
	s.Rejects(restore(guid), http.StatusNotFound, "not_found")
	s.Rejects(restore("x"), http.StatusBadRequest, "invalid_request")
	require.NoError(t, s.DC1().ResetPassword(t.Context(), systemtest.SampleUserDN, "Corr3ct-Horse-7"))
	start := s.Snapshot()
	s.OK(removal("/api/ADUser/"+systemtest.SampleUser), http.StatusOK)

	status := s.Record(s.Get("/api/RecycleBin/Status"))
	assert.Equal(t, []any{true, true, 180.0, 180.0, nil},
		[]any{status["enabled"], status["canRead"], status["deletedObjectDays"], status["tombstoneDays"],
			status["canRestore"]})
	list := s.Get("/api/RecycleBin")
	require.Len(t, list.Envelope.Result, 1)
	gone := s.Record(list)
	parent := strings.SplitN(systemtest.SampleUserDN, ",", 2)[1]
	assert.Equal(t, []any{guid, "user", "Anna Schmidt", systemtest.SampleUser, parent, false, true, nil},
		[]any{gone["guid"], gone["type"], gone["name"], gone["account"], gone["lastOUPath"],
			gone["lastParentDeleted"], gone["restorable"], gone["why"]})
	assert.Less(t, gone["deletedAbout"], gone["expiresAbout"])
	for query, found := range map[string]int{
		"Type=user": 1, "Type=group": 0, "Name=anna%20SCHMIDT": 1, "Name=Anna": 0, "Account=ASCHMIDT": 1, "Account=a*": 0,
		"LastOUPath=" + strings.ReplaceAll(strings.ToLower(parent), ",", "%2C"): 1, "LastOUPath=" + domainDN: 0,
		"DeletedSince=2020-01-01T00:00:00Z": 1, "DeletedSince=2099-01-01T00:00:00.5Z": 0,
	} {
		a := s.Get("/api/RecycleBin?" + query)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Len(t, a.Envelope.Result, found, query)
	}
	one := s.OK(deleted(guid), http.StatusOK)
	assert.Len(t, one["memberOf"], 5)
	assert.Empty(t, one["children"])

	// Another user takes the names of the removed one.
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + systemtest.SampleUser},
		http.StatusCreated)
	assert.Equal(t, "account_taken", s.OK(deleted(guid), http.StatusOK)["why"])
	a := s.Rejects(restore(guid, "NewName", "Another"), http.StatusConflict, "conflict")
	assert.Contains(t, a.Envelope.Error.Message, "taken by")
	s.OK(removal("/api/ADUser/"+systemtest.SampleUser), http.StatusOK)
	s.AddObject(systemtest.SampleUserDN, "contact")
	assert.Equal(t, "name_taken", s.OK(deleted(guid), http.StatusOK)["why"])
	s.Rejects(restore(guid), http.StatusConflict, "conflict")
	require.NoError(t, s.DC1().Delete(t.Context(), systemtest.SampleUserDN))
	s.Rejects(restore(guid, "OUPath", "OU=None,"+domainDN), http.StatusUnprocessableEntity, "unprocessable")
	assert.Len(t, s.Get("/api/RecycleBin").Envelope.Result, 2,
		"the same name can be deleted twice; what is no account is not listed")

	// The user is restored with its password and memberships, but disabled.
	back := s.OK(restore(guid), http.StatusOK)
	assert.Equal(t, []any{guid, systemtest.SampleUserDN, false},
		[]any{back["guid"], back["distinguishedName"], back["enabled"]})
	requireBack(t, s, start, "userAccountControl")
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser + "/Enable"},
		http.StatusOK)
	require.NoError(t, s.DC1().Logon(t.Context(), systemtest.SampleUser, "Corr3ct-Horse-7"),
		"it has its old password")
	s.Rejects(restore(guid), http.StatusNotFound, "not_found")

	// The user is restored in another place under another name, enabled and protected.
	s.OK(removal("/api/ADUser/"+systemtest.SampleUser), http.StatusOK)
	back = s.OK(restore(guid, "OUPath", systemtest.EmptyOU, "NewName", `Schmidt, "Anna"`, "Disabled", "false",
		"Protect", "true"), http.StatusOK)
	assert.Equal(t, []any{`CN=Schmidt\, \"Anna\",` + systemtest.EmptyOU, true}, []any{back["distinguishedName"], back["enabled"]})
	s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/" + systemtest.SampleUser},
		http.StatusConflict, "protected")
}

func TestDeletedTrees(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	top := s.OK(systemtest.CreateOU("Tree", systemtest.EmptyOU, "IsProtected", "false"), http.StatusCreated)
	path := top["path"].(string)
	inner := s.OK(systemtest.CreateOU("Inner, one", path, "IsProtected", "false"), http.StatusCreated)
	s.AddObject("CN=tree.user,"+inner["path"].(string), "user", "sAMAccountName", "tree.user")
	require.NoError(t, s.DC1().Modify(t.Context(), "CN=VPN Users,OU=Security,OU=Groups,OU=Corp,"+domainDN,
		[]directory.Change{
			{Op: directory.OpAdd, Name: "member", Values: []any{"CN=tree.user," + inner["path"].(string)}},
		}, directory.ModifyOptions{}))
	s.AddObject("CN=Contact,"+path, "contact")
	start := s.Snapshot()
	remove := systemtest.Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove",
		Params: map[string]any{"OUPath": path, "Recursive": "true"}}
	s.OK(remove, http.StatusOK)
	topGUID, innerGUID := top["guid"].(string), inner["guid"].(string)

	gone := s.OK(deleted(innerGUID), http.StatusOK)
	assert.Equal(t, []any{"parent_deleted", path, true},
		[]any{gone["why"], gone["lastOUPath"], gone["lastParentDeleted"]})
	assert.Len(t, gone["children"], 1)
	a := s.Rejects(restore(innerGUID), http.StatusConflict, "parent_deleted")
	assert.Contains(t, a.Envelope.Error.Message, topGUID)
	a = s.Do(restore(topGUID, "Recursive", "true", "DryRun", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	a = s.Do(restore(topGUID, "Recursive", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Len(t, a.Envelope.Result, 4)
	assert.Contains(t, a.Envelope.Output, "4 objects")
	requireBack(t, s, start)

	// The top alone is restored, then one of its children to another place.
	s.OK(remove, http.StatusOK)
	assert.Len(t, s.Do(restore(topGUID)).Envelope.Result, 1)
	s.OK(restore(innerGUID, "NewName", "Inner two"), http.StatusOK)

	// An object that cannot be restored does not keep the others from being restored.
	user := s.OK(deleted(s.Record(s.Get("/api/RecycleBin?Account=tree.user"))["guid"].(string)), http.StatusOK)
	s.OK(restore(user["guid"].(string)), http.StatusOK)
	s.OK(remove, http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/tree.user"}, http.StatusCreated)
	a = s.Do(restore(topGUID, "Recursive", "true"))
	require.Equal(t, http.StatusMultiStatus, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Code)
	assert.Len(t, a.Envelope.Result, 3)
}

func TestDeletedGroupsAndComputers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	group := s.Record(s.Get("/api/ADGroups/VPN%20Users"))["guid"].(string)
	computer := s.Record(s.Get("/api/Computers/WEB2"))["guid"].(string)
	s.OK(removal("/api/ADGroups/VPN%20Users/Remove"), http.StatusOK)
	s.OK(removal("/api/Computers/WEB2/Remove"), http.StatusOK)
	assert.Len(t, s.Get("/api/RecycleBin?Type=computer&Account=web2").Envelope.Result, 1,
		"an account of a computer may lack its $")
	back := s.OK(restore(group), http.StatusOK)
	assert.Nil(t, back["enabled"])
	back = s.OK(restore(computer, "Disabled", "false"), http.StatusOK)
	assert.Equal(t, true, back["enabled"])
	requireBack(t, s, start)
}

func TestRestoringNeedsRights(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	guid := systemtest.SampleUserGUID
	s.OK(removal("/api/ADUser/"+systemtest.SampleUser), http.StatusOK)
	admin := s.Stored("CN=Server Admins,OU=Security,OU=Groups,OU=Corp,"+domainDN, "adminCount").GUID.String()
	require.NoError(t, s.DC1().Delete(t.Context(), "CN=Server Admins,OU=Security,OU=Groups,OU=Corp,"+domainDN))

	s.Rejects(restore(guid).As(systemtest.ReadToken), http.StatusForbidden, "forbidden")
	s.Rejects(restore(admin).As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	s.OK(restore(admin), http.StatusOK)

	require.NoError(t, s.DC1().SetACL(t.Context(), domainDN, []directory.ACE{
		{Trustee: directory.Everyone, Rights: directory.RightControlAccess, ObjectType: directory.ReanimateRight},
	}))
	s.Rejects(restore(guid), http.StatusForbidden, "directory_denied")
}

func TestRecycleBinOff(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, NoRecycleBin: true})
	guid := systemtest.SampleUserGUID
	s.OK(removal("/api/ADUser/"+systemtest.SampleUser), http.StatusOK)
	status := s.Get("/api/RecycleBin/Status")
	assert.Equal(t, false, s.Record(status)["enabled"])
	list := s.Get("/api/RecycleBin")
	assert.Empty(t, list.Envelope.Result)
	require.Len(t, list.Envelope.Warnings, 1)
	assert.Equal(t, "bin_off", list.Envelope.Warnings[0].Code)
	start := s.Snapshot()
	a := s.Rejects(restore(guid), http.StatusUnprocessableEntity, "not_undoable")
	assert.Contains(t, a.Envelope.Error.Message, "password")
	assert.Empty(t, start.Compare(s.Snapshot()))
}

// TestTheUndoOfATreeBringsBackThatTree: the undo of the removal of a tree does not restore objects that were
// deleted from the tree earlier, even if that was only shortly before.
func TestTheUndoOfATreeBringsBackThatTree(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const ou = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	gone := s.OK(post("/api/ADUser/gone.before", "OUPath", ou), http.StatusCreated)["guid"].(string)
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/gone.before"}, http.StatusOK)
	start := s.Snapshot()
	removed := s.Do(systemtest.RemoveOU(ou, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
	id := removed.Header.Get("X-Change-Id")
	a := s.Do(undoChange(id, nil))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	for _, difference := range start.Compare(s.Snapshot()) {
		assert.Regexp(t, `^~ .* (lastKnownParent|msDS-LastKnownRDN)$`, difference, "what the bin leaves behind")
	}
	assert.Len(t, s.Get("/api/RecycleBin").Envelope.Result, 1)
	s.OK(deleted(gone), http.StatusOK)
}

// TestTheBinNamesTheChange: each object in the bin names the last change that removed it, even if that change
// was an item of a list.
func TestTheBinNamesTheChange(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	remove := func(path string) string {
		a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Header.Get("X-Change-Id")
	}
	guid := s.Record(s.Get("/api/ADGroups/Local%20List"))["guid"].(string)
	remove("/api/ADGroups/Local%20List/Remove")
	back := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/RecycleBin/" + guid + "/Restore"})
	require.Equal(t, http.StatusOK, back.Status, "%s", back.Body)
	again, user := remove("/api/ADGroups/Local%20List/Remove"), remove("/api/ADUser/tom.gone")
	var named []any
	for _, record := range s.Get("/api/RecycleBin").Envelope.Result {
		named = append(named, record["changeId"])
	}
	assert.ElementsMatch(t, []any{again, user}, named)
	assert.Equal(t, again, s.Record(s.Get("/api/RecycleBin/" + guid))["changeId"])
}

// TestARestoreAnswersWithTheRecordOfTheClass: the answer contains the same record as a read of the object.
func TestARestoreAnswersWithTheRecordOfTheClass(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, c := range map[string]struct{ remove, read string }{
		"user":     {"/api/ADUser/tom.gone", "/api/ADUser/tom.gone/Details"},
		"group":    {"/api/ADGroups/Local%20List/Remove", "/api/ADGroups/Local%20List"},
		"computer": {"/api/Computers/WEB2/Remove", "/api/Computers/WEB2"},
		"ou":       {"/api/OU/Path/Remove?OUPath=" + url.QueryEscape(systemtest.EmptyOU), "/api/OU/Path/Details?OUPath=" + url.QueryEscape(systemtest.EmptyOU)},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			guid := s.Record(s.Get(c.read))["guid"].(string)
			gone := s.Do(systemtest.Call{Method: http.MethodDelete, Path: c.remove})
			require.Equal(t, http.StatusOK, gone.Status, "%s", gone.Body)
			back := s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/RecycleBin/" + guid + "/Restore"},
				http.StatusOK)
			assert.Equal(t, s.Record(s.Get(c.read)), back)
		})
	}
}

// TestADeletedObjectShowsNoGroupsOutsideTheLimits: neither the memberships of a deleted object nor the
// objects that were below it name groups outside the caller's limits.
func TestADeletedObjectShowsNoGroupsOutsideTheLimits(t *testing.T) {
	s, callers := visibleSystem(t)
	groups := identity.Limits{Groups: []string{"Finance Staff", "Inside"}}
	limited := callers.set(identity.KindToken, groups, identity.All)
	user := s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/fhoffmann"}, http.StatusOK)
	create := func(path string, params map[string]any) {
		s.OK(systemtest.Call{Method: http.MethodPost, Path: path, Params: params}, http.StatusCreated)
	}
	create("/api/OU", map[string]any{
		"OUName": "Tree", "OUDestinationPath": systemtest.EmptyOU, "IsProtected": false,
	})
	for _, name := range []string{"Inside", "Outside"} {
		create("/api/ADGroups/"+name+"/Security", map[string]any{"OUPath": "OU=Tree," + systemtest.EmptyOU})
	}
	tree := s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove", Params: map[string]any{
		"OUPath": "OU=Tree," + systemtest.EmptyOU, "Recursive": true, "Force": true,
	}}, http.StatusOK)
	for _, c := range []struct {
		guid, token     string
		inside, outside string
		shown           bool
	}{
		{user["guid"].(string), systemtest.AllToken, "Finance Staff", "Berlin Office", true},
		{user["guid"].(string), limited, "Finance Staff", "Berlin Office", false},
		{tree["guid"].(string), systemtest.AllToken, "Inside", "Outside", true},
		{tree["guid"].(string), limited, "Inside", "Outside", false},
	} {
		a := s.Do(deleted(c.guid).As(c.token))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Contains(t, string(a.Body), c.inside)
		assert.Equal(t, c.shown, strings.Contains(string(a.Body), c.outside), "%s", a.Body)
	}
}
