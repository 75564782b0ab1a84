package write

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alone returns exclusive locks of objects.
func alone(objects ...string) (all []lock) {
	for _, object := range objects {
		all = append(all, lock{object: object})
	}
	return all
}

// lockAll locks objects like a run does, and retries until it has all of them.
func lockAll(ctx context.Context, l *locks, wanted ...lock) (*hold, error) {
	h := l.begin()
	for {
		if err := h.claim(wanted); err == nil {
			return h, nil
		}
		if err := h.wait(ctx); err != nil {
			h.end()
			return nil, err
		}
	}
}

func (h *hold) done(made bool) {
	h.made = made
	h.end()
}

// left returns the sizes of the tables, which are all 0 if nothing runs.
func (l *locks) left() []int { return []int{len(l.queues), len(l.ends), len(l.begins)} }

func TestChangesOfOneObjectExcludeEachOther(t *testing.T) {
	l := newLocks()
	const objects, callers, rounds = 4, 8, 200
	var inside [objects]int // deliberately without a mutex: the race detector watches
	var changed [objects]int
	var callersDone sync.WaitGroup
	for i := range callers {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		callersDone.Go(func() {
			for range rounds {
				a, b := random.IntN(objects), random.IntN(objects)
				h, err := lockAll(t.Context(), l, alone(fmt.Sprint(a), fmt.Sprint(b))...)
				if !assert.NoError(t, err) {
					return
				}
				inside[a]++
				runtime.Gosched()
				assert.Equal(t, 1, inside[a])
				inside[a]--
				changed[a]++
				h.done(random.IntN(3) > 0)
			}
		})
	}
	callersDone.Wait()
	total := 0
	for _, n := range changed {
		total += n
	}
	assert.Equal(t, callers*rounds, total)
	assert.Equal(t, []int{0, 0, 0}, l.left())
}

// TestARunThatSawAnOldStateRunsAgain: a run that may have read an old state runs again, even if the
// lock is free when it asks for it.
func TestARunThatSawAnOldStateRunsAgain(t *testing.T) {
	l := newLocks()
	early := l.begin()
	other, err := lockAll(t.Context(), l, alone("a", "b")...)
	require.NoError(t, err)
	other.done(true)
	refused, err := lockAll(t.Context(), l, alone("c")...)
	require.NoError(t, err)
	refused.done(false)
	require.NoError(t, early.claim(alone("c")), "nothing was changed")
	require.ErrorIs(t, early.claim(alone("a")), errContended)
	require.NoError(t, early.wait(t.Context()))
	require.NoError(t, early.claim(alone("a")), "it began again")
	require.ErrorIs(t, l.begin().claim(alone("a")), errContended)
	early.end()
}

func TestWaitersComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLocks()
		first, err := lockAll(t.Context(), l, alone("a")...)
		require.NoError(t, err)
		var order []int
		for i := range 5 {
			go func() {
				h, err := lockAll(t.Context(), l, alone("a")...)
				assert.NoError(t, err)
				order = append(order, i)
				h.done(true)
			}()
			synctest.Wait()
		}
		late := l.begin()
		first.done(true)
		synctest.Wait()
		assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
		assert.ErrorIs(t, late.claim(alone("a")), errContended, "it was changed since")
		late.end()
		assert.Equal(t, []int{0, 0, 0}, l.left())
	})
}

// TestAnExclusiveWaiterIsNotOvertaken: a waiter for an exclusive lock is not overtaken by waiters for shared
// locks, unless it gives up.
func TestAnExclusiveWaiterIsNotOvertaken(t *testing.T) {
	for name, givesUp := range map[string]bool{"it has its turn": false, "it gives up": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLocks()
				shared := lock{"a", true}
				first, err := lockAll(t.Context(), l, shared)
				require.NoError(t, err)
				second, err := lockAll(t.Context(), l, shared)
				require.NoError(t, err, "it is shared")
				second.done(true)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var mu sync.Mutex
				var order []string
				happened := func(what string) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, what)
				}
				soFar := func() []string {
					mu.Lock()
					defer mu.Unlock()
					return slices.Clone(order)
				}
				wants := func(ctx context.Context, name string, one lock) {
					go func() {
						h, err := lockAll(ctx, l, one)
						if err != nil {
							assert.ErrorIs(t, err, context.Canceled)
							return
						}
						happened(name)
						time.Sleep(time.Second)
						happened(name + " ends")
						h.done(true)
					}()
					synctest.Wait()
				}
				wants(ctx, "alone", lock{object: "a"})
				wants(t.Context(), "shares", shared)
				assert.Empty(t, soFar())
				if givesUp {
					cancel()
					synctest.Wait()
					assert.Equal(t, []string{"shares"}, soFar())
				}
				first.done(true)
				time.Sleep(time.Minute)
				synctest.Wait()
				want := []string{"shares", "shares ends"}
				if !givesUp {
					want = append([]string{"alone", "alone ends"}, want...)
				}
				assert.Equal(t, want, soFar())
				assert.Equal(t, []int{0, 0, 0}, l.left())
			})
		})
	}
}

func TestWaitingEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLocks()
		first, err := lockAll(t.Context(), l, alone("b")...)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = lockAll(ctx, l, alone("a", "b", "c")...)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		free, err := lockAll(t.Context(), l, alone("a", "c")...)
		require.NoError(t, err, "what it had is free again")
		free.done(true)
		first.done(true)
		assert.Equal(t, []int{0, 0, 0}, l.left())
	})
}

func TestWhatEndedIsForgotten(t *testing.T) {
	l := newLocks()
	first := l.begin()
	for i := range 5000 {
		h, err := lockAll(t.Context(), l, alone(fmt.Sprint(i))...)
		require.NoError(t, err)
		h.done(true)
	}
	require.ErrorIs(t, first.claim(alone("7")), errContended, "the oldest run knows what it missed")
	require.NoError(t, first.wait(t.Context()))
	for i := range 2000 {
		h, err := lockAll(t.Context(), l, alone(fmt.Sprint("more ", i))...)
		require.NoError(t, err)
		h.done(true)
	}
	assert.Less(t, len(l.ends), 3100, "of runs since the oldest one")
	first.end()
	assert.Equal(t, []int{0, 0, 0}, l.left())
}
