package pages

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// states contains accounts of the sandbox, one for each state of an account and some with a different past.
var states = []string{
	"aschmidt", "locked.out", "lockout.over", "must.change", "never.expires", "expired.account", "expires.later", "zero.expiry", "smart.card",
	"never.set", "old.password", "karl.alt", "krbtgt", "not.required",
}

var badge = regexp.MustCompile(`<span class="st (ok|warn|bad)">([^<]*)</span>`)

// badges returns the colored badges in a part of a page.
func badges(part string) []string {
	all := []string{}
	for _, m := range badge.FindAllStringSubmatch(part, -1) {
		all = append(all, m[1]+" "+html.UnescapeString(m[2]))
	}
	return all
}

// between returns the part of the page between two texts.
func (b *browser) between(from, to string) string {
	b.t.Helper()
	_, rest, found := strings.Cut(b.page, from)
	require.True(b.t, found, "no %q in %s", from, b.page)
	part, _, found := strings.Cut(rest, to)
	require.True(b.t, found, "no %q after %q", to, from)
	return part
}

// facts returns the facts on the page as HTML, by their labels.
func (b *browser) facts() map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`<dt>([^<]*)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(b.page, -1) {
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all
}

// ofState returns the badges that an account's fields should have.
func ofState(enabled, locked any) []string {
	all := []string{}
	switch enabled {
	case true:
		all = append(all, "ok Enabled")
	case false:
		all = append(all, "bad Disabled")
	}
	if locked == true {
		all = append(all, "bad Locked out")
	}
	return all
}

// inOneWord returns the word that lists should show for an account.
func inOneWord(t *testing.T, record map[string]any) string {
	t.Helper()
	expires := time.Time{}
	if text, is := record["accountExpires"].(string); is {
		var err error
		expires, err = time.Parse(time.RFC3339, text)
		require.NoError(t, err)
	}
	switch {
	case record["enabled"] == false:
		return "bad Disabled"
	case record["lockedOut"] == true:
		return "bad Locked"
	case !expires.IsZero() && !expires.After(time.Now()):
		return "bad Expired"
	case record["changePasswordNextLogon"] == true:
		return "warn Must change password"
	}
	return "ok Active"
}

// moment returns a time of the API in the form in which pages show it, or none if the time is nil.
func moment(t *testing.T, value any, none string) string {
	t.Helper()
	if value == nil {
		return none
	}
	at, err := time.Parse(time.RFC3339, value.(string))
	require.NoError(t, err)
	return at.UTC().Format("2 Jan 2006, 15:04") + " UTC"
}

// TestPagesSayWhatTheAPISays: the pages of a domain match the answers of the API.
func TestPagesSayWhatTheAPISays(t *testing.T) {
	s := start(t)
	s.OK(systemtest.Call{Method: "POST", Path: "/api/ADUser/karl.alt/Group/Finance Staff"}, 201)
	s.OK(systemtest.Call{Method: "POST", Path: "/api/ADUser/locked.out/Group/Finance Staff"}, 201)
	b := s.browser(t)
	b.signIn("operator")
	one := func(path string) map[string]any { return s.Get(path).Envelope.Result[0] }
	seen := map[string]int{}
	for _, name := range states {
		record, logon := one("/api/ADUser/"+name+"/Details"), one("/api/ADUser/"+name+"/LogonState")
		require.Equal(t, 200, b.get("/ui/people/"+record["guid"].(string)), name)
		codes := []string{}
		for _, v := range logon["verdicts"].([]any) {
			codes = append(codes, v.(map[string]any)["code"].(string))
			assert.Contains(t, b.page, html.EscapeString(v.(map[string]any)["text"].(string)), name)
		}
		color := "warn"
		switch {
		case logon["canLogOn"] == false:
			color = "bad"
		case strings.Join(codes, " ") == "ok":
			color = "ok"
		}
		seen[color]++
		verdict := b.between(`<section class="box verdict `, "</section>")
		assert.True(t, strings.HasPrefix(verdict, color+`"`), "%s: %v, and the page says %s", name, codes, verdict)
		needsChange := color == "warn" &&
			(strings.Contains(strings.Join(codes, " "), "password_expired") ||
				strings.Contains(strings.Join(codes, " "), "must_change"))
		assert.Equal(t, needsChange, strings.Contains(verdict, "only after changing the password"), name)
		assert.Equal(t, needsChange, strings.Contains(verdict, "user.resetPassword"), name)

		facts := b.facts()
		assert.Equal(t, ofState(record["enabled"], record["lockedOut"]), badges(facts["Account"]), name)
		set, expires := "unknown", "never"
		if record["changePasswordNextLogon"] == true {
			set = "Must be changed at the next logon"
		}
		if strings.Contains(strings.Join(codes, " "), "must_change") {
			expires = "immediately"
		}
		assert.Contains(t, facts["Password set"], moment(t, record["passwordLastSet"], set), name)
		assert.Contains(t, facts["Password expires"], moment(t, logon["passwordExpires"], expires), name)
		assert.Contains(t, facts["Account expires"], moment(t, record["accountExpires"], "never"), name)
		assert.Contains(t, facts["Created"], moment(t, record["created"], ""), name)

		head := b.between(`<div class="row"><h1>`, "</div>")
		require.Equal(t, 200, b.get("/ui/people?q="+name), name)
		row := b.between(`/ui/people/`+record["guid"].(string)+`"`, "</tr>")
		assert.Equal(t, []string{inOneWord(t, record)}, badges(row), name)
		color, text, _ := strings.Cut(inOneWord(t, record), " ")
		assert.Contains(t, head, `<span class="st pill `+color+`">`+text+`</span>`, "%s: the page and the list agree", name)
	}
	assert.Len(t, seen, 3, "there are accounts of each kind: %v", seen)

	for _, hit := range s.Get("/api/Search?Type=computer&Text=old-pc").Envelope.Result {
		guid := hit["guid"].(string)
		require.Equal(t, 200, b.get("/ui/computers?q=old-pc"))
		assert.Equal(t, []string{inOneWord(t, hit)}, badges(b.between(`/ui/computers/`+guid+`"`, "</tr>")))
		require.Equal(t, 200, b.get("/ui/computers/"+guid))
		assert.Equal(t, ofState(hit["enabled"], nil), badges(b.facts()["Account"]))
	}

	require.Equal(t, 200, b.get("/ui/groups/"+finance))
	disabled := 0
	for _, m := range s.Get("/api/ADGroups/" + finance + "/Members?Limit=50").Envelope.Result {
		assert.Equal(t, ofState(m["enabled"], nil), badges(b.between(`/ui/people/`+m["guid"].(string)+`"`, "</tr>")), m["name"])
		if m["enabled"] == false {
			disabled++
		}
	}
	assert.Equal(t, 1, disabled)
}

// TestPreviewsSayWhatHappens: the heading, the button and the result name all objects concerned, and adding
// or removing a member does not show the whole list of members.
func TestPreviewsSayWhatHappens(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	marie := s.Get("/api/ADUser/mweber/Details").Envelope.Result[0]["guid"].(string)
	berlin := s.Get("/api/ADGroups/Berlin Office").Envelope.Result[0]["guid"].(string)
	for _, c := range []struct{ target, guid, action, name, value, says, effect string }{
		{"Username", marie, "membership.remove", "GroupName", berlin, "Remove Marie Weber from Berlin Office", "− Marie Weber from Berlin Office"},
		{"Username", lea, "membership.copy", "From", "mweber", "Copy the groups of Marie Weber to Lea Weber", "+ Lea Weber to Finance Staff"},
		{"Username", lea, "membership.add", "GroupName", "Finance Staff", "Add Lea Weber to Finance Staff", "+ Lea Weber to Finance Staff"},
		{"Username", lea, "membership.add", "GroupName", finance, "Add Lea Weber to Finance Staff", "+ Lea Weber to Finance Staff"},
		{"GroupName", finance, "membership.add", "Username", "aschmidt", "Add Anna Schmidt to Finance Staff", "+ Anna Schmidt to Finance Staff"},
		{"Username", lea, "user.disable", "", "", "Disable the account of Lea Weber", ""},
		{"Username", lea, "user.resetPassword", "", "", "Reset the password of Lea Weber", "Lea Weber gets a " +
			"new password. The old password stops working immediately."},
		{"Username", lea, "user.expiry", "AccountExpires", "2090-01-01", "Set the last day of Lea Weber", ""},
		{"ADComputerName", oldPC, "computer.enable", "", "", "Enable the account of OLD-PC1", ""},
		{"ADComputerName", oldPC, "computer.move", "OUPath", "OU=Corp,DC=corp,DC=example", "Move OLD-PC1 to Corp", ""},
	} {
		require.Equal(t, 200, b.get("/ui/"))
		require.Equal(t, 200, b.sent(c.action, c.target, c.guid, c.name, c.value), "%s: %s", c.action, b.page)
		text := html.UnescapeString(b.page)
		assert.Contains(t, text, "<h1>"+c.says+"</h1>")
		assert.Contains(t, text, ">"+c.says+"</button>")
		assert.Contains(t, text, "<title>"+c.says)
		if c.effect != "" {
			assert.Contains(t, text, "<li><span>"+c.effect+"</span></li>")
			assert.NotContains(t, text, "<del>", c.says)
		}
	}
	require.Equal(t, 200, b.get("/ui/people/"+marie))
	assert.Contains(t, b.page, `aria-label="Remove Marie Weber from Berlin Office"`)
}

// TestTheExpiryFormSentUnchangedChangesNothing: an empty field does not mean "never", which must be chosen
// explicitly.
func TestTheExpiryFormSentUnchangedChangesNothing(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	guid := s.Get("/api/ADUser/expires.later/Details").Envelope.Result[0]["guid"].(string)
	page := "/ui/do/user.expiry?Username=" + guid
	require.Equal(t, 200, b.get(page), b.page)
	input := regexp.MustCompile(`name="AccountExpires" value="([^"]*)"`)
	require.Len(t, input.FindStringSubmatch(b.page), 2)
	day := input.FindStringSubmatch(b.page)[1]
	assert.Equal(t, "2100-01-03", day)
	b.preview("user.expiry", "AccountExpires", day)
	assert.Contains(t, b.page, "Nothing to do: this is already the case.")

	require.Equal(t, 200, b.get(page))
	require.Equal(t, 303, b.submit("/ui/do/user.expiry", "AccountExpires", ""))
	require.Equal(t, 422, b.follow())
	assert.Contains(t, b.page, "Last day of the account is missing. If there is none, tick “No end”.")
	assert.Equal(t, "", input.FindStringSubmatch(b.page)[1], "what was given is shown")
	b.preview("user.expiry", "AccountExpires", "", "never:AccountExpires", "true")
	assert.Contains(t, b.page, "<ins>none</ins>")
	b.confirm()
	assert.Nil(t, s.Get("/api/ADUser/expires.later/Details").Envelope.Result[0]["accountExpires"])
	require.Equal(t, 200, b.get(page))
	assert.Equal(t, "", input.FindStringSubmatch(b.page)[1])
	assert.Contains(t, b.between(`name="never:AccountExpires"`, ">"), "checked")
}

// TestAChangeOfAnotherFieldIsNoDrift: a previewed change can still be confirmed after another field of the
// object has changed.
func TestAChangeOfAnotherFieldIsNoDrift(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	b.person(t)
	b.preview("user.disable")
	require.Equal(t, 200, change(t, s.URL, "changed meanwhile"))
	b.confirm()
	record := s.Get("/api/ADUser/lweber/Details").Envelope.Result[0]
	assert.Equal(t, []any{false, "changed meanwhile"}, []any{record["enabled"], record["description"]})
}

// TestLinksToOthers: the manager's name links to the manager's page, and a list without hits links to the
// search over all objects.
func TestLinksToOthers(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	marie := s.Get("/api/ADUser/mweber/Details").Envelope.Result[0]
	require.Equal(t, 200, b.get("/ui/people/"+marie["guid"].(string)))
	m := regexp.MustCompile(`<dt>Manager</dt><dd><a href="([^"]*)">Anna Schmidt</a>`).FindStringSubmatch(b.page)
	require.Len(t, m, 2, b.facts()["Manager"])
	require.Equal(t, 303, b.get(html.UnescapeString(m[1])))
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, `<span class="mono">aschmidt</span>`)
	require.Equal(t, 303, b.get("/ui/objects/"+finance))
	assert.Equal(t, "/ui/groups/"+finance, b.answer.Header.Get("Location"))
	require.Equal(t, 303, b.get("/ui/objects/"+oldPC))
	require.Equal(t, 404, b.get("/ui/objects/"+url.PathEscape("CN=Nobody,DC=corp,DC=example")))
	limited := s.browser(t)
	limited.signIn("berlin") // without the scopes for OUs and zones
	require.Equal(t, 404, limited.get("/ui/objects/"+finance), "it is outside the limits: %s", limited.page)

	require.Equal(t, 200, b.get("/ui/people?q=old-pc"))
	assert.Contains(t, html.UnescapeString(b.page), "Nothing matches.")
	assert.Contains(t, b.page, `href="/ui/search?q=old-pc"`)
	require.Equal(t, 200, b.get("/ui/search?q=old-pc"))
	assert.Contains(t, b.page, `<a href="/ui/computers/`+oldPC+`">`)
}

// TestRefusedListsAreNotEmpty: a person who may not see a list is not told that it is empty, and has no menu
// entry for it.
func TestRefusedListsAreNotEmpty(t *testing.T) {
	s := start(t)
	for name, refused := range map[string][]string{
		"norights": {"/ui/people", "/ui/groups", "/ui/computers", "/ui/changes", "/ui/jobs", "/ui/people?q=weber"}, "helpdesk": {"/ui/jobs"},
	} {
		b := s.browser(t)
		b.signIn(name)
		require.Equal(t, 200, b.get("/ui/"))
		nav := b.between(`<nav id="nav" popover aria-label="Main">`, "</nav>")
		for _, path := range refused {
			assert.NotContains(t, nav, `href="`+path+`"`, name)
			require.GreaterOrEqual(t, b.get(path), 200)
			if b.answer.StatusCode == 200 {
				continue
			}
			assert.Equal(t, 403, b.answer.StatusCode, path)
			assert.Contains(t, b.page, `role="alert"`, path)
			assert.NotContains(t, b.page, `class="card void"`, path)
		}
	}
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	assert.Contains(t, b.page, `class="card void"`)
	assert.Contains(t, b.between(`<nav id="nav" popover aria-label="Main">`, "</nav>"), `href="/ui/jobs" aria-current="page"`)
}

// TestAuditIsSearchedByName: the calls that concern a person are found by any of the person's names, even if
// a call used another one.
func TestAuditIsSearchedByName(t *testing.T) {
	s := start(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	b := s.browser(t)
	b.signIn("operator")
	anna := s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]
	guid := anna["guid"].(string)
	require.Equal(t, 200, b.get("/ui/people/"+guid))
	b.preview("user.resetPassword")
	b.confirm()
	s.OK(systemtest.Call{Method: "POST", Path: "/api/ADUser/aschmidt/Group/Finance Staff"}, 201)
	a := s.Do(systemtest.Call{Method: "PUT",
		Path: "/api/ADUser/" + url.PathEscape(anna["distinguishedName"].(string)) + "/Disable"})
	s.OK(systemtest.Call{Method: "PUT", Path: "/api/ADUser/lweber/Disable"}, 200)
	for _, target := range []string{"aschmidt", "Schmidt, Anna", "Anna Schmidt", "ASCHMIDT@corp.example", guid,
		anna["distinguishedName"].(string)} {
		require.Equal(t, 200, b.get("/ui/audit?view=calls&target="+url.QueryEscape(target)))
		for _, operation := range []string{"user.resetPassword", "membership.add", "user.disable"} {
			assert.Contains(t, b.page, "<code>"+operation+"</code>", target)
		}
		assert.NotContains(t, b.page, "lweber", target)
	}
	require.Equal(t, 200, b.get("/ui/audit?view=calls&target="+a.Header.Get("X-Request-Id")))
	assert.Equal(t, 1, strings.Count(b.page, "<code>user.disable</code>"))
	assert.Equal(t, 0, strings.Count(b.page, "<code>membership.add</code>"))
	require.Equal(t, 200, b.get("/ui/audit?view=calls&target=Weber"))
	assert.Contains(t, b.page, "lweber", "a part of a name")
	require.Equal(t, 200, b.get("/ui/audit?view=calls&target=nobody.at.all"))
	assert.Contains(t, b.page, "No calls on this day match.")
}

// TestListsThatWereNotRun: lists with mistakes and lists that were only checked are not shown as finished.
func TestListsThatWereNotRun(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	require.Equal(t, 303, b.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.AllToken))
	for _, c := range []struct{ mode, list, state, text, bar string }{
		{"run", "UserName,Country\naschmidt,Atlantis\n", "rejected", "Nothing was run", ""},
		{"dryRun", "UserName,City\naschmidt,Rome\nnobody.here,Rome\n", "ready", "2 of 2 items checked, none changed", `<progress max="2" value="0"`},
		{"run", "UserName,City\naschmidt,Rome\n", "done", "1 of 1 items, 100 %", `<progress max="1" value="1"`},
	} {
		a := s.Do(systemtest.Call{Method: "POST", Path: "/api/Jobs?Operation=user.update&Mode=" + c.mode,
			Raw: strings.NewReader(c.list), Headers: map[string]string{"Content-Type": "text/csv"}})
		require.Equal(t, 202, a.Status, "%s", a.Body)
		page := "/ui/jobs/" + a.Envelope.Result[0]["id"].(string)
		require.Eventually(t, func() bool { b.get(page); return strings.Contains(b.facts()["State"], c.state) },
			systemtest.Patience, 20*time.Millisecond)
		assert.Contains(t, b.page, c.text)
		assert.Equal(t, c.bar != "", strings.Contains(b.page, "<progress"))
		assert.Contains(t, b.page, c.bar)
		if c.mode != "run" || c.state == "rejected" {
			assert.NotContains(t, b.page, "100 %")
		}
		if c.mode == "dryRun" {
			assert.Equal(t, []string{"1", "1"}, []string{b.facts()["Would change"], b.facts()["Would fail"]})
		}
	}
}

// TestAResetIsNotForgotten: the directory has no time for a password that must be changed, but the history
// shows when and by whom the password was reset.
func TestAResetIsNotForgotten(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("helpdesk")
	b.person(t)
	assert.NotContains(t, b.facts(), "Last reset here")
	b.preview("user.resetPassword")
	b.confirm()
	b.person(t)
	assert.Contains(t, b.facts()["Password set"], "Must be changed at the next logon")
	assert.NotContains(t, b.facts()["Password set"], "never")
	assert.Regexp(t, `ago</time> .*by helpdesk$`, b.facts()["Last reset here"])
	b.preview("user.resetPassword") // from the verdict on the logon
	assert.Contains(t, b.page, "Reset the password of Lea Weber")
}
