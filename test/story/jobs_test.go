package story

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/nacl/box"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const (
	csvMedia  = "text/csv"
	jsonLines = "application/x-ndjson"
)

// fast turns the rate limit of jobs off.
const fast = "jobs.rate=0"

// submit returns a request that submits a list.
func submit(media, list string, query ...string) systemtest.Call {
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	return systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs?" + values.Encode(),
		Raw: strings.NewReader(list), Headers: map[string]string{"Content-Type": media}}
}

// submitted submits a list and returns the id of its job.
func submitted(s *systemtest.System, c systemtest.Call) string {
	s.T.Helper()
	a := s.Do(c)
	require.Equal(s.T, http.StatusAccepted, a.Status, "%s", a.Body)
	id := a.Envelope.Result[0]["id"].(string)
	assert.Equal(s.T, "/api/Jobs/"+id, a.Header.Get("Location"))
	return id
}

func jobOf(s *systemtest.System, id string) map[string]any {
	s.T.Helper()
	a := s.Get("/api/Jobs/" + id)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a.Envelope.Result[0]
}

// reached waits until a job has a state and returns it.
func reached(s *systemtest.System, id, state string) map[string]any {
	s.T.Helper()
	var job map[string]any
	deadline := time.Now().Add(systemtest.Patience)
	for job = jobOf(s, id); job["state"] != state; job = jobOf(s, id) {
		if ended, _ := job["ended"].(string); ended != "" || time.Now().After(deadline) {
			require.Fail(s.T, "the job is not "+state, "%v\n%v", job, itemsOf(s, id))
		}
		<-time.After(5 * time.Millisecond)
	}
	return job
}

// itemsOf returns the items of a job.
func itemsOf(s *systemtest.System, id string, query ...string) []map[string]any {
	s.T.Helper()
	params := map[string]any{"Limit": "1000"}
	for i := 0; i+1 < len(query); i += 2 {
		params[query[i]] = query[i+1]
	}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id + "/Items", Params: params})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a.Envelope.Result
}

// column returns one member of each record.
func column(records []map[string]any, member string) []any {
	all := []any{}
	for _, record := range records {
		all = append(all, record[member])
	}
	return all
}

func userField(s *systemtest.System, user, field string) any {
	s.T.Helper()
	a := s.Get("/api/ADUser/" + user + "/Details")
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a.Envelope.Result[0][field]
}

// TestJobFromASpreadsheet: a list is run, failures are reported with their lines, and the result has the
// columns of the list.
func TestJobFromASpreadsheet(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	list := "\ufeffUserName;Department;City;Id\r\nmwagner;Team 9;;a\r\nnobody.here;Sales;Rome;b\r\n" +
		"aschmidt;<clear>;Paris;c\r\nmwagner;Team 9;;d\r\n"
	before := userField(s, "aschmidt", "department")
	require.NotNil(t, before)
	id := submitted(s, submit(csvMedia, list, "Operation", "user.update", "Name", "reorganization"))
	job := reached(s, id, "done")
	assert.Equal(t, "reorganization", job["name"])
	assert.Equal(t, ";", job["separator"])
	for member, want := range map[string]float64{"total": 4, "done": 2, "noop": 1, "failed": 1, "waiting": 0,
		"running": 0, "percent": 100} {
		assert.Equal(t, want, job[member], member)
	}
	items := itemsOf(s, id)
	assert.Equal(t, []any{"done", "failed", "done", "noop"}, column(items, "state"), "%v", items)
	assert.Equal(t, []any{2.0, 3.0, 4.0, 5.0}, column(items, "line"))
	assert.Equal(t, "not_found", items[1]["code"])
	assert.Regexp(t, "^ch_", items[0]["changeId"])
	assert.Nil(t, items[3]["changeId"])
	assert.Equal(t, "Team 9", userField(s, "mwagner", "department"))
	assert.Nil(t, userField(s, "aschmidt", "department"))

	result := s.Send(get(t, s, "/api/Jobs/"+id+"/Result"))
	require.Equal(t, http.StatusOK, result.Status)
	assert.Contains(t, result.Header.Get("Content-Type"), csvMedia)
	text, bom := strings.CutPrefix(string(result.Body), "\ufeff")
	assert.True(t, bom, "as the list")
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = ';'
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 5)
	assert.Equal(t, []string{"UserName", "Department", "City", "Id", "State", "Code", "Message", "ChangeId",
		"Guid"}, rows[0])
	assert.Equal(t, []string{"nobody.here", "Sales", "Rome", "b", "failed", "not_found"}, rows[2][:6])
	assert.Equal(t, "<clear>", rows[3][1])

	failed := itemsOf(s, id, "State", "failed")
	assert.Len(t, failed, 1)
	page := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id + "/Items",
		Params: map[string]any{"Limit": "3"}})
	rest := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id + "/Items",
		Params: map[string]any{"Limit": "3", "After": nextOf(t, page)}})
	assert.Equal(t, []any{5.0}, column(rest.Envelope.Result, "line"))

	undo := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Undo"})
	require.Equal(t, http.StatusAccepted, undo.Status, "%s", undo.Body)
	undone := reached(s, undo.Envelope.Result[0]["id"].(string), "done")
	assert.Equal(t, id, undone["undoes"])
	assert.Equal(t, 2.0, undone["done"])
	assert.Equal(t, before, userField(s, "aschmidt", "department"))
	twice := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Undo"})
	again := reached(s, twice.Envelope.Result[0]["id"].(string), "done")
	assert.Equal(t, 2.0, again["skipped"], "they are undone")
}

func get(t *testing.T, s *systemtest.System, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	return r
}

// TestJobWithMistakes: a list with mistakes is not run. Each mistake is reported with its place, but without
// the value.
func TestJobWithMistakes(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	before := s.Snapshot()
	for name, c := range map[string]struct {
		media, list string
		query       []string
		problems    []string // line:column:field:beginning of the message
	}{
		"of every kind": {csvMedia, "UserName,Departmnt,Country,Id\nmwagner,Sales,,a\naschmidt,,Atlantis,b\n,,,\n,Sales,,c\n", []string{"Operation", "user.update"}, []string{
			"1:2:Departmnt:is not a parameter of this operation; did you mean Department?",
			"3:3:Country:must be a country",
			"5:1:Username:is required",
		}},
		"columns by other names": {csvMedia, "Operation;username;COUNTRY;UserLogonName;IfMatch\nuser.update;mwagner;Atlantis;;\nuser.updat;;;;\nuser.update;mwagner;;x1;\nuser.create;new.one;;x2;5\n", nil, []string{
			"1:4:UserLogonName:is not a parameter of this operation", "1:4:UserLogonName:is not a parameter of this operation",
			"2:3:Country:must be a country", "3:1:Operation:is not the operationId", "5:5:IfMatch:is not honored",
		}},
		"an operation that reads": {jsonLines, `{"operation":"user.get","parameters":{"UserName":"mwagner"}}`, nil, []string{"1:0:Operation:names an operation that changes nothing"}},
		"an unknown operation":    {jsonLines, `{"operation":"user.updat","parameters":{"UserName":"mwagner"}}`, nil, []string{"1:0:Operation:is not the operationId of a change; 'adgateway help endpoints' and /openapi.json list them: did you mean user.update?; 'user.updat' was sent"}},
		"a password in its place": {csvMedia, "UserName,Operation\nmwagner," + systemtest.GoodPassword + "\n", nil, []string{"2:2:Operation:is not the operationId of a change"}},
		"no operation":            {csvMedia, "UserName\nmwagner\n", nil, []string{"2:0:Operation:is missing"}},
		"a job in a job":          {jsonLines, `{"operation":"job.cancel","parameters":{"JobId":"x"}}`, nil, []string{"1:0:Operation:names an operation that cannot be in a list"}},
		"a dry run of its own":    {jsonLines, `{"operation":"user.unlock","parameters":{"UserName":"mwagner","DryRun":true}}`, nil, []string{"1:0:DryRun:does not belong in a list"}},
		"a password":              {csvMedia, "UserName,NewPassword\nmwagner," + systemtest.GoodPassword + "\n", []string{"Operation", "user.resetPassword"}, []string{"2:2:newPassword:is a secret, which lists must not hold here"}},
		"a generated password":    {csvMedia, "UserName\nmwagner\n", []string{"Operation", "user.resetPassword"}, []string{"2:0:newPassword:is missing, so a password would be generated"}},
		"a boolean in German":     {csvMedia, "OUPath,IsProtected\n\"OU=Corp,DC=corp,DC=example\",WAHR\n", []string{"Operation", "ou.update"}, []string{"2:2:IsProtected:must be true or false"}},
		"a date in German":        {csvMedia, "UserName,AccountExpires\naschmidt,31.12.2026\n", []string{"Operation", "user.expiry"}, []string{"2:2:AccountExpires:must be"}},
		"a line of 31 MiB":        {csvMedia, "UserName\n" + strings.Repeat("x", 31<<20) + "\n", []string{"Operation", "user.unlock"}, []string{"2:0:<nil>:The row is longer than 262144 bytes."}},
		"an id twice":             {csvMedia, "UserName,Id\nmwagner,a\naschmidt,a\n", []string{"Operation", "user.unlock"}, []string{"3:2:id:The item in line 2 has the same id."}},
		"an after without item":   {csvMedia, "UserName,Id,After\nmwagner,a,b\n", []string{"Operation", "user.unlock"}, []string{"2:3:after:There is no item with the id \"b\"."}},
		"no tag":                  {jsonLines, `{"operation":"user.create","parameters":{"UserName":"new.one"},"ifMatch":"\"x\""}`, nil, []string{"1:0:IfMatch:is not honored by user.create"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			a := s.Do(submit(c.media, c.list, c.query...))
			require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
			assert.NotContains(t, string(a.Body), systemtest.GoodPassword)
			job := a.Envelope.Result[0]
			assert.Equal(t, "rejected", job["state"])
			assert.Equal(t, 0.0, job["total"])
			assert.Equal(t, 0.0, job["percent"])
			problems := job["problems"].([]any)
			var got []string
			for _, one := range problems {
				p := one.(map[string]any)
				column, _ := p["column"].(float64)
				got = append(got, fmt.Sprintf("%v:%v:%v:%v", p["line"], column, p["field"], p["message"]))
			}
			require.Len(t, got, len(c.problems), "%s", strings.Join(got, "\n"))
			for i, want := range c.problems {
				assert.Contains(t, got[i], want)
			}
			again := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/Jobs/" + job["id"].(string) + "/Start"})
			assert.Equal(t, http.StatusConflict, again.Status)
			assert.Equal(t, "job_state", again.Envelope.Error.Code)
		})
	}
	assert.Equal(t, before, s.Snapshot())
}

// TestAListThatIsRefused: no job is created for a body that is not a list which the caller may submit.
func TestAListThatIsRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	before := s.Snapshot()
	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
		want   string
	}{
		"no header":      {submit(csvMedia, "", "Operation", "user.unlock"), 400, "invalid_request", ""},
		"UTF-16":         {submit(csvMedia, "\xff\xfeU\x00s\x00", "Operation", "user.unlock"), 400, "invalid_request", "UTF-16"},
		"another media":  {submit("text/plain", "x"), 415, "unsupported_media_type", "text/csv"},
		"no such row":    {submit(csvMedia, "UserName\nmwagner\n", "Operation", "user.unlok"), 400, "invalid_request", "did you mean user.unlock?"},
		"a scope lacks":  {submit(csvMedia, "UserName\nmwagner\n", "Operation", "user.unlock").As(systemtest.ReadToken), 403, "forbidden", "job:submit"},
		"a circle":       {submit(csvMedia, "UserName,Id,After\nmwagner,a,b\naschmidt,b,a\n", "Operation", "user.unlock"), 400, "invalid_request", `These items wait for each other: "a" (line 2), "b" (line 3), "a" (line 2).`},
		"after itself":   {submit(jsonLines, `{"operation":"user.unlock","id":"a","after":["a"],"parameters":{"UserName":"mwagner"}}`), 400, "invalid_request", "line 1. The item comes after itself"},
		"too many items": {submit(csvMedia, "UserName\n"+strings.Repeat("mwagner\n", 20_001), "Operation", "user.unlock"), 413, "job_too_large", "20000 items"},
		"too large":      {submit(jsonLines, strings.Repeat(" ", 33<<20)), 413, "job_too_large", "jobs.maxBytes"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.In(t).Do(c.call)
			require.Equal(t, c.status, a.Status, "%.1000s", a.Body)
			assert.Equal(t, c.code, a.Envelope.Error.Code)
			assert.Contains(t, a.Envelope.Error.Message+fmt.Sprint(a.Envelope.Error.Details), c.want)
		})
	}
	assert.Equal(t, before, s.Snapshot())
}

// TestJobAfterALaterLine: an item runs after the items that it names, even if it precedes them in the list
// and they concern the same object.
func TestJobAfterALaterLine(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	list := `{"id":"u","operation":"user.create","parameters":{"UserName":"rafter","OUPath":"OU=After,DC=corp,DC=example"},"after":["o"]}
{"operation":"user.update","parameters":{"UserName":"mwagner","City":"Rome"},"after":["c"]}
{"id":"c","operation":"user.update","parameters":{"UserName":"mwagner","City":"Oslo","Country":"NO"}}
{"id":"o","operation":"ou.create","parameters":{"OUName":"After","OUDestinationPath":"DC=corp,DC=example"}}`
	id := submitted(s, submit(jsonLines, list))
	reached(s, id, "done")
	assert.Equal(t, []any{"done", "done", "done", "done"}, column(itemsOf(s, id), "state"))
	assert.Equal(t, "Rome", userField(s, "mwagner", "city"))
}

// TestJobLeavesOutMistakes: with SkipInvalid, the valid items are run.
func TestJobLeavesOutMistakes(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	list := "UserName,Country,City,Id,After\nmwagner,Atlantis,Rome,a,\naschmidt,,Rome,b,\nmwagner,,Rome,c,a\n"
	id := submitted(s, submit(csvMedia, list, "Operation", "user.update", "SkipInvalid", "true"))
	job := reached(s, id, "done")
	assert.Equal(t, []any{"skipped", "done", "not_run"}, column(itemsOf(s, id), "state"))
	assert.Len(t, job["problems"], 1)
	assert.Equal(t, "Rome", userField(s, "aschmidt", "city"))
	assert.NotEqual(t, "Rome", userField(s, "mwagner", "city"))
}

// TestJobOfItemsThatNeedEachOther: an OU, an account in it, a group and the membership are created in the
// necessary order, regardless of the number of items that run at once.
func TestJobOfItemsThatNeedEachOther(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast, "jobs.share=100")
	var list strings.Builder
	line := func(operation string, parameters map[string]any) {
		raw, err := json.Marshal(map[string]any{"operation": operation, "parameters": parameters})
		require.NoError(t, err)
		list.Write(append(raw, '\n'))
	}
	ou := "OU=Job," + systemtest.CorpOU
	line("ou.create", map[string]any{"OUName": "Job", "OUDestinationPath": systemtest.CorpOU,
		"IsProtected": false})
	line("group.createSecurity", map[string]any{"GroupName": "Job Group", "OUPath": ou})
	for i := range 20 {
		name := fmt.Sprintf("job.user%02d", i)
		line("user.create", map[string]any{"UserName": name, "OUPath": ou})
		line("membership.add", map[string]any{"Username": name, "GroupName": "Job Group"})
		line("user.update", map[string]any{"UserName": name, "Department": "one"})
		line("user.update", map[string]any{"UserName": name, "Department": "two"})
		line("cname.create", map[string]any{"DNS_HostName": fmt.Sprintf("job%02d", i), "ZoneName": "corp.example",
			"DNS_HostName_Alias": "host.corp.example"})
	}
	id := submitted(s, submit(jsonLines, list.String()))
	job := reached(s, id, "done")
	require.Equal(t, 102.0, job["done"], "%v", itemsOf(s, id, "State", "failed"))
	for i := range 20 {
		name := fmt.Sprintf("job.user%02d", i)
		assert.Equal(t, "two", userField(s, name, "department"))
		s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.UserInGroupPath(name, "Job Group")},
			http.StatusOK)
	}
	undo := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Undo"})
	undone := reached(s, undo.Envelope.Result[0]["id"].(string), "done")
	require.Equal(t, 102.0, undone["done"], "%v", itemsOf(s, undone["id"].(string), "State", "failed"))
	assert.Equal(t, []any{false},
		column(s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/OU/Path/Exists",
			Params: map[string]any{"OUPath": ou}}).Envelope.Result, "exists"))
	gone := s.Get("/api/DnsCNameRecord?DNS_HostName=job00&ZoneName=corp.example&DNS_HostName_Alias=host.corp.example")
	assert.Equal(t, http.StatusNotFound, gone.Status, "%s", gone.Body)
}

// TestOrderAroundSkippedItems: items that concern the same object keep their order when the list is
// retried, and run in reverse order when it is undone. Skipped items between them make no difference.
func TestOrderAroundSkippedItems(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast, "jobs.share=100")
	const each = 20
	var list strings.Builder
	list.WriteString("UserName,City,Id,After\nlate.user,Rome,late,\n")
	for i := range each {
		name := fmt.Sprintf("order.user%02d", i)
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + name}, http.StatusCreated)
		for city, after := range []string{"", "late", "", "late", ""} {
			fmt.Fprintf(&list, "%s,City %d,,%s\n", name, city, after)
		}
	}
	cities := func(want any, when string) {
		t.Helper()
		for i := range each {
			assert.Equal(t, want, userField(s, fmt.Sprintf("order.user%02d", i), "city"), when)
		}
	}
	id := submitted(s, submit(csvMedia, list.String(), "Operation", "user.update", "StopAfter", "0"))
	require.Equal(t, 2.0*each, reached(s, id, "done")["notRun"])
	cities("City 4", "the list has run")
	next := func(path string) string {
		t.Helper()
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + path,
			Params: map[string]any{"StopAfter": "0"}})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		made := a.Envelope.Result[0]["id"].(string)
		assert.Equal(t, a.Envelope.Result[0]["total"], reached(s, made, "done")["done"], "%v",
			itemsOf(s, made, "State", "failed"))
		return made
	}
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/late.user"}, http.StatusCreated)
	again := next(id + "/Retry")
	cities("City 3", "what was not run has")
	next(again + "/Undo")
	cities("City 4", "that is taken back")
	next(id + "/Undo")
	cities(nil, "all is taken back")
}

// TestJobIsPlannedFirst: the dry run of a job changes nothing, and Start then makes the changes that the dry
// run has shown.
func TestJobIsPlannedFirst(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	before := s.Snapshot()
	list := "UserName,City\nmwagner,Rome\naschmidt,Rome\nnobody.here,Rome\n"
	id := submitted(s, submit(csvMedia, list, "Operation", "user.update", "Mode", "dryRun"))
	job := reached(s, id, "ready")
	assert.Equal(t, 2.0, job["done"])
	assert.Equal(t, 1.0, job["failed"])
	assert.Equal(t, before, s.Snapshot())
	items := itemsOf(s, id)
	assert.Regexp(t, "^pl_", items[0]["plan"])
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
		Params: map[string]any{"City": "Oslo"}}, http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/Jobs/" + id + "/Start"}, http.StatusOK)
	job = reached(s, id, "done")
	items = itemsOf(s, id)
	assert.Equal(t, []any{"done", "failed", "not_run"}, column(items, "state"), "%v", items)
	assert.Equal(t, "drifted", items[1]["code"])
	assert.Equal(t, "run", job["mode"])
	assert.Equal(t, "Oslo", userField(s, "aschmidt", "city"))

	checked := submitted(s, submit(csvMedia, list, "Operation", "user.update", "Mode", "validate"))
	assert.Equal(t, 3.0, reached(s, checked, "ready")["waiting"])
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/Jobs/" + checked}, http.StatusOK)
	assert.Equal(t, 3.0, reached(s, checked, "cancelled")["notRun"])
}

// TestJobStops: a job stops after the given number of failures, and the failed items can be retried.
func TestJobStops(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast, "jobs.share=1")
	var list strings.Builder
	list.WriteString("UserName\n")
	for i := range 10 {
		fmt.Fprintf(&list, "late.user%d\n", i)
	}
	id := submitted(s, submit(csvMedia, list.String(), "Operation", "user.disable", "StopAfter", "3"))
	job := reached(s, id, "failed")
	assert.Equal(t, "errors", job["why"])
	assert.Equal(t, 3.0, job["failed"])
	assert.Equal(t, 7.0, job["notRun"])
	for i := range 10 {
		s.OK(systemtest.Call{Method: http.MethodPost, Path: fmt.Sprintf("/api/ADUser/late.user%d", i)},
			http.StatusCreated)
	}
	retry := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Retry"})
	require.Equal(t, http.StatusAccepted, retry.Status, "%s", retry.Body)
	next := reached(s, retry.Envelope.Result[0]["id"].(string), "done")
	assert.Equal(t, id, next["retries"])
	assert.Equal(t, 10.0, next["total"])
	assert.Zero(t, next["failed"], "%v", itemsOf(s, next["id"].(string)))
	none := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + next["id"].(string) + "/Retry"})
	assert.Equal(t, "job_state", none.Envelope.Error.Code)
}

// TestJobIsPaused: a job is paused, resumed and canceled.
func TestJobIsPaused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "jobs.rate=20")
	var list strings.Builder
	list.WriteString("UserName,City\n")
	for i := range 400 {
		fmt.Fprintf(&list, "mwagner,City %d\n", i)
	}
	id := submitted(s, submit(csvMedia, list.String(), "Operation", "user.update"))
	require.Eventually(t, func() bool { return jobOf(s, id)["done"].(float64) >= 3 }, systemtest.Patience,
		time.Millisecond)
	control := func(method, verb string) string {
		a := s.Do(systemtest.Call{Method: method, Path: "/api/Jobs/" + id + verb})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Envelope.Output
	}
	assert.Equal(t, "The job was paused.", control(http.MethodPut, "/Pause"))
	reached(s, id, "paused")
	require.Eventually(t, func() bool { return jobOf(s, id)["running"] == 0.0 }, systemtest.Patience,
		time.Millisecond)
	paused := jobOf(s, id)
	assert.Nil(t, paused["rate"])
	control(http.MethodPut, "/Resume")
	require.Eventually(t, func() bool { return jobOf(s, id)["done"].(float64) > paused["done"].(float64) },
		systemtest.Patience, time.Millisecond)
	control(http.MethodDelete, "")
	ended := reached(s, id, "cancelled")
	assert.Equal(t, 400.0, ended["done"].(float64)+ended["notRun"].(float64))
	last := fmt.Sprintf("City %d", int(ended["done"].(float64))-1)
	assert.Equal(t, last, userField(s, "mwagner", "city"), "in the order of the list, to the last that was made")
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/Jobs/" + id + "/Resume"})
	assert.Equal(t, "job_state", a.Envelope.Error.Code)
}

// TestJobsOfOthers: jobs of other callers are visible only to callers that may read operations.
func TestJobsOfOthers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	id := submitted(s, submit(csvMedia, "UserName\nmwagner\n", "Operation",
		"user.unlock").As(systemtest.CorpToken))
	own := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id, Token: systemtest.CorpToken})
	assert.Equal(t, http.StatusOK, own.Status)
	other := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id, Token: systemtest.AllToken})
	assert.Equal(t, http.StatusOK, other.Status, "it has ops:read")
	cancel := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/Jobs/" + id,
		Token: systemtest.AllToken})
	assert.Equal(t, http.StatusForbidden, cancel.Status)
	none := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id, Token: systemtest.ReadToken})
	assert.Equal(t, http.StatusForbidden, none.Status)
	listed := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs", Token: systemtest.CorpToken})
	assert.Equal(t, []any{id}, column(listed.Envelope.Result, "id"))
}

// TestJobIsSubmittedOnce: repeating a submission with its key does not create another job.
func TestJobIsSubmittedOnce(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	call := func(list string) systemtest.Answer {
		c := submit(csvMedia, list, "Operation", "user.update")
		c.Headers["Idempotency-Key"] = "list-of-the-day"
		return s.Do(c)
	}
	first, second := call("UserName,City\nmwagner,Rome\n"), call("UserName,City\nmwagner,Rome\n")
	assert.Equal(t, first.Envelope.Result[0]["id"], second.Envelope.Result[0]["id"])
	assert.Equal(t, "true", second.Header.Get("Idempotency-Replayed"))
	assert.Contains(t, string(s.Get("/version").Body), `"feed","jobs"]`)
	assert.Equal(t, "key_reused", call("UserName,City\nmwagner,Oslo\n").Envelope.Error.Code)
}

// TestJobWithSecrets: secrets in the list are sealed and never shown. Generated secrets can
// be opened once, with the key.
func TestJobWithSecrets(t *testing.T) {
	folder := t.TempDir()
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast, "jobs.secrets=sealed",
		"store.file="+filepath.Join(folder, "state.db"))
	public, private, err := box.GenerateKey(rand.Reader)
	require.NoError(t, err)
	list := "UserName,NewPassword\nmwagner," + systemtest.GoodPassword + "\naschmidt,\n"
	id := submitted(s, submit(csvMedia, list, "Operation", "user.resetPassword", "ResultKey",
		base64.StdEncoding.EncodeToString(public[:])))
	require.Equal(t, 2.0, reached(s, id, "done")["done"], "%v", itemsOf(s, id))
	fetch := func() [][]string {
		result := s.Send(get(t, s, "/api/Jobs/"+id+"/Result"))
		assert.NotContains(t, string(result.Body), systemtest.GoodPassword)
		rows, err := csv.NewReader(bytes.NewReader(result.Body)).ReadAll()
		require.NoError(t, err)
		return rows
	}
	rows := fetch()
	assert.Equal(t, []string{"UserName", "State", "Code", "Message", "ChangeId", "Guid", "Sealed"}, rows[0])
	assert.Empty(t, rows[1][6])
	sealed, err := base64.StdEncoding.DecodeString(rows[2][6])
	require.NoError(t, err)
	password, ok := box.OpenAnonymous(nil, sealed, public, private)
	require.True(t, ok)
	assert.Len(t, password, 24)
	assert.Empty(t, fetch()[2][6], "once")
	assert.NotContains(t, s.Log.String(), systemtest.GoodPassword)
	assert.NotContains(t, s.Log.String(), string(password))
	for _, file := range []string{"state.db", "state.db.key", "state.db.head"} {
		stored, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		assert.False(t, bytes.Contains(stored, []byte(systemtest.GoodPassword)) || bytes.Contains(stored, password),
			file)
	}
}

// TestProgressOfAJob: the progress of a job is streamed until the job ends.
func TestProgressOfAJob(t *testing.T) {
	t.Parallel()
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	const list = "UserName,City\nmwagner,Rome\nnobody.here,Rome\n"
	at := func(wait time.Duration) string { return time.Now().Add(wait).UTC().Format(time.RFC3339Nano) }
	later := submitted(s, submit(csvMedia, list, "Operation", "user.update", "NotBefore", at(time.Hour)))
	held := reached(s, later, "held")
	for ; held["why"] == nil; held = reached(s, later, "held") { // the job has not been tried yet
	}
	assert.Equal(t, "notBefore", held["why"])
	id := submitted(s, submit(csvMedia, list, "Operation", "user.update", "NotBefore", at(2*time.Second)))
	ctx, cancel := context.WithTimeout(t.Context(), systemtest.Patience)
	defer cancel()
	response, err := http.DefaultClient.Do(get(t, s, "/api/Jobs/"+id+"/Stream?Items=failed").WithContext(ctx))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	var names []string
	var last map[string]any
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			last = map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(data), &last))
		}
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, names)
	assert.Equal(t, "progress", names[0])
	assert.Contains(t, names, "item")
	assert.Equal(t, "end", names[len(names)-1])
	assert.Equal(t, "done", last["state"])
}
