package pages

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
)

// TestFiguresOnTheStatusPage: people with ops:read see sessions, servers and calls.
func TestFiguresOnTheStatusPage(t *testing.T) {
	s := start(t)
	s.Get("/api/ADUser/aschmidt/Details")
	b := s.browser(t)
	b.signIn("helpdesk")
	require.Equal(t, 200, b.get("/ui/status"))
	assert.Regexp(t, `[1-9][0-9]* requests, 0 failed`, b.page)
	assert.Contains(t, b.page, "dc1.corp.example")
	assert.Regexp(t, `<path class="calls" d="M[0-9]+ [0-9]+v[0-9]+h3v-[0-9]+z`, b.page)
	assert.Len(t, regexp.MustCompile(`<td data-l="Time">`).FindAllString(b.page, -1), 4)
	assert.Len(t, regexp.MustCompile(`<td data-l="Waiting">0</td>`).FindAllString(b.page, -1), 2)

	other := s.browser(t)
	other.signIn("norights")
	require.Equal(t, 200, other.get("/ui/status"))
	assert.NotContains(t, other.page, "PowerShell sessions")
	assert.NotContains(t, other.page, "dc1.corp.example")
}

// TestAuditPage: people see their own lines, or all lines if they have ops:read, by day, caller and object.
// The lines include sign-ins.
func TestAuditPage(t *testing.T) {
	none := start(t).browser(t)
	none.signIn("operator")
	assert.NotContains(t, none.page, "/ui/audit")
	assert.Equal(t, 404, none.get("/ui/audit?view=calls"), "there is no audit log")

	s := startWith(t, func(p *app.People) {
		p.Roles = append(p.Roles, signin.Role{Group: "group of plain", Name: "Plain",
			Scopes: []identity.Scope{identity.UserRead}})
	}, "audit.file="+t.TempDir()+"/audit.jsonl")
	s.OK(systemtest.Call{Method: "PUT", Path: "/api/ADUser/aschmidt/Disable"}, 200)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/audit?view=calls"))
	for _, text := range []string{"user.disable", "Anna Schmidt", "signin.start", "operator",
		"Everyone’s calls"} {
		assert.Contains(t, b.page, text)
	}
	for query, shown := range map[string]bool{
		"target=schmidt": true, "target=nobody": false, "who=nobody": false, "day=2020-01-01": false, "day=" + time.Now().UTC().Format(time.DateOnly): true,
		"target=" + url.QueryEscape("<script>alert(1)</script>"): false,
	} {
		require.Equal(t, 200, b.get("/ui/audit?view=calls&"+query), query)
		assert.Equal(t, shown, regexp.MustCompile("user.disable").MatchString(b.page), query)
		assert.NotContains(t, b.page, "<script>alert", query)
	}
	assert.Equal(t, 400, b.get("/ui/audit?view=calls&day=yesterday"))
	assert.Contains(t, b.page, "2026-03-01")

	own := s.browser(t)
	own.signIn("norights")
	require.Equal(t, 200, own.get("/ui/audit?view=calls"))
	assert.Contains(t, own.page, "signin.start")
	assert.NotContains(t, own.page, "user.disable")
	require.Equal(t, 200, own.get("/ui/audit?view=calls&who=operator"))
	assert.NotContains(t, own.page, "operator</td>", "nothing of others")
	namesake := s.browser(t)
	require.Equal(t, 303, namesake.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.ReadToken))
	link := "/ui/link/" + s.Stack.Gate.Link(&signin.Person{SID: "S-1-namesake", Name: "read-token"})
	require.Equal(t, 303, s.browser(t).submitFrom(link, link))
	require.Equal(t, 200, namesake.get("/ui/audit?view=calls"))
	assert.Contains(t, namesake.page, "signin.start")
	assert.NotContains(t, namesake.page, "S-1-namesake", "a person with the name of the token is somebody else")
	require.NoError(t, s.Stack.Gate.End(t.Context(), own.cookie()))
	assert.Equal(t, 401, own.get("/ui/audit?view=calls"))
	require.Equal(t, 200, b.get("/ui/audit?view=calls&who=norights"))
	assert.Contains(t, b.page, "signin.end")
}

// TestAuditLinesOfOthers: ops:read alone does not show the lines of others. A person also needs the scope for
// reading the objects of a line, and limits that include them.
func TestAuditLinesOfOthers(t *testing.T) {
	const sales = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	reading := []identity.Scope{identity.OpsRead, identity.UserRead}
	for name, c := range map[string]struct {
		scopes []identity.Scope
		limits identity.Limits
		shown  bool
	}{
		"figures only": {[]identity.Scope{identity.OpsRead}, identity.Limits{}, false},
		"reads users":  {reading, identity.Limits{}, true},
		"of her OU":    {reading, identity.Limits{OUs: []string{sales}}, true},
		"of another":   {reading, identity.Limits{OUs: []string{"OU=IT,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"}}, false},
		"reads DNS":    {[]identity.Scope{identity.OpsRead, identity.DNSRead}, identity.Limits{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, func(p *app.People) {
				p.Roles = []signin.Role{{Group: "group of berlin", Name: "Some", Scopes: c.scopes, Limits: c.limits}}
			}, "audit.file="+t.TempDir()+"/audit.jsonl")
			s.OK(systemtest.Call{Method: "PUT", Path: "/api/ADUser/aschmidt/Disable"}, 200)
			b := s.browser(t)
			b.signIn("berlin")
			require.Equal(t, 200, b.get("/ui/audit?view=calls"))
			assert.Equal(t, c.shown, strings.Contains(b.page, "user.disable"))
			assert.Equal(t, c.shown, strings.Contains(b.page, "Anna Schmidt"))
			assert.Contains(t, b.page, "signin.start", "its own")
		})
	}
}

// TestSignInsAreAudited: each sign-in, refusal and end of a session has an audit line with the person and the
// address, but without passwords or session ids.
func TestSignInsAreAudited(t *testing.T) {
	file := t.TempDir() + "/audit.jsonl"
	s := start(t, "audit.file="+file, "signIn.recheck=1s")
	b := s.browser(t)
	b.signIn("helpdesk")
	session := b.cookie()
	require.Equal(t, 303, b.submitFrom("/ui/", "/ui/signout"))
	require.Equal(t, 401, b.submitFrom("/ui/signin", "/ui/signin", "username", `CORP\helpdesk`, "password", "Wrong-1-Password"))
	require.Equal(t, 401, b.submitFrom("/ui/signin", "/ui/signin", "username", "must", "password", password))
	require.Equal(t, 401, b.submitFrom("/ui/signin", "/ui/signin", "token", "no-such-token"))
	require.Equal(t, 303, b.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.ReadToken))
	b.signIn("operator")
	s.people.mu.Lock()
	s.people.off["operator"] = true
	s.people.mu.Unlock()
	require.Eventually(t, func() bool { return b.get("/ui/people") == 401 }, systemtest.Patience,
		50*time.Millisecond)

	var lines []string
	err := audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
		call, who := r.Call(), ""
		if call.Who != nil {
			who = call.Who.Kind + " " + call.Who.Name
		}
		assert.Equal(t, "127.0.0.1", call.From)
		lines = append(lines, strings.TrimSpace(
			strings.Join([]string{call.Operation, who, call.Parameters["sid"], r.State()}, "; ")))
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"signin.start; person helpdesk; S-1-helpdesk; done",
		"signin.end; person helpdesk; S-1-helpdesk; done",
		"signin.refuse; ; ; refused", // not an account of the domain
		"signin.refuse; person must; ; refused",
		"signin.refuse; ; ; refused",
		"signin.start; token read-token; ; done",
		"signin.start; person operator; S-1-operator; done",
		"signin.end; token read-token; ; done",
		"signin.revoke; person operator; S-1-operator; done",
	}, lines)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, secret := range []string{password, "Wrong-1-Password", "no-such-token", session} {
		assert.NotContains(t, string(text), secret)
	}
}

// TestDeniedActionsSayWhy: an action that a role allows only on other objects is shown, but disabled, with
// the reason. An action that no role allows is not shown.
func TestDeniedActionsSayWhy(t *testing.T) {
	s := startWith(t, func(p *app.People) {
		p.Roles = []signin.Role{
			{Group: "group of berlin", Name: "Berlin", Scopes: []identity.Scope{identity.UserRead, identity.UserPassword}, Limits: identity.Limits{OUs: []string{"OU=Sales,OU=Corp,DC=corp,DC=example"}}},
			{Group: "group of berlin", Name: "Readers", Scopes: []identity.Scope{identity.UserRead}},
		}
	})
	b := s.browser(t)
	b.signIn("berlin")
	b.person(t)
	assert.Regexp(t, `<button type="button" disabled aria-describedby="denied">Reset password`, b.page)
	assert.Contains(t, b.page, "outside the limits of your role")
	assert.NotContains(t, b.page, "Disable account")
	assert.NotContains(t, b.page, "/ui/do/user.resetPassword")
}
