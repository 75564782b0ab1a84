package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clock is a time that tests set.
type clock struct{ now atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(c.now.Load(), 0) }
func (c *clock) advance(d time.Duration) { c.now.Add(int64(d / time.Second)) }

// drivers are the stores that must pass the tests, on an empty one each.
func drivers(t *testing.T, test func(t *testing.T, s Store, c *clock)) {
	t.Helper()
	for name, wrap := range map[string]func(Store) Store{
		"file": func(s Store) Store { return s },
		"sealed": func(s Store) Store {
			key, err := NewKey(make([]byte, KeyLength))
			require.NoError(t, err)
			sealed, err := Seal(s, key)
			require.NoError(t, err)
			return sealed
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{}
			c.now.Store(1_800_000_000)
			s, aside, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db"), Now: c.Now})
			require.NoError(t, err)
			require.Empty(t, aside)
			defer func() { assert.NoError(t, s.Close()) }()
			test(t, wrap(s), c)
		})
	}
}

func put(key, value string, expect Revision) Change {
	return Change{Kind: "k", Key: key, Expect: expect, Value: []byte(value)}
}

func keys(t *testing.T, s Store, prefix string) (found []string) {
	t.Helper()
	require.NoError(t, s.Range(t.Context(), "k", prefix, func(e Entry) bool {
		found = append(found, e.Key+"="+string(e.Value))
		return true
	}))
	return found
}

func TestChangesApplyTogetherOrNotAtAll(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, _ *clock) {
		_, err := s.Get(t.Context(), "k", "a")
		require.ErrorIs(t, err, ErrAbsent)
		assert.Empty(t, keys(t, s, ""))
		first, err := s.Apply(t.Context(), put("a", "1", Absent), put("b", "2", Absent))
		require.NoError(t, err)
		for name, changes := range map[string][]Change{
			"there already":            {put("a", "x", Absent)},
			"not there":                {put("c", "x", first)},
			"another revision":         {put("a", "x", first+1)},
			"one of two":               {put("a", "x", first), put("c", "y", first)},
			"removed, which is absent": {{Kind: "k", Key: "c", Expect: first}},
		} {
			_, err = s.Apply(t.Context(), changes...)
			require.ErrorIs(t, err, ErrConflict, name)
		}
		assert.Equal(t, []string{"a=1", "b=2"}, keys(t, s, ""))
		second, err := s.Apply(t.Context(), put("a", "3", first), Change{Kind: "k", Key: "b", Expect: first})
		require.NoError(t, err)
		assert.Greater(t, second, first)
		found, err := s.Get(t.Context(), "k", "a")
		require.NoError(t, err)
		assert.Equal(t, Entry{Key: "a", Value: []byte("3"), Revision: second}, found)
		third, err := s.Apply(t.Context(), put("b", "4", Absent))
		require.NoError(t, err)
		assert.Greater(t, third, second, "a value that comes again has a new revision")
	})
}

func TestValuesAreFoundByPrefixInOrder(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, _ *clock) {
		for _, key := range []string{"b/2", "a/1", "b/10", "b", "c"} {
			_, err := s.Apply(t.Context(), put(key, "v", Absent), Change{Kind: "other", Key: key, Value: []byte("o")})
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"b/10=v", "b/2=v"}, keys(t, s, "b/"))
		for before, want := range map[string][]string{"": {"c", "b/2", "b/10", "b", "a/1"}, "b/2": {"b/10", "b", "a/1"}, "bb": {"b/2", "b/10", "b", "a/1"}, "z": {"c", "b/2", "b/10", "b", "a/1"}, "a": nil} {
			var found []string
			require.NoError(t, s.RangeBack(t.Context(), "k", before, func(e Entry) bool { found = append(found, e.Key); return true }))
			assert.Equal(t, want, found, "back from %q", before)
		}
		visited := 0
		require.NoError(t, s.RangeBack(t.Context(), "k", "", func(Entry) bool { visited++; return visited < 2 }))
		assert.Equal(t, 2, visited)
		visited = 0
		require.NoError(t, s.Range(t.Context(), "k", "", func(Entry) bool { visited++; return visited < 2 }))
		assert.Equal(t, 2, visited)
	})
}

func TestValuesExpire(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, c *clock) {
		change := put("a", "1", Absent)
		change.Expires = c.Now().Add(time.Hour)
		_, err := s.Apply(t.Context(), change, put("b", "2", Absent))
		require.NoError(t, err)
		c.advance(time.Hour - time.Second)
		assert.Equal(t, []string{"a=1", "b=2"}, keys(t, s, ""))
		removed, err := s.Sweep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, removed)
		c.advance(time.Second)
		assert.Equal(t, []string{"b=2"}, keys(t, s, ""))
		_, err = s.Get(t.Context(), "k", "a")
		require.ErrorIs(t, err, ErrAbsent)
		_, err = s.Apply(t.Context(), put("a", "3", Absent))
		require.NoError(t, err, "what has expired is absent")
		removed, err = s.Sweep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, removed)
	})
}

func TestOneOfManyCallersWins(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, _ *clock) {
		const callers, rounds = 8, 10
		var won atomic.Int64
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for round := range rounds {
					switch _, err := s.Apply(t.Context(), put(fmt.Sprint(round), "mine", Absent)); {
					case err == nil:
						won.Add(1)
					default:
						assert.ErrorIs(t, err, ErrConflict)
					}
				}
			})
		}
		group.Wait()
		assert.EqualValues(t, rounds, won.Load())
	})
}

func TestCallsThatCannotBe(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, _ *clock) {
		gone, cancel := context.WithCancelCause(t.Context())
		why := errors.New("left")
		cancel(why)
		_, err := s.Apply(gone, put("a", "1", Absent))
		assert.ErrorIs(t, err, why)
		_, err = s.Get(gone, "k", "a")
		assert.ErrorIs(t, err, why)
		require.NoError(t, s.Close())
		_, err = s.Apply(t.Context(), put("a", "1", Absent))
		assert.ErrorIs(t, err, ErrClosed)
		_, err = s.Get(t.Context(), "k", "a")
		assert.ErrorIs(t, err, ErrClosed)
		_, err = s.Sweep(t.Context())
		assert.ErrorIs(t, err, ErrClosed)
	})
}

func TestWhatIsAppliedIsThereAfterAReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, _, err := Open(Options{Path: path})
	require.NoError(t, err)
	first, err := s.Apply(t.Context(), put("a", "1", Absent))
	require.NoError(t, err)
	_, _, err = Open(Options{Path: path})
	require.Error(t, err, "one process has the file")
	require.NoError(t, s.Close())

	s, aside, err := Open(Options{Path: path})
	require.NoError(t, err)
	assert.Empty(t, aside)
	second, err := s.Apply(t.Context(), put("a", "2", first))
	require.NoError(t, err)
	assert.Greater(t, second, first)
	require.NoError(t, s.Close())
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
			assert.Empty(t, keys(t, s, ""))
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
	_, err = plain.Apply(t.Context(), Change{Kind: "k", Key: "two", Value: stored.Value}, Change{Kind: "other", Key: "one", Value: stored.Value})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "k", "two")
	require.ErrorIs(t, err, ErrUnreadable, "another key of the store")
	_, err = s.Get(t.Context(), "other", "one")
	require.ErrorIs(t, err, ErrUnreadable, "another kind")
	require.ErrorIs(t, s.Range(t.Context(), "k", "t", func(Entry) bool { return true }), ErrUnreadable)
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

// Values outlive the process, so their expiry is a time of the wall clock: a clock that
// is ahead hides them, and one that is set right shows them again until a sweep has
// removed them.
func TestClockJumps(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, c *clock) {
		change := put("a", "1", Absent)
		change.Expires = c.Now().Add(24 * time.Hour)
		_, err := s.Apply(t.Context(), change)
		require.NoError(t, err)
		const year = 365 * 24 * time.Hour
		c.advance(-year)
		assert.Equal(t, []string{"a=1"}, keys(t, s, ""), "behind")
		c.advance(2 * year)
		assert.Empty(t, keys(t, s, ""), "ahead")
		c.advance(-year)
		assert.Equal(t, []string{"a=1"}, keys(t, s, ""), "right again")
		c.advance(year)
		removed, err := s.Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, removed)
		c.advance(-year)
		assert.Empty(t, keys(t, s, ""), "it was removed")
	})
}

func TestStateTellsHowWritesEnd(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, c *clock) {
		ctx := t.Context()
		revision, err := s.Apply(ctx, put("a", "1", Absent))
		require.NoError(t, err)
		_, err = s.Apply(ctx, put("a", "2", Absent))
		require.ErrorIs(t, err, ErrConflict)
		state := s.State()
		assert.Equal(t, State{Bytes: state.Bytes, Writes: 1}, state, "a conflict is no failure")
		assert.Positive(t, state.Bytes)

		_, err = s.Apply(ctx, put("", "1", Absent)) // which no driver takes
		require.Error(t, err)
		state = s.State()
		assert.EqualValues(t, 1, state.Failures)
		assert.Error(t, state.Failed)

		_, err = s.Apply(ctx, Change{Kind: "k", Key: "a", Expect: revision, Value: []byte("3"), Expires: c.Now().Add(time.Minute)})
		require.NoError(t, err)
		assert.NoError(t, s.State().Failed, "it works again")
		c.advance(time.Hour)
		_, err = s.Sweep(ctx)
		require.NoError(t, err)
		state = s.State()
		assert.Equal(t, State{Bytes: state.Bytes, Writes: 2, Failures: 1, Swept: 1}, state)
	})
}

// TestCallsShareATransaction: calls that wait for the disk are written together; one that
// conflicts or cannot be written does not hinder the others.
func TestCallsShareATransaction(t *testing.T) {
	drivers(t, func(t *testing.T, s Store, _ *clock) {
		ctx := t.Context()
		_, err := s.Apply(ctx, put("taken", "1", Absent))
		require.NoError(t, err)
		const callers, rounds = 8, 30
		var wait sync.WaitGroup
		var revisions sync.Map
		for caller := range callers {
			wait.Go(func() {
				for round := range rounds {
					key := fmt.Sprintf("%d-%d", caller, round)
					switch round % 3 {
					case 0:
						revision, err := s.Apply(ctx, put(key, "1", Absent), put(key+"b", "2", Absent))
						assert.NoError(t, err)
						_, twice := revisions.LoadOrStore(revision, key)
						assert.False(t, twice, "each call has its own revision")
					case 1:
						_, err := s.Apply(ctx, put(key, "1", Absent), put("taken", "2", Absent))
						assert.ErrorIs(t, err, ErrConflict)
					case 2:
						_, err := s.Apply(ctx, put(key, "1", Absent), put("", "2", Absent))
						assert.Error(t, err)
						assert.NotErrorIs(t, err, ErrConflict)
					}
				}
			})
		}
		wait.Wait()
		assert.Len(t, keys(t, s, ""), 1+2*callers*rounds/3, "the others wrote nothing")
		state := s.State()
		assert.EqualValues(t, 1+callers*rounds/3, state.Writes)
		assert.EqualValues(t, callers*rounds/3, state.Failures)
	})
}
