package store_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestACopyThatIsAskedFor: the copy comes from a store that another process has open. If nothing
// answers, no file is left behind.
func TestACopyThatIsAskedFor(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "state.db")
	f, _, err := store.Open(store.Options{Path: path})
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), set("a", store.Absent))
	require.NoError(t, err)
	require.ErrorIs(t, store.Unused(path), store.ErrInUse)

	before := names(t, folder)
	_, err = store.AskForCopy(t.Context(), path, time.Millisecond)
	require.ErrorIs(t, err, store.ErrNoAnswer)
	assert.Equal(t, before, names(t, folder), "the request is taken back")

	var answering sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	answering.Go(func() { f.AnswerCopies(ctx, func(err error) { assert.NoError(t, err) }) })
	copied, err := store.AskForCopy(t.Context(), path, 3*time.Minute)
	require.NoError(t, err)
	stop()
	answering.Wait()
	require.NoError(t, f.Close())

	text, err := os.Open(copied)
	require.NoError(t, err)
	restored := filepath.Join(folder, "restored.db")
	require.NoError(t, store.Restore(restored, text))
	require.NoError(t, text.Close())
	g, _, err := store.Open(store.Options{Path: restored})
	require.NoError(t, err)
	_, err = g.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	require.ErrorIs(t, g.State().Rewound, store.ErrRewound, "it may be older than what was acknowledged")
	require.NoError(t, g.Close())
}

// TestACopyOfAFile: copying a store's file does not change it.
func TestACopyOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, _, err := store.Open(store.Options{Path: path})
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), set("a", store.Absent))
	require.NoError(t, err)
	require.ErrorIs(t, store.CopyFile(t.Context(), path, io.Discard), store.ErrInUse)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	var copied bytes.Buffer
	require.NoError(t, store.CopyFile(t.Context(), path, &copied))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	require.NoError(t, store.Restore(path, &copied))
}
