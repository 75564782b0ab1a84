package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/figures"
	"adgateway/ps"
	"adgateway/test/harness"
)

func TestLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails error
		runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			if fails != nil {
				return nil, fails
			}
			return &ps.Result{Effect: ps.EffectNone}, req.Records([]byte("[]"))
		}}
		s := harness.New(t, runner, nil)
		ask := func(path string) { harness.Call(s, "GET", path, "") }
		const list, wrong = "/api/OU/All", "/api/OU/All?No=1"
		ask(list) // a later minute replaces it
		time.Sleep(2 * time.Minute)
		ask(list)
		time.Sleep(59 * time.Minute)
		ask(list)
		ask(wrong)
		fails = &ps.Error{Kind: ps.KindUnavailable}
		ask(list)
		all := s.LastHour()
		require.Len(t, all, 60)
		assert.Equal(t, 1, all[0].Calls)
		assert.Equal(t, figures.Minute{Start: time.Now().Truncate(time.Minute), Calls: 3, Errors: 1}, all[59])
		sum := figures.Figures{Minutes: all}.Sum()
		assert.Equal(t, []int{4, 1}, []int{sum.Calls, sum.Errors})
		time.Sleep(2 * time.Hour)
		later := s.LastHour()
		require.Len(t, later, 60)
		assert.Zero(t, figures.Figures{Minutes: later}.Sum().Calls)
	})
}

// Calls of operations are counted; other requests are not.
func TestCallsAreCountedByMinute(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "[]"), nil)
	harness.Call(s, "GET", "/healthz", "")
	harness.Call(s, "GET", "/api/ADUser/jdoe/Exists", "")
	assert.Equal(t, 1, figures.Figures{Minutes: s.LastHour()}.Sum().Calls)
}
