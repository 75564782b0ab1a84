package store

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func line(text string, expires time.Time) Change {
	return Change{Log: "log", Value: []byte(text), Expires: expires}
}

// lines returns the texts of a log after a position, and the position of the last.
func noLine(Appended) bool { return true }

func TestPositionsAsText(t *testing.T) {
	for _, p := range []Position{{}, {"0198c0de-0000-7000-8000-000000000000", 17}} {
		var read Position
		require.NoError(t, read.UnmarshalText([]byte(p.String())))
		assert.Equal(t, p, read)
	}
	for _, text := range []string{"", "17", "a", "a.", "a.-1", "a.01", "a.b.1", "a.99999999999999999999",
		"a.1 "} {
		var read Position
		assert.ErrorIs(t, read.UnmarshalText([]byte(text)), ErrPosition, text)
		assert.Zero(t, read)
	}
}

func TestSealedEntriesAreBoundToTheirLog(t *testing.T) {
	plain, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer plain.Close()
	key, err := NewKey([]byte(strings.Repeat("k", KeyLength)))
	require.NoError(t, err)
	s, err := Seal(plain, key)
	require.NoError(t, err)
	_, err = s.Apply(t.Context(), line("Anna Schmidt", time.Time{}))
	require.NoError(t, err)
	var stored []byte
	require.NoError(t, plain.Log(t.Context(), "log", Position{},
		func(a Appended) bool { stored = a.Value; return true }))
	assert.NotContains(t, string(stored), "Anna")
	_, err = plain.Apply(t.Context(), Change{Log: "other", Value: stored})
	require.NoError(t, err)
	_, err = s.Apply(t.Context(), Change{Log: "other", Value: []byte("its own")})
	require.NoError(t, err)
	var read []string
	require.NoError(t, s.Log(t.Context(), "other", Position{},
		func(a Appended) bool { read = append(read, string(a.Value)); return true }))
	assert.Equal(t, []string{"its own"}, read)
	n, kinds := s.Unreadable()
	assert.Equal(t, 1, n)
	assert.Equal(t, []string{"log other"}, kinds)
}
