package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func put(key, value string, expect Revision) Change {
	return Change{Kind: "k", Key: key, Expect: expect, Value: []byte(value)}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no store":       func([]byte) []byte { return []byte(strings.Repeat("no store", 10_000)) },
		"cut":            func(b []byte) []byte { return b[:100] },
		"zeroes":         func(b []byte) []byte { return make([]byte, len(b)) },
		"pages of noise": func(b []byte) []byte { return append(b[:8192:8192], []byte(strings.Repeat("\xff", len(b)-8192))...) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "state.db")
			s, _, err := Open(Options{Path: path})
			require.NoError(t, err)
			_, err = s.Apply(t.Context(), put("a", "1", Absent))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, damage(whole), 0o600))

			s, aside, err := Open(Options{Path: path})
			require.NoError(t, err)
			defer s.Close()
			assert.FileExists(t, aside)
			assert.Equal(t, folder, filepath.Dir(aside))
			_, err = s.Get(t.Context(), "k", "a")
			require.ErrorIs(t, err, ErrAbsent)
			_, err = s.Apply(t.Context(), put("a", "1", Absent))
			assert.NoError(t, err)
		})
	}
	t.Run("a folder", func(t *testing.T) {
		_, aside, err := Open(Options{Path: t.TempDir()})
		require.Error(t, err)
		assert.Empty(t, aside)
	})
}

func TestSealedValuesAreBoundToTheirPlace(t *testing.T) {
	plain, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer plain.Close()
	seal := func(secret byte) *Sealed {
		key, err := NewKey([]byte(strings.Repeat(string(secret), KeyLength)))
		require.NoError(t, err)
		s, err := Seal(plain, key)
		require.NoError(t, err)
		return s
	}
	s := seal('a')
	revision, err := s.Apply(t.Context(), put("one", "Anna Schmidt", Absent))
	require.NoError(t, err)
	stored, err := plain.Get(t.Context(), "k", "one")
	require.NoError(t, err)
	assert.NotContains(t, string(stored.Value), "Anna")

	_, err = seal('b').Get(t.Context(), "k", "one")
	require.ErrorIs(t, err, ErrUnreadable, "another key")
	_, err = plain.Apply(t.Context(), Change{Kind: "k", Key: "two", Value: stored.Value},
		Change{Kind: "other", Key: "one", Value: stored.Value})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "k", "two")
	require.ErrorIs(t, err, ErrUnreadable, "another key of the store")
	_, err = s.Get(t.Context(), "other", "one")
	require.ErrorIs(t, err, ErrUnreadable, "another kind")
	require.ErrorIs(t, s.Range(t.Context(), "k", "t", func(Entry) bool { return true }), ErrUnreadable)
	var listed []string
	require.NoError(t, s.RangeBack(t.Context(), "k", "",
		func(e Entry) bool { listed = append(listed, e.Key); return true }))
	require.Equal(t, []string{"one"}, listed)
	stored.Value[len(stored.Value)-1] ^= 1
	_, err = plain.Apply(t.Context(), Change{Kind: "k", Key: "one", Expect: revision, Value: stored.Value})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "k", "one")
	require.ErrorIs(t, err, ErrUnreadable, "changed")
}

func TestSumsTellWhereAPartEnds(t *testing.T) {
	key, err := NewKey(make([]byte, KeyLength))
	require.NoError(t, err)
	sum := func(parts ...string) string {
		var all [][]byte
		for _, part := range parts {
			all = append(all, []byte(part))
		}
		return string(key.Sum(all...))
	}
	assert.Equal(t, sum("a", "b"), sum("a", "b"))
	seen := map[string]bool{}
	for _, parts := range [][]string{{"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"1:a", "b"}, {}} {
		seen[sum(parts...)] = true
	}
	assert.Len(t, seen, 6)
}

func TestTheKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.key")
	first, err := ReadKey(path)
	require.NoError(t, err)
	second, err := ReadKey(path)
	require.NoError(t, err)
	assert.Equal(t, first.Sum([]byte("x")), second.Sum([]byte("x")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.WriteFile(path, []byte("short"), 0o600))
	_, err = ReadKey(path)
	require.ErrorContains(t, err, "has 5 bytes, not 32")
}
