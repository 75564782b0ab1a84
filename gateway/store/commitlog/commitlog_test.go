package commitlog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts returns the texts of a log.
func texts(t *testing.T, path string) (all []string) {
	t.Helper()
	require.NoError(t, (&Log{Path: path}).Left(func(text []byte) (bool, error) {
		all = append(all, string(text))
		return true, nil
	}))
	return all
}

func TestALogHasWhatWasAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	assert.Empty(t, texts(t, path))
	l := &Log{Path: path}
	large := string(bytes.Repeat([]byte("l"), 3*page))
	for _, text := range []string{"one", large, "three"} {
		require.NoError(t, l.Append([]byte(text)))
	}
	assert.Equal(t, []string{"one", large, "three"}, texts(t, path))

	l.Restart()
	require.NoError(t, l.Append([]byte("four")))
	assert.Equal(t, "four", texts(t, path)[0], "the next round begins at the beginning")
	require.NoError(t, l.Close())

	left := &Log{Path: path}
	require.NoError(t, left.Left(func(text []byte) (bool, error) { return string(text) == "four", nil }))
	require.NoError(t, left.Append([]byte("five")))
	assert.Equal(t, []string{"four", "five"}, texts(t, path)[:2])
	require.NoError(t, left.Erase())
	assert.Empty(t, texts(t, path))
	require.NoError(t, left.Remove())
	assert.NoFileExists(t, path)
	require.NoError(t, left.Remove())
}

// TestAnIncompleteTextEndsTheLog: a text ends the log if any of its bytes is missing or changed.
func TestAnIncompleteTextEndsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := &Log{Path: path}
	for _, text := range []string{"one", "two"} {
		require.NoError(t, l.Append([]byte(text)))
	}
	require.NoError(t, l.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := page; at < page+header+len("two"); at++ {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		assert.Equal(t, []string{"one"}, texts(t, path), at)
	}
	require.NoError(t, os.WriteFile(path, whole[:page+header], 0o600))
	assert.Equal(t, []string{"one"}, texts(t, path))
}

// TestRoom: a text that is larger than the file makes it grow, but only as the first text.
func TestRoom(t *testing.T) {
	l := &Log{Path: filepath.Join(t.TempDir(), "log")}
	assert.True(t, l.Fits(2*room))
	require.NoError(t, l.Append(make([]byte, 2*room)))
	assert.False(t, l.Fits(1))
	l.Restart()
	require.NoError(t, l.Append([]byte("one")))
	assert.True(t, l.Fits(room-page-header))
	assert.False(t, l.Fits(room-page-header+1))
	require.NoError(t, l.Close())
}

// TestAnErrorOfVisitEndsTheWalk: an error of visit ends the walk and is returned.
func TestAnErrorOfVisitEndsTheWalk(t *testing.T) {
	l := &Log{Path: filepath.Join(t.TempDir(), "log")}
	require.NoError(t, l.Append([]byte("one")))
	require.NoError(t, l.Append([]byte("two")))
	require.NoError(t, l.Close())
	refused, n := errors.New("refused"), 0
	require.ErrorIs(t, l.Left(func([]byte) (bool, error) { n++; return false, refused }), refused)
	assert.Equal(t, 1, n)
}
