package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestAPersonIsToldOnceThatAListHasEnded: the note appears on the next page in any session, or immediately on
// an open page. It does not appear on the page of the list itself.
func TestAPersonIsToldOnceThatAListHasEnded(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b, elsewhere, other := s.browser(t), s.browser(t), s.browser(t)
	b.signIn("operator")
	elsewhere.signIn("operator")
	other.signIn("helpdesk")
	run := func(name string) string {
		require.Equal(t, 200, b.get("/ui/jobs"))
		list := "Username,City\naschmidt,Rome\nnobody.here,Rome\n"
		form := []string{"operation", "user.update", "mode", "run", "name", name, "list", list}
		require.Equal(t, 303, upload(b, "", "", form...))
		return b.answer.Header.Get("Location")
	}
	const ended = `class="box warn msg"`
	job := run("<b>move")
	shows(elsewhere, "/ui/groups", ended)
	note := elsewhere.between(`<div id="notes"`, "<h1>")
	assert.Contains(t, note, "Your list “&lt;b&gt;move” has ended (done): 2 of 2 items, 100 %.")
	assert.Contains(t, note, "1 failed")
	assert.Contains(t, note, `href="`+job+`"`)
	for _, one := range []*browser{elsewhere, b, other} {
		require.Equal(t, 200, one.get("/ui/groups"))
		assert.NotContains(t, one.page, `id="notes"`)
	}

	job = run("seen")
	shows(b, job, `<span class="st ok">done</span>`)
	require.Equal(t, 200, b.get("/ui/groups"))
	assert.NotContains(t, b.page, ended, "its own page has shown it")

	run("live")
	told := ""
	require.Eventually(t, func() bool { // an event stream is short, so the browser requests the next one
		told += events(b, "/ui/notes")
		return strings.Contains(told, "event: end\n")
	}, systemtest.Patience, time.Millisecond)
	assert.Contains(t, told, "event: note\ndata: ")
	assert.Contains(t, told, "“live” has ended")
	require.Equal(t, 200, b.get("/ui/groups"))
	assert.NotContains(t, b.page, ended)
}
