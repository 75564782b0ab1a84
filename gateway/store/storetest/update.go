package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

var errRefused = errors.New("refused")

// number returns a value as a number, or 0 if it is absent.
func number(tx *store.Tx, key string) (int, error) {
	e, err := tx.Get("k", key)
	if errors.Is(err, store.ErrAbsent) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(e.Value))
}

func putNumber(tx *store.Tx, key string, n int) {
	tx.Put("k", key, []byte(strconv.Itoa(n)), time.Time{})
}

// testUpdatesSeeWhatIsBeforeThem: each update increments a counter that all updates share, and puts a
// separate value. Updates that are then refused change nothing, no matter which other updates share their
// batch.
func testUpdatesSeeWhatIsBeforeThem(t *testing.T, s store.Store, _ *Clock) {
	const callers, rounds = 6, 15
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for round := range rounds {
				refused := (caller+round)%3 == 0
				err := Update(t.Context(), s, func(tx *store.Tx) error {
					n, err := number(tx, "counter")
					if err != nil {
						return err
					}
					putNumber(tx, "counter", n+1)
					putNumber(tx, fmt.Sprintf("own/%d-%d", caller, round), n)
					tx.Append("log", []byte(strconv.Itoa(n)), time.Time{})
					if refused {
						return errRefused
					}
					return nil
				})
				if refused {
					assert.Equal(t, errRefused, err)
				} else {
					assert.NoError(t, err)
				}
			}
		})
	}
	group.Wait()
	const made = callers * rounds * 2 / 3
	assert.Equal(t, []string{fmt.Sprintf("counter=%d", made)}, keys(t, s, "counter"))
	var want, own []string
	for n := range made {
		want = append(want, strconv.Itoa(n))
	}
	for _, entry := range keys(t, s, "own/") {
		_, n, _ := strings.Cut(entry, "=")
		own = append(own, n)
	}
	assert.ElementsMatch(t, want, own, "each has seen another state")
	logged, _ := lines(t, s, store.Position{})
	assert.Equal(t, want, logged, "in the order of their decisions")
	assert.Zero(t, s.State().Failures)
}

// testUpdatesDependOnWhatTheyRead: of two updates that read both values and change one each, the
// second sees the change of the first.
func testUpdatesDependOnWhatTheyRead(t *testing.T, s store.Store, _ *Clock) {
	for round := range 20 {
		names := []string{fmt.Sprintf("%d/a", round), fmt.Sprintf("%d/b", round), fmt.Sprintf("%d/absent", round)}
		var group sync.WaitGroup
		for i := range 2 {
			group.Go(func() {
				assert.NoError(t, Update(t.Context(), s, func(tx *store.Tx) error {
					for _, name := range names {
						if n, err := number(tx, name); err != nil || n > 0 {
							return err
						}
					}
					putNumber(tx, names[i], 1)
					return nil
				}))
			})
		}
		group.Wait()
		assert.Len(t, keys(t, s, fmt.Sprintf("%d/", round)), 1)
	}
}

func testAnUpdateReadsWhatItHasPut(t *testing.T, s store.Store, c *Clock) {
	_, err := s.Apply(t.Context(), put("b", "old", store.Absent), put("d", "old", store.Absent),
		put("e", "old", store.Absent),
		store.Change{Log: "log", Value: []byte("1")}, store.Change{Log: "log", Value: []byte("2")})
	require.NoError(t, err)
	var seen []string
	given := []byte("kept")
	require.NoError(t, Update(t.Context(), s, func(tx *store.Tx) error {
		seen = nil
		if tx.Now().Sub(c.Now()).Abs() > time.Hour { // clustered stores learn the time only now and then
			return errors.New("it has another time")
		}
		tx.Put("k", "c", given, time.Time{})
		tx.Put("k", "a", []byte("new"), tx.Now().Add(24*time.Hour))
		tx.Put("k", "f", []byte("gone"), tx.Now().Add(-2*time.Hour))
		tx.Put("k", "g", nil, time.Time{})
		tx.Put("k", "h", []byte("gone"), time.Time{})
		tx.Delete("k", "h")
		tx.Delete("k", "d")
		tx.Put("k", "d", []byte("again"), time.Time{})
		tx.Delete("k", "e")
		tx.Put("other", "a", []byte("other"), time.Time{})
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
			e, err := tx.Get("k", key)
			if err != nil && !errors.Is(err, store.ErrAbsent) {
				return err
			}
			seen = append(seen, fmt.Sprintf("%s=%s %t", key, e.Value, err == nil))
			copy(e.Value, "XXXXXX")
		}
		err := tx.Range("k", "", func(e store.Entry) bool {
			seen = append(seen, e.Key+"="+string(e.Value))
			copy(e.Value, "XXXXXX")
			tx.Put("k", "a", []byte("newer"), time.Time{})
			return e.Key != "d"
		})
		tx.Append("log", given, time.Time{})
		tx.Trim("log", 1)
		return err
	}))
	copy(given, "gone")
	assert.Equal(t, []string{
		"a=new true", "b=old true", "c=kept true", "d=again true", "e= false", "f= false", "g= true", "h= false", "i= false",
		"a=new", "b=old", "c=kept", "d=again",
	}, seen)
	assert.Equal(t, []string{"a=newer", "b=old", "c=kept", "d=again", "g="}, keys(t, s, ""))
	logged, _ := lines(t, s, store.Position{})
	assert.Equal(t, []string{"2", "kept"}, logged)
}

func testUpdatesThatChangeNothing(t *testing.T, s store.Store, _ *Clock) {
	ctx := t.Context()
	_, err := s.Apply(ctx, put("a", "1", store.Absent))
	require.NoError(t, err)
	before, err := s.Get(ctx, "k", "a")
	require.NoError(t, err)
	for name, f := range map[string]struct {
		update func(tx *store.Tx) error
		want   error
	}{
		"it only reads": {func(tx *store.Tx) error {
			_, err := tx.Get("k", "a")
			return err
		}, nil},
		"it is refused": {func(tx *store.Tx) error {
			tx.Delete("k", "a")
			return errRefused
		}, errRefused},
		"there is no such value": {func(tx *store.Tx) error {
			tx.Delete("k", "a")
			_, err := tx.Get("k", "b")
			return err
		}, store.ErrAbsent},
		"it is too large": {func(tx *store.Tx) error {
			for i := range store.MostChanges + 1 {
				putNumber(tx, strconv.Itoa(i), i)
			}
			return nil
		}, store.ErrTooMany},
	} {
		err := Update(ctx, s, f.update)
		require.ErrorIs(t, err, f.want, name)
		require.NotErrorIs(t, err, store.ErrUnsure, name)
	}
	require.Error(t, Update(ctx, s, func(tx *store.Tx) error {
		putNumber(tx, "b", 1)
		putNumber(tx, "", 1) // no driver accepts this
		return nil
	}))
	after, err := s.Get(ctx, "k", "a")
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Equal(t, []string{"a=1"}, keys(t, s, ""))
	assert.EqualValues(t, 1, s.State().Writes)
}

func testUpdatesThatCannotBe(t *testing.T, s store.Store, _ *Clock) {
	never := func(*store.Tx) error {
		t.Error("it is called")
		return nil
	}
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("left")
	cancel(why)
	err := Update(gone, s, never)
	require.ErrorIs(t, err, why)
	require.NotErrorIs(t, err, store.ErrUnsure)
	assert.PanicsWithValue(t, "broken", func() {
		_ = Update(t.Context(), s, func(tx *store.Tx) error {
			putNumber(tx, "a", 1)
			panic("broken")
		})
	})
	assert.Empty(t, keys(t, s, ""))
	require.NoError(t, Update(t.Context(), s, func(tx *store.Tx) error { putNumber(tx, "b", 1); return nil }))
	assert.Equal(t, []string{"b=1"}, keys(t, s, ""))
	require.NoError(t, s.Close())
	require.ErrorIs(t, Update(t.Context(), s, func(tx *store.Tx) error {
		_, err := tx.Get("k", "b")
		return err
	}), store.ErrClosed)
}

// account is a value that is stored as JSON.
type account struct {
	store.Formatted
	Balance int `json:"balance"`
}

// testUpdatesAndCallsOfApply: money is moved between accounts, by updates and by calls of Apply at the same
// time, and every reader sees the same sum.
func testUpdatesAndCallsOfApply(t *testing.T, s store.Store, c *Clock) {
	names := []string{"a", "b", "c"}
	read := func(tx *store.Tx) (all []account, err error) {
		for _, name := range names {
			one, err := store.Load[account](tx, "k", name)
			if err != nil && !errors.Is(err, store.ErrAbsent) {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	}
	move := func(from, to, amount int) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			all, err := read(tx)
			if err != nil {
				return err
			}
			all[from].Balance -= amount
			all[to].Balance += amount
			return errors.Join(
				store.Save(tx, "k", names[from], all[from], c.Now().Add(time.Hour)),
				store.Save(tx, "k", names[to], all[to], c.Now().Add(time.Hour)))
		}
	}
	var conflicts atomic.Int64
	var group sync.WaitGroup
	for caller := range 3 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(caller), 0))
			for range 15 {
				from := random.IntN(3)
				assert.NoError(t, Update(t.Context(), s, move(from, (from+1)%3, random.IntN(100))))
				var sum int
				assert.NoError(t, Update(t.Context(), s, func(tx *store.Tx) error {
					all, err := read(tx)
					sum = 0
					for _, one := range all {
						sum += one.Balance
					}
					return err
				}))
				assert.Zero(t, sum)
			}
		})
	}
	group.Go(func() {
		for range 15 {
			e, err := s.Get(t.Context(), "k", "a")
			if errors.Is(err, store.ErrAbsent) {
				continue
			}
			if !assert.NoError(t, err) {
				return
			}
			_, err = s.Apply(t.Context(),
				store.Change{Kind: "k", Key: "a", Expect: e.Revision, Value: e.Value, Expires: e.Expires})
			if errors.Is(err, store.ErrConflict) {
				conflicts.Add(1)
			} else {
				assert.NoError(t, err)
			}
		}
	})
	group.Wait()
	t.Logf("%d calls of Apply have conflicted", conflicts.Load())
	c.Advance(time.Hour)
	assert.Empty(t, keys(t, s, ""))
}

// testComparedValues: a call can compare some values and change others.
func testComparedValues(t *testing.T, s store.Store, _ *Clock) {
	first, err := s.Apply(t.Context(), put("a", "1", store.Absent))
	require.NoError(t, err)
	compared := func(key string, expect store.Revision) store.Change {
		return store.Change{Kind: "k", Key: key, Expect: expect, Compares: true}
	}
	_, err = s.Apply(t.Context(), put("b", "1", store.Absent), compared("a", first+1))
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = s.Apply(t.Context(), put("b", "1", store.Absent), compared("c", first))
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = s.Apply(t.Context(), put("b", "1", store.Absent), compared("a", first), compared("c", store.Absent))
	require.NoError(t, err)
	assert.Equal(t, []string{"a=1", "b=1"}, keys(t, s, ""))
	found, err := s.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, first, found.Revision)
}

// testUpdatesMatchAModel: random changes, some of which are refused, have the same effect on the store
// as on a map.
func testUpdatesMatchAModel(t *testing.T, s store.Store, _ *Clock) {
	random := rand.New(rand.NewPCG(7, 0))
	model := map[string]string{}
	for range 150 {
		refused, next, steps := random.IntN(4) == 0, maps.Clone(model), random.IntN(5)
		var do []func(tx *store.Tx) string // each returns what it has read
		var want []string
		for range steps {
			key, value := fmt.Sprintf("%d", random.IntN(12)), strconv.Itoa(random.Int())
			switch random.IntN(4) {
			case 0:
				next[key] = value
				do = append(do, func(tx *store.Tx) string { tx.Put("k", key, []byte(value), time.Time{}); return "" })
				want = append(want, "")
			case 1:
				delete(next, key)
				do = append(do, func(tx *store.Tx) string { tx.Delete("k", key); return "" })
				want = append(want, "")
			case 2:
				do = append(do, func(tx *store.Tx) string { e, _ := tx.Get("k", key); return string(e.Value) })
				want = append(want, next[key])
			case 3:
				do = append(do, func(tx *store.Tx) string {
					var all []string
					err := tx.Range("k", "1",
						func(e store.Entry) bool { all = append(all, e.Key+"="+string(e.Value)); return true })
					return fmt.Sprint(all, err)
				})
				want = append(want, fmt.Sprint(sorted(next, "1"), nil))
			}
		}
		var got []string
		err := Update(t.Context(), s, func(tx *store.Tx) error {
			got = nil
			for _, step := range do {
				got = append(got, step(tx))
			}
			if refused {
				return errRefused
			}
			return nil
		})
		require.Equal(t, want, got)
		if refused {
			require.Equal(t, errRefused, err)
		} else {
			require.NoError(t, err)
			model = next
		}
		require.Equal(t, sorted(model, ""), keys(t, s, ""))
	}
}

// sorted returns the values of a model in the form that keys returns.
func sorted(model map[string]string, prefix string) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(model)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, key+"="+model[key])
		}
	}
	return all
}
