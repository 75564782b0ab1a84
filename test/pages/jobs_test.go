package pages

import (
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
)

// TestJobsPages: a person who submits lists with a token sees the token's jobs and the items that were not
// done, and can start and cancel the jobs. Other people cannot see the jobs, or can only look at them.
func TestJobsPages(t *testing.T) {
	s := start(t, "jobs.rate=0")
	submit := func(query, list string) string {
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs?Operation=user.update&" + query,
			Raw: strings.NewReader(list), Headers: map[string]string{"Content-Type": "text/csv"}})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		return a.Envelope.Result[0]["id"].(string)
	}
	wrong := submit("Name=%3Cb%3Ebold%3C%2Fb%3E", "UserName,Country\naschmidt,Atlantis\n")
	waits := submit("Mode=validate&Name=reorganization", "UserName,City\naschmidt,Rome\nnobody.here,Rome\n")
	b := s.browser(t)
	require.Equal(t, 303, b.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.AllToken))
	require.Equal(t, 200, b.get("/ui/jobs"))
	assert.Contains(t, b.page, "reorganization")
	assert.Contains(t, b.page, "&lt;b&gt;bold")
	assert.Contains(t, b.page, "0 of 2")
	require.Equal(t, 200, b.get("/ui/jobs/"+wrong))
	assert.Contains(t, b.page, "must be a country")
	assert.NotContains(t, b.page, "/cancel", "it has ended")

	page := "/ui/jobs/" + waits
	require.Equal(t, 200, b.get(page))
	assert.NotContains(t, b.page, "data-events", "it waits for its start")
	assert.NotContains(t, b.page, page+"/pause")
	require.Equal(t, 303, b.submitFrom(page, page+"/start"))
	require.Eventually(t, func() bool {
		b.get(page)
		return strings.Contains(b.page,
			`<span class="st ok">done</span>`)
	}, systemtest.Patience, 20*time.Millisecond)
	assert.Contains(t, b.page, "not_found")
	assert.Contains(t, b.page, `<progress max="2" value="2"`)
	require.Equal(t, 303, b.submit(page+"/retry"))
	next := b.answer.Header.Get("Location")
	require.NotEqual(t, page, next)
	shows(b, next, "not_found")
	assert.Contains(t, b.page, `<progress max="1"`, "the item that was done is not done again")
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
	assert.Contains(t, b.page, "canceled")
	require.Equal(t, 409, b.post("/ui/jobs/"+again+"/resume", b.form("/ui/signout")))
	assert.Contains(t, b.page, "it must be paused")
}

// upload sends the form for a list on the page, with a file unless its name is empty.
func upload(b *browser, file, list string, pairs ...string) int {
	b.t.Helper()
	return b.do(uploading(b, file, list, pairs...))
}

// uploading returns the request of [upload].
func uploading(b *browser, file, list string, pairs ...string) *http.Request {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range b.form("/ui/jobs", pairs...) {
		require.NoError(b.t, w.WriteField(name, values[0]))
	}
	if file != "" {
		part, err := w.CreateFormFile("file", file)
		require.NoError(b.t, err)
		_, err = part.Write([]byte(list))
		require.NoError(b.t, err)
	}
	require.NoError(b.t, w.Close())
	r, err := http.NewRequest(http.MethodPost, b.url+"/ui/jobs", &body)
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Origin", b.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

// TestInvisibleCharactersInTheNameOfAJob: a typed name with such characters is refused, and stays on the
// page. They are removed from the name of a file.
func TestInvisibleCharactersInTheNameOfAJob(t *testing.T) {
	s := startWith(t, func(p *app.People) {
		p.Roles[0].Scopes = append(p.Roles[0].Scopes, identity.JobRead, identity.JobSubmit)
	})
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	const list = "UserName,City\naschmidt,Bonn\n"
	typed := []string{"operation", "user.update", "mode", "validate"}
	require.Equal(t, 400, upload(b, "", "", append(typed, "name", "Mo\u200bves", "list", list)...))
	assert.Contains(t, b.page, "must not contain characters that are invisible")
	assert.Contains(t, b.page, "aschmidt,Bonn")
	require.Equal(t, 303, upload(b, "\u202aMoves\u200e.csv", list, typed...), b.page)
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "<h1>Moves.csv")
}

// TestPressesAtTheSameTimeSubmitAListOnce: all presses of the button lead to the one job.
func TestPressesAtTheSameTimeSubmitAListOnce(t *testing.T) {
	s := startWith(t, func(p *app.People) {
		p.Roles[0].Scopes = append(p.Roles[0].Scopes, identity.JobRead, identity.JobSubmit)
	}, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	list := "Operation,UserName,City\r\n" + strings.Repeat("user.update,aschmidt,Bonn\r\n", 3000)
	const presses = 6
	answers, failed := make([]*http.Response, presses), make([]error, presses)
	var pressed sync.WaitGroup
	for i := range presses {
		r := uploading(b, "", "", "operation", "", "mode", "validate", "list", list)
		pressed.Go(func() { answers[i], failed[i] = b.client.Do(r) })
	}
	pressed.Wait()
	var jobs []string
	for i, answer := range answers {
		require.NoError(t, failed[i])
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, 303, answer.StatusCode)
		jobs = append(jobs, answer.Header.Get("Location"))
	}
	assert.Len(t, slices.Compact(jobs), 1, jobs)
	assert.Contains(t, jobs[0], "/ui/jobs/")
}

// shows waits until a page contains a text.
func shows(b *browser, page, text string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.get(page) == 200 && strings.Contains(b.page, text) },
		systemtest.Patience, 20*time.Millisecond, "%s", text)
}

// TestAPersonSubmitsAList: a list is submitted as a file or as text. The job belongs to the person, who
// starts it, signs out, later finds it done, and removes it. Nobody else may remove it.
func TestAPersonSubmitsAList(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/jobs"))
	assert.Contains(t, b.page, `<option value="user.update">`)
	list := "UserName,City\naschmidt,Rome\nahoffmann,Oslo\n"
	require.Equal(t, 303, upload(b, "cities.csv", list, "operation", "user.update", "mode", "dryRun"), b.page)
	job := b.answer.Header.Get("Location")
	require.Contains(t, job, "/ui/jobs/jb_")
	shows(b, job, "/start")
	assert.Contains(t, b.page, "cities.csv")
	assert.Contains(t, b.page, "2 of 2 items checked, none changed")
	assert.NotContains(t, b.page, job+"/remove", "it has not ended")
	require.Equal(t, 303, b.submit(job+"/start"))
	require.Equal(t, 200, b.get(job))
	require.Equal(t, 303, b.submit("/ui/signout"))
	require.Equal(t, 401, b.get(job), "the session has ended")
	other := s.browser(t)
	other.signIn("helpdesk")
	assert.Equal(t, 403, other.get("/ui/jobs"))
	admin := s.browser(t)
	require.Equal(t, 303, admin.submitFrom("/ui/signin", "/ui/signin", "token", systemtest.AllToken))
	shows(admin, job, `<span class="st ok">done</span>`)
	assert.NotContains(t, admin.page, job+"/remove", "it belongs to somebody else")
	require.Equal(t, 403, admin.post(job+"/remove", admin.form("/ui/signout")))
	for user, city := range map[string]string{"aschmidt": "Rome", "ahoffmann": "Oslo"} {
		assert.Equal(t, city, s.Get("/api/ADUser/" + user + "/Details").Envelope.Result[0]["city"])
	}

	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/changes?view=mine"))
	assert.Contains(t, b.page, "Anna Schmidt changed", "they are changes of the person")
	assert.Contains(t, b.page, "Anna Hoffmann changed")
	require.Equal(t, 200, b.get(job))
	assert.NotContains(t, b.page, job+"/retry", "all was done")
	require.Equal(t, 303, b.submit(job+"/undo"))
	undo := b.answer.Header.Get("Location")
	require.NotEqual(t, job, undo)
	shows(b, undo, "/start")
	assert.Equal(t, "Rome", s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["city"], "it is only shown")
	require.Equal(t, 303, b.submit(undo+"/start"))
	shows(b, undo, `<span class="st ok">done</span>`)
	assert.NotEqual(t, "Rome", s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["city"])
	require.Equal(t, 200, b.get(job))
	require.Equal(t, 303, b.submit(job+"/remove"))
	assert.Equal(t, "/ui/jobs", b.answer.Header.Get("Location"))
	assert.Equal(t, 404, b.get(job))

	require.Equal(t, 200, b.get("/ui/jobs"))
	text := []string{
		"operation", "", "mode", "validate", "name", "<i>as text",
		"list", "Operation,UserName,City\r\nuser.update,aschmidt,Bonn\r\n",
	}
	form := b.page
	require.Equal(t, 303, upload(b, "", "", text...), b.page)
	job = b.answer.Header.Get("Location")
	b.page = form
	require.Equal(t, 303, upload(b, "", "", text...), "pressed twice")
	assert.Equal(t, job, b.answer.Header.Get("Location"))
	require.Equal(t, 200, b.get(job))
	assert.Contains(t, b.page, "&lt;i&gt;as text")
	require.Equal(t, 303, b.submit(job+"/cancel"))
}

// TestAListOfAPersonThatIsNotAccepted: the page explains why, and keeps what was typed.
func TestAListOfAPersonThatIsNotAccepted(t *testing.T) {
	s := startWith(t, func(p *app.People) {
		p.Roles[0].Scopes = append(p.Roles[0].Scopes, identity.JobRead, identity.JobSubmit)
	}, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("helpdesk")
	for name, c := range map[string]struct {
		status int
		says   string
		pairs  []string
	}{
		"nothing":          {400, "The list is missing", []string{"operation", "user.update"}},
		"no operation":     {400, "unlock", []string{"operation", "user.unlok", "list", "UserName\naschmidt\n"}},
		"of another role":  {403, "Ask your gateway administrator", []string{"operation", "user.delete", "list", "UserName\naschmidt\n"}},
		"no list of items": {400, "This is no list that can be run", []string{"operation", "user.unlock", "list", "{"}},
	} {
		require.Equal(t, 200, b.get("/ui/jobs"), name)
		assert.NotContains(t, b.page, `<option value="user.delete"`)
		require.Equal(t, c.status, upload(b, "", "", c.pairs...), "%s: %s", name, b.page)
		assert.Contains(t, html.UnescapeString(b.page), c.says, name)
		assert.Contains(t, b.page, `<details class="card" open>`, name)
	}
	require.Equal(t, 200, b.get("/ui/jobs"))
	wrong := `{"operation": "user.unlock", "parameters": {"UserName": "aschmidt", "Town": "Rome"}}`
	wrong = `{"items": [` + wrong + `]}`
	require.Equal(t, 303, upload(b, "", "", "mode", "run", "list", wrong))
	require.Equal(t, 200, b.get(b.answer.Header.Get("Location")))
	assert.Contains(t, b.page, "Nothing was run")
	require.Equal(t, 200, b.get("/ui/jobs"))
	require.Equal(t, 413, upload(b, "large.csv", strings.Repeat("x", 1<<20), "operation", "user.unlock"))
	assert.Contains(t, b.page, `id="list-file-e"`)
	require.Equal(t, 200, b.get("/ui/jobs"))
	long := "UserName,City\n" + strings.Repeat("aschmidt,Rome\n", 1<<20/14)
	typed := []string{"operation", "user.unlock", "name", "Rome for everybody", "mode", "validate", "list", long}
	require.Equal(t, 413, upload(b, "", "", typed...))
	assert.Contains(t, b.page, `id="list-text-e">The list is too long for the console`)
	assert.Contains(t, b.page, long, "nothing typed is lost")
	assert.Contains(t, b.page, `value="Rome for everybody"`)
	assert.Contains(t, b.page, `<option value="user.unlock" selected>`)
	require.Equal(t, 200, b.get("/ui/jobs"))
	require.Equal(t, 413, upload(b, "", "", "list", strings.Repeat("x", 4<<20)))
	assert.Contains(t, b.page, "job submit")
	assert.Contains(t, b.page, `href="/ui/jobs"`, "the person has the navigation to go on with")
	require.Equal(t, 200, b.get("/ui/do/user.update"))
	require.Equal(t, 413, b.post("/ui/do/user.update", url.Values{"Office": {strings.Repeat("x", 5<<20)}}))
	assert.Contains(t, b.page, "This form is too large for the console")
	require.Equal(t, 200, b.get("/ui/jobs"))
	assert.Equal(t, 403, upload(b, "", "", "form", "made up", "list", "UserName\naschmidt\n"))
	b.get("/ui/jobs")
	b.client.Jar = nil
	assert.Equal(t, 401, upload(b, "", "", "list", "UserName\naschmidt\n"))
	none := s.browser(t)
	none.signIn("operator")
	s.people.mu.Lock()
	s.people.off["operator"] = true
	s.people.mu.Unlock()
	require.Equal(t, 200, none.get("/ui/jobs"), "the session goes on for a while")
	list := []string{"operation", "user.unlock", "mode", "run", "list", "UserName\naschmidt\n"}
	require.Equal(t, 403, upload(none, "", "", list...), "a job asks at once")
}
