// Package pages tests the pages for people. Like a browser without scripts, it sends requests over HTTP with
// the forms on the pages.
package pages

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

// people is a directory whose accounts can be disabled. It counts password checks.
type people struct {
	mu    sync.Mutex
	off   map[string]bool
	asked int
}

const password = "Right-1-Password"

func (d *people) Check(_ context.Context, _, name string, given []byte) (*signin.Person, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	switch {
	case name == "must" && string(given) == password:
		return nil, signin.ErrMustChange
	case string(given) != password || d.off[name] ||
		!strings.Contains("helpdesk operator berlin norights", name):
		return nil, signin.ErrRefused
	}
	return &signin.Person{SID: "S-1-" + name, Name: name, Groups: []string{"group of " + name}}, nil
}

func (d *people) Accept(context.Context, negotiate.Token) (*signin.Person, []byte, error) {
	return nil, nil, signin.ErrUnsupported
}

func (d *people) Groups(_ context.Context, sid string) (*signin.Person, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := strings.TrimPrefix(sid, "S-1-")
	if d.off[name] {
		return nil, signin.ErrRefused
	}
	return &signin.Person{SID: sid, Name: name, Groups: []string{"group of " + name}}, nil
}

// system is a gateway with pages, and the directory that signs people in.
type system struct {
	*systemtest.System
	people *people
}

func start(t testing.TB, overrides ...string) *system {
	t.Helper()
	return startWith(t, func(*app.People) {}, overrides...)
}

// startWith is like start, with a function that can change the people who may sign in.
func startWith(t testing.TB, adjust func(*app.People), overrides ...string) *system {
	t.Helper()
	return startOptions(t, func(o *app.Options) { adjust(o.People) }, overrides...)
}

// startOptions is like start, with a function that can change the options.
func startOptions(t testing.TB, adjust func(*app.Options), overrides ...string) *system {
	t.Helper()
	w, err := sandbox.NewWorld(context.Background(), sandbox.Options{})
	require.NoError(t, err)
	s := &system{people: &people{off: map[string]bool{}}}
	desk := []identity.Scope{identity.UserRead, identity.GroupRead, identity.MemberRead, identity.ComputerRead,
		identity.ChangeRead, identity.OpsRead, identity.UserWrite, identity.UserPassword, identity.MemberWrite}
	s.System = systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
		o.Sandbox = true
		o.People = &app.People{Directory: s.people, Roles: []signin.Role{
			{Group: "group of helpdesk", Name: "Help desk", Scopes: desk},
			{Group: "group of operator", Name: "Operators", Scopes: []identity.Scope{identity.All}},
			{Group: "group of berlin", Name: "Berlin", Scopes: desk, Limits: identity.Limits{OUs: []string{systemtest.LimitedOU}}},
		}}
		adjust(o)
	}, append([]string{"store.file=" + t.TempDir() + "/store"}, overrides...)...)
	return s
}

const (
	lea     = "1a806dcf-5989-521c-8d8b-e67368a5eed0"
	finance = "cf2ca401-de8b-56c8-9a0e-533a8644841b"
	oldPC   = "b0527901-8f25-5e1e-8874-67bac5bc9474"
)

func TestSignIn(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	require.Equal(t, 200, b.get("/ui/"))
	assert.Contains(t, b.page, "Sign in")
	assert.NotContains(t, b.page, "Domain controller", "details are for people who are signed in")
	require.Equal(t, 401, b.get("/ui/people?q=weber"))
	assert.Equal(t, "/ui/people?q=weber", b.form("/ui/signin").Get("next"))
	before := b.cookie()
	require.Equal(t, 303, b.submit("/ui/signin", "username", "helpdesk", "password", password))
	assert.Equal(t, "/ui/people?q=weber", b.answer.Header.Get("Location"))
	assert.NotEqual(t, before, b.cookie(), "the session has a new id")
	set := b.answer.Header.Get("Set-Cookie")
	for _, flag := range []string{"adgateway=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		assert.Contains(t, set, flag)
	}
	for _, absent := range []string{"Domain", "Expires", "Max-Age"} {
		assert.NotContains(t, set, absent)
	}
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "Weber, Lea")
	old := b.cookie()
	require.Equal(t, 303, b.submit("/ui/signout"))
	require.Equal(t, 401, b.get("/ui/people"))
	r, err := http.NewRequest(http.MethodGet, s.URL+"/ui/people", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: "adgateway", Value: old})
	b.client.Jar = nil
	assert.Equal(t, 401, b.do(r), "the session has ended for the gateway, too")
	r, err = http.NewRequest(http.MethodGet, s.URL+"/api/WhoAmI", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: "adgateway", Value: old})
	assert.Equal(t, 401, b.do(r), "the API takes no cookies")
}

func TestHeaders(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	for path, status := range map[string]int{"/ui/": 200, "/ui/signin": 200, "/ui/nosuch": 404,
		"/ui/people": 401} {
		require.Equal(t, status, b.get(path), path)
		h := b.answer.Header
		assert.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
			"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			h.Get("Content-Security-Policy"))
		assert.Equal(t, []string{"no-store", "nosniff", "DENY", "same-origin"},
			[]string{h.Get("Cache-Control"), h.Get("X-Content-Type-Options"), h.Get("X-Frame-Options"),
				h.Get("Referrer-Policy")})
		for _, inline := range []string{"<style", " style=", " onclick", "javascript:"} {
			assert.NotContains(t, b.page, inline)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="(/ui/assets/[^"]*)"`).FindAllStringSubmatch(b.page, -1) {
		require.Equal(t, 200, b.get(m[1]))
		assert.Contains(t, b.answer.Header.Get("Cache-Control"), "immutable")
	}
	r, err := http.NewRequest(http.MethodGet, s.URL+"/", nil)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/html")
	assert.Equal(t, 200, b.do(r))
	assert.Contains(t, b.page, `href="/ui/"`)
	r, err = http.NewRequest(http.MethodGet, s.URL+"/ui/", nil)
	require.NoError(t, err)
	r.Host = "rebound.example"
	assert.Equal(t, 403, b.do(r), "plain HTTP under another name than this machine's")
}

func TestOpenRedirects(t *testing.T) {
	s := start(t)
	for _, next := range []string{
		"https://evil.example/ui/", "//evil.example", "/\\evil.example", "/ui/../../evil", "/ui//evil.example", "\\\\evil.example", "javascript:alert(1)",
		"/api/WhoAmI", "http:/ui/", "/ui/\r\nSet-Cookie: a=b", "@evil.example/ui/", "/ui/%2e%2e/%2e%2e/x", "/ui/signout", "/ui\\@evil.example", "https:evil.example", "",
	} {
		b := s.browser(t)
		require.Equal(t, 200, b.get("/ui/signin?next="+url.QueryEscape(next)))
		require.Equal(t, 303, b.submit("/ui/signin", "username", "helpdesk", "password", password, "next", next))
		assert.Equal(t, "/ui/", b.answer.Header.Get("Location"), "%q", next)
	}
}

func TestForgedForms(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	b.person(t)
	action := "/ui/do/user.disable"
	good := b.form(action)
	other := s.browser(t)
	other.signIn("helpdesk")
	other.person(t)
	for what, token := range map[string]string{
		"none": "", "invented": "AAAA", "of another session": other.form(action).Get("form"),
	} {
		assert.Equal(t, 403, b.post(action, url.Values{"form": {token}}), what)
		assert.Contains(t, b.page, "Nothing was changed")
	}
	for what, headers := range map[string][2]string{
		"another site":    {"Origin", "https://evil.example"},
		"no origin":       {"Origin", "null"},
		"cross-site":      {"Sec-Fetch-Site", "cross-site"},
		"the same domain": {"Sec-Fetch-Site", "same-site"},
	} {
		r, err := http.NewRequest(http.MethodPost, s.URL+action, strings.NewReader(good.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(headers[0], headers[1])
		assert.Equal(t, 403, b.do(r), what)
	}
	assert.Equal(t, 303, b.post(action, good), "and the right one is a preview")
}

func TestTriesEndBelowTheLockout(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	for i := range 6 {
		require.Equal(t, 200, b.get("/ui/signin"))
		status, text := 401, "wrong, or sign-in is not allowed"
		if i >= 3 {
			status, text = 429, "Wait 30 minutes, then sign in again."
		}
		name := []string{"helpdesk", "HELPDESK", `CORP\helpdesk`}[i%3]
		require.Equal(t, status, b.submit("/ui/signin", "username", name, "password", "wrong"))
		assert.Contains(t, b.page, text)
	}
	assert.Equal(t, 3, s.people.asked, "the domain locks out at five")
	require.Equal(t, 429, b.submit("/ui/signin", "username", "helpdesk", "password", password),
		"the right one is not tried either")
	assert.Equal(t, 3, s.people.asked)
	for i := range 30 {
		b.submit("/ui/signin", "username", fmt.Sprintf("nobody%d", i), "password", "wrong")
	}
	assert.Equal(t, 12, s.people.asked, "each name costs the address two of the twenty scripts that it may run")
}

func TestMustChange(t *testing.T) {
	b := start(t).browser(t)
	require.Equal(t, 200, b.get("/ui/signin"))
	require.Equal(t, 401, b.submit("/ui/signin", "username", "must", "password", password))
	assert.Contains(t, b.page, "must change your password")
	require.Equal(t, 401, b.submit("/ui/signin", "username", "must", "password", "wrong"))
	assert.NotContains(t, b.page, "must change your password")
}

func TestTokenSignsIn(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	require.Equal(t, 200, b.get("/ui/signin"))
	require.Equal(t, 401, b.submit("/ui/signin", "token", "wrong"))
	require.Equal(t, 303, b.submit("/ui/signin", "token", systemtest.ClassicToken), b.page)
	require.Equal(t, 200, b.get("/ui/people?q=weber"), "the pages have a dialect of their own")
	assert.Contains(t, b.page, "Weber, Lea")
	b = s.browser(t)
	require.Equal(t, 200, b.get("/ui/signin"))
	require.Equal(t, 303, b.submit("/ui/signin", "token", systemtest.ReadToken))
	page := b.person(t)
	assert.NotContains(t, page, "Disable account", "actions without the right are not offered")
	require.Equal(t, 403, b.post("/ui/do/user.disable",
		url.Values{"form": {b.form("/ui/signout").Get("form")}, "Username": {lea}}))
	require.Equal(t, 403, b.get("/ui/groups?q=sales"))
	assert.Contains(t, b.page, "Your role does not include Groups.")
}

func TestLinkWorksOnce(t *testing.T) {
	s := start(t)
	path := "/ui/link/" + s.Stack.Gate.Link(&signin.Person{SID: "S-1-operator", Name: "operator",
		Groups: []string{"group of operator"}})
	b := s.browser(t)
	for range 2 {
		require.Equal(t, 200, b.get(path), "looking at it does not use it up")
	}
	require.Equal(t, 303, b.submit(path))
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "operator")
	other := s.browser(t)
	require.Equal(t, 200, other.get(path))
	require.Equal(t, 401, other.submit(path))
	assert.Contains(t, other.page, "already used")
}

func TestNoRights(t *testing.T) {
	b := start(t).browser(t)
	b.signIn("norights")
	require.Equal(t, 200, b.get("/ui/"))
	assert.Contains(t, b.page, "no access")
	assert.Contains(t, b.page, "You have no access yet")
	assert.Contains(t, b.page, "Help desk")
	require.Equal(t, 403, b.get("/ui/people/"+lea))
}

func TestLimitsHideObjects(t *testing.T) {
	b := start(t).browser(t)
	b.signIn("berlin")
	b.person(t)
	require.Equal(t, 404, b.get("/ui/computers/"+oldPC))
	require.Equal(t, 200, b.get("/ui/people?q=gallagher"))
	assert.NotContains(t, b.page, "dgallagher")
}

func TestSessionEndsInMidAction(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	b.person(t)
	b.preview("user.disable")
	step := b.path
	confirm := b.form(step)
	require.NoError(t, s.Stack.Gate.End(t.Context(), b.cookie()))
	require.Equal(t, 401, b.post(step, confirm))
	assert.True(t, strings.HasPrefix(b.form("/ui/signin").Get("next"), "/ui/do/user.disable?"),
		"back to the form, not to the change")
	require.Equal(t, 303, b.submit("/ui/signin", "username", "helpdesk", "password", password))
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.person(t), "Disable account", "nothing was changed")
	confirm.Set("form", b.form("/ui/signout").Get("form"))
	require.Equal(t, 410, b.post(step, confirm), "the preview belonged to the other session")
}

// TestActions: every action has a preview that changes nothing, a confirmation and a result.
func TestActions(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	for _, c := range []struct {
		page, param, action string
		given               []string
		preview             string // text on the preview
		after               string // text on the object's page
	}{
		{"/ui/people/" + lea, "Username", "user.disable", nil, "Account enabled", "Enable account"},
		{"/ui/people/" + lea, "Username", "user.enable", nil, "Account enabled", "Disable account"},
		{"/ui/people/" + lea, "Username", "user.expiry", []string{"AccountExpires", "2099-12-31"}, "1 Jan 2100", "1 Jan 2100"},
		{"/ui/people/" + lea, "Username", "user.expiry", []string{"AccountExpires", "", "never:AccountExpires", "true"}, "1 Jan 2100", "Account expires</dt><dd>never"},
		{"/ui/people/" + lea, "Username", "membership.add", []string{"GroupName", "Finance Staff"}, "Finance Staff", "Finance Staff"},
		{"/ui/people/" + lea, "Username", "membership.remove", []string{"GroupName", finance}, "Finance Staff", "Last day"},
		{"/ui/people/" + lea, "Username", "membership.copy", []string{"From", "mweber"}, "Finance Staff", "Finance Staff"},
		{"/ui/groups/" + finance, "GroupName", "membership.remove", []string{"Username", lea}, "Lea Weber", "Add members"},
		{"/ui/groups/" + finance, "GroupName", "membership.add", []string{"Username", "lweber"}, "Lea Weber", "Lea Weber"},
		{"/ui/computers/" + oldPC, "ADComputerName", "computer.enable", nil, "Account enabled", "Disable account"},
		{"/ui/computers/" + oldPC, "ADComputerName", "computer.move", []string{"OUPath", "Corp"}, "OLD-PC1", ">Corp</a></dd>"},
	} {
		require.Equal(t, 200, b.get(c.page), c.action)
		before := s.Snapshot()
		given := append([]string{"back", c.page}, c.given...)
		require.Equal(t, 200, b.sent(c.action, c.param, path.Base(c.page), given...), "%s: %s", c.action, b.page)
		assert.Contains(t, b.page, c.preview, c.action)
		assert.Equal(t, before, s.Snapshot(), "the preview of %s changes nothing", c.action)
		step := b.path
		confirm := b.form(step)
		require.Equal(t, 303, b.post(step, confirm), b.page)
		first := b.answer.Header.Get("Location")
		require.Equal(t, 200, b.follow(), c.action)
		assert.Contains(t, b.page, "<b>Done: ", c.action)
		after := s.Snapshot()
		assert.NotEqual(t, before, after, c.action)
		require.Equal(t, 303, b.post(step, confirm), "pressed again")
		assert.Equal(t, first, b.answer.Header.Get("Location"))
		assert.Equal(t, after, s.Snapshot())
		require.Equal(t, 200, b.get(c.page))
		assert.Contains(t, b.page, c.after, c.action)
	}
	require.Equal(t, 200, b.get("/ui/changes"))
	assert.Contains(t, b.page, "OLD-PC1 moved")
}

func TestUnlockAndReset(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	dc := s.World.Directory.DCs()[0]
	for range 8 {
		_ = dc.Logon(context.Background(), "lweber", "wrong")
	}
	assert.Contains(t, b.person(t), "Cannot log on")
	b.preview("user.unlock")
	b.confirm()
	assert.Contains(t, b.person(t), "Can log on")

	b.preview("user.resetPassword")
	step := b.path
	confirm := b.form(step)
	b.confirm()
	m := regexp.MustCompile(`<output id="secret">([^<]*)</output>`).FindStringSubmatch(b.page)
	require.Len(t, m, 2)
	generated := html.UnescapeString(m[1])
	assert.ErrorContains(t, dc.Logon(context.Background(), "lweber", generated), "1907", "it must be changed")
	assert.Regexp(t, `^(?:[A-Za-z]+-){5}[0-9]{4}$`, generated, "it can be read out")
	assert.Equal(t, "no-store", b.answer.Header.Get("Cache-Control"))
	require.Equal(t, 303, b.post(step, confirm), "a second press")
	require.Equal(t, 200, b.follow())
	assert.Contains(t, html.UnescapeString(b.page), generated)
	require.Equal(t, 200, b.get(step), "and a reload show it")
	assert.Contains(t, html.UnescapeString(b.page), generated)
	require.Equal(t, 303, b.submit(step+"/close"), b.page)
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "Done: Reset the password of Lea Weber.")
	assert.NotContains(t, html.UnescapeString(b.page), generated)
	require.Equal(t, 200, b.get(step))
	assert.NotContains(t, html.UnescapeString(b.page), generated, "it is forgotten")
}

func TestObjectChangedAfterThePreview(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	b.person(t)
	require.Equal(t, 200, b.sent("user.expiry", "Username", lea, "AccountExpires", "2099-12-31"), b.page)
	step := b.path
	confirm := b.form(step)
	other := s.browser(t)
	other.signIn("operator")
	other.person(t)
	require.Equal(t, 200, other.sent("user.expiry", "Username", lea, "AccountExpires", "2050-06-30"), other.page)
	other.confirm()
	before := s.Snapshot()
	require.Equal(t, 303, b.post(step, confirm))
	require.Equal(t, 200, b.follow())
	assert.NotEqual(t, step, b.path)
	assert.Contains(t, b.page, "Someone changed this in the meantime.")
	assert.Contains(t, b.page, "1 Jul 2050")
	assert.Equal(t, before, s.Snapshot())
	b.confirm()
	assert.Contains(t, b.person(t), "1 Jan 2100")
}

func TestBadInputOfActions(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	b.person(t)
	for _, c := range []struct {
		action, name, value string
		status              int
	}{
		{"membership.add", "GroupName", "", 422}, {"membership.add", "GroupName", "no such group", 422},
		{"membership.add", "GroupName", "../../../api", 422}, {"membership.add", "GroupName", "Domain Admins", 403},
		{"user.expiry", "AccountExpires", "soon", 422}, {"user.expiry", "AccountExpires", "", 422},
		{"membership.copy", "From", "nobody", 422}, {"nosuch", "a", "b", 404},
	} {
		status := b.sent(c.action, "Username", lea, c.name, c.value)
		assert.Equal(t, c.status, status, "%s %q: %s", c.action, c.value, b.page)
		assert.True(t, c.action == "nosuch" || strings.Contains(b.page, `role="alert"`), c.action)
	}
	require.Equal(t, 404, b.get("/ui/people/00000000-0000-0000-0000-000000000000"))
	require.Equal(t, 410, b.get("/ui/steps/nosuch"))
}

// hostile contains texts that try to break out of HTML, attributes, scripts and addresses.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `</title><svg/onload=alert(1)>`,
	`{{.Form}}`, `<!--`, `&lt;script&gt;`, `]]>`, "\u202egnp.exe", `*)(objectClass=*`, "a\x00b", strings.Repeat("x", 5000), `\`, `%3Cscript%3E`, "\ufffd",
}

func TestHostileTexts(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	harmless := func(text string) {
		t.Helper()
		for _, raw := range []string{"<script>alert", "<img src=x", "<svg/onload", `onmouseover='`} {
			assert.NotContains(t, b.page, raw, "%q", text)
		}
	}
	stored := 0
	for i, text := range hostile {
		assert.Less(t, b.get("/ui/people?q="+url.QueryEscape(text)), 500, "%q", text)
		harmless(text)
		assert.Less(t, b.get("/ui/people/"+url.PathEscape(text)), 500, "%q", text)
		harmless(text)
		if strings.ContainsRune(text, 0) || len(text) > 1000 {
			continue
		}
		status := change(t, s.URL, text)
		require.Less(t, status, 500, "%d %q", i, text)
		if status == http.StatusOK {
			stored++
		}
		b.person(t)
		harmless(text)
	}
	assert.Greater(t, stored, 10)
	assert.Contains(t, b.page, "Description</dt>")
}

func TestCookieOverHTTPS(t *testing.T) {
	s := start(t)
	server := httptest.NewTLSServer(s.Stack.Gateway.Handler())
	t.Cleanup(server.Close)
	b := s.browser(t)
	b.url, b.client.Transport = server.URL, server.Client().Transport
	b.signIn("helpdesk")
	set := b.answer.Header.Get("Set-Cookie")
	assert.True(t, strings.HasPrefix(set, "__Host-adgateway="), set)
	assert.Contains(t, set, "; Path=/; HttpOnly; Secure; SameSite=Lax")
	assert.NotContains(t, set, "Domain")
	require.Equal(t, 200, b.get("/ui/people"))
}

func change(t *testing.T, at, text string) int {
	t.Helper()
	body := url.Values{"Description": {text}}.Encode()
	r, err := http.NewRequest(http.MethodPut, at+"/api/ADUser/lweber", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}
