package keep_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
)

// TestACopyIsAwaited: until it has applied what another writer has decided, or is closed, or
// nobody waits any more.
func TestACopyIsAwaited(t *testing.T) {
	copied, _, err := keep.Open(keep.Options{Path: filepath.Join(t.TempDir(), "copy"), Follows: true})
	require.NoError(t, err)
	require.NoError(t, copied.Await(t.Context(), 0))
	left := errors.New("left")
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	require.ErrorIs(t, copied.Await(gone, 1), left)

	awaited := make(chan error, 2)
	for _, r := range []keep.Revision{1, 2} {
		go func() { awaited <- copied.Await(t.Context(), r) }()
	}
	for n := range uint64(2) {
		call := keep.Call{Revision: keep.Revision(n + 1), Changes: []keep.Change{{Kind: "k", Key: "a", Value: []byte("1")}}}
		batch := keep.Batch{Calls: []keep.Call{call}}
		require.NoError(t, copied.ApplyBatch(t.Context(), batch.Encode(), keep.Point{Sequence: n + 1}, time.Now()))
		require.NoError(t, <-awaited)
		present, err := copied.Revision()
		require.NoError(t, err)
		assert.Equal(t, keep.Revision(n+1), present)
	}
	go func() { awaited <- copied.Await(t.Context(), 3) }()
	require.NoError(t, copied.Close())
	require.ErrorIs(t, <-awaited, keep.ErrClosed)
	require.ErrorIs(t, copied.Await(t.Context(), 0), keep.ErrClosed)
}
