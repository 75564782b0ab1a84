package keep_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adgateway/gateway/keep"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestACopyThatIsAskedFor is that of the store which a process has open; without an answer
// nothing is left.
func TestACopyThatIsAskedFor(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "state.db")
	f, _, err := keep.Open(keep.Options{Path: path})
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), set("a", keep.Absent))
	require.NoError(t, err)
	require.ErrorIs(t, keep.Unused(path), keep.ErrInUse)

	before := names(t, folder)
	_, err = keep.AskForCopy(t.Context(), path, time.Millisecond)
	require.ErrorIs(t, err, keep.ErrNoAnswer)
	assert.Equal(t, before, names(t, folder), "the request is taken back")

	var answering sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	answering.Go(func() { f.AnswerCopies(ctx, func(err error) { assert.NoError(t, err) }) })
	copied, err := keep.AskForCopy(t.Context(), path, 3*time.Minute)
	require.NoError(t, err)
	stop()
	answering.Wait()
	require.NoError(t, f.Close())

	text, err := os.Open(copied)
	require.NoError(t, err)
	restored := filepath.Join(folder, "restored.db")
	require.NoError(t, keep.Restore(restored, text))
	require.NoError(t, text.Close())
	g, _, err := keep.Open(keep.Options{Path: restored})
	require.NoError(t, err)
	_, err = g.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	require.ErrorIs(t, g.State().Rewound, keep.ErrRewound, "it may be older than what was acknowledged")
	require.NoError(t, g.Close())
}

// TestACopyOfAFile does not change the file.
func TestACopyOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, _, err := keep.Open(keep.Options{Path: path})
	require.NoError(t, err)
	_, err = f.Apply(t.Context(), set("a", keep.Absent))
	require.NoError(t, err)
	require.ErrorIs(t, keep.CopyFile(t.Context(), path, io.Discard), keep.ErrInUse)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	var copied bytes.Buffer
	require.NoError(t, keep.CopyFile(t.Context(), path, &copied))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	require.NoError(t, keep.Restore(path, &copied))
}
