package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
)

func TestListsOfACallerTakeTurns(t *testing.T) {
	all := newTurns()
	one, other := identity.ID{Kind: identity.KindToken, ID: "1"}, identity.ID{Kind: identity.KindToken, ID: "2"}
	end, has := all.take(t.Context(), one)
	require.True(t, has)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, has = all.take(gone, one)
	assert.False(t, has)
	endOther, has := all.take(t.Context(), other)
	require.True(t, has, "others do not wait for it")
	endOther()

	var going, most atomic.Int32
	var ended sync.WaitGroup
	for range 32 {
		ended.Go(func() {
			end, has := all.take(t.Context(), one)
			if !has {
				t.Error("the turn does not come")
				return
			}
			if going.Add(1) > 1 {
				most.Store(2)
			}
			going.Add(-1)
			end()
		})
	}
	end()
	ended.Wait()
	assert.Zero(t, most.Load(), "one at a time")
	assert.Empty(t, all.callers)
}
