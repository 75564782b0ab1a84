package spool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
)

func TestPiecesAreEncryptedAndReturned(t *testing.T) {
	s := New(Options{Folder: t.TempDir(), Most: 1000}, func(err error) { t.Error(err) })
	f := s.File(identity.ID{ID: "a"})
	defer f.Close()
	first, err := f.Put([]byte("a secret text"), nil)
	require.NoError(t, err)
	second, err := f.Put([]byte("another"), make([]byte, 100))
	require.NoError(t, err)
	sealed := make([]byte, f.size)
	_, err = f.file.ReadAt(sealed, 0)
	require.NoError(t, err)
	assert.NotContains(t, string(sealed), "secret")
	assert.EqualValues(t, len("a secret text")+len("another")+2*Overhead, s.Held())
	for want, p := range map[string]Piece{"a secret text": first, "another": second} {
		got, err := f.Get(p, nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	sealed[0] ^= 1
	_, err = f.file.WriteAt(sealed[:1], 0)
	require.NoError(t, err)
	_, err = f.Get(first, nil)
	assert.Error(t, err, "changed by somebody else")
	f.Clear()
	assert.Zero(t, s.Held())
}

// TestASpaceIsBounded: no file is larger than the caller's share, and all files together are not larger than
// the space. Room is free again once a file is closed.
func TestASpaceIsBounded(t *testing.T) {
	content := make([]byte, 100-Overhead)
	o := Options{Folder: t.TempDir(), Most: 500, Share: func() int64 { return 300 }}
	s := New(o, func(err error) { t.Error(err) })
	first, second := s.File(identity.ID{ID: "a"}), s.File(identity.ID{ID: "b"})
	put := func(f *File) (pieces int) {
		for {
			if _, err := f.Put(content, nil); err != nil {
				require.ErrorIs(t, err, ErrFull)
				return pieces
			}
			pieces++
		}
	}
	assert.Equal(t, 3, put(first))
	assert.Equal(t, 2, put(second))
	first.Close()
	assert.Equal(t, 1, put(second))
	second.Close()
	assert.Zero(t, s.Held())
}

// TestAFolderThatCannotBeUsed: nothing is stored, the fault is reported once a minute, and no room is taken.
func TestAFolderThatCannotBeUsed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	reports := 0
	s := New(Options{Folder: folder, Most: 500}, func(error) { reports++ })
	f := s.File(identity.ID{ID: "a"})
	for range 3 {
		_, err := f.Put([]byte("x"), nil)
		assert.ErrorIs(t, err, ErrFull)
	}
	assert.Equal(t, 1, reports)
	assert.Zero(t, s.Held())
}
