package test

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

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	staffOU  = "OU=Staff,OU=Corp,DC=corp,DC=example"
	berlinOU = "OU=Berlin," + staffOU
	itOU     = "OU=IT," + berlinOU
	athensOU = "OU=Athens," + staffOU
	goodPass = "Corr3ct-Horse"
)

// cultures are the languages in which the directory speaks.
var cultures = []string{"en-US", "de-DE"}

// ok sends a request that must succeed with a status, and returns its only record.
func (s *system) ok(c call, status int) map[string]any {
	s.t.Helper()
	a := s.do(c)
	require.Equal(s.t, status, a.status, "%s %s: %s", c.method, c.path, a.body)
	require.Len(s.t, a.envelope.Result, 1, "%s", a.body)
	return a.envelope.Result[0]
}

func (s *system) put(path string, params map[string]any) map[string]any {
	s.t.Helper()
	return s.ok(call{method: http.MethodPut, path: path, params: params}, http.StatusOK)
}

// dc1 is the controller that everything is asked of.
func (s *system) dc1() *directory.DC { return s.world.Directory.DCs()[0] }

// stored are the values of attributes in the directory itself.
func (s *system) stored(ref string, attributes ...string) *directory.Object {
	s.t.Helper()
	o, err := s.dc1().Get(context.Background(), ref, attributes...)
	require.NoError(s.t, err)
	return o
}

// everyInput are good values of the inputs of a user, and the fields they end in.
var everyInput = map[string]any{
	"FirstName": "Jane", "Initials": "J.D.", "LastName": "Doe", "DisplayName": "Doe, Jane", "Description": "Line 1\r\nLine 2",
	"EmailAddress": "jane@corp.example", "Department": "R&D", "Office": "B 2.01", "Company": "Corp <Example>", "JobTitle": "Engineer; $(x)",
	"Street": "Street 1\nBack yard", "POBox": "PO 7", "City": "Αθήνα", "State": "Attica", "ZipCode": "10431",
	"OfficePhone": "+30 1", "HomePhone": "+30 2", "MobilePhone": "+30 3", "ProfilePath": `\\fs1\profiles\jane`,
	"ProfileLogonScript": "logon.cmd", "HomeFolderDirectory": `\\fs1\home\jane`, "HomeFolderDrive": "H:",
}

var fieldNames = map[string]string{"Street": "streetAddress", "POBox": "streetPoBox", "ZipCode": "postalCode"}

func fieldOf(input string) string {
	if name, differs := fieldNames[input]; differs {
		return name
	}
	return strings.ToLower(input[:1]) + input[1:]
}

// TestTheLifeOfAUser goes through every endpoint of users, each change read back
// by a second route.
func TestTheLifeOfAUser(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	inputs := maps.Clone(everyInput)
	inputs["OUPath"], inputs["Manager"], inputs["Country"], inputs["Password"] = itOU, sampleUser, "Greece", goodPass
	made := s.ok(call{method: http.MethodPost, path: "/api/ADUser/jane", params: inputs}, http.StatusCreated)
	guid := made["guid"].(string)
	for input, value := range everyInput {
		assert.Equal(t, value, made[fieldOf(input)], input)
	}
	assert.Equal(t, "CN=jane,"+itOU, made["distinguishedName"])
	assert.Equal(t, itOU, made["ouPath"])
	assert.Equal(t, sampleUserDN, made["manager"])
	assert.Equal(t, "GR", made["country"])
	assert.Nil(t, made["homeFolderPath"])
	assert.Equal(t, []any{true, true, false}, []any{made["enabled"], made["changePasswordNextLogon"], made["passwordNeverExpired"]})
	o := s.stored("CN=jane,"+itOU, "c", "co", "countryCode", "userPrincipalName")
	number, _ := o.Int("countryCode")
	assert.Equal(t, "GR Greece 300 jane@corp.example", fmt.Sprintf("%s %s %d %s", o.String("c"), o.String("co"), number, o.String("userPrincipalName")))

	byGUID := "/api/ADUserGuid?UserGuid=" + url.QueryEscape("{"+strings.ToUpper(guid)+"}")
	assert.Equal(t, made, s.ok(call{method: http.MethodGet, path: byGUID}, http.StatusOK))
	assert.Equal(t, made, s.ok(call{method: http.MethodGet, path: "/api/ADUser/jane/Details"}, http.StatusOK))
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: "/api/ADUser/jane/Exists"}, http.StatusOK)["exists"])
	listed := s.get("/api/ADUser/ListUsers?Recursive=false&OUPath=" + url.QueryEscape(itOU))
	assert.Contains(t, listed.envelope.Result, made)
	s.refused(call{method: http.MethodPost, path: "/api/ADUser/JANE"}, http.StatusConflict, "conflict")

	// An absent input stays, an empty one is cleared, a value is set.
	changed := s.put("/api/ADUser/jane", map[string]any{"FirstName": "Janet", "Description": "", "Country": "", "Manager": "", "POBox": ""})
	want := maps.Clone(made)
	want["firstName"], want["description"], want["country"], want["manager"], want["streetPoBox"], want["modified"] = "Janet", nil, nil, nil, nil, changed["modified"]
	assert.Equal(t, want, changed)
	o = s.stored("CN=jane,"+itOU, "c", "co", "countryCode")
	number, _ = o.Int("countryCode")
	assert.Equal(t, "  0", fmt.Sprintf("%s %s %d", o.String("c"), o.String("co"), number))
	a := s.do(call{method: http.MethodPut, path: "/api/ADUserGuid", params: map[string]any{"UserGuid": guid, "FirstName": "Janet", "Description": ""}})
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.envelope.Output, "nothing was changed")

	// Moved, with the class of every kind of reference to the manager.
	for _, manager := range []string{sampleUser, sampleUserGUID, sampleUserDN} {
		assert.Equal(t, sampleUserDN, s.put("/api/ADUser/jane", map[string]any{"Manager": manager})["manager"], manager)
		s.put("/api/ADUser/jane", map[string]any{"Manager": ""})
	}
	moved := s.put("/api/ADUserGuid", map[string]any{"UserGuid": guid, "OUPath": strings.ToLower(athensOU), "LastName": "Roe"})
	assert.Equal(t, "CN=jane,"+athensOU, moved["distinguishedName"])
	assert.Equal(t, "Roe", moved["lastName"])

	// Disabled and enabled, each twice.
	for _, c := range []struct {
		word    string
		enabled bool
	}{{"Disable", false}, {"Enable", true}} {
		first := s.do(call{method: http.MethodPut, path: "/api/ADUser/jane/" + c.word, params: map[string]any{"ShowFields": "enabled"}})
		assert.Equal(t, []map[string]any{{"enabled": c.enabled}}, first.envelope.Result)
		assert.NotContains(t, first.envelope.Output, "nothing was changed")
		again := s.do(call{method: http.MethodPut, path: "/api/ADUser/jane/" + c.word})
		assert.Equal(t, http.StatusOK, again.status)
		assert.Contains(t, again.envelope.Output, "nothing was changed")
	}

	// Renamed: the CN and the display name follow where they were the username.
	s.put("/api/ADUser/jane", map[string]any{"DisplayName": "JANE"})
	renamed := s.put("/api/ADUser/jane/Rename/janet", nil)
	assert.Equal(t, []any{"janet", "janet", "janet", "janet@corp.example", guid},
		[]any{renamed["username"], renamed["name"], renamed["displayName"], renamed["userPrincipalName"], renamed["guid"]})
	s.put("/api/ADUser/janet", map[string]any{"DisplayName": "Roe, Janet"})
	renamed = s.put("/api/ADUser/janet/Rename/Janet", nil)
	assert.Equal(t, []any{"Janet", "Janet", "Roe, Janet"}, []any{renamed["username"], renamed["name"], renamed["displayName"]}, "in other case, too")
	s.refused(call{method: http.MethodGet, path: "/api/ADUser/jane/Details"}, http.StatusNotFound, "not_found")
	s.refused(call{method: http.MethodPut, path: "/api/ADUser/janet/Rename/" + sampleUser}, http.StatusConflict, "conflict")

	// Removed by GUID; then it is gone everywhere.
	gone := s.ok(call{method: http.MethodDelete, path: byGUID}, http.StatusOK)
	assert.Equal(t, "Roe", gone["lastName"])
	assert.Empty(t, start.Compare(s.snapshot()), "nothing is left of it")
	s.refused(call{method: http.MethodDelete, path: byGUID}, http.StatusNotFound, "not_found")
	s.refused(call{method: http.MethodGet, path: byGUID}, http.StatusNotFound, "not_found")
	assert.Equal(t, false, s.ok(call{method: http.MethodGet, path: "/api/ADUser/janet/Exists"}, http.StatusOK)["exists"])
	assert.NotContains(t, s.log.String(), goodPass)
}

// TestUpdatesThatCannotBeAreRefused: each is refused with its field, and nothing
// of it is done, in every language.
func TestUpdatesThatCannotBeAreRefused(t *testing.T) {
	for _, culture := range cultures {
		s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
		ctx := context.Background()
		s.ok(call{method: http.MethodPost, path: "/api/ADUser/never", params: map[string]any{"PasswordNeverExpired": true}}, http.StatusCreated)
		s.ok(call{method: http.MethodPost, path: "/api/ADUser/plain"}, http.StatusCreated)
		s.ok(call{method: http.MethodPost, path: "/api/ADUser/kept", params: map[string]any{"OUPath": itOU}}, http.StatusCreated)
		require.NoError(t, s.dc1().SetProtected(ctx, "CN=kept,"+itOU, true))
		s.ok(call{method: http.MethodPost, path: "/api/ADUser/twin", params: map[string]any{"OUPath": athensOU}}, http.StatusCreated)
		s.put("/api/ADUser/twin/Rename/other", nil) // CN and all
		require.NoError(t, s.dc1().Rename(ctx, "CN=other,"+athensOU, "plain"))
		everyStep := map[string]any{"Description": "x", "PasswordNeverExpired": true, "OUPath": athensOU}
		for name, c := range map[string]struct {
			user   string
			params map[string]any
			status int
			code   string
			field  string
			token  string
		}{
			"nothing":                    {"plain", map[string]any{"ShowFields": "name"}, 400, "invalid_request", "", ""},
			"only what counts as absent": {"plain", map[string]any{"OUPath": "", "Password": ""}, 400, "invalid_request", "", ""},
			"an empty flag":              {"plain", map[string]any{"PasswordNeverExpired": ""}, 400, "invalid_request", "PasswordNeverExpired", ""},
			"no such user":               {"nobody", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"a common name":              {"Anna Schmidt", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"a group":                    {"Domain Users", map[string]any{"City": "x"}, 404, "not_found", "Username", ""},
			"no such manager":            {"plain", map[string]any{"City": "x", "Manager": "nobody"}, 422, "unprocessable", "Manager", ""},
			"a group as manager":         {"plain", map[string]any{"Manager": "Domain Users"}, 422, "unprocessable", "Manager", ""},
			"no such place":              {"plain", map[string]any{"City": "x", "OUPath": "OU=No,DC=corp,DC=example"}, 422, "unprocessable", "OUPath", ""},
			"a user as place":            {"plain", map[string]any{"OUPath": sampleUserDN}, 422, "unprocessable", "OUPath", ""},
			"a name taken there":         {"plain", map[string]any{"City": "x", "OUPath": athensOU}, 409, "conflict", "OUPath", ""},
			"a protected user moves":     {"kept", map[string]any{"City": "x", "OUPath": athensOU}, 409, "protected", "OUPath", ""},
			"both flags":                 {"plain", map[string]any{"PasswordNeverExpired": true, "ChangePasswordNextLogon": true}, 400, "invalid_request", "ChangePasswordNextLogon", ""},
			"change what never expires":  {"never", map[string]any{"City": "x", "ChangePasswordNextLogon": true}, 422, "unprocessable", "ChangePasswordNextLogon", ""},
			"a weak password, at last":   {"never", map[string]any{"Description": "x", "PasswordNeverExpired": false, "OUPath": athensOU, "Password": "weak"}, 422, "policy", "Password", ""},
			"out of the token's OU":      {"jkrueger", map[string]any{"City": "x", "OUPath": athensOU}, 403, "limit", "OUPath", limitedToken},
			"not in the token's OU":      {"plain", map[string]any{"City": "x"}, 403, "limit", "Username", limitedToken},
			"a manager outside of it":    {"aschmidt", map[string]any{"Manager": "plain"}, 403, "limit", "Manager", limitedToken},
			"an account of the system":   {"krbtgt", map[string]any{"City": "x"}, 403, "forbidden", "Username", plainToken},
		} {
			t.Run(culture+"/"+name, func(t *testing.T) {
				a := s.in(t).refused(call{method: http.MethodPut, path: "/api/ADUser/" + url.PathEscape(c.user), params: c.params, token: c.token}, c.status, c.code)
				require.NotEmpty(t, a.envelope.Error.Details, "%s", a.body)
				assert.Equal(t, c.field, a.envelope.Error.Details[0].Field)
				assert.Equal(t, "none", a.envelope.Error.Outcome)
			})
		}
		t.Run(culture+"/a place that takes nobody", func(t *testing.T) {
			s := s.in(t)
			deny := directory.ACE{Trustee: directory.Everyone, Rights: directory.RightCreateChild}
			require.NoError(t, s.dc1().SetACL(ctx, athensOU, []directory.ACE{deny}))
			s.put("/api/ADUser/plain/Rename/plainer", nil)
			a := s.refused(call{method: http.MethodPut, path: "/api/ADUser/plainer", params: everyStep}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "OUPath", a.envelope.Error.Details[0].Field)
		})
		t.Run(culture+"/a protected user changes otherwise", func(t *testing.T) {
			s := s.in(t)
			assert.Equal(t, "x", s.put("/api/ADUser/kept", map[string]any{"City": "x", "OUPath": itOU})["city"])
			assert.Equal(t, "CN=kept.too,"+itOU, s.put("/api/ADUser/kept/Rename/kept.too", nil)["distinguishedName"])
			s.refused(call{method: http.MethodDelete, path: "/api/ADUser/kept.too"}, http.StatusConflict, "protected")
		})
	}
}

// TestStatesThatCannotBeAreRefused is the same for the other changes.
func TestStatesThatCannotBeAreRefused(t *testing.T) {
	for _, culture := range cultures {
		s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
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
			{"ahoffmann/ResetPassword", map[string]any{"newPassword": goodPass, "ChangePassword": true}, 422, "unprocessable", ""}, // never expires
			{"Administrator/Disable", nil, 403, "forbidden", plainToken},
			{"Administrator/ResetPassword", nil, 403, "forbidden", plainToken},
			{"Administrator/Rename/boss", nil, 403, "forbidden", plainToken},
			{"dvlachos/Disable", nil, 403, "limit", limitedToken},
			{"dvlachos/Unlock", nil, 403, "limit", limitedToken},
			{"dvlachos/ResetPassword", nil, 403, "limit", limitedToken},
			{"dvlachos/Rename/other", nil, 403, "limit", limitedToken},
		} {
			t.Run(culture+"/"+c.path, func(t *testing.T) {
				a := s.in(t).refused(call{method: http.MethodPut, path: "/api/ADUser/" + c.path, params: c.params, token: c.token}, c.status, c.code)
				assert.NotContains(t, string(a.body), `"password"`)
				if c.path == "never.set/Enable" { // nobody gave a password that could be wrong
					assert.Contains(t, a.envelope.Error.Message, "has no password that the policy of the domain allows. Set one first.")
				}
			})
		}
	}
}

// TestHomeFolders holds what an update makes of what is stored.
func TestHomeFolders(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/home"}, http.StatusCreated)
	for i, c := range []struct {
		params                 map[string]any
		path, directory, drive any
		refused                string
	}{
		{params: map[string]any{"HomeFolderDrive": "H:"}, refused: "HomeFolderDrive"},
		{params: map[string]any{"HomeFolderPath": `C:\home`}, path: `C:\home`},
		{params: map[string]any{"HomeFolderDrive": "H:"}, refused: "HomeFolderDrive"},
		{params: map[string]any{"HomeFolderDirectory": `\\fs1\home`, "HomeFolderDrive": "H:"}, directory: `\\fs1\home`, drive: "H:"},
		{params: map[string]any{"HomeFolderDrive": "Z:"}, directory: `\\fs1\home`, drive: "Z:"},
		{params: map[string]any{"HomeFolderDirectory": `\\fs2\home`}, directory: `\\fs2\home`, drive: "Z:"},
		{params: map[string]any{"HomeFolderPath": ""}, directory: `\\fs2\home`, drive: "Z:"},
		{params: map[string]any{"HomeFolderDirectory": "", "HomeFolderDrive": "H:"}, refused: "HomeFolderDrive"},
		{params: map[string]any{"HomeFolderPath": `C:\home`, "HomeFolderDrive": "H:"}, refused: "HomeFolderPath"},
		{params: map[string]any{"HomeFolderPath": `\\fs3\home`, "HomeFolderDrive": ""}, path: `\\fs3\home`},
		{params: map[string]any{"HomeFolderDrive": "X:"}, directory: `\\fs3\home`, drive: "X:"},
		{params: map[string]any{"HomeFolderDrive": ""}, path: `\\fs3\home`},
		{params: map[string]any{"HomeFolderDirectory": ""}, path: `\\fs3\home`},
		{params: map[string]any{"HomeFolderPath": ""}},
		{params: map[string]any{"HomeFolderDirectory": `\\fs1\home`, "HomeFolderDrive": "H:"}, directory: `\\fs1\home`, drive: "H:"},
		{params: map[string]any{"HomeFolderDirectory": ""}},
	} {
		if c.refused != "" {
			a := s.refused(call{method: http.MethodPut, path: "/api/ADUser/home", params: c.params}, http.StatusBadRequest, "invalid_request")
			assert.Equal(t, c.refused, a.envelope.Error.Details[0].Field, "step %d", i)
			continue
		}
		got := s.put("/api/ADUser/home", c.params)
		assert.Equal(t, []any{c.path, c.directory, c.drive}, []any{got["homeFolderPath"], got["homeFolderDirectory"], got["homeFolderDrive"]}, "step %d", i)
	}
}

// TestPasswordsAndTheirChange holds facts H6 to H10 as an update has them.
func TestPasswordsAndTheirChange(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/pass"}, http.StatusCreated)
	for i, c := range []struct {
		params              map[string]any
		must, never, hasSet bool
	}{
		{map[string]any{"ChangePasswordNextLogon": false}, false, false, true},
		{map[string]any{"ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"Password": goodPass}, false, false, true},
		{map[string]any{"Password": goodPass, "ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"PasswordNeverExpired": true}, false, true, false},
		{map[string]any{"PasswordNeverExpired": false, "ChangePasswordNextLogon": true}, true, false, false},
		{map[string]any{"Password": goodPass, "PasswordNeverExpired": true}, false, true, true},
		{map[string]any{"Password": goodPass, "PasswordNeverExpired": false, "ChangePasswordNextLogon": true}, true, false, false},
	} {
		got := s.put("/api/ADUser/pass", c.params)
		assert.Equal(t, []any{c.must, c.never, c.hasSet}, []any{got["changePasswordNextLogon"], got["passwordNeverExpired"], got["passwordLastSet"] != nil}, "step %d", i)
	}
	s.put("/api/ADUser/pass/Enable", nil)
	s.put("/api/ADUser/pass/ResetPassword", map[string]any{"newPassword": "An0ther-Horse"})
	require.NoError(t, s.dc1().Logon(context.Background(), "pass", "An0ther-Horse"))
	assert.NotContains(t, s.log.String(), "Horse")
}

// TestMadePasswords: one is made when none is given, shown once, and works.
func TestMadePasswords(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/made", params: map[string]any{"Password": goodPass}}, http.StatusCreated)
	seen := map[string]bool{}
	for i, params := range []map[string]any{nil, {"ShowFields": "username"}, {"newPassword": "", "ChangePassword": "false"}} {
		a := s.do(call{method: http.MethodPut, path: "/api/ADUser/made/ResetPassword", params: params})
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
		password, _ := a.envelope.Result[0]["password"].(string)
		if i == 1 {
			assert.Len(t, a.envelope.Result[0], 2)
		}
		classes := map[string]bool{}
		for _, r := range password {
			classes[fmt.Sprint(unicode.IsUpper(r), unicode.IsLower(r), unicode.IsDigit(r))] = true
		}
		assert.Len(t, password, 24)
		assert.Len(t, classes, 4)
		assert.False(t, seen[password])
		seen[password] = true
		require.NoError(t, s.dc1().Logon(context.Background(), "made", password))
		assert.NotContains(t, s.log.String(), password)
		assert.NotContains(t, a.envelope.Output, password)
	}
	given := s.do(call{method: http.MethodPut, path: "/api/ADUser/made/ResetPassword", params: map[string]any{"newPassword": goodPass, "ChangePassword": true}})
	assert.NotContains(t, given.envelope.Result[0], "password")
	assert.Equal(t, true, given.envelope.Result[0]["changePasswordNextLogon"])
	classic := s.do(call{method: http.MethodPut, path: "/api/ADUser/made/ResetPassword", token: classicToken})
	var answer struct {
		Result map[string]any `json:"result"`
	}
	require.NoError(t, json.Unmarshal(classic.body, &answer))
	assert.Len(t, answer.Result["password"], 24)
}

// TestUnlocking: a user is locked out by wrong passwords, and unlocked once.
func TestUnlocking(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/lock", params: map[string]any{"Password": goodPass, "ChangePasswordNextLogon": false}}, http.StatusCreated)
	for range 5 {
		require.Error(t, s.dc1().Logon(context.Background(), "lock", "wrong"))
	}
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: "/api/ADUser/lock/Details"}, http.StatusOK)["lockedOut"])
	for i, unlocked := range []bool{true, false} {
		a := s.do(call{method: http.MethodPut, path: "/api/ADUser/lock/Unlock", params: map[string]any{"ShowFields": "lockedOut"}})
		assert.Equal(t, []map[string]any{{"lockedOut": false}}, a.envelope.Result, "%d: %s", i, a.body)
		assert.Equal(t, !unlocked, strings.Contains(a.envelope.Output, "nothing was changed"))
	}
	require.NoError(t, s.dc1().Logon(context.Background(), "lock", goodPass))
}

// TestLastLogon: the latest of all controllers; those that do not answer are named.
func TestLastLogon(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	dc1, dc2 := s.world.Directory.DCs()[0], s.world.Directory.DCs()[1]
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/logon"}, http.StatusCreated)
	s.world.Directory.Replicate()
	ask := func(want map[string]any) {
		t.Helper()
		want["username"] = "logon"
		assert.Equal(t, want, s.ok(call{method: http.MethodGet, path: "/api/ADUser/LOGON/LastLogon"}, http.StatusOK))
	}
	ask(map[string]any{"lastLogon": nil, "source": nil, "complete": true, "unreached": []any{}})
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	require.NoError(t, dc1.SetLastLogon(context.Background(), "CN=logon,CN=Users,DC=corp,DC=example", at))
	ask(map[string]any{"lastLogon": "2026-05-04T03:02:01Z", "source": dc1.HostName(), "complete": true, "unreached": []any{}})
	require.NoError(t, dc2.SetLastLogon(context.Background(), "CN=logon,CN=Users,DC=corp,DC=example", at.Add(time.Hour)))
	ask(map[string]any{"lastLogon": "2026-05-04T04:02:01Z", "source": dc2.HostName(), "complete": true, "unreached": []any{}})
	classic := s.do(call{method: http.MethodGet, path: "/api/ADUser/logon/LastLogon", token: classicToken})
	assert.JSONEq(t, `"2026-05-04T04:02:01Z"`, string(member(t, classic.body, "result")))
	require.NoError(t, s.world.SetAlive(dc2.HostName(), false))
	ask(map[string]any{"lastLogon": "2026-05-04T03:02:01Z", "source": dc1.HostName(), "complete": false, "unreached": []any{dc2.HostName()}})
	s.refused(call{method: http.MethodGet, path: "/api/ADUser/nobody/LastLogon"}, http.StatusNotFound, "not_found")
	s.refused(call{method: http.MethodGet, path: "/api/ADUser/dvlachos/LastLogon", token: limitedToken}, http.StatusForbidden, "limit")
}

// TestLastLogonAsksReadOnlyControllersToo: what they saw is not replicated either.
func TestLastLogonAsksReadOnlyControllersToo(t *testing.T) {
	ctx := context.Background()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	branch := w.Directory.DCs()[1]
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, branch.SetLastLogon(ctx, sampleUserDN, at))
	branch.SetWritable(false)
	s := newSystemOn(t, w, w.Starter())
	path := "/api/ADUser/" + sampleUser + "/LastLogon"
	got := s.ok(call{method: http.MethodGet, path: path}, http.StatusOK)
	assert.Equal(t, []any{"2026-10-01T00:00:00Z", branch.HostName(), true}, []any{got["lastLogon"], got["source"], got["complete"]})
	require.NoError(t, w.SetAlive(branch.HostName(), false))
	got = s.ok(call{method: http.MethodGet, path: path}, http.StatusOK)
	assert.Equal(t, []any{false, []any{branch.HostName()}}, []any{got["complete"], got["unreached"]})
}

// member is one member of a JSON object.
func member(t testing.TB, body []byte, name string) json.RawMessage {
	t.Helper()
	var object map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &object))
	return object[name]
}

// TestNamesThatTheDirectoryTakesForTheSame: for it marks on letters make no
// difference (KB 938447). What is to be changed is named exactly all the same.
func TestNamesThatTheDirectoryTakesForTheSame(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	path := func(name string) string { return "/api/ADUser/" + url.PathEscape(name) }
	s.ok(call{method: http.MethodPost, path: path("J.Müßig")}, http.StatusCreated)
	a := s.refused(call{method: http.MethodPost, path: path("j.mussig")}, http.StatusConflict, "conflict")
	assert.Contains(t, a.envelope.Output, "CN=J.Müßig,")
	assert.Equal(t, "J.Müßig", s.ok(call{method: http.MethodGet, path: path("j.mussig") + "/Details"}, http.StatusOK)["username"])
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: path("j.mussig") + "/Exists"}, http.StatusOK)["exists"])
	for _, c := range []call{
		{method: http.MethodDelete, path: path("j.mussig")},
		{method: http.MethodPut, path: path("j.mussig"), params: map[string]any{"City": "Bonn"}},
		{method: http.MethodPut, path: path("j.mussig") + "/Rename/jm"},
	} {
		a := s.refused(c, http.StatusNotFound, "not_found")
		assert.Contains(t, a.envelope.Output, "No user has the account name 'j.mussig'")
		assert.Contains(t, a.envelope.Output, "'J.Müßig'")
	}
	s.put(path("j.müßig"), map[string]any{"City": "Bonn"})
	s.ok(call{method: http.MethodDelete, path: path("j.müßig")}, http.StatusOK)
}

// TestTextsThatOnlyLookAlikeAreToldApart: PowerShell's own comparison is that of a culture, for
// which an accent of its own, a soft hyphen or nothing visible make no difference.
func TestTextsThatOnlyLookAlikeAreToldApart(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/jdoe"}, http.StatusCreated)
	for _, city := range []string{"\u200b", "Lie\u0300ge", "Li\u00e8ge", "Li\u00e8ge\u200d", "Co\u00adburg", "Coburg", "COBURG", "\u202e", ""} {
		a := s.do(call{method: http.MethodPut, path: "/api/ADUser/jdoe", params: map[string]any{"City": city, "HomeFolderPath": city}})
		require.Equal(t, http.StatusOK, a.status, "%s", a.body)
		assert.Equal(t, "The user 'jdoe' was changed.", a.envelope.Output, "%q", city)
		read := s.ok(call{method: http.MethodGet, path: "/api/ADUser/jdoe/Details"}, http.StatusOK)
		for _, field := range []string{"city", "homeFolderPath"} {
			if city == "" {
				assert.Nil(t, read[field])
			} else {
				assert.Equal(t, city, read[field])
			}
		}
	}
	ou := map[string]any{"OUPath": emptyOU}
	for _, text := range []string{"\u200b", "\u00ad", "a\u00ad", "a"} {
		ou["OUDescription"] = text
		assert.Equal(t, text, s.put("/api/OU", ou)["description"])
		assert.Equal(t, text, s.put("/api/Computers/FS1/Update", map[string]any{"ComputerDescription": text})["description"])
	}
	name := "jdoe"
	for _, next := range []string{"Lie\u0300ge", "Li\u00e8ge", "co\u00adburg", "coburg"} {
		s.put("/api/ADUser/"+url.PathEscape(name)+"/Rename/"+url.PathEscape(next), nil)
		read := s.stored("CN="+next+",CN=Users,DC=corp,DC=example", "sAMAccountName", "userPrincipalName")
		assert.Equal(t, next, read.String("sAMAccountName"))
		assert.Equal(t, next+"@corp.example", read.String("userPrincipalName"))
		name = next
	}
}

// Administrators know more names of an account than the API takes.
func TestOtherNamesOfAnAccountAreTold(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for path, told := range map[string]bool{
		"ADUser/aschmidt@corp.example/Details": true, `ADUser/CORP%5Caschmidt/Details`: true, "Computers/fs1.corp.example": true,
		"ADUser/S-1-5-21-1-2-3-500/Details": true, "ADUser/no.body/Details": false, "ADUser/nobody/Details": false, "Computers/nothing": false,
	} {
		a := s.refused(call{method: http.MethodGet, path: "/api/" + path}, http.StatusNotFound, "not_found")
		assert.Equal(t, told, strings.Contains(a.envelope.Error.Message, `not by UPN, DNS name, DOMAIN\name or SID`), "%s", a.body)
	}
}
