package pages

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// checked submits a list on the page as a dry run, and returns the page of its job once it can be started.
func checked(b *browser, list string, pairs ...string) (job string) {
	b.t.Helper()
	require.Equal(b.t, 200, b.get("/ui/jobs"))
	typed := append([]string{"mode", "dryRun", "list", list}, pairs...)
	require.Equal(b.t, 303, upload(b, "", "", typed...), b.page)
	job = b.answer.Header.Get("Location")
	shows(b, job, "/start")
	return job
}

// TestAListChangesOneObjectSeveralTimes: the rows run in their order as the dry run has shown them. The plan
// of a row does not drift because of an earlier row of the list, whatever it changes.
func TestAListChangesOneObjectSeveralTimes(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	list := "Operation,UserName,City,OUPath,GroupName\n" +
		strings.Repeat("user.update,lweber,Ulm,,\nuser.update,lweber,Bonn,,\nuser.update,lweber,Bonn,,\n", 2) +
		"user.update,lweber,Ulm,\"" + formerStaff + "\",\n" +
		"user.update,lweber,Bonn,,\nuser.disable,lweber,,,\nuser.enable,lweber,,,\n" +
		"membership.add,lweber,,,Finance Staff\nmembership.remove,lweber,,,Finance Staff\n" +
		"membership.add,lweber,,,Finance Staff\n"
	job := checked(b, list)
	require.Equal(t, 303, b.submit(job+"/start"))
	shows(b, job, `<span class="st ok">done</span>`)
	assert.NotContains(t, b.page, `id="items"`, "every row is done: %s", said(b.page))
	now := s.Get("/api/ADUser/lweber/Details").Envelope.Result[0]
	assert.Equal(t, []any{"Bonn", formerStaff, true}, []any{now["city"], now["ouPath"], now["enabled"]})
	assert.Contains(t, string(s.Get("/api/ADUser/lweber/Group/All").Body), "Finance Staff")
}

// TestARowOfAListIsGuardedAgainstOthers: a row that follows another is not run if somebody else has changed
// what it would overwrite. The page says so in the words of the reader.
func TestARowOfAListIsGuardedAgainstOthers(t *testing.T) {
	s := start(t, "jobs.rate=0")
	b := s.browser(t)
	b.signIn("operator")
	const list = "UserName,City,Office\nlweber,Ulm,\nlweber,,B1\nlweber,Bonn,\n"
	job := checked(b, list, "operation", "user.update")
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/lweber?Office=Z9"}, 200)
	require.Equal(t, 303, b.submit(job+"/start"))
	shows(b, job, `<span class="st ok">done</span>`)
	text := html.UnescapeString(said(b.page))
	assert.Contains(t, text, "Someone changed this in the meantime, so nothing was done.")
	assert.NotRegexp(t, `pl_|DryRun|\bplan\b`, text)
	now := s.Get("/api/ADUser/lweber/Details").Envelope.Result[0]
	assert.Equal(t, []any{"Bonn", "Z9"}, []any{now["city"], now["office"]})
}

// failedRows runs a list with rows that fail, and returns the page of its job. Somebody else has changed what
// the first row would overwrite, the second comes after it, one names nobody, and one a guarded account.
func failedRows(b *browser, s *system) (job string) {
	b.t.Helper()
	job = checked(b, "Operation,id,after,UserName,City\n"+
		"user.update,one,,ahoffmann,Ulm\nuser.update,two,one,alee,Bonn\n"+
		"user.update,,,nobody.here,Bonn\nuser.update,,,Administrator,Bonn\nuser.update,,,mweber,Bonn\n")
	elsewhere := "/api/ADUser/ahoffmann?City=Oslo-" + job[len(job)-12:] // another city for each list
	s.OK(systemtest.Call{Method: http.MethodPut, Path: elsewhere}, 200)
	require.Equal(b.t, 303, b.submit(job+"/start"))
	shows(b, job, `/retry"`)
	return job
}
