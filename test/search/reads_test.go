package search

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

func TestSearchOverTypes(t *testing.T) {
	s := newSystem(t, 300)
	find := func(token string, params map[string]any) systemtest.Answer {
		return s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Search", Params: params, Token: token})
	}
	best := func(params map[string]any) []any {
		a := find("", params)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.NotEmpty(t, a.Envelope.Result, params)
		first := a.Envelope.Result[0]
		return []any{first["type"], first["username"], first["matched"]}
	}
	assert.Equal(t, []any{"user", "q.mail", "emailAddress"}, best(map[string]any{"Text": "Q@example.net"}))
	assert.Equal(t, []any{"user", "q.mail", "userPrincipalName"},
		best(map[string]any{"Text": "q.upn@example.net"}))
	assert.Equal(t, []any{"user", "q.mail", "employeeId"}, best(map[string]any{"Text": "4711"}))
	assert.Equal(t, []any{"user", "aschmidt", "username"}, best(map[string]any{"Text": "aschmidt"}))
	assert.Equal(t, []any{"computer", "QSTALE$", "username"}, best(map[string]any{"Text": "qstale"}))
	assert.Equal(t, []any{"group", "Q Mail", "username"}, best(map[string]any{"Text": "q mail"}))
	assert.Equal(t, []any{"group", "Q Mail", "emailAddress"},
		best(map[string]any{"Text": "list@example.net", "Type": "group,computer"}))

	a := find("", map[string]any{"Text": "berlin", "Limit": 3}) // an office
	require.Len(t, a.Envelope.Result, 3)
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "more", a.Envelope.Warnings[0].Code)
	assert.NotContains(t, string(a.Body), `"next"`)

	// The object that the text identifies comes first, no matter how many others are found.
	require.Greater(t, len(find("",
		map[string]any{"Text": "berlin", "Type": "user", "Limit": 50}).Envelope.Result), 20)
	require.Equal(t, http.StatusCreated,
		s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/berlin"}).Status)
	a = find("", map[string]any{"Text": "berlin", "Limit": 2})
	require.Len(t, a.Envelope.Result, 2)
	assert.Equal(t, "berlin", a.Envelope.Result[0]["username"])
	assert.NotEqual(t, "berlin", a.Envelope.Result[1]["username"])

	a = find(systemtest.ReadToken, map[string]any{"Text": "q mail"}) // user:read only
	assert.Empty(t, a.Envelope.Result)
	codes := []string{}
	for _, w := range a.Envelope.Warnings {
		codes = append(codes, w.Code+" "+w.Target)
	}
	assert.Equal(t, []string{"scope_missing group", "scope_missing computer"}, codes)
	assert.Equal(t, http.StatusForbidden,
		find(systemtest.ReadToken, map[string]any{"Text": "anna", "Type": "user,group"}).Status)
	assert.Equal(t, http.StatusForbidden, find(systemtest.NoTreeToken, map[string]any{"Text": "anna"}).Status)
	assert.Equal(t, http.StatusBadRequest, find("", map[string]any{"Text": "anna", "Type": "printer"}).Status)
	assert.Equal(t, http.StatusBadRequest, find("", map[string]any{"Text": "a"}).Status)
	for _, hit := range find(systemtest.LimitedToken,
		map[string]any{"Text": "an", "Limit": 50}).Envelope.Result {
		assert.True(t, strings.HasSuffix(hit["ouPath"].(string), systemtest.LimitedOU), hit)
	}
	assert.Empty(t, find(systemtest.LimitedToken, map[string]any{"Text": "q.mail"}).Envelope.Result)
}

// TestHitsAreLockedAsTheRecordsAre compares the lock state in hits with the record of the account.
func TestHitsAreLockedAsTheRecordsAre(t *testing.T) {
	s := newSystem(t, 0)
	states := map[string]any{}
	for _, text := range []string{"q.", "qstale", "aschmidt", "krbtgt"} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Search",
			Params: map[string]any{"Text": text, "Limit": 50}})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		for _, hit := range a.Envelope.Result {
			require.Contains(t, hit, "locked")
			name := hit["username"].(string)
			states[name] = hit["locked"]
			if hit["type"] != "user" {
				assert.Nil(t, hit["locked"], name)
				continue
			}
			record := s.Get("/api/ADUser/" + hit["guid"].(string) + "/Details").Envelope.Result[0]
			assert.Equal(t, []any{record["enabled"], record["lockedOut"]}, []any{hit["enabled"], hit["locked"]}, name)
		}
	}
	assert.Equal(t, true, states["q.locked"])
	assert.Equal(t, false, states["q.waslocked"], "the lock is over, and its time is still there")
	assert.Equal(t, false, states["q.unlocked"])
	assert.Equal(t, false, states["aschmidt"])
	assert.Contains(t, states, "QSTALE$")
}

func TestMembersOfGroups(t *testing.T) {
	s := newSystem(t, 0)
	members := func(token, group string, params map[string]any) map[string][]any {
		t.Helper()
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/" + group + "/Members",
			Params: params, Token: token})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		found := map[string][]any{}
		for _, r := range a.Envelope.Result {
			require.NotContains(t, found, r["name"])
			found[r["name"].(string)] = []any{r["type"], r["direct"], r["via"], r["primary"], r["enabled"]}
		}
		return found
	}
	assert.Equal(t, map[string][]any{
		"Q Inner": {"group", true, nil, false, nil}, "Q Primary": {"group", true, nil, false, nil}, "q.off": {"user", true, nil, false, false},
	}, members("", "Q%20Outer", nil))
	assert.Equal(t, map[string][]any{
		"Q Inner": {"group", true, nil, false, nil}, "Q Primary": {"group", true, nil, false, nil}, "q.off": {"user", true, nil, false, false},
		"q.nested": {"user", false, "Q Inner", false, true}, "q.primary": {"user", false, "Q Primary", false, true},
	}, members("", "Q%20Outer", map[string]any{"Recursive": "true"}))
	assert.Equal(t, map[string][]any{"q.primary": {"user", true, nil, true, true}},
		members("", "Q%20Primary", nil))
	assert.Len(t, members("", "Q%20Outer", map[string]any{"Recursive": "true", "Type": "user"}), 3)
	assert.Empty(t, members("", "Q%20Empty", nil))

	want := []string{}
	for name := range members("", "All%20Staff", map[string]any{"Recursive": "true"}) {
		want = append(want, name)
	}
	slices.Sort(want)
	found := []string{}
	params := map[string]any{"Recursive": "true", "Limit": 40, "Count": "true"}
	for {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/All%20Staff/Members",
			Params: params})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		for _, r := range a.Envelope.Result {
			found = append(found, r["name"].(string))
		}
		next, total := page(t, a)
		assert.Equal(t, len(want), total)
		if next == "" {
			break
		}
		params["After"] = next
	}
	slices.Sort(found)
	assert.Equal(t, want, found)

	for name := range members(systemtest.DeskToken, "VPN%20Users", nil) {
		assert.NotContains(t, name, "q.")
	}
	refused(s, http.StatusNotFound, "not_found",
		systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/Q%20Outer/Members",
			Token: systemtest.LimitedToken})
	refused(s, http.StatusForbidden, "forbidden",
		systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/Q%20Outer/Members",
			Token: systemtest.ReadToken})
}

func TestLogonStates(t *testing.T) {
	s := newSystem(t, 0)
	dc := s.World.Directory.DCs()[0]
	set := func(name, attribute string, value any) {
		require.NoError(t, dc.Modify(t.Context(), "CN="+name+","+place,
			[]directory.Change{{Op: directory.OpReplace, Name: attribute, Values: []any{value}}},
			directory.ModifyOptions{}))
	}
	noHours := make([]byte, 21)
	set("q.report", "logonHours", noHours)
	set("q.unlocked", "userWorkstations", "PC1,PC2")
	hours := make([]byte, 21)
	for i := range hours {
		hours[i] = 255
	}
	set("q.nested", "logonHours", hours)
	for name, want := range map[string][]any{
		"q.recent": {true, "ok"}, "q.nested": {true, "ok"}, "q.off": {false, "disabled"}, "q.inactive.off": {false, "disabled"},
		"q.ended": {false, "expired"}, "q.locked": {false, "locked"}, "q.waslocked": {true, "ok"}, "q.pwd.must": {true, "must_change"},
		"q.pwd.over": {true, "password_expired"}, "q.pwd.own": {true, "password_expired"}, "q.pwd.grace": {true, "ok"}, "q.pwd.never": {true, "ok"},
		"q.pwd.card": {true, "smartcard_required"}, "q.report": {false, "hours"}, "q.unlocked": {true, "workstations"},
	} {
		a := s.Get("/api/ADUser/" + name + "/LogonState")
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		state := a.Envelope.Result[0]
		codes := []any{state["canLogOn"]}
		for _, v := range state["verdicts"].([]any) {
			codes = append(codes, v.(map[string]any)["code"])
		}
		assert.Equal(t, want, codes, name)
	}
	locked := s.Get("/api/ADUser/q.locked/LogonState").Envelope.Result[0]
	ends, err := time.Parse(time.RFC3339, locked["lockoutEnds"].(string))
	require.NoError(t, err)
	assert.WithinRange(t, ends, time.Now().Add(20*time.Minute), time.Now().Add(31*time.Minute))
	assert.Equal(t, []any{"Default Domain Policy", "domain"}, []any{locked["policy"], locked["source"]})

	policyOf := func(name string) map[string]any {
		return s.Get("/api/ADUser/" + name + "/PasswordPolicy").Envelope.Result[0]
	}
	domain := policyOf("q.recent")
	assert.Equal(t, []any{"Default Domain Policy", "domain", 42.0, 30.0},
		[]any{domain["name"], domain["source"], domain["maxAge"], domain["lockoutDuration"]})
	assert.Equal(t, map[string]any{
		"name": "Q Own", "source": "pso", "minLength": 12.0, "complexity": true, "historyCount": 5.0, "minAge": 0.0, "maxAge": 10.0,
		"lockoutThreshold": 3.0, "lockoutWindow": 30.0, "lockoutDuration": 60.0,
	}, policyOf("q.pwd.own"))
	assert.Equal(t, "Q Grace", policyOf("q.pwd.grace")["name"], "through its group")
	refused(s, http.StatusNotFound, "not_found",
		systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/q.recent/LogonState",
			Token: systemtest.LimitedToken})
	refused(s, http.StatusNotFound, "not_found",
		systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/q.recent/PasswordPolicy",
			Token: systemtest.LimitedToken})
}

func TestGroupsAreCopied(t *testing.T) {
	s := newSystem(t, 0)
	add := func(user, group string) {
		require.Equal(t, http.StatusCreated,
			s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + user + "/Group/" + group}).Status)
	}
	add("q.mail", "Q%20Inner")
	add("q.mail", "Domain%20Admins")
	add("q.recent", "Q%20Grace")
	post := func(token string, params map[string]any) systemtest.Answer {
		return s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/q.recent/CopyGroups",
			Params: params, Token: token})
	}
	actions := func(a systemtest.Answer) map[string]any {
		t.Helper()
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		found := map[string]any{}
		for _, r := range a.Envelope.Result {
			found[r["group"].(string)] = r["action"]
		}
		return found
	}
	dry := post("", map[string]any{"From": "q.mail", "DryRun": "true"})
	assert.Equal(t, http.StatusOK, dry.Status, "%s", dry.Body)
	assert.Contains(t, string(dry.Body), "Q Inner")
	assert.Equal(t, map[string]any{"Q Inner": "added", "Domain Admins": "skipped"},
		actions(post("", map[string]any{"From": "q.mail"})))
	again := post("", map[string]any{"From": "q.mail"})
	assert.Equal(t, map[string]any{"Q Inner": "present", "Domain Admins": "skipped"}, actions(again))
	assert.Contains(t, again.Envelope.Output, "nothing was changed")
	refused(s, http.StatusForbidden, "forbidden",
		systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/q.recent/CopyGroups",
			Params: map[string]any{"From": "q.mail", "IncludePrivileged": true}, Token: systemtest.PlainToken})
	assert.Equal(t, map[string]any{"Q Inner": "present", "Domain Admins": "added", "Q Grace": "removed"},
		actions(post("", map[string]any{"From": "q.mail", "IncludePrivileged": true, "Remove": true})))
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/q.recent/CopyGroups",
			Params: map[string]any{"From": "nobody"}})
	refused(s, http.StatusNotFound, "not_found",
		systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/q.recent/CopyGroups",
			Params: map[string]any{"From": "aschmidt"}, Token: systemtest.LimitedToken})
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt/CopyGroups",
			Params: map[string]any{"From": "q.mail"}, Token: systemtest.LimitedToken})
}

func TestACredentialShowsItself(t *testing.T) {
	s := newSystem(t, 0)
	who := func(token string) map[string]any {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/WhoAmI", Token: token})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Envelope.Result[0]
	}
	none := map[string]any{"ous": []any{}, "groups": []any{}, "zones": []any{}, "names": []any{}}
	assert.Equal(t, map[string]any{"name": systemtest.ReadToken, "kind": "token", "id": nil,
		"scopes": []any{"user:read"}, "limits": none, "expires": nil}, who(systemtest.ReadToken))
	assert.Equal(t, []any{systemtest.LimitedOU}, who(systemtest.LimitedToken)["limits"].(map[string]any)["ous"])
	refused(s, http.StatusUnauthorized, "unauthenticated",
		systemtest.Call{Method: http.MethodGet, Path: "/api/WhoAmI", Token: "none"})
	refused(s, http.StatusBadRequest, "invalid_request",
		systemtest.Call{Method: http.MethodGet, Path: "/api/WhoAmI", Params: map[string]any{"Username": "x"}})
}
