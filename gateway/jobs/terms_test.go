package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/jobs"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// follower is a store that accepts no changes while another gateway leads.
type follower struct {
	store.Store
	follows atomic.Bool
}

func (f *follower) Apply(ctx context.Context, all ...store.Change) (store.Revision, error) {
	if f.follows.Load() {
		return 0, fmt.Errorf("%w: %w", store.ErrFollows, store.ErrNotSent)
	}
	return f.Store.Apply(ctx, all...)
}

// leading is a manager of a gateway that leads from time to time.
type leading struct {
	*jobs.Manager
	t     *testing.T
	store *follower
	stop  func()
}

func newLeading(t *testing.T, db store.Store, w *world) *leading {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	l := &leading{t: t, store: &follower{Store: db}}
	l.store.follows.Store(true)
	l.Manager = jobs.New(jobs.Options{
		Store: storetest.Seal(t, l.store), Call: w.call, Log: log, Sessions: map[ps.Lane]int{ps.Directory: 2},
		Limits: jobs.Limits{Share: 1, Running: 4, PerCaller: 2, Keep: time.Hour, MaxStored: 1 << 30},
	})
	return l
}

// lead begins a term.
func (l *leading) lead() {
	l.t.Helper()
	l.store.follows.Store(false)
	require.NoError(l.t, l.Load(l.t.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	l.stop = func() { cancel(); <-done }
}

// TestAJobGoesOnInTheNextTerm: a job continues at the gateway that leads next, which may be the previous
// leader. If a term ends while an item is being called, the item is called again, because its result is
// unknown.
func TestAJobGoesOnInTheNextTerm(t *testing.T) {
	db := store.NewMemory(nil)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	reached, release := make(chan string), make(chan struct{})
	w := newWorld(func(c jobs.Call, tries int) jobs.Answer {
		if (c.Spec.ID == "3" || c.Spec.ID == "7") && tries == 1 {
			reached <- c.Spec.ID
			<-release
		}
		return jobs.Answer{Result: jobs.Result{State: jobstate.Made}}
	})
	a, b := newLeading(t, db, w), newLeading(t, db, w)
	items := specs(10, ps.Directory)
	for i := range items[1:] {
		items[i+1].Waits = []int{i}
	}
	a.lead()
	job := jobs.Job{Mode: jobstate.Run, Caller: jobs.Caller{Name: "token"}}
	added, err := a.Submit(t.Context(), jobs.Submission{Job: &job, Specs: items})
	require.NoError(t, err)
	watch := a.Watch(added.ID)
	defer watch.Stop()
	for _, turn := range []struct {
		from, to *leading
		item     string
	}{{a, b, "3"}, {b, a, "7"}} {
		require.Equal(t, turn.item, <-reached)
		turn.from.store.follows.Store(true) // the term ends while the item is being called
		ended := make(chan struct{})
		go func() { defer close(ended); turn.from.stop() }()
		turn.to.lead()
		_, err = turn.from.Pause(t.Context(), added.ID)
		assert.Error(t, err)
		release <- struct{}{}
		<-ended
	}
	assert.True(t, watch.Over())
	_, err = b.Pause(t.Context(), added.ID)
	var wrong *jobs.StateError
	assert.True(t, errors.Is(err, store.ErrFollows) || errors.As(err, &wrong), "it may have ended by now: %v",
		err)
	for range watch.Changed { // the channel is closed
	}
	require.Eventually(t, func() bool {
		got, err := b.Get(t.Context(), added.ID) // a follower reads the store
		return err == nil && got.State == jobstate.Done
	}, patience, time.Millisecond)
	a.stop()
	got, err := b.Get(t.Context(), added.ID)
	require.NoError(t, err)
	assert.Equal(t, jobs.Counts{Made: 10}, got.Counts)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range items {
		calls := w.made[jobs.ItemKey(added.ID, i)]
		assert.Contains(t, []int{1, 2, 3}, calls, "item %d is called once in a term", i)
		if i > 7 {
			assert.Equal(t, 1, calls, "item %d", i)
		}
	}
}
