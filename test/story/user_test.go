package story

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

// everyInput contains a valid value for every input of a user.
var everyInput = map[string]any{
	"FirstName": "Jane", "Initials": "J.D.", "LastName": "Doe", "DisplayName": "Doe, Jane", "Description": "Line 1\r\nLine 2",
	"EmailAddress": "jane@corp.example", "Department": "R&D", "Office": "B 2.01", "Company": "Corp <Example>", "JobTitle": "Engineer; $(x)",
	"Street": "Street 1\nBack yard", "POBox": "PO 7", "City": "Αθήνα", "State": "Attica", "ZipCode": "10431",
	"OfficePhone": "+30 1", "HomePhone": "+30 2", "MobilePhone": "+30 3", "ProfilePath": `\\fs1\profiles\jane`,
	"ProfileLogonScript": "logon.cmd", "HomeFolderDirectory": `\\fs1\home\jane`, "HomeFolderDrive": "H:",
}

var fieldNames = map[string]string{"Street": "streetAddress", "POBox": "streetPoBox", "ZipCode": "postalCode"}

// fieldOf returns the field of the record that stores an input.
func fieldOf(input string) string {
	if name, differs := fieldNames[input]; differs {
		return name
	}
	return strings.ToLower(input[:1]) + input[1:]
}

// TestTheLifeOfAUser: every endpoint of users works, and each change can be read back in a second way.
func TestTheLifeOfAUser(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	inputs := maps.Clone(everyInput)
	inputs["OUPath"], inputs["Manager"], inputs["Country"], inputs["Password"] = systemtest.ITOU, systemtest.SampleUser, "Greece", systemtest.GoodPassword
	made := s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/jane", Params: inputs}, http.StatusCreated)
	guid := made["guid"].(string)
	for input, value := range everyInput {
		assert.Equal(t, value, made[fieldOf(input)], input)
	}
	assert.Equal(t, "CN=jane,"+systemtest.ITOU, made["distinguishedName"])
	assert.Equal(t, systemtest.ITOU, made["ouPath"])
	assert.Equal(t, systemtest.SampleUserDN, made["manager"])
	assert.Equal(t, "GR", made["country"])
	assert.Equal(t, made["homeFolderDirectory"], made["homeFolderPath"])
	assert.Equal(t, []any{true, true, false}, []any{made["enabled"], made["changePasswordNextLogon"], made["passwordNeverExpired"]})
	o := s.Stored("CN=jane,"+systemtest.ITOU, "c", "co", "countryCode", "userPrincipalName")
	number, _ := o.Int("countryCode")
	assert.Equal(t, "GR Greece 300 jane@corp.example", fmt.Sprintf("%s %s %d %s", o.String("c"), o.String("co"), number, o.String("userPrincipalName")))

	byGUID := "/api/ADUserGuid?UserGuid=" + url.QueryEscape("{"+strings.ToUpper(guid)+"}")
	assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodGet, Path: byGUID}, http.StatusOK))
	assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/jane/Details"}, http.StatusOK))
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/jane/Exists"}, http.StatusOK)["exists"])
	listed := s.Get("/api/ADUser/ListUsers?Recursive=false&OUPath=" + url.QueryEscape(systemtest.ITOU))
	assert.Contains(t, listed.Envelope.Result, made)
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/JANE"}, http.StatusConflict, "conflict")

	// A missing input changes nothing, an empty input clears the value, and any other input sets it.
	changed := s.Put("/api/ADUser/jane", map[string]any{"FirstName": "Janet", "Description": "", "Country": "", "Manager": "", "POBox": ""})
	want := maps.Clone(made)
	want["firstName"], want["description"], want["country"], want["manager"], want["streetPoBox"], want["modified"] = "Janet", nil, nil, nil, nil, changed["modified"]
	assert.Equal(t, want, changed)
	o = s.Stored("CN=jane,"+systemtest.ITOU, "c", "co", "countryCode")
	number, _ = o.Int("countryCode")
	assert.Equal(t, "  0", fmt.Sprintf("%s %s %d", o.String("c"), o.String("co"), number))
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUserGuid", Params: map[string]any{"UserGuid": guid, "FirstName": "Janet", "Description": ""}})
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Contains(t, a.Envelope.Output, "nothing was changed")

	// The user is moved, with every kind of reference to the manager.
	for _, manager := range []string{systemtest.SampleUser, systemtest.SampleUserGUID, systemtest.SampleUserDN} {
		assert.Equal(t, systemtest.SampleUserDN, s.Put("/api/ADUser/jane", map[string]any{"Manager": manager})["manager"], manager)
		s.Put("/api/ADUser/jane", map[string]any{"Manager": ""})
	}
	moved := s.Put("/api/ADUserGuid", map[string]any{"UserGuid": guid, "OUPath": strings.ToLower(systemtest.AthensOU), "LastName": "Roe"})
	assert.Equal(t, "CN=jane,"+systemtest.AthensOU, moved["distinguishedName"])
	assert.Equal(t, "Roe", moved["lastName"])

	// The user is disabled and enabled, each twice.
	for _, c := range []struct {
		word    string
		enabled bool
	}{{"Disable", false}, {"Enable", true}} {
		first := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/jane/" + c.word, Params: map[string]any{"ShowFields": "enabled"}})
		assert.Equal(t, []map[string]any{{"enabled": c.enabled}}, first.Envelope.Result)
		assert.NotContains(t, first.Envelope.Output, "nothing was changed")
		again := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/jane/" + c.word})
		assert.Equal(t, http.StatusOK, again.Status)
		assert.Contains(t, again.Envelope.Output, "nothing was changed")
	}

	// After a rename, the CN and the display name follow if they were equal to the user name.
	s.Put("/api/ADUser/jane", map[string]any{"DisplayName": "JANE"})
	renamed := s.Put("/api/ADUser/jane/Rename/janet", nil)
	assert.Equal(t, []any{"janet", "janet", "janet", "janet@corp.example", guid},
		[]any{renamed["username"], renamed["name"], renamed["displayName"], renamed["userPrincipalName"], renamed["guid"]})
	s.Put("/api/ADUser/janet", map[string]any{"DisplayName": "Roe, Janet"})
	renamed = s.Put("/api/ADUser/janet/Rename/Janet", nil)
	assert.Equal(t, []any{"Janet", "Janet", "Roe, Janet"}, []any{renamed["username"], renamed["name"], renamed["displayName"]}, "in other case, too")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/jane/Details"}, http.StatusNotFound, "not_found")
	s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/janet/Rename/" + systemtest.SampleUser}, http.StatusConflict, "conflict")

	// A user removed by GUID is found nowhere.
	gone := s.OK(systemtest.Call{Method: http.MethodDelete, Path: byGUID}, http.StatusOK)
	assert.Equal(t, "Roe", gone["lastName"])
	assert.Empty(t, start.Compare(s.Snapshot()), "nothing is left of it")
	s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: byGUID}, http.StatusNotFound, "not_found")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: byGUID}, http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/janet/Exists"}, http.StatusOK)["exists"])
	assert.NotContains(t, s.Log.String(), systemtest.GoodPassword)
}

// TestImpossibleUpdatesAreRejected: in every language of Windows, the error names the parameter, and no part
// of the update is made.
func TestImpossibleUpdatesAreRejected(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
		ctx := context.Background()
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/never", Params: map[string]any{"PasswordNeverExpired": true}}, http.StatusCreated)
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/plain"}, http.StatusCreated)
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/kept", Params: map[string]any{"OUPath": systemtest.ITOU}}, http.StatusCreated)
		require.NoError(t, s.DC1().SetProtected(ctx, "CN=kept,"+systemtest.ITOU, true))
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/twin", Params: map[string]any{"OUPath": systemtest.AthensOU}}, http.StatusCreated)
		s.Put("/api/ADUser/twin/Rename/other", nil) // this also changes the CN
		require.NoError(t, s.DC1().Rename(ctx, "CN=other,"+systemtest.AthensOU, "plain"))
		everyStep := map[string]any{"Description": "x", "PasswordNeverExpired": true, "OUPath": systemtest.AthensOU}
		for name, c := range map[string]struct {
			user   string
			params map[string]any
			status int
			code   string
			field  string
			token  string
		}{
			"an empty password":        {"plain", map[string]any{"City": "x", "Password": ""}, 400, "invalid_request", "Password", ""},
			"two home folders":         {"plain", map[string]any{"HomeFolderPath": `\\a\b`, "HomeFolderDirectory": `\\a\c`}, 400, "invalid_request", "HomeFolderPath", ""},
			"no such user":             {"nobody", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"a common name":            {"Anna Schmidt", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"a group":                  {"Domain Users", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"no such manager":          {"plain", map[string]any{"City": "x", "Manager": "nobody"}, 422, "unprocessable", "Manager", ""},
			"a group as manager":       {"plain", map[string]any{"Manager": "Domain Users"}, 422, "unprocessable", "Manager", ""},
			"no such place":            {"plain", map[string]any{"City": "x", "OUPath": "OU=No,DC=corp,DC=example"}, 422, "unprocessable", "OUPath", ""},
			"a user as place":          {"plain", map[string]any{"OUPath": systemtest.SampleUserDN}, 422, "unprocessable", "OUPath", ""},
			"a name taken there":       {"plain", map[string]any{"City": "x", "OUPath": systemtest.AthensOU}, 409, "conflict", "OUPath", ""},
			"a protected user moves":   {"kept", map[string]any{"City": "x", "OUPath": systemtest.AthensOU}, 409, "protected", "OUPath", ""},
			"a weak password, at last": {"never", map[string]any{"Description": "x", "PasswordNeverExpired": false, "OUPath": systemtest.AthensOU, "Password": "weak"}, 422, "policy", "Password", ""},
			"out of the token's OU":    {"jkrueger", map[string]any{"City": "x", "OUPath": systemtest.AthensOU}, 403, "limit", "OUPath", systemtest.LimitedToken},
			"not in the token's OU":    {"plain", map[string]any{"City": "x"}, 404, "not_found", "Username", systemtest.LimitedToken},
			"a manager outside of it":  {"aschmidt", map[string]any{"Manager": "plain"}, 422, "unprocessable", "Manager", systemtest.LimitedToken},
			"an account of the system": {"krbtgt", map[string]any{"City": "x"}, 403, "forbidden", "Username", systemtest.PlainToken},
		} {
			t.Run(culture+"/"+name, func(t *testing.T) {
				a := s.In(t).Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + url.PathEscape(c.user), Params: c.params, Token: c.token}, c.status, c.code)
				require.NotEmpty(t, a.Envelope.Error.Details, "%s", a.Body)
				assert.Equal(t, c.field, a.Envelope.Error.Details[0].Field)
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
			})
		}
		t.Run(culture+"/a place that takes nobody", func(t *testing.T) {
			s := s.In(t)
			deny := directory.ACE{Trustee: directory.Everyone, Rights: directory.RightCreateChild}
			require.NoError(t, s.DC1().SetACL(ctx, systemtest.AthensOU, []directory.ACE{deny}))
			s.Put("/api/ADUser/plain/Rename/plainer", nil)
			a := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/plainer", Params: everyStep}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "OUPath", a.Envelope.Error.Details[0].Field)
		})
		t.Run(culture+"/a protected user changes otherwise", func(t *testing.T) {
			s := s.In(t)
			assert.Equal(t, "x", s.Put("/api/ADUser/kept", map[string]any{"City": "x", "OUPath": systemtest.ITOU})["city"])
			assert.Equal(t, "CN=kept.too,"+systemtest.ITOU, s.Put("/api/ADUser/kept/Rename/kept.too", nil)["distinguishedName"])
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/kept.too"}, http.StatusConflict, "protected")
		})
	}
}

// TestImpossibleStatesAreRejected: other changes of users are rejected in states that do not allow them.
func TestImpossibleStatesAreRejected(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
		for _, c := range []struct {
			path   string
			params map[string]any
			status int
			code   string
			token  string
		}{
			{"never.set/Enable", nil, 422, "policy", ""},
			{"nobody/Enable", nil, 404, "not_found", ""},
			{"nobody/Unlock", nil, 404, "not_found", ""},
			{"nobody/ResetPassword", nil, 404, "not_found", ""},
			{"nobody/Rename/other", nil, 404, "not_found", ""},
			{"aschmidt/Rename/" + url.PathEscape("bad*name"), nil, 400, "invalid_request", ""},
			{"aschmidt/Rename/jkrueger", nil, 409, "conflict", ""},
			{"aschmidt/ResetPassword", map[string]any{"newPassword": "short"}, 422, "policy", ""},
			{"aschmidt/ResetPassword", map[string]any{"newPassword": ""}, 400, "invalid_request", ""},
			{"Administrator/Disable", nil, 403, "forbidden", systemtest.PlainToken},
			{"Administrator/ResetPassword", nil, 403, "forbidden", systemtest.PlainToken},
			{"Administrator/Rename/boss", nil, 403, "forbidden", systemtest.PlainToken},
			{"dvlachos/Disable", nil, 404, "not_found", systemtest.LimitedToken},
			{"dvlachos/Unlock", nil, 404, "not_found", systemtest.LimitedToken},
			{"dvlachos/ResetPassword", nil, 404, "not_found", systemtest.LimitedToken},
			{"dvlachos/Rename/other", nil, 404, "not_found", systemtest.LimitedToken},
		} {
			t.Run(culture+"/"+c.path, func(t *testing.T) {
				a := s.In(t).Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + c.path, Params: c.params, Token: c.token}, c.status, c.code)
				assert.NotContains(t, string(a.Body), `"password"`)
				if c.path == "never.set/Enable" { // the caller gave no password
					assert.Contains(t, a.Envelope.Error.Message, "has no password that the policy of the domain allows. Set one first.")
				}
			})
		}
	}
}

// TestPasswordsAndTheirChange: facts H6 to H10 hold for updates.
func TestPasswordsAndTheirChange(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/pass"}, http.StatusCreated)
	for i, c := range []struct {
		params              map[string]any
		must, never, hasSet bool
	}{
		{map[string]any{"ChangePasswordNextLogon": false}, false, false, true},
		{map[string]any{"ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"Password": systemtest.GoodPassword}, false, false, true},
		{map[string]any{"Password": systemtest.GoodPassword, "ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"PasswordNeverExpired": true}, false, true, false},
		{map[string]any{"PasswordNeverExpired": false, "ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"Password": systemtest.GoodPassword, "PasswordNeverExpired": true}, false, true, true},
		{map[string]any{"Password": systemtest.GoodPassword, "PasswordNeverExpired": false, "ChangePasswordNextLogon": true}, true, false, false},
	} {
		got := s.Put("/api/ADUser/pass", c.params)
		assert.Equal(t, []any{c.must, c.never, c.hasSet}, []any{got["changePasswordNextLogon"], got["passwordNeverExpired"], got["passwordLastSet"] != nil}, "step %d", i)
	}
	s.Put("/api/ADUser/pass/Enable", nil)
	s.Put("/api/ADUser/pass/ResetPassword", map[string]any{"newPassword": "An0ther-Horse"})
	require.NoError(t, s.DC1().Logon(context.Background(), "pass", "An0ther-Horse"))
	assert.NotContains(t, s.Log.String(), "Horse")
}

// TestGeneratedPasswords: a generated password is shown once and works.
func TestGeneratedPasswords(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/made", Params: map[string]any{"Password": systemtest.GoodPassword}}, http.StatusCreated)
	seen := map[string]bool{}
	for i, params := range []map[string]any{nil, {"ShowFields": "username"}, {"ChangePassword": "false"}} {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/made/ResetPassword", Params: params})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		password, _ := a.Envelope.Result[0]["password"].(string)
		if i == 1 {
			assert.Len(t, a.Envelope.Result[0], 2)
		}
		classes := map[string]bool{}
		for _, r := range password {
			classes[fmt.Sprint(unicode.IsUpper(r), unicode.IsLower(r), unicode.IsDigit(r))] = true
		}
		assert.Len(t, password, 24)
		assert.Len(t, classes, 4)
		assert.False(t, seen[password])
		seen[password] = true
		require.NoError(t, s.DC1().Logon(context.Background(), "made", password))
		assert.NotContains(t, s.Log.String(), password)
		assert.NotContains(t, a.Envelope.Output, password)
	}
	given := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/made/ResetPassword", Params: map[string]any{"newPassword": systemtest.GoodPassword, "ChangePassword": true}})
	assert.NotContains(t, given.Envelope.Result[0], "password")
	assert.Equal(t, true, given.Envelope.Result[0]["changePasswordNextLogon"])
	classic := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/made/ResetPassword", Token: systemtest.ClassicToken})
	var answer struct {
		Result map[string]any `json:"result"`
	}
	require.NoError(t, json.Unmarshal(classic.Body, &answer))
	assert.Len(t, answer.Result["password"], 24)
}

// TestUnlocking: a user who was locked out by wrong passwords can be unlocked. A second unlock changes
// nothing.
func TestUnlocking(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/lock", Params: map[string]any{"Password": systemtest.GoodPassword, "ChangePasswordNextLogon": false}}, http.StatusCreated)
	for range 5 {
		require.Error(t, s.DC1().Logon(context.Background(), "lock", "wrong"))
	}
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/lock/Details"}, http.StatusOK)["lockedOut"])
	for i, unlocked := range []bool{true, false} {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/lock/Unlock", Params: map[string]any{"ShowFields": "lockedOut"}})
		assert.Equal(t, []map[string]any{{"lockedOut": false}}, a.Envelope.Result, "%d: %s", i, a.Body)
		assert.Equal(t, !unlocked, strings.Contains(a.Envelope.Output, "nothing was changed"))
	}
	require.NoError(t, s.DC1().Logon(context.Background(), "lock", systemtest.GoodPassword))
}

// TestLastLogon: the answer contains the latest logon at any domain controller and lists
// controllers that do not answer.
func TestLastLogon(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	dc1, dc2 := s.World.Directory.DCs()[0], s.World.Directory.DCs()[1]
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/logon"}, http.StatusCreated)
	s.World.Directory.Replicate()
	ask := func(want map[string]any) {
		t.Helper()
		want["username"] = "logon"
		assert.Equal(t, want, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/LOGON/LastLogon"}, http.StatusOK))
	}
	ask(map[string]any{"lastLogon": nil, "source": nil, "complete": true, "unreached": []any{}})
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	require.NoError(t, dc1.SetLastLogon(context.Background(), "CN=logon,CN=Users,DC=corp,DC=example", at))
	ask(map[string]any{"lastLogon": "2026-05-04T03:02:01Z", "source": dc1.HostName(), "complete": true, "unreached": []any{}})
	require.NoError(t, dc2.SetLastLogon(context.Background(), "CN=logon,CN=Users,DC=corp,DC=example", at.Add(time.Hour)))
	ask(map[string]any{"lastLogon": "2026-05-04T04:02:01Z", "source": dc2.HostName(), "complete": true, "unreached": []any{}})
	classic := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/logon/LastLogon", Token: systemtest.ClassicToken})
	assert.JSONEq(t, `"2026-05-04T04:02:01Z"`, string(member(t, classic.Body, "result")))
	require.NoError(t, sandboxtest.SetAlive(s.World, dc2.HostName(), false))
	ask(map[string]any{"lastLogon": "2026-05-04T03:02:01Z", "source": dc1.HostName(), "complete": false, "unreached": []any{dc2.HostName()}})
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/nobody/LastLogon"}, http.StatusNotFound, "not_found")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/dvlachos/LastLogon", Token: systemtest.LimitedToken}, http.StatusNotFound, "not_found")
}

// TestLastLogonAsksReadOnlyControllersToo: read-only controllers are queried as well, because they do not
// replicate the logons that they store.
func TestLastLogonAsksReadOnlyControllersToo(t *testing.T) {
	ctx := context.Background()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	branch := w.Directory.DCs()[1]
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, branch.SetLastLogon(ctx, systemtest.SampleUserDN, at))
	branch.SetWritable(false)
	s := systemtest.NewOn(t, w, w.Starter())
	path := "/api/ADUser/" + systemtest.SampleUser + "/LastLogon"
	got := s.OK(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusOK)
	assert.Equal(t, []any{"2026-10-01T00:00:00Z", branch.HostName(), true}, []any{got["lastLogon"], got["source"], got["complete"]})
	require.NoError(t, sandboxtest.SetAlive(w, branch.HostName(), false))
	got = s.OK(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusOK)
	assert.Equal(t, []any{false, []any{branch.HostName()}}, []any{got["complete"], got["unreached"]})
}

// member returns one member of a JSON object.
func member(t testing.TB, body []byte, name string) json.RawMessage {
	t.Helper()
	var object map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &object))
	return object[name]
}

// TestNamesThatAreEqualForTheDirectory: the directory ignores diacritics (KB 938447), but a change
// must name its object exactly.
func TestNamesThatAreEqualForTheDirectory(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	path := func(name string) string { return "/api/ADUser/" + url.PathEscape(name) }
	s.OK(systemtest.Call{Method: http.MethodPost, Path: path("J.Müßig")}, http.StatusCreated)
	a := s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path("j.mussig")}, http.StatusConflict, "conflict")
	assert.Contains(t, a.Envelope.Output, "CN=J.Müßig,")
	assert.Equal(t, "J.Müßig", s.OK(systemtest.Call{Method: http.MethodGet, Path: path("j.mussig") + "/Details"}, http.StatusOK)["username"])
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: path("j.mussig") + "/Exists"}, http.StatusOK)["exists"])
	for _, c := range []systemtest.Call{
		{Method: http.MethodDelete, Path: path("j.mussig")},
		{Method: http.MethodPut, Path: path("j.mussig"), Params: map[string]any{"City": "Bonn"}},
		{Method: http.MethodPut, Path: path("j.mussig") + "/Rename/jm"},
	} {
		a := s.Rejects(c, http.StatusNotFound, "not_found")
		assert.Contains(t, a.Envelope.Output, "No user has the account name 'j.mussig'")
		assert.Contains(t, a.Envelope.Output, "'J.Müßig'")
	}
	s.Put(path("j.müßig"), map[string]any{"City": "Bonn"})
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: path("j.müßig")}, http.StatusOK)
}

// TestTextsThatLookAlikeAreDistinguished: PowerShell compares by culture, and ignores combining
// accents, soft hyphens and invisible characters. The scripts do not.
func TestTextsThatLookAlikeAreDistinguished(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/jdoe"}, http.StatusCreated)
	for _, city := range []string{"\u200b", "Lie\u0300ge", "Li\u00e8ge", "Li\u00e8ge\u200d", "Co\u00adburg", "Coburg", "COBURG", "\u200f", ""} {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/jdoe", Params: map[string]any{"City": city, "HomeFolderPath": city}})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Equal(t, "The user 'jdoe' was changed.", a.Envelope.Output, "%q", city)
		read := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/jdoe/Details"}, http.StatusOK)
		for _, field := range []string{"city", "homeFolderPath"} {
			if city == "" {
				assert.Nil(t, read[field])
			} else {
				assert.Equal(t, city, read[field])
			}
		}
	}
	ou := map[string]any{"OUPath": systemtest.EmptyOU}
	for _, text := range []string{"\u200b", "\u00ad", "a\u00ad", "a"} {
		ou["OUDescription"] = text
		assert.Equal(t, text, s.Put("/api/OU", ou)["description"])
		assert.Equal(t, text, s.Put("/api/Computers/FS1/Update", map[string]any{"ComputerDescription": text})["description"])
	}
	name := "jdoe"
	for _, next := range []string{"Lie\u0300ge", "Li\u00e8ge", "coburg"} {
		s.Put("/api/ADUser/"+url.PathEscape(name)+"/Rename/"+url.PathEscape(next), nil)
		read := s.Stored("CN="+next+",CN=Users,DC=corp,DC=example", "sAMAccountName", "userPrincipalName")
		assert.Equal(t, next, read.String("sAMAccountName"))
		assert.Equal(t, next+"@corp.example", read.String("userPrincipalName"))
		name = next
	}
}

// TestOtherNamesOfAnAccountAreExplained: other forms of an account's name, which
// administrators know but the API does not accept, are refused with an explanation.
func TestOtherNamesOfAnAccountAreExplained(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for path, explained := range map[string]bool{
		"ADUser/aschmidt@corp.example/Details": true, `ADUser/CORP%5Caschmidt/Details`: true, "Computers/fs1.corp.example": true,
		"ADUser/S-1-5-21-1-2-3-500/Details": false, "ADUser/no.body/Details": false, "ADUser/nobody/Details": false, "Computers/nothing": false,
	} {
		a := s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/" + path}, http.StatusNotFound, "not_found")
		assert.Equal(t, explained, strings.Contains(a.Envelope.Error.Message, `not by UPN, DNS name or DOMAIN\name`), "%s", a.Body)
	}
}
