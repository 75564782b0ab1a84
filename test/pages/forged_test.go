package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forms returns the addresses that accept forms from signed-in people.
func forms() (all []string) {
	for _, action := range []string{
		"user.disable", "user.create", "user.resetPassword", "membership.add", "ou.delete", "cname.create", "change.undo",
	} {
		all = append(all, "/ui/do/"+action)
	}
	for _, action := range []string{"start", "pause", "resume", "cancel", "retry", "undo", "remove"} {
		all = append(all, "/ui/jobs/jb_019ab3f0-0000-7000-8000-000000000000/"+action)
	}
	return append(all, "/ui/do/nosuch", "/ui/steps/nosuch",
		"/ui/steps/nosuch/close", "/ui/jobs", "/ui/signout")
}

// TestEveryForgedFormIsRefused: every address that accepts forms refuses forms from other sites and forms
// without the token on the page.
func TestEveryForgedFormIsRefused(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	b.person(t)
	own := b.form("/ui/do/user.disable").Get("form")
	other := s.browser(t)
	other.signIn("operator")
	other.person(t)
	before := s.Snapshot()
	tries := 0
	for _, address := range forms() {
		for what, c := range map[string]struct{ token, header, value string }{
			"no token":             {"", "Origin", s.URL},
			"an invented one":      {"AAAA", "Origin", s.URL},
			"of another session":   {other.form("/ui/do/user.disable").Get("form"), "Origin", s.URL},
			"of another site":      {own, "Origin", "https://evil.example"},
			"of another port":      {own, "Origin", "http://127.0.0.1:1"},
			"without an origin":    {own, "Origin", "null"},
			"cross-site":           {own, "Sec-Fetch-Site", "cross-site"},
			"of the same domain":   {own, "Sec-Fetch-Site", "same-site"},
			"as text":              {own, "Content-Type", "text/plain"},
			"as JSON":              {own, "Content-Type", "application/json"},
			"of a site, as upload": {own, "Origin", "https://evil.example"},
		} {
			form := url.Values{"form": {c.token}}.Encode()
			r, err := http.NewRequest(http.MethodPost, s.URL+address, strings.NewReader(form))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if what == "of a site, as upload" {
				r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			}
			r.Header.Set(c.header, c.value)
			status := b.do(r)
			tries++
			assert.GreaterOrEqual(t, status, 400, "%s %s", address, what)
			assert.Less(t, status, 500, "%s %s", address, what)
		}
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch} {
			if method == http.MethodGet && (address == "/ui/jobs" || strings.HasPrefix(address, "/ui/do/")) {
				continue // GET shows the page itself
			}
			r, err := http.NewRequest(method, s.URL+address+"?form="+url.QueryEscape(own), nil)
			require.NoError(t, err)
			tries++
			assert.GreaterOrEqual(t, b.do(r), 400, "%s %s", method, address)
		}
	}
	assert.Empty(t, before.Compare(s.Snapshot()))
	require.Equal(t, 200, b.get("/ui/"), "nobody signed the person out")
	t.Logf("%d tries", tries)
	assert.Greater(t, tries, 250)
}
