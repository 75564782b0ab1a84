package pages

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clicks counts a person's clicks, starting at the first page after sign-in.
type clicks struct {
	*browser
	n int
}

// search enters a text in the search box, which is on every page, and opens the hit.
func (c *clicks) search(text string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusOK, c.get("/ui/"))
	require.Contains(c.t, c.page, `action="/ui/search"`)
	c.n++
	require.Equal(c.t, http.StatusOK, c.get("/ui/search?q="+text), c.page)
}

// open follows the first matching link on the page.
func (c *clicks) open(link string) (path string) {
	c.t.Helper()
	found := regexp.MustCompile(`href="(` + link + `)[#"]`).FindStringSubmatch(c.page)
	require.NotNil(c.t, found, "no link %s in %s", link, c.page)
	c.n++
	require.Equal(c.t, http.StatusOK, c.get(found[1]))
	return found[1]
}

// reveal enters a reason and presses the button.
func (c *clicks) reveal(page, what string) {
	c.t.Helper()
	form := secretForm(c.browser, page+"/reveal", what)
	form.Set("Reason", becauseOf)
	c.n++
	require.Equal(c.t, http.StatusSeeOther, c.post(page+"/reveal", form), c.page)
	require.Equal(c.t, http.StatusOK, c.follow())
}

// TestTasksOfAHelpDeskTakeThreeClicks: each task of a help desk takes at most three clicks.
func TestTasksOfAHelpDeskTakeThreeClicks(t *testing.T) {
	s := secretive(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	const computer, person = `/ui/computers/[0-9a-f-]{36}`, `/ui/people/[0-9a-f-]{36}`
	for name, task := range map[string]func(c *clicks){
		"read the LAPS password": func(c *clicks) {
			c.search("PC01")
			c.reveal(c.open(computer), "laps")
			assert.Contains(c.t, c.page, "<output>"+localPass+"</output>")
		},
		"find the BitLocker key": func(c *clicks) {
			c.search("7F6B1D5C")
			c.reveal(c.open(computer), "key")
			assert.Regexp(c.t, `<output>(\d{6}-){7}\d{6}</output>`, c.page)
		},
		"why is she locked out": func(c *clicks) {
			c.search("locked.out")
			c.open(person)
			assert.Contains(c.t, c.page, `<h2 id="lockouts">`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clicks{browser: s.browser(t)}
			c.signIn("operator")
			task(c)
			assert.LessOrEqual(t, c.n, 3)
		})
	}
}
