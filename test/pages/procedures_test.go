package pages

import (
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
)

const formerStaff = "OU=Former Staff,OU=Corp,DC=corp,DC=example"

// done starts the job on a page, and waits until it has ended.
func done(b *browser, job string) {
	b.t.Helper()
	shows(b, job, "/start")
	require.Equal(b.t, 303, b.submit(job+"/start"))
	shows(b, job, `<span class="st ok">done</span>`)
}

// TestSomebodyLeaves: the procedure for a leaver takes one form, one preview and one start, and one undo
// reverts all of it.
func TestSomebodyLeaves(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/procedures"))
	assert.Contains(t, b.page, `<a href="/ui/procedures/leave">Somebody leaves</a>`)
	page := "/ui/procedures/leave"
	require.Equal(t, 200, b.get(page))
	require.Equal(t, 303, b.submit(page, "Username", "nobody.here", "Description", "Left in May"))
	again := b.answer.Header.Get("Location")
	require.Equal(t, 422, b.get(again))
	assert.Contains(t, b.page, "Left in May", "nothing typed is lost")
	assert.Contains(t, b.page, `id="f-Username-e"`)
	require.Equal(
		t, 303, b.submit(page, "Username", "mweber", "Description", "Left in May", "OUPath", formerStaff),
	)
	job := b.answer.Header.Get("Location")
	require.Contains(t, job, "/ui/jobs/jb_")
	shows(b, job, "5 of 5 items checked, none changed")
	text := html.UnescapeString(b.page)
	assert.Contains(t, text, "Somebody leaves: mweber")
	assert.Contains(t, text, "Marie Weber from Finance Staff")
	assert.Contains(t, text, "<ins>Left in May</ins>")
	groups := func() int { return len(s.Get("/api/ADUser/mweber/Group/All").Envelope.Result) }
	details := func() map[string]any { return s.Get("/api/ADUser/mweber/Details").Envelope.Result[0] }
	before := details()
	require.Equal(t, 4, groups())
	done(b, job)
	assert.Equal(t, 1, groups(), "the primary group stays")
	assert.Equal(t, false, details()["enabled"])
	assert.Equal(t, formerStaff, details()["ouPath"])
	require.Equal(t, 303, b.submitFrom(job, job+"/undo"))
	done(b, b.answer.Header.Get("Location"))
	assert.Equal(t, 4, groups())
	for _, field := range []string{"enabled", "ouPath", "description"} {
		assert.Equal(t, before[field], details()[field], field)
	}
}

// TestSomebodyJoins: the preview of the procedure for a new person says which steps need an earlier step, and
// these steps are done, too.
func TestSomebodyJoins(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	page := "/ui/procedures/join"
	require.Equal(t, 200, b.get(page))
	require.Equal(t, 303, b.submit(page, "FirstName", "Nora"))
	require.Equal(t, 422, b.get(b.answer.Header.Get("Location")))
	for _, field := range []string{"LastName", "Username", "OUPath"} {
		assert.Contains(t, b.page, `id="f-`+field+`-e"`)
	}
	require.Equal(t, 303, b.submit(page,
		"FirstName", "Nora", "LastName", "Keller", "DisplayName", "Keller, Nora", "Username", "nkeller",
		"OUPath", "Corp › Staff › Berlin › Sales", "From", "lweber",
	), "%s", b.page)
	job := b.answer.Header.Get("Location")
	require.Contains(t, job, "/ui/jobs/", "%s", job)
	shows(b, job, "2 of 2 items checked, none changed")
	assert.Contains(t, b.page, "Needs an object that an earlier row creates")
	done(b, job)
	assert.Equal(
		t, false, s.Get("/api/ADUser/nkeller/Details").Envelope.Result[0]["enabled"], "it has no password yet",
	)
	assert.Greater(t, len(s.Get("/api/ADUser/nkeller/Group/All").Envelope.Result), 3)
	require.Equal(t, 303, b.submitFrom(job, job+"/undo"))
	done(b, b.answer.Header.Get("Location"))
	assert.Equal(t, 404, s.Get("/api/ADUser/nkeller/Details").Status)
}

// TestSomebodyMoves: when a person moves to another team, fields, manager and place change, and a colleague's
// groups are added.
func TestSomebodyMoves(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	details := func() map[string]any { return s.Get("/api/ADUser/alee/Details").Envelope.Result[0] }
	groups := func(name string) (all []string) {
		for _, r := range s.Get("/api/ADUser/" + name + "/Group/All").Envelope.Result {
			all = append(all, r["name"].(string))
		}
		return all
	}
	before, had := details(), groups("alee")
	require.NotSubset(t, had, groups("lweber"))
	const page = "/ui/procedures/move"
	require.Equal(t, 303, b.submitFrom(page, page, "Username", "Ava Lee (alee)", "From", "nobody.here"))
	require.Equal(t, 422, b.follow())
	assert.Contains(t, b.page, `id="f-From-e"`)
	require.Equal(t, 303, b.submit(page,
		"Username", "Ava Lee (alee)", "Department", "Sales", "JobTitle", "Account Manager", "Manager", "lweber",
		"OUPath", "Corp › Staff › Berlin › Sales", "From", "lweber", "Remove", "true",
	))
	job := b.answer.Header.Get("Location")
	done(b, job)
	now := details()
	assert.Equal(t, []any{"Sales", "Account Manager"}, []any{now["department"], now["jobTitle"]})
	assert.Equal(t, "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example", now["ouPath"])
	assert.Contains(t, now["manager"], "Lea Weber")
	assert.NotContains(t, b.page, `id="items"`, "every step is done")
	theirs := slices.DeleteFunc(groups("lweber"), func(name string) bool { return name == "VPN Users" })
	assert.ElementsMatch(t, theirs, groups("alee"), "a guarded group is not copied")
	require.Equal(t, 303, b.submitFrom(job, job+"/undo"))
	done(b, b.answer.Header.Get("Location"))
	for _, field := range []string{"department", "jobTitle", "ouPath", "manager"} {
		assert.Equal(t, before[field], details()[field], field)
	}
	assert.ElementsMatch(t, had, groups("alee"))
}

// TestProceduresOfASite: procedures in the settings replace the usual ones, and a person who may not run a
// step is told which step that is.
func TestProceduresOfASite(t *testing.T) {
	s := startOptions(t, func(o *app.Options) {
		o.Settings.Console.Procedures = []config.Procedure{
			{Name: "leave", Title: []string{"Lock out", "Aussperren"}, Steps: []string{
				"user.disable Username={Username}", "user.update Username={Username}; Office=Locked by {Who}",
			}},
			{Name: "join"},
			{Name: "gone", Title: []string{"Remove"}, Steps: []string{"user.delete Username={Username}"}},
		}
		o.People.Roles[0].Scopes = append(o.People.Roles[0].Scopes, identity.JobRead, identity.JobSubmit)
	}, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("helpdesk")
	require.Equal(t, 200, b.get("/ui/procedures"))
	assert.Contains(t, b.page, `<a href="/ui/procedures/leave">Lock out</a>`)
	assert.NotContains(t, b.page, "joins")
	assert.Contains(t, b.page, "<h2>Remove</h2>")
	assert.Contains(t, b.page, "Not available to you: your role does not include People: Delete.")
	assert.Equal(t, 403, b.get("/ui/procedures/gone"))
	assert.Equal(t, 404, b.get("/ui/procedures/join"))
	page := "/ui/procedures/leave"
	require.Equal(t, 303, b.submitFrom(page, page, "Username", "Administrator", "Who", "me"))
	job := b.answer.Header.Get("Location")
	shows(b, job, "2 of 2 items checked")
	assert.Contains(
		t, html.UnescapeString(b.page), "critical system object", "each step keeps its guards, and says why",
	)
	require.Equal(t, 303, b.submitFrom(page, page, "Username", "mweber", "Who", strings.Repeat("x", 200)))
	require.Equal(t, 422, b.get(b.answer.Header.Get("Location")))
	assert.Contains(t, b.page, `id="f-Who-e"`, "a limit of the parameter is said at its blank")
	require.Equal(t, 303, b.submit(page, "Username", "mweber", "Who", "me; Description=x"))
	done(b, b.answer.Header.Get("Location"))
	found := s.Get("/api/ADUser/mweber/Details").Envelope.Result[0]
	assert.Equal(
		t, "Locked by me; Description=x", found["office"], "what is typed is a value, whatever is in it",
	)
	none := s.browser(t)
	none.signIn("norights")
	assert.Equal(t, 200, none.get("/ui/procedures"))
}
