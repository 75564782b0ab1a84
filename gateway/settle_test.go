package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// change is a change of a property; "renewed" in after makes it one that ends as after without it.
func change(name, before, after string) ps.IntendedChange {
	if end, renewed := strings.CutPrefix(after, "renewed"); renewed {
		return ps.IntendedChange{Name: name, Before: before, After: end, Renewed: true, Step: "set password"}
	}
	return ps.IntendedChange{Name: name, Before: before, After: after}
}

func TestJudge(t *testing.T) {
	created := change(existence, "False", "True")
	removed := change(existence, "True", "False")
	setPassword := []ps.Step{{Label: "set password"}}
	type changes = []ps.IntendedChange
	type state = map[string]string
	for name, c := range map[string]struct {
		objects []changes
		steps   []ps.Step
		seen    []state
		want    ps.Outcome
	}{
		"created":                         {[]changes{{created}}, nil, []state{{existence: "True"}}, ps.OutcomeDone},
		"not created":                     {[]changes{{created}}, nil, []state{{existence: "False"}}, ps.OutcomeNone},
		"created half":                    {[]changes{{created, change("enabled", "False", "True")}}, nil, []state{{existence: "True", "enabled": "False"}}, ps.OutcomePartial},
		"created whole":                   {[]changes{{created, change("enabled", "False", "True")}}, nil, []state{{existence: "True", "enabled": "True"}}, ps.OutcomeDone},
		"removed":                         {[]changes{{removed}}, nil, []state{{existence: "False"}}, ps.OutcomeDone},
		"not removed":                     {[]changes{{removed}}, nil, []state{{existence: "True"}}, ps.OutcomeNone},
		"one of two removed":              {[]changes{{removed}, {removed}}, nil, []state{{existence: "False"}, {existence: "True"}}, ps.OutcomePartial},
		"only its protection lifted":      {[]changes{{removed, change("protected", "True", "True")}}, nil, []state{{existence: "True", "protected": "False"}}, ps.OutcomePartial},
		"nothing to change":               {[]changes{{change("l", "x", "x")}}, nil, []state{{"l": "x"}}, ps.OutcomeDone},
		"changed":                         {[]changes{{change("l", "x", "y")}}, nil, []state{{"l": "y"}}, ps.OutcomeDone},
		"changed, by case":                {[]changes{{change("name", "x", "X")}}, nil, []state{{"name": "x"}}, ps.OutcomeNone},
		"moved, whatever the case":        {[]changes{{change(parent, "OU=a", "OU=b")}}, nil, []state{{parent: "ou=B"}}, ps.OutcomeDone},
		"moved, protection still lifted":  {[]changes{{change(parent, "a", "b"), change("protected", "True", "True")}}, nil, []state{{parent: "b", "protected": "False"}}, ps.OutcomePartial},
		"changed by somebody else":        {[]changes{{change("l", "x", "y")}}, nil, []state{{"l": "z"}}, ps.OutcomeUnknown},
		"changed by somebody else after":  {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "z", "st": "q"}}, ps.OutcomeDone},
		"changed by somebody else, or us": {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "z", "st": ""}}, ps.OutcomeUnknown},
		"not come so far":                 {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "x", "st": "z"}}, ps.OutcomeNone},
		"gone meanwhile":                  {[]changes{{change("l", "x", "y")}}, nil, []state{{existence: "False"}}, ps.OutcomeUnknown},
		"not seen":                        {[]changes{{change("l", "x", "y")}}, nil, nil, ps.OutcomeUnknown},
		"state not told":                  {[]changes{{change("l", "x", "y")}}, nil, []state{{}}, ps.OutcomeUnknown},
		"password set":                    {[]changes{{change("pwdLastSet", "5", "renewed")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomeDone},
		"password not set":                {[]changes{{change("pwdLastSet", "5", "renewed")}}, setPassword, []state{{"pwdLastSet": "5"}}, ps.OutcomeNone},
		"password set and forced":         {[]changes{{change("pwdLastSet", "5", "renewed0")}}, nil, []state{{"pwdLastSet": "0"}}, ps.OutcomeDone},
		"password set, not forced":        {[]changes{{change("pwdLastSet", "5", "renewed0")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomePartial},
		"forced before, not forced":       {[]changes{{change("pwdLastSet", "0", "renewed0")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomePartial},
		"forced before and after":         {[]changes{{change("pwdLastSet", "0", "renewed0")}}, nil, []state{{"pwdLastSet": "0"}}, ps.OutcomeUnknown},
		"forced before, set, and after":   {[]changes{{change("pwdLastSet", "0", "renewed0")}}, setPassword, []state{{"pwdLastSet": "0"}}, ps.OutcomeDone},
		"forced before, enabled after":    {[]changes{{created, change("pwdLastSet", "0", "renewed0"), change("enabled", "False", "True")}}, nil, []state{{existence: "True", "pwdLastSet": "0", "enabled": "True"}}, ps.OutcomeDone},
		"forced before, not enabled":      {[]changes{{created, change("pwdLastSet", "0", "renewed0"), change("enabled", "False", "True")}}, nil, []state{{existence: "True", "pwdLastSet": "0", "enabled": "False"}}, ps.OutcomePartial},
		"member, of two objects":          {[]changes{{change("member", "False", "True")}, {}}, nil, []state{{existence: "True", "member": "True"}}, ps.OutcomeDone},
	} {
		t.Run(name, func(t *testing.T) {
			intent := &ps.Intent{}
			for _, changes := range c.objects {
				intent.Objects = append(intent.Objects, ps.Intended{DN: "CN=x", Changes: changes})
			}
			var seen []observation
			for _, state := range c.seen {
				seen = append(seen, observation{State: state})
			}
			got := judge(intent, c.steps, seen)
			assert.Equal(t, c.want, got.outcome, "%q", got.notes)
			assert.Len(t, got.objects, len(c.objects))
			assert.Equal(t, c.want == ps.OutcomePartial || c.want == ps.OutcomeUnknown && len(c.seen) > 0, len(got.notes) > 0, "%q", got.notes)
		})
	}
}

// settling is a runner whose writes are cut off after announcing a new password,
// and whose scripts that settle see pwdLastSet with these values, one a reading.
func settling(seen ...string) *fakeRunner {
	readings := 0
	return &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if req.Write {
			return nil, &ps.Error{
				Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9.corp.example", Steps: []ps.Step{{Label: "something", DN: "CN=j"}},
				Intent: &ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{change("pwdLastSet", "5", "renewed")}}}},
			}
		}
		value := seen[min(readings, len(seen)-1)]
		readings++
		switch value {
		case "hang":
			<-ctx.Done()
			return nil, &ps.Error{Kind: ps.KindCancelled, Cause: ctx.Err()}
		case "away":
			return nil, &ps.Error{Kind: ps.KindUnavailable}
		}
		batch := `[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","pwdLastSet":"` + value + `"},"record":` + sample(schema.User) + `}]`
		return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(batch))
	}}
}

func TestAWriteThatWasCutOffIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		seen     []string
		status   int
		outcome  string
		readings int
	}{
		"done":                      {[]string{"6"}, http.StatusOK, "", 1},
		"done while it was settled": {[]string{"5", "6"}, http.StatusOK, "", 2},
		"not done":                  {[]string{"5"}, http.StatusGatewayTimeout, "none", 2},
		"server away":               {[]string{"away"}, http.StatusGatewayTimeout, "unknown", 1},
		"server away later":         {[]string{"5", "away"}, http.StatusGatewayTimeout, "unknown", 2},
		"not settled in time":       {[]string{"hang"}, http.StatusGatewayTimeout, "unknown", 1},
	} {
		t.Run(name, func(t *testing.T) {
			runner := settling(c.seen...)
			s := newTestServer(t, runner, func(o *Options) { o.Policy.SettleLimit, o.Policy.SettlePause = 200*time.Millisecond, time.Millisecond })
			w := call(s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword", "")
			got := read(t, w)
			require.Equal(t, c.status, w.Code, "%+v", got)
			assert.Equal(t, c.readings, runner.count()-1)
			last := runner.last(t)
			assert.Equal(t, "Confirm-GatewayObject", last.Script)
			assert.Equal(t, ps.Args{"Class": ps.Text("user"), "Guid": ps.Text("g-1"), "Guids": ps.List([]string{"g-1"}), "MaxAge": ps.Int(2), "Server": ps.Text("dc9.corp.example")}, last.Args)
			assert.Equal(t, "dc9.corp.example", w.Header().Get("X-Directory-Server"))
			if c.outcome != "" {
				assert.Equal(t, c.outcome, got.Error.Outcome)
				assert.Empty(t, got.Result)
				return
			}
			require.Len(t, got.Result, 1)
			assert.Contains(t, string(got.Result[0]), `"password":"`, "a secret that was made is shown")
			assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		})
	}
}

// A client that leaves does not keep a write from being settled.
func TestAClientThatLeavesDoesNotStopTheSettling(t *testing.T) {
	runner := settling("5", "6")
	var left context.CancelFunc
	run := runner.run
	runner.run = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if req.Write {
			left()
		} else {
			assert.NoError(t, ctx.Err())
		}
		return run(ctx, req)
	}
	s := newTestServer(t, runner, func(o *Options) { o.Policy.SettlePause = time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	left = cancel
	w := callWith(ctx, s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, 3, runner.count())
}
