package pages

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFormPicksByName(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	b.person(t)
	b.preview("membership.add", "GroupName", "Finance Staff")
	assert.Contains(t, b.page, "Add Lea Weber to Finance Staff")
	assert.Contains(t, b.page, "&#43; Lea Weber to Finance Staff")
	assert.Contains(t, b.page, "The other members remain.")
	step := b.path
	require.Equal(t, 200, b.get(step), "the preview is an address that reloads")
	b.confirm()
	assert.True(t, strings.HasPrefix(b.path, "/ui/people/"+lea+"?done="), b.path)
	assert.Contains(t, b.page, "Done: Add Lea Weber to Finance Staff.")
	require.Equal(t, 200, b.get(b.path), "and the message reloads")
	undo := regexp.MustCompile(`action="(/ui/do/change\.undo\?[^"]*)"`).FindStringSubmatch(b.page)
	require.Len(t, undo, 2, b.page)
	require.Equal(t, 303, b.post(html.UnescapeString(undo[1]), b.form("/ui/signout")), b.page)
	require.Equal(t, 200, b.follow(), b.page)
	assert.Contains(t, b.page, "− Lea Weber from Finance Staff")
	b.confirm()
	assert.Contains(t, b.page, "Done: Undo: Add to a group")
	require.Equal(t, 303, b.post(step, b.form("/ui/signout")), "the first one is not done again")
}

func TestAFormWithMistakesKeepsWhatWasTyped(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/do/user.create"), b.page)
	assert.Contains(t, b.page, "New person")
	long := strings.Repeat("x", 80)
	require.Equal(t, 303, b.submit("/ui/do/user.create", "FirstName", long, "LastName", "Müller",
		"Manager", "Weber", "OUPath", "IT", "EmailAddress", "johanna@corp.example", "Password", "Typed-1-Secret!"))
	require.Equal(t, 422, b.follow())
	for _, text := range []string{
		"Person is missing.", "First name must be at most 64 characters long", "Did you mean Weber, Lea (lweber)",
		"There are several objects called IT: ", "4 fields need correction", `value="Müller"`, long,
		`value="johanna@corp.example"`, `aria-describedby="f-Manager-e f-Manager-h"`,
	} {
		assert.Contains(t, b.page, strings.ReplaceAll(text, "Person is", "Logon name is"))
	}
	assert.NotContains(t, b.page, "Typed-1-Secret!")
	require.Equal(t, 422, b.get(b.path), "and it reloads")
	require.Equal(t, 303, b.submit("/ui/do/user.create", "FirstName", "Johanna", "LastName", "Müller",
		"Username", "jmueller9",
		"Manager", "Weber, Lea (lweber)", "OUPath", "Corp › Staff › Berlin › IT", "ChangePasswordNextLogon", "",
		"Password", "Typed-1-Secret!"), b.page)
	require.Equal(t, 200, b.follow(), b.page)
	assert.Contains(t, b.page, "new in Corp › Staff › Berlin › IT")
	assert.NotContains(t, b.page, "Typed-1-Secret!")
	b.confirm()
	assert.Contains(t, b.page, "Done: Create the account jmueller9.")
	assert.True(t, strings.HasPrefix(b.path, "/ui/people/"), b.path)
}

func TestAFormSurvivesSignIn(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/do/user.update?Username="+lea), b.page)
	form := b.form("/ui/do/user.update", "Username", lea, "JobTitle", "Painter & Co",
		"Password", "Typed-1-Secret!")
	require.Equal(t, 303, b.post("/ui/signout", b.form("/ui/signout")))
	require.Equal(t, 401, b.post("/ui/do/user.update", form), b.page)
	assert.Contains(t, b.page, "what you typed is not lost")
	require.NotContains(t, b.page, "Typed-1-Secret!")
	require.Equal(t, 303, b.submit("/ui/signin", "username", "operator", "password", password))
	require.Equal(t, 200, b.follow(), b.page)
	assert.Contains(t, b.page, `value="Painter &amp; Co"`)
}

func TestAChangeOfAnotherFieldIsShown(t *testing.T) {
	s := start(t)
	b, other := s.browser(t), s.browser(t)
	b.signIn("operator")
	other.signIn("operator")
	edit := "/ui/do/user.update?Username=" + lea
	require.Equal(t, 200, b.get(edit))
	b.preview("user.update", "Username", lea, "JobTitle", "Painter")
	require.NotContains(t, b.page, "in the meantime")
	step := b.path
	require.Equal(t, 200, other.get(edit))
	other.preview("user.update", "Username", lea, "Office", "Cellar")
	assert.NotContains(t, other.page, "Job title", "what was not typed is not sent")
	other.confirm()
	require.Equal(t, 200, b.get(step))
	assert.Contains(t, b.page, "in the meantime")
	b.confirm()
	assert.Contains(t, b.page, "Done: Change Lea Weber.")
	assert.Contains(t, b.page, "Painter")
}

func TestEachChangingRowHasAForm(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/do"), b.page)
	links := strings.Split(b.page, `href="/ui/do/`)[1:]
	require.Greater(t, len(links), 85)
	for _, link := range links {
		id, _, _ := strings.Cut(link, `"`)
		require.Equal(t, 200, b.get("/ui/do/"+id), id)
		status := b.submit("/ui/do/" + id)
		require.Equal(t, 303, status, "%s: %s", id, b.page)
		require.Contains(t, []int{200, 422}, b.follow(), "%s: %s", id, b.page)
	}
	desk := s.browser(t)
	desk.signIn("helpdesk")
	require.Equal(t, 200, desk.get("/ui/do"))
	assert.NotContains(t, desk.page, "/ui/do/ou.create")
	require.Equal(t, 403, desk.get("/ui/do/ou.create"))
	assert.Contains(t, desk.page, "Your role does not include")
	require.Equal(t, 403, desk.post("/ui/do/ou.create", desk.form("/ui/signout")))
	require.Equal(t, 404, desk.get("/ui/do/job.submit"))
	require.Equal(t, 404, desk.get("/ui/do/user.get"))
}

func TestPickers(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	for kind, want := range map[string][2]string{
		"person": {"weber", "Weber, Lea (lweber)"}, "group": {"financ", "Finance Staff"},
		"computer": {"old-pc", "OLD-PC1"}, "ou": {"berlin", "Corp › Staff › Berlin"}, "zone": {"corp", "corp.example"},
	} {
		require.Equal(t, 200, b.get("/ui/pick/"+kind+"?q="+url.QueryEscape(want[0])), b.page)
		assert.Contains(t, b.page, `data-value="`+want[1], kind)
		require.Equal(t, 200, b.get("/ui/pick/"+kind+"?q=%00"), "and nothing is found for nonsense")
	}
	require.Equal(t, 404, b.get("/ui/pick/nosuch?q=aa"))
}

// TestAListIsCheckedAndDownloaded: a list in Latin-1, whose columns have the names that people use, is
// checked. A table shows its changes.
func TestAListIsCheckedAndDownloaded(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"), b.page)
	assert.Contains(t, b.page, "People: Edit")
	list := "Person;Telefon;B\xfcro\r\nlweber;+49 30 6010;M\xfcnchen\r\nnobody.here;1;=1+1\r\n"
	require.Equal(t, 303, upload(b, "list.csv", list, "operation", "user.update", "mode", "dryRun"), b.page)
	page := b.answer.Header.Get("Location")
	shows(b, page, page+"/start")
	assert.Contains(t, b.page, "<ins>München</ins>")
	assert.Contains(t, b.page, "<ins>&#43;49 30 6010</ins>")
	require.Equal(t, 200, b.get(page+"/result.csv"))
	assert.Equal(t, "text/csv; charset=utf-8", b.answer.Header.Get("Content-Type"))
	lines := strings.Split(strings.TrimSpace(b.page), "\n")
	require.Len(t, lines, 3, b.page)
	const heads = "\ufeffPerson;Telefon;Büro;State;Code;Message;ChangeId;Guid"
	assert.Equal(t, heads, strings.TrimSpace(lines[0]))
	assert.Contains(t, lines[1], "lweber;\"'+49 30 6010\";München;done;")
	assert.Contains(t, lines[2], "nobody.here;1;\"'=1+1\";failed;not_found;")

	// The file can be corrected and uploaded again. The apostrophes that protect against formulas are not part
	// of the values.
	file := b.page
	require.Equal(t, 200, b.get("/ui/jobs"))
	require.Equal(t, 303, upload(b, "result.csv", file, "operation", "user.update", "mode", "dryRun"), b.page)
	again := b.answer.Header.Get("Location")
	pairs := []string{"c0", "Username", "c1", "OfficePhone", "c2", "Office"}
	require.Equal(t, 303, b.submitFrom(again, again, pairs...), b.page)
	again = b.answer.Header.Get("Location")
	shows(b, again, "<ins>&#43;49 30 6010</ins>")
	require.Equal(t, 200, b.get(again+"/result.csv"))
	assert.Contains(t, b.page, "\ufeffPerson;Telefon;Büro;State;Code;Message;ChangeId;Guid;JobState;JobCode;")
	require.Equal(t, 404, b.get("/ui/jobs/jb_019ab3f0-0000-7000-8000-000000000000/result.csv"))
}
