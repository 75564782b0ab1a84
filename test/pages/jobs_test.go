package pages

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestJobsPages: who submits lists with a token sees its jobs and what was not done, and
// can start and cancel them; others do not know of them, or only look.
func TestJobsPages(t *testing.T) {
	s := start(t, "jobs.rate=0")
	submit := func(query, list string) string {
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs?Operation=user.update&" + query, Raw: strings.NewReader(list), Headers: map[string]string{"Content-Type": "text/csv"}})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		return a.Envelope.Result[0]["id"].(string)
	}
	wrong := submit("Name=%3Cb%3Ebold%3C%2Fb%3E", "UserName,Country\naschmidt,Atlantis\n")
	waits := submit("Mode=validate&Name=reorganisation", "UserName,City\naschmidt,Rome\nnobody.here,Rome\n")
	b := s.browser(t)
	require.Equal(t, 303, b.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.AllToken))
	require.Equal(t, 200, b.get("/ui/jobs"))
	assert.Contains(t, b.page, "reorganisation")
	assert.Contains(t, b.page, "&lt;b&gt;bold")
	assert.Contains(t, b.page, "0 of 2")
	require.Equal(t, 200, b.get("/ui/jobs/"+wrong))
	assert.Contains(t, b.page, "must be a country")
	assert.NotContains(t, b.page, "/cancel", "it has ended")

	page := "/ui/jobs/" + waits
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, `data-refresh="3"`)
	assert.NotContains(t, b.page, page+"/pause")
	require.Equal(t, 303, b.submitFrom(page, page+"/start"))
	require.Eventually(t, func() bool { b.get(page); return strings.Contains(b.page, `<span class="badge good">done</span>`) }, systemtest.Patience, 20*time.Millisecond)
	assert.Contains(t, b.page, "not_found")
	assert.Contains(t, b.page, `<progress max="2" value="2"`)
	assert.Equal(t, 404, b.get("/ui/jobs/jb_019ab3f0-0000-7000-8000-000000000000"))
	assert.Equal(t, 400, b.get("/ui/jobs/none"))

	again := submit("Mode=validate", "UserName,City\naschmidt,Oslo\n")
	other := s.browser(t)
	other.signIn("operator")
	require.Equal(t, 200, other.get("/ui/jobs/"+again))
	assert.NotContains(t, other.page, "/cancel", "it belongs to another credential")
	require.Equal(t, 403, other.post("/ui/jobs/"+again+"/cancel", other.form("/ui/signout")))
	none := s.browser(t)
	none.signIn("norights")
	assert.Equal(t, 403, none.get("/ui/jobs"))
	require.Equal(t, 303, b.submitFrom("/ui/jobs/"+again, "/ui/jobs/"+again+"/cancel"))
	require.Equal(t, 200, b.get("/ui/jobs/"+again))
	assert.Contains(t, b.page, "cancelled")
	require.Equal(t, 409, b.post("/ui/jobs/"+again+"/resume", b.form("/ui/signout")))
	assert.Contains(t, b.page, "it must be paused")
}
