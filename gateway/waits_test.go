package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
)

// TestARunThatWaitedHasTimeLeft: a change that waits for another change of the same object is refused before
// its time limit. It does not begin if so little time is left that it would be cut off.
func TestARunThatWaitedHasTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = time.Second
		for _, first := range []time.Duration{limit / 2, limit * 9 / 10} {
			var limits []time.Duration
			s := harness.New(t, &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
				limits = append(limits, req.Limit)
				intent := ps.Intent{Effect: ps.EffectChanged,
					Objects: []ps.Intended{{GUID: "g-1",
						Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}}}}}
				if err := req.Announced(intent); err != nil {
					return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
				}
				if len(limits) == 1 {
					time.Sleep(first)
				}
				return &ps.Result{Effect: ps.EffectChanged},
					req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
			}}, func(o *gateway.Options) { o.Policy.WriteLimit = limit })
			statuses := make([]int, 2)
			var calls sync.WaitGroup
			for i := range statuses {
				calls.Go(func() {
					statuses[i] = harness.Call(s, http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`,
						"Content-Type: application/json").Code
				})
				synctest.Wait()
			}
			calls.Wait()
			want := []int{http.StatusOK, http.StatusOK}
			if first > limit/2 {
				want[1] = http.StatusGatewayTimeout
			}
			assert.Equal(t, want, statuses)
			assert.GreaterOrEqual(t, slices.Min(limits), limit/4)
		}
	})
}
