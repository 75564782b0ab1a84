package pages

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestLastObjectsBelongToThePerson: the last viewed objects appear in all of the person's browsers until the
// person clears them. Nobody else sees them.
func TestLastObjectsBelongToThePerson(t *testing.T) {
	s := start(t)
	b, elsewhere, other := s.browser(t), s.browser(t), s.browser(t)
	b.signIn("operator")
	elsewhere.signIn("operator")
	other.signIn("helpdesk")
	for _, page := range []string{"/ui/people/" + lea, "/ui/groups/" + finance, "/ui/zones/corp.example"} {
		require.Equal(t, 200, b.get(page))
	}
	recent := func(b *browser) string {
		require.Equal(t, 200, b.get("/ui/"))
		return b.between(`<h2 id="recent">`, "</section>")
	}
	part := recent(elsewhere)
	zone, group := strings.Index(part, "corp.example"), strings.Index(part, "Finance Staff")
	assert.True(t, zone >= 0 && zone < group && group < strings.Index(part, "Weber, Lea"), part)
	assert.NotContains(t, recent(other), "Weber, Lea")
	require.Equal(t, 303, elsewhere.submit("/ui/recent"))
	assert.NotContains(t, recent(b), "Weber, Lea")
}

// TestLastObjectsAreShownByTheCurrentRights: an object that has left the person's limits is no longer named
// on the home page.
func TestLastObjectsAreShownByTheCurrentRights(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("berlin")
	recent := func() string {
		require.Equal(t, 200, b.get("/ui/"))
		_, part, _ := strings.Cut(b.page, `<h2 id="recent">`)
		return part
	}
	require.Equal(t, 200, b.get("/ui/people/"+lea))
	require.Contains(t, recent(), "Weber, Lea")
	s.Put("/api/ADUser/lweber", map[string]any{"OUPath": systemtest.EmptyOU})
	require.Equal(t, 404, b.get("/ui/people/"+lea))
	assert.NotContains(t, recent(), "Weber, Lea")
	s.Put("/api/ADUser/lweber", map[string]any{"OUPath": systemtest.LimitedOU})
	assert.Contains(t, recent(), "Weber, Lea")
}

// TestViewsAreSaved: a view is saved under a name, with its filter, search and sort order. The mistake in a
// name that cannot be used is shown at its field.
func TestViewsAreSaved(t *testing.T) {
	s := start(t)
	b, elsewhere, other := s.browser(t), s.browser(t), s.browser(t)
	b.signIn("operator")
	elsewhere.signIn("operator")
	other.signIn("helpdesk")
	const at = "/ui/people/saved"
	require.Equal(t, 200, b.get("/ui/people"))
	assert.NotContains(t, b.page, `action="`+at+`"`, "the whole list needs no name")
	sales := "/ui/people?f=department+eq+%22Sales%22&sort=-logonName&view=disabled"
	save := func(name string) int {
		require.Equal(t, 200, b.get(sales+"&from=0"))
		status := b.submit(at, "name", name)
		require.Equal(t, 303, status, b.page)
		require.Equal(t, 200, b.follow(), b.page)
		return status
	}
	for name, says := range map[string]string{
		"": "The name is missing.", " \t ": "The name is missing.", strings.Repeat("ä", 41): "at most 40 characters",
		"a\u200bb": "invisible characters", "a\u202eb": "invisible characters",
		"a\nb\x01": "invisible characters",
	} {
		save(name)
		assert.Contains(t, b.page, says, "%q", name)
		assert.Contains(t, b.page, `aria-invalid="true" aria-describedby="saved-name-e"`, "%q", name)
		require.Equal(t, 200, b.get(b.path), "and it reloads")
	}
	name := `<i>Sales & "more"`
	save("  " + name)
	assert.Equal(t, sales, b.path)
	link := `<a href="` + sales + `"`
	for _, one := range []*browser{b, elsewhere} {
		require.Equal(t, 200, one.get("/ui/people"))
		assert.Contains(t, html.UnescapeString(one.page), link)
		assert.NotContains(t, one.page, name, "it is a text")
		assert.Contains(t, html.UnescapeString(one.page), ">"+name+"</a>")
		require.Equal(t, 200, one.get("/ui/groups"))
		assert.NotContains(t, html.UnescapeString(one.page), link, "it is a view of another list")
	}
	require.Equal(t, 200, other.get("/ui/people"))
	assert.NotContains(t, html.UnescapeString(other.page), link)
	require.Equal(t, 200, b.get(sales))
	assert.NotContains(t, b.page, "Save this view", "it is saved already")

	sales += "&q=an"
	save(strings.ToUpper(name))
	assert.Contains(t, b.page, "You already have a saved view with this name.")
	form := b.form("/ui/signout")
	for i := range 29 {
		form.Set("name", fmt.Sprint("view ", i))
		form.Set("query", fmt.Sprint("q=view", i, "&format=csv&naming=x&back=y"))
		require.Equal(t, 303, b.post(at, form))
		assert.Equal(t, fmt.Sprint("/ui/people?q=view", i), b.answer.Header.Get("Location"), "the rest is left out")
	}
	save("one more")
	assert.Contains(t, b.page, "You have 30 saved views.")
	form.Set("name", name)
	require.Equal(t, 303, b.post(at+"/remove", form))
	require.Equal(t, 200, elsewhere.get("/ui/people"))
	assert.NotContains(t, html.UnescapeString(elsewhere.page), link)
	for _, query := range []string{"", "%zz", "after=x", "sort=" + strings.Repeat("x", 2000)} {
		form.Set("name", "wrong")
		form.Set("query", query)
		require.Equal(t, 303, b.post(at, form))
		require.Equal(t, 200, b.follow())
		assert.NotContains(t, b.page, "wrong</a>")
	}
}
