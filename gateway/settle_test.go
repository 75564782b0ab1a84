package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// settling returns a runner whose writes are cut off after they announce a new password. Its
// settling script reports the given values of pwdLastSet, one per reading.
func settling(seen ...string) *harness.Runner {
	readings := 0
	return &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if req.Write {
			return nil, &ps.Error{
				Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9.corp.example",
				Steps: []ps.Step{{Label: "something", DN: "CN=j"}},
				Intent: &ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
					GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "pwdLastSet", Before: "5", Renewed: true, Step: "set password"}},
				}}},
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
		batch := `[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","pwdLastSet":"` + value + `"},"record":` + harness.Sample(schema.User) + `}]`
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
			s := harness.New(t, runner, func(o *gateway.Options) {
				o.Policy.SettleLimit, o.Policy.SettlePause = 200*time.Millisecond, time.Millisecond
			})
			w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword", "")
			got := harness.Read(t, w)
			require.Equal(t, c.status, w.Code, "%+v", got)
			assert.Equal(t, c.readings, runner.Count()-1)
			last := runner.Last(t)
			assert.Equal(t, "Confirm-GatewayObject", last.Script)
			assert.Equal(t, ps.Args{"Class": ps.Text("user"), "Guid": ps.Text("g-1"),
				"Guids": ps.List([]string{"g-1"}), "MaxAge": ps.Int(2), "Server": ps.Text("dc9.corp.example")}, last.Args)
			assert.Equal(t, "dc9.corp.example", w.Header().Get("X-Directory-Server"))
			if c.outcome != "" {
				assert.Equal(t, c.outcome, got.Error.Outcome)
				assert.Empty(t, got.Result)
				return
			}
			require.Len(t, got.Result, 1)
			assert.Contains(t, string(got.Result[0]), `"password":"`, "the generated secret is shown")
			assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		})
	}
}

func TestAClientThatLeavesDoesNotStopTheSettling(t *testing.T) {
	runner := settling("5", "6")
	var left context.CancelFunc
	run := runner.Do
	runner.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if req.Write {
			left()
		} else {
			assert.NoError(t, ctx.Err())
		}
		return run(ctx, req)
	}
	s := harness.New(t, runner, func(o *gateway.Options) { o.Policy.SettlePause = time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	left = cancel
	w := harness.CallWith(ctx, s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, 3, runner.Count())
}
