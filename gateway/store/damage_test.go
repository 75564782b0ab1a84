package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// filled returns the bytes of a file with many values.
func filled(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "state.db")
	inFile(t, path, func(s Store) {
		for i := range 4 {
			var changes []Change
			for j := range 300 {
				changes = append(changes, put(fmt.Sprintf("%d-%d", i, j), "value", Absent))
			}
			_, err := s.Apply(t.Context(), changes...)
			require.NoError(t, err)
		}
	})
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	return whole
}

// elements returns the bytes from the first element of each page of a kind on, including pages that
// are no longer used.
func elements(whole []byte, kind uint16) (all [][]byte) {
	const header = 16
	for page := 2 * newPages; page < len(whole); page += newPages {
		flags, count := binary.NativeEndian.Uint16(whole[page+8:]), binary.NativeEndian.Uint16(whole[page+10:])
		if flags == kind && count > 4 {
			all = append(all, whole[page+header:])
		}
	}
	return all
}

// TestAFileThatLeadsNowhereIsSetAside: a file with a page that refers to a place outside of the file is set
// aside. The file is mapped into memory, so following such a reference would crash the process.
func TestAFileThatLeadsNowhereIsSetAside(t *testing.T) {
	const branch, leaf = 1, 2
	whole := filled(t)
	for name, c := range map[string]struct {
		kind   uint16
		damage func(element []byte)
	}{
		"a page":  {branch, func(e []byte) { binary.NativeEndian.PutUint64(e[8:], 1<<40) }},
		"a place": {leaf, func(e []byte) { binary.NativeEndian.PutUint32(e[4:], 1<<30) }},
		"a key":   {leaf, func(e []byte) { binary.NativeEndian.PutUint32(e[8:], 1<<30) }},
		"a value": {leaf, func(e []byte) { binary.NativeEndian.PutUint32(e[12:], 1<<30) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			damaged := append([]byte(nil), whole...)
			for _, element := range elements(damaged, c.kind) {
				c.damage(element)
			}
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			s, aside, err := Open(Options{Path: path})
			require.NoError(t, err)
			assert.FileExists(t, aside)
			require.NoError(t, s.Close())
		})
	}
}

// TestAFileOfAnEarlierVersionKeepsItsPages: such a file has pages of the size that the host uses.
func TestAFileOfAnEarlierVersionKeepsItsPages(t *testing.T) {
	const before = 4 << 10
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: before})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for i := range 2 {
		s, aside, err := Open(Options{Path: path})
		require.NoError(t, err)
		assert.Empty(t, aside)
		assert.Equal(t, before, s.db.Info().PageSize)
		_, err = s.Apply(t.Context(), put(fmt.Sprint(i), "value", Absent))
		require.NoError(t, err)
		n := 0
		require.NoError(t, s.Range(t.Context(), "k", "", func(Entry) bool { n++; return true }))
		assert.Equal(t, i+1, n)
		require.NoError(t, s.Close())
	}
}

// TestABitThatFlips: a flipped bit does not crash the process, neither when the file is opened nor when it is
// read.
func TestABitThatFlips(t *testing.T) {
	whole := filled(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		path := filepath.Join(t.TempDir(), "state.db")
		damaged := append([]byte(nil), whole...)
		at := r.IntN(len(damaged))
		damaged[at] ^= 1 << r.IntN(8)
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		s, _, err := Open(Options{Path: path})
		require.NoError(t, err, "byte %d", at)
		_ = s.Range(t.Context(), "k", "", func(Entry) bool { return true })
		require.NoError(t, s.Close())
	}
}
