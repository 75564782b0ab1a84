package pages

import (
	"html"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatNeedsAReasonAsksForIt: forms, buttons, selections, lists and procedures ask for a required reason
// before they send anything.
func TestWhatNeedsAReasonAsksForIt(t *testing.T) {
	s := start(t, "jobs.rate=0", `reason.required=["user.disable","membership.*","change.undo"]`)
	b := s.browser(t)
	b.signIn("operator")
	page := html.UnescapeString(b.person(t))
	assert.NotContains(t, page, `action="/ui/do/user.disable"`)
	assert.NotContains(t, page, `action="/ui/do/membership.`)
	assert.Contains(t, page, `action="/ui/do/user.resetPassword"`, "it needs none")
	link := regexp.MustCompile(`href="(/ui/do/user\.disable\?[^"]*)"`).FindStringSubmatch(page)
	require.Len(t, link, 2, page)
	require.Equal(t, 200, b.get(link[1]))
	why := b.between(`<label for="f-Reason">`, "</div>")
	assert.Contains(t, why, "<em>")
	assert.Contains(t, why, " required")
	assert.NotContains(t, b.between("<form class=\"stackup narrow\"", `for="f-Reason"`), "<details", "it is not folded")
	require.Equal(t, 303, b.submit("/ui/do/user.disable"))
	require.Equal(t, 422, b.follow())
	assert.Contains(t, b.page, `id="f-Reason-e"`)
	require.Equal(t, 303, b.submit("/ui/do/user.disable", "Reason", "INC-1"))
	require.Equal(t, 200, b.follow(), b.page)
	b.confirm()
	assert.Contains(t, b.page, "Done: Disable the account of Lea Weber.")
	assert.Regexp(t, `<a class="b s" href="/ui/do/change\.undo\?`, b.page)
	require.Equal(t, 200, b.get("/ui/do/user.update?Username="+lea))
	assert.NotContains(t, b.between(`<label for="f-Reason">`, "</div>"), " required")

	require.Equal(t, 200, b.get("/ui/people"))
	assert.Contains(t, b.page, `name="why-disable"`)
	assert.NotContains(t, b.page, `name="why-enable"`)
	many := url.Values{"form": {b.form("/ui/signout").Get("form")}, "who": {lea}, "many": {"join"}}
	many.Set("with-join", "Finance Staff")
	require.Equal(t, 400, b.post("/ui/people", many))
	many.Set("why-join", "INC-2")
	require.Equal(t, 303, b.post("/ui/people", many), b.page)
	shows(b, b.answer.Header.Get("Location"), "/start")
	assert.NotContains(t, b.page, `id="items"`, "nothing fails")

	require.Equal(t, 200, b.get("/ui/jobs"))
	require.Equal(t, 303, upload(b, "", "", "operation", "user.disable", "list", "Username\nlweber\n"))
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "No column contains “Reason or ticket”, which each row needs.")

	const leave = "/ui/procedures/leave"
	require.Equal(t, 303, b.submitFrom(leave, leave, "Username", "mweber"))
	require.Equal(t, 422, b.follow())
	assert.Contains(t, b.page, `id="f-Reason-e"`)
	require.Equal(t, 303, b.submit(leave, "Username", "mweber", "Reason", "INC-3"))
	shows(b, b.answer.Header.Get("Location"), "/start")
	assert.NotContains(t, b.page, `id="items"`, "nothing fails")
}
