package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestACopyIsAwaited: Await returns once the copy has applied another writer's decision, once the
// copy is closed, or once ctx ends.
func TestACopyIsAwaited(t *testing.T) {
	copied, _, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "copy"), Follows: true})
	require.NoError(t, err)
	require.NoError(t, copied.Await(t.Context(), 0))
	left := errors.New("left")
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	require.ErrorIs(t, copied.Await(gone, 1), left)

	awaited := make(chan error, 2)
	for _, r := range []store.Revision{1, 2} {
		go func() { awaited <- copied.Await(t.Context(), r) }()
	}
	for n := range uint64(2) {
		call := store.Call{Revision: store.Revision(n + 1),
			Changes: []store.Change{{Kind: "k", Key: "a", Value: []byte("1")}}}
		batch := store.Batch{Calls: []store.Call{call}}
		require.NoError(t, copied.ApplyBatch(t.Context(), batch.Encode(), store.Point{Sequence: n + 1}, time.Now()))
		require.NoError(t, <-awaited)
		present, err := copied.Revision()
		require.NoError(t, err)
		assert.Equal(t, store.Revision(n+1), present)
	}
	go func() { awaited <- copied.Await(t.Context(), 3) }()
	require.NoError(t, copied.Close())
	require.ErrorIs(t, <-awaited, store.ErrClosed)
	require.ErrorIs(t, copied.Await(t.Context(), 0), store.ErrClosed)
}
