package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"adgateway/gateway/atomicfile"
)

// inFile opens the store in a file and closes it afterwards.
func inFile(t *testing.T, path string, use func(s Store)) {
	t.Helper()
	s, _, err := Open(Options{Path: path})
	require.NoError(t, err)
	use(s)
	require.NoError(t, s.Close())
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

func TestAFileFromABackupIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var before, lost Position
	var revision Revision
	inFile(t, path, func(s Store) {
		_, err := s.Apply(t.Context(), put("a", "1", Absent), line("one", time.Time{}))
		require.NoError(t, err)
		before, err = s.End(t.Context(), "log")
		require.NoError(t, err)
	})
	copyFile(t, path, path+".backup")
	inFile(t, path, func(s Store) {
		assert.NoError(t, s.State().Rewound)
		for i := range 3 {
			var err error
			revision, err = s.Apply(t.Context(), put(fmt.Sprint(i), "2", Absent), line("two", time.Time{}))
			require.NoError(t, err)
		}
		var err error
		lost, err = s.End(t.Context(), "log")
		require.NoError(t, err)
	})
	require.NoError(t, Rewound(path))
	copyFile(t, path+".backup", path)
	for range 2 { // also after a restart
		inFile(t, path, func(s Store) {
			require.ErrorIs(t, s.State().Rewound, ErrRewound)
			assert.ErrorContains(t, s.State().Rewound, "the last 3 writes are missing")
			for _, position := range []Position{before, lost} {
				require.ErrorIs(t, s.Log(t.Context(), "log", position, noLine), ErrPosition,
					"what it counts is not what it was")
			}
			next, err := s.Apply(t.Context(), Change{Kind: "k", Key: "b", Expect: Absent, Value: []byte("3")})
			require.NoError(t, err)
			assert.Greater(t, next, revision, "no revision is given twice")
			_, err = s.Apply(t.Context(), Change{Kind: "k", Key: "b", Expect: next})
			require.NoError(t, err)
			require.ErrorIs(t, Rewound(path), ErrRewound, "while it is open")
		})
	}
	require.NoError(t, Accept(path))
	require.NoError(t, Rewound(path))
	inFile(t, path, func(s Store) { assert.NoError(t, s.State().Rewound) })
}

func TestWhichFilesCountAsRewound(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		text   string // expected in the error; empty if there is none
	}{
		"nothing":             {func(string) error { return nil }, ""},
		"without a head":      {func(path string) error { return os.Remove(path + ".head") }, ""},
		"a head of noise":     {func(path string) error { return os.WriteFile(path+".head", []byte("{"), 0o600) }, ""},
		"a damaged file":      {func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, ""},
		"another, empty file": {os.Remove, "another file has taken its place"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			inFile(t, path, func(s Store) {
				_, err := s.Apply(t.Context(), put("a", "1", Absent))
				require.NoError(t, err)
			})
			require.NoError(t, c.change(path))
			inFile(t, path, func(s Store) {
				if c.text == "" {
					assert.NoError(t, s.State().Rewound)
					return
				}
				require.ErrorIs(t, s.State().Rewound, ErrRewound)
				assert.ErrorContains(t, s.State().Rewound, c.text)
			})
		})
	}
}

// TestTheHeadIsNotAheadOfTheFile: the head is never ahead of the file, so a killed gateway finds
// its store unchanged.
func TestTheHeadIsNotAheadOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	inFile(t, path, func(s Store) {
		for i := range 20 {
			_, err := s.Apply(t.Context(), put(fmt.Sprint(i), "1", Absent))
			require.NoError(t, err)
			if i%7 != 0 {
				continue
			}
			killed := filepath.Join(t.TempDir(), "state.db")
			copyFile(t, path, killed)
			copyFile(t, commitsOf(path), commitsOf(killed))
			copyFile(t, path+".head", killed+".head")
			inFile(t, killed, func(s Store) { assert.NoError(t, s.State().Rewound) })
		}
	})
}

// TestAFileOfAnEarlierVersion: a file of an earlier version, without an identity, logs and a head,
// can be used.
func TestAFileOfAnEarlierVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var revision Revision
	inFile(t, path, func(s Store) {
		var err error
		revision, err = s.Apply(t.Context(), put("a", "1", Absent), line("one", time.Time{}))
		require.NoError(t, err)
	})
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket(storeBucket), tx.DeleteBucket(logsBucket))
	}))
	require.NoError(t, db.Close())
	require.NoError(t, os.Remove(HeadOf(path)))
	inFile(t, path, func(s Store) {
		assert.NoError(t, s.State().Rewound)
		next, err := s.Apply(t.Context(), put("a", "2", revision), line("two", time.Time{}))
		require.NoError(t, err)
		assert.Greater(t, next, revision)
		end, err := s.End(t.Context(), "log")
		require.NoError(t, err)
		assert.EqualValues(t, 1, end.Sequence)
	})
	inFile(t, path, func(s Store) { assert.NoError(t, s.State().Rewound) })
}

// TestAHeadThatCannotBeWritten: a store opens even if its head cannot be written, as on a full
// disk. It can be read, and refuses changes until the head is written.
func TestAHeadThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var revision Revision
	inFile(t, path, func(s Store) {
		var err error
		revision, err = s.Apply(t.Context(), put("a", "1", Absent))
		require.NoError(t, err)
	})
	errFull := errors.New("no space left on device")
	full := true
	s, _, err := Open(Options{Path: path, write: func(path string, text []byte) error {
		if full {
			return errFull
		}
		return atomicfile.Write(path, text, nil)
	}})
	require.NoError(t, err)
	require.ErrorIs(t, s.State().Failed, errFull)
	e, err := s.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	for range 2 {
		_, err = s.Apply(t.Context(), put("a", "2", e.Revision))
		require.ErrorIs(t, err, errFull)
		_, err = s.Sweep(t.Context())
		require.NoError(t, err, "nothing is old")
	}
	full = false
	next, err := s.Apply(t.Context(), put("a", "2", revision))
	require.NoError(t, err)
	assert.Equal(t, revision+1, next)
	require.NoError(t, s.State().Failed)
	full = true
	_, err = s.Apply(t.Context(), put("a", "3", next))
	require.NoError(t, err, "it is not behind by more than a second's writes")
	full = false
	require.NoError(t, s.Close())
	inFile(t, path, func(s Store) { assert.NoError(t, s.State().Rewound) })
}
