package pages

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
)

var links = regexp.MustCompile(`href="(/ui/[a-z]+/[0-9a-f-]{36})"`)

// linked returns the objects to which a page links after the given text, in order.
func (b *browser) linked(from string) (all []string) {
	_, part, _ := strings.Cut(b.page, from)
	for _, m := range links.FindAllStringSubmatch(part, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestTwoRolesShowWhatEachShows: a person with two roles sees lists with the objects of either role, each
// once and in order, regardless of the order of the roles.
func TestTwoRolesShowWhatEachShows(t *testing.T) {
	reads := []identity.Scope{
		identity.UserRead, identity.GroupRead, identity.MemberRead, identity.ComputerRead, identity.ChangeRead,
	}
	berlin := signin.Role{
		Group: "group of helpdesk", Name: "Berlin",
		Scopes: slices.Concat(reads, []identity.Scope{identity.UserWrite}),
		Limits: identity.Limits{OUs: []string{systemtest.LimitedOU}},
	}
	readers := signin.Role{Group: "group of helpdesk", Name: "Readers", Scopes: reads[:4]}
	var all [][]string
	for name, roles := range map[string][]signin.Role{
		"the limited one first": {berlin, readers}, "the other one first": {readers, berlin}, "twice": {readers, readers},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, func(p *app.People) { p.Roles = roles })
			b := s.browser(t)
			b.signIn("helpdesk")
			var found []string
			for _, page := range []string{
				"/ui/people?q=gallagher", "/ui/people?q=weber", "/ui/groups?q=finance", "/ui/computers?q=old",
				"/ui/groups/" + finance, "/ui/people/" + lea,
			} {
				require.Equal(t, http.StatusOK, b.get(page), page)
				shown := b.linked("<h1>")
				assert.NotEmpty(t, shown, page)
				found = append(found, page)
				found = append(found, shown...)
			}
			all = append(all, found)
		})
	}
	require.Len(t, all, 3)
	assert.Equal(t, all[0], all[1])
	assert.Equal(t, all[0], all[2])
}

// TestPagesOfAListOfTwoRoles: if a person has two roles, each change is on exactly one page of the list, in
// the common order.
func TestPagesOfAListOfTwoRoles(t *testing.T) {
	scopes := []identity.Scope{identity.UserRead, identity.ChangeRead, identity.UserWrite}
	limited := signin.Role{
		Group: "group of helpdesk", Name: "Berlin", Scopes: scopes,
		Limits: identity.Limits{OUs: []string{systemtest.LimitedOU}},
	}
	whole := signin.Role{Group: "group of helpdesk", Name: "All", Scopes: scopes}
	for name, roles := range map[string][]signin.Role{
		"the limited one first": {limited, whole}, "the other one first": {whole, limited},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, func(p *app.People) { p.Roles = roles })
			b := s.browser(t)
			b.signIn("helpdesk")
			b.person(t)
			const made = 57
			for i := range made {
				day := fmt.Sprintf("20%02d-12-31", 30+i)
				require.Equal(t, http.StatusOK, b.sent("user.expiry", "Username", lea, "AccountExpires", day), b.page)
				b.confirm()
			}
			require.Equal(t, http.StatusOK, b.get("/ui/changes"))
			assert.Equal(t, 50, strings.Count(b.page, `<td class="nm"><a href="/ui/changes/ch_`))
			next := regexp.MustCompile(`href="(\?after=[^"]*|/ui/changes\?after=[^"]*)"`).FindStringSubmatch(b.page)
			require.Len(t, next, 2, b.page)
			require.Equal(t, http.StatusOK,
				b.get("/ui/changes"+html.UnescapeString(next[1][strings.Index(next[1], "?"):])), b.page)
			assert.Equal(t, made-50, strings.Count(b.page, `<td class="nm"><a href="/ui/changes/ch_`))
			assert.NotContains(t, b.page, `rel="next"`)
			assert.Equal(t, http.StatusBadRequest, b.get("/ui/changes?after=none"))
		})
	}
}

// TestPagesExplainALimitThatIsReached: a person's hourly limits apply to all sessions together, and a page
// explains them.
func TestPagesExplainALimitThatIsReached(t *testing.T) {
	one := 1
	s := startWith(t, func(p *app.People) { p.Roles[0].Quota = &identity.Quota{PasswordResetsPerHour: &one} })
	for i := range 2 {
		b := s.browser(t)
		b.signIn("helpdesk")
		b.person(t)
		status := b.sent("user.resetPassword", "Username", lea)
		if i == 0 {
			require.Equal(t, http.StatusOK, status, b.page)
			b.confirm()
			continue
		}
		require.Equal(t, http.StatusTooManyRequests, status)
		assert.Contains(t, html.UnescapeString(b.page),
			"may reset 1 password an hour and has 0 left. It may reset more from ")
	}
}

// TestANamesakeAtTheAPIIsAnother: a person and an API user may have the same name, but the objects of one of
// them do not belong to the other.
func TestANamesakeAtTheAPIIsAnother(t *testing.T) {
	const name = "operator"
	s := startOptions(t, func(o *app.Options) {
		namesake := authn.NewStatic(authn.Header{})
		user := &identity.Principal{ID: "77aa", Name: name, Scopes: []identity.Scope{identity.All}}
		require.NoError(t, namesake.AddUser("secret", user))
		again := &identity.Principal{ID: "88bb", Name: name,
			Scopes: []identity.Scope{identity.JobRead, identity.JobSubmit}}
		require.NoError(t, namesake.AddToken("again", again))
		o.Auth = authn.Chain{namesake, o.Auth.(authn.Source)}
	}, "jobs.rate=0")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":secret"))
	as := func(method, path, body, media string) systemtest.Answer {
		return s.Do(systemtest.Call{
			Method: method, Path: path, Token: "none", Raw: strings.NewReader(body),
			Headers: map[string]string{"Auth-Token": basic, "Content-Type": media},
		})
	}
	list := as(http.MethodPost, "/api/Jobs?Operation=user.update&Mode=validate",
		"UserName,City\naschmidt,Rome\n", "text/csv")
	require.Equal(t, http.StatusAccepted, list.Status, "%s", list.Body)
	job := "/ui/jobs/" + list.Envelope.Result[0]["id"].(string)
	for _, action := range []string{"", "/Start", "/Pause", "/Cancel"} {
		call := systemtest.Call{Method: http.MethodPost,
			Path: "/api/Jobs/" + strings.TrimPrefix(job, "/ui/jobs/") + action, Token: "again"}
		switch action {
		case "":
			call.Method = http.MethodGet
		case "/Cancel":
			call.Method, call.Path = http.MethodDelete, strings.TrimSuffix(call.Path, action)
		default:
			call.Method = http.MethodPut
		}
		assert.Equal(t, http.StatusNotFound, s.Do(call).Status, "a token of the name: %s", action)
	}
	made := as(http.MethodPut, "/api/ADUser/aschmidt", `{"City":"Rome"}`, "application/json")
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)

	b := s.browser(t)
	b.signIn(name)
	require.Equal(t, http.StatusOK, b.get("/ui/changes?view=mine"))
	assert.Contains(t, b.page, "Nothing matches.")
	require.Equal(t, http.StatusOK, b.get(job))
	assert.Contains(t, b.page, name+" (API user)")
	assert.NotContains(t, b.page, job+"/start")
	assert.NotContains(t, b.page, job+"/cancel")
	assert.Equal(t, http.StatusForbidden, b.post(job+"/start", b.form("/ui/signout")))

	b.person(t)
	b.preview("user.disable")
	b.confirm()
	require.Equal(t, http.StatusOK, b.get("/ui/changes?view=mine"))
	assert.Contains(t, b.page, "Lea Weber disabled")
	assert.NotContains(t, b.page, "Anna Schmidt changed")

	for caller, want := range map[string][]string{
		name: {"user.disable", "user.update"}, "OPERATOR": {"user.disable", "user.update"},
		"user:" + name: {"user.update"}, "user:77aa": {"user.update"}, "77aa": {"user.update"},
		"person:" + name: {"user.disable"}, "person:S-1-" + name: {"user.disable"},
		"S-1-" + name: {"user.disable"}, "token:" + name: nil, "user:S-1-" + name: nil,
	} {
		a := as(http.MethodGet, "/api/Changes?Caller="+url.QueryEscape(caller), "", "application/json")
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		var operations []string
		for _, change := range a.Envelope.Result {
			operations = append(operations, change["operation"].(string))
		}
		assert.Equal(t, want, operations, caller)
	}
	for _, wrong := range []string{"group:x", "user:", ":x"} {
		a := as(http.MethodGet, "/api/Changes?Caller="+url.QueryEscape(wrong), "", "application/json")
		assert.Equal(t, http.StatusBadRequest, a.Status, wrong)
		assert.Contains(t, string(a.Body), `"field":"Caller"`, wrong)
	}
}
