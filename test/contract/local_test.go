package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// TestAnswersOfTheGatewayItselfMatchTheDocument covers the history, plans and jobs. The
// gateway answers these calls without a script. Only a thorough run compares them with the document for
// older generators.
func TestAnswersOfTheGatewayItselfMatchTheDocument(t *testing.T) {
	t.Run("standard", func(t *testing.T) { ownAnswersMatch(t, "/openapi.json") })
	if thorough.All() {
		t.Run("standard, 3.0", func(t *testing.T) { ownAnswersMatch(t, "/openapi-3.0.json") })
	}
}

func ownAnswersMatch(t *testing.T, path string) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "jobs.rate=0")
	d := loadDocument(s, path)
	sent := map[string]bool{}
	do := func(id string, values map[string]string, c systemtest.Call) systemtest.Answer {
		t.Helper()
		op := opstest.Find(id)
		c.Method, c.Path = op.Method, op.Path+c.Path
		for name, value := range values {
			c.Path = strings.Replace(c.Path, "{"+name+"}", value, 1)
		}
		a := s.Do(c)
		require.Less(t, a.Status, 500, "%s: %s", id, a.Body)
		d.holds(t, op, a)
		sent[id] = sent[id] || a.Status < 300
		return a
	}
	first := func(a systemtest.Answer, name string) string { return a.Envelope.Result[0][name].(string) }
	city := func(params map[string]any) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt", Params: params}
	}
	s.OK(city(map[string]any{"City": "Rome"}), http.StatusOK)
	planned := s.Do(city(map[string]any{"City": "Oslo", "DryRun": true}))
	var answer struct{ Plan struct{ ID string } }
	require.NoError(t, json.Unmarshal(planned.Body, &answer))
	do("plan.get", map[string]string{"PlanId": answer.Plan.ID}, systemtest.Call{})
	change := map[string]string{"ChangeId": first(do("change.list", nil, systemtest.Call{}), "id")}
	do("change.list", nil, systemtest.Call{Params: map[string]any{"Object": "nobody"}})
	do("change.get", change, systemtest.Call{})
	do("change.undo", change, systemtest.Call{Params: map[string]any{"DryRun": true}})
	for range 2 { // the second call is refused
		do("change.undo", change, systemtest.Call{Headers: map[string]string{ops.KeyHeader: "key-of-" + change["ChangeId"]}})
		do("change.undo", change, systemtest.Call{})
	}
	do("caller.show", nil, systemtest.Call{})
	do("cluster.show", nil, systemtest.Call{})

	list := func(mode string) map[string]string {
		a := do("job.submit", nil, systemtest.Call{Path: "?Mode=" + mode + "&Operation=user.update", Raw: strings.NewReader("UserName,City\naschmidt,Bern\n"), Headers: map[string]string{"Content-Type": ops.MediaCSV}})
		return map[string]string{"JobId": first(a, "id")}
	}
	ended := func(job map[string]string, states ...string) {
		for deadline := time.Now().Add(systemtest.Patience); !slices.Contains(states, first(do("job.get", job, systemtest.Call{}), "state")); {
			require.True(t, time.Now().Before(deadline))
		}
	}
	job := list("dryRun")
	ended(job, "ready")
	do("job.pause", job, systemtest.Call{})
	do("job.start", job, systemtest.Call{})
	ended(job, "done")
	do("job.resume", job, systemtest.Call{})
	do("job.list", nil, systemtest.Call{})
	do("job.items", job, systemtest.Call{})
	do("job.retry", job, systemtest.Call{})
	undo := do("job.undo", job, systemtest.Call{})
	ended(map[string]string{"JobId": first(undo, "id")}, "done", "failed")
	other := list("dryRun")
	ended(other, "ready")
	do("job.cancel", other, systemtest.Call{})
	require.Eventually(t, func() bool { return do("job.remove", other, systemtest.Call{}).Status == http.StatusOK }, systemtest.Patience, time.Millisecond)
	do("job.submit", nil, systemtest.Call{Path: "?Operation=user.update", Raw: strings.NewReader("UserName,Cty\naschmidt,Bern\n"), Headers: map[string]string{"Content-Type": ops.MediaCSV}})
	for _, id := range []string{"job.submitStaleComputers", "job.submitStaleUsers"} {
		rule := map[string]any{"Days": 60, "Action": "disable", "DryRun": true}
		byRule := map[string]string{"JobId": first(do(id, nil, systemtest.Call{Params: rule}), "id")}
		ended(byRule, "ready")
		do("job.items", byRule, systemtest.Call{})
	}
	for _, op := range ops.Table() {
		switch {
		case !op.Local, op.Reply.Mark == ops.Events, op.Answers != nil:
		// refused, because there is no cluster and no job in a suitable state
		case slices.Contains([]string{"job.pause", "job.resume", "job.retry", "cluster.show"}, op.ID):
		default:
			assert.True(t, sent[op.ID], "no success of %s was compared", op.ID)
		}
	}
}

// TestAnswersEndWithANewline: every answer ends with a newline, so that the prompt of a shell starts on a new
// line.
func TestAnswersEndWithANewline(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, Users: 3000})
	change := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt", Params: map[string]any{"City": "Rome"}, Headers: map[string]string{ops.KeyHeader: "key-of-the-newline"}}
	dry := change
	dry.Params, dry.Headers = map[string]any{"City": "Oslo", "DryRun": true}, nil
	for name, c := range map[string]systemtest.Call{
		"a record":      {Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"},
		"a long list":   {Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All"},
		"a failure":     {Method: http.MethodGet, Path: "/api/ADUser/nobody/Details"},
		"no route":      {Method: http.MethodGet, Path: "/api/nothing"},
		"no credential": {Method: http.MethodGet, Path: "/api/OU/All", Token: "none"},
		"a change":      change,
		"its replay":    change,
		"a dry run":     dry,
		"the history":   {Method: http.MethodGet, Path: "/api/Changes"},
		"the version":   {Method: http.MethodGet, Path: "/version"},
		"readiness":     {Method: http.MethodGet, Path: "/readyz"},
		"the document":  {Method: http.MethodGet, Path: "/openapi.json"},
	} {
		a := s.Do(c)
		assert.True(t, json.Valid(a.Body), name)
		assert.True(t, strings.HasSuffix(string(a.Body), "}\n"), "%s: ...%s", name, a.Body[max(0, len(a.Body)-40):])
		if length := a.Header.Get("Content-Length"); length != "" {
			assert.Equal(t, strconv.Itoa(len(a.Body)), length, name)
		}
	}
}
