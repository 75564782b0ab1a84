package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// TestLostAnswersAreFoundOut: no matter which faults the store has, each acknowledged step was made exactly
// once, and its line is in the log exactly once.
func TestLostAnswersAreFoundOut(t *testing.T) {
	happened := map[storetest.Fault]int{}
	for seed := range uint64(4) {
		faulty := storetest.NewFaulty(store.NewMemory(nil), seed, 0.4)
		s := storetest.Seal(t, faulty)
		const callers, steps = 4, 25
		var group sync.WaitGroup
		var mu sync.Mutex
		made, unsure := map[store.Revision]bool{}, 0
		for caller := range callers {
			group.Go(func() {
				for step := 0; step < steps; {
					e, err := s.Get(t.Context(), "k", "counter")
					if err != nil && !errors.Is(err, store.ErrAbsent) {
						continue
					}
					n := 0
					_, _ = fmt.Sscan(string(e.Value), &n) // stays 0 without a value
					revision, err := s.Apply(t.Context(),
						store.Change{Log: "log", Value: fmt.Append(nil, caller, " ", step)},
						store.Change{Kind: "k", Key: "counter", Expect: e.Revision, Value: fmt.Append(nil, n+1)})
					mu.Lock()
					switch {
					case err == nil:
						assert.False(t, made[revision], "acknowledged twice")
						made[revision] = true
						step++
					case !errors.Is(err, store.ErrConflict):
						unsure++
						step++ // must not be tried again
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		faulty.Heal()
		e, err := s.Get(t.Context(), "k", "counter")
		require.NoError(t, err)
		n := 0
		_, err = fmt.Sscan(string(e.Value), &n)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, len(made))
		assert.LessOrEqual(t, n, len(made)+unsure)
		logged := map[string]int{}
		require.NoError(t, s.Log(t.Context(), "log", store.Position{}, func(a store.Appended) bool {
			logged[string(a.Value)]++
			return true
		}))
		assert.Len(t, logged, n)
		for text, times := range logged {
			assert.Equal(t, 1, times, text)
		}
		for fault, times := range faulty.Happened() {
			happened[fault] += times
		}
		require.NoError(t, faulty.Close())
	}
	for _, fault := range []storetest.Fault{storetest.Refused, storetest.Lost, storetest.Late, storetest.Doubled,
		storetest.Delayed, storetest.Swapped, storetest.Stale} {
		assert.NotZero(t, happened[fault], fault)
	}
}

// scripted is a store whose first calls of Apply fail, before or after the changes are made.
type scripted struct {
	store.Store
	made   []bool // whether each failing call makes its changes; later calls succeed
	called int
}

func (s *scripted) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	s.called++
	if len(s.made) == 0 {
		return s.Store.Apply(ctx, changes...)
	}
	made := s.made[0]
	s.made = s.made[1:]
	if made {
		if _, err := s.Store.Apply(ctx, changes...); err != nil {
			return 0, err
		}
	}
	return 0, storetest.ErrFault
}

func TestDoubtEnds(t *testing.T) {
	const no, yes = false, true
	for name, c := range map[string]struct {
		made   []bool
		other  bool // another call has changed the value
		want   error
		called int
	}{
		"made, and the answer lost": {made: []bool{yes}, called: 2},
		"not made":                  {made: []bool{no}, called: 2},
		"not made twice, then lost": {made: []bool{no, no, yes}, called: 4},
		"for too long":              {made: []bool{no, no, no, no}, want: storetest.ErrFault, called: 4},
		"another was faster":        {made: []bool{no}, other: true, want: storetest.ErrFault, called: 2},
		"no doubt":                  {other: true, want: store.ErrConflict, called: 1},
	} {
		t.Run(name, func(t *testing.T) {
			plain := store.NewMemory(nil)
			db := &scripted{Store: plain, made: c.made}
			s := storetest.Seal(t, db)
			if c.other {
				_, err := storetest.Seal(t, plain).Apply(t.Context(),
					store.Change{Kind: "k", Key: "a", Value: []byte("theirs")})
				require.NoError(t, err)
			}
			revision, err := s.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: []byte("mine")})
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, c.called, db.called)
			if c.want == nil {
				e, err := s.Get(t.Context(), "k", "a")
				require.NoError(t, err)
				assert.Equal(t, revision, e.Revision)
				assert.Equal(t, "mine", string(e.Value))
			}
		})
	}
}

// TestUpdatesOfAStoreWithFaults: each update puts a line and counts it. It does so exactly once if it was
// acknowledged, and not at all if its error says that nothing was changed.
func TestUpdatesOfAStoreWithFaults(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(4) {
		faulty := storetest.NewFaulty(store.NewMemory(nil), seed, 0.3)
		s := storetest.Seal(t, faulty)
		var group sync.WaitGroup
		var mu sync.Mutex
		told := map[string]string{}
		for caller := range 4 {
			group.Go(func() {
				for step := range 25 {
					text := fmt.Sprint(caller, " ", step)
					err := s.Update(t.Context(), func(tx *store.Tx) error {
						e, err := tx.Get("k", "counter")
						if err != nil && !errors.Is(err, store.ErrAbsent) {
							return err
						}
						n := 0
						_, _ = fmt.Sscan(string(e.Value), &n) // stays 0 without a value
						tx.Put("k", "counter", fmt.Append(nil, n+1), time.Time{})
						tx.Append("log", []byte(text), time.Time{})
						return nil
					})
					mu.Lock()
					switch {
					case err == nil:
						told[text] = "made"
					case errors.Is(err, store.ErrUnsure):
						told[text] = "unsure"
					default:
						assert.NotErrorIs(t, err, store.ErrConflict)
						told[text] = "not made"
					}
					outcomes[told[text]]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		faulty.Heal()
		logged := map[string]int{}
		require.NoError(t, s.Log(t.Context(), "log", store.Position{}, func(a store.Appended) bool {
			logged[string(a.Value)]++
			return true
		}))
		for text, outcome := range told {
			switch outcome {
			case "made":
				assert.Equal(t, 1, logged[text], text)
			case "unsure":
				assert.LessOrEqual(t, logged[text], 1, text)
			default:
				assert.Zero(t, logged[text], text)
			}
		}
		e, err := s.Get(t.Context(), "k", "counter")
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(len(logged)), string(e.Value))
		require.NoError(t, faulty.Close())
	}
	for _, outcome := range []string{"made", "unsure", "not made"} {
		assert.NotZero(t, outcomes[outcome], outcome)
	}
}
