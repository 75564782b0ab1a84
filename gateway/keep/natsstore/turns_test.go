package natsstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRivalsTakeTurns: of two gateways that append to the same log without a break neither
// goes on and on while the other one waits.
func TestRivalsTakeTurns(t *testing.T) {
	node, folder := startNode(t, t.TempDir()), t.TempDir()
	create(t, node.ClientURL(), "c", 1)
	one, other := open(t, node.ClientURL(), "c", "gw1", folder), open(t, node.ClientURL(), "c", "gw2", folder)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var over atomic.Bool
	var decided atomic.Int64
	var working sync.WaitGroup
	defer working.Wait()
	defer over.Store(true)
	for worker := range 4 {
		working.Go(func() {
			for n := 0; !over.Load(); n++ {
				if _, err := one.Apply(ctx, said(fmt.Sprint(worker, n))); !assert.NoError(t, err) {
					return
				}
				decided.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return decided.Load() > 20 }, 3*time.Minute, time.Millisecond)
	const calls = 40
	turns := 0 // calls of one during which the other one could write
	for n := range calls {
		before := decided.Load()
		_, err := other.Apply(ctx, said(fmt.Sprint("other ", n)))
		require.NoError(t, err)
		if decided.Load() > before {
			turns++
		}
	}
	assert.GreaterOrEqual(t, turns, calls/4)
}
