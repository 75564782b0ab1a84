package gateway_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestAnItemLeavesOnceItsChangeIsMade: an item leaves its place when its change was made, before the end of
// the change is stored. An item that changes nothing, or fails, does not leave.
func TestAnItemLeavesOnceItsChangeIsMade(t *testing.T) {
	broken := ps.Error{Kind: ps.KindScript, Message: "broken", Outcome: ps.OutcomeUnknown}
	user := "[" + harness.Sample(schema.User) + "]"
	for name, c := range map[string]struct {
		runner *harness.Runner
		want   int
	}{
		"changed": {harness.Answering(ps.Result{Effect: ps.EffectChanged}, user), 1},
		"nothing": {harness.Answering(ps.Result{Effect: ps.EffectNone}, user), 0},
		"failed":  {harness.Failing(broken), 0},
	} {
		store := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
		history := changes.New(store, time.Hour, 1<<20)
		s := harness.New(t, c.runner, func(o *gateway.Options) { o.Kept, o.History = store, history })
		left := 0
		_, err := s.Call(t.Context(), "user.disable", call.Call{
			Principal: &identity.Principal{Scopes: []identity.Scope{identity.All}},
			Input:     call.Values{"Username": "jdoe"},
			Item: &call.Item{Key: "item", Expires: time.Now().Add(time.Hour), Left: func() {
				left++
				running, err := history.Running(t.Context())
				require.NoError(t, err)
				assert.Len(t, running, 1)
			}},
		})
		assert.Equal(t, name == "failed", err != nil, name)
		assert.Equal(t, c.want, left, name)
	}
}
