package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/members"
	"adgateway/ps"
	"adgateway/test/thorough"
)

// life is a gateway that dies at one of its steps: before or after a write to the store, or
// somewhere in a script. From then on it does nothing more.
type life struct {
	mu     sync.Mutex
	ends   int // at which step; 0: never
	steps  int
	ended  bool
	during string // the step at which it died
}

// begin starts to count the steps.
func (l *life) begin(ends int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends, l.steps, l.ended, l.during = ends, 0, false, ""
}

// step reports whether the gateway is dead, as it is from this step on if it dies here.
func (l *life) step(what string) (dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps++
	if l.ends > 0 && l.steps == l.ends {
		l.ended, l.during = true, fmt.Sprintf("%s, step %d", what, l.steps)
	}
	return l.ended
}

func (l *life) dead() (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended, l.during
}

// mortal is the way of such a gateway to the store.
type mortal struct {
	keep.Store
	*life
}

func (m *mortal) Get(ctx context.Context, kind keep.Kind, key string) (keep.Entry, error) {
	if dead, _ := m.dead(); dead {
		return keep.Entry{}, keep.ErrClosed
	}
	return m.Store.Get(ctx, kind, key)
}

func (m *mortal) Apply(ctx context.Context, all ...keep.Change) (keep.Revision, error) {
	if m.step("before a write") {
		return 0, keep.ErrClosed
	}
	revision, err := m.Store.Apply(ctx, all...)
	if m.step("after a write") {
		return 0, keep.ErrClosed
	}
	return revision, err
}

// mortals are three gateways, each of which can die, and the scripts that they run.
func mortals(t *testing.T, run func(at func(point string) (dies bool)) ps.Runner, change func(n int, o *Options)) (*sharers, []*life) {
	lives := []*life{{}, {}, {}}
	var c *sharers
	store := keep.NewMemory(func() time.Time {
		if c == nil {
			return time.Now()
		}
		return c.now()
	})
	c = newClusterOver(t, store, func(n int) keep.Store { return &mortal{store, lives[n]} }, func(n int) ps.Runner { return run(lives[n].step) }, change)
	return c, lives
}

// settledOnce checks that a change which one or two gateways left behind has been made once,
// and that all records say so.
func (c *sharers) settledOnce(d *scene, alive int, during string) {
	c.t.Helper()
	status, got, header := toRome(c.servers[alive])
	require.Equal(c.t, http.StatusOK, status, "%s: %+v", during, got)
	assert.Equal(c.t, 1, d.writes, during)
	status, _, again := toRome(c.servers[2])
	assert.Equal(c.t, http.StatusOK, status, during)
	assert.Equal(c.t, "true", again.Get(replayedHeader), during)
	assert.Equal(c.t, header.Get(changeHeader), again.Get(changeHeader), during)
	left, err := c.servers[2].TakeOver(c.t.Context())
	require.NoError(c.t, err, during)
	assert.Zero(c.t, left, during)
	running, err := c.servers[2].History.Running(c.t.Context())
	require.NoError(c.t, err, during)
	assert.Empty(c.t, running, during)
	if id := header.Get(changeHeader); assert.NotEmpty(c.t, id, during) {
		record, err := c.servers[2].History.Get(c.t.Context(), id)
		require.NoError(c.t, err, during)
		assert.Equal(c.t, ps.OutcomeDone, record.Outcome, during)
	}
	logged := 0
	require.NoError(c.t, c.store.Log(c.t.Context(), changes.Log, keep.Position{}, func(keep.Appended) bool { logged++; return true }))
	assert.Equal(c.t, 1, logged, during)
}

// TestWhoTakesOverDiesToo: at each step of settling what the first one left at each of its
// steps, and a third one settles that.
func TestWhoTakesOverDiesToo(t *testing.T) {
	for first := 1; ; first++ {
		ended := false
		for second := 1; ; second++ {
			if !thorough.All() && first%3 != second%3 {
				continue
			}
			d := newScene(t, &toRomeOf)
			c, lives := mortals(t, d.run, nil)
			lives[0].begin(first)
			toRome(c.servers[0])
			died, during := lives[0].dead()
			if ended = !died; ended {
				break
			}
			c.pass(20*time.Second, 1, 2)
			c.pass(5*time.Minute, 1, 2)
			lives[1].begin(second)
			if second%2 == 0 {
				_, _ = c.servers[1].TakeOver(t.Context()) // it may be dead
			}
			toRome(c.servers[1])
			died, then := lives[1].dead()
			if !died {
				break
			}
			c.pass(20*time.Second, 2)
			c.pass(5*time.Minute, 2)
			c.settledOnce(d, 2, during+", and then "+then)
		}
		if ended {
			require.Greater(t, first, 8)
			return
		}
	}
}

// TestAWrongClockTakesNothingOver: a gateway whose clock is ahead by minutes believes that
// what others may still run has ended, so that it leaves it alone.
func TestAWrongClockTakesNothingOver(t *testing.T) {
	d := newScene(t, &toRomeOf)
	c, lives := mortals(t, d.run, nil)
	lives[0].begin(6) // after (B)
	toRome(c.servers[0])
	died, during := lives[0].dead()
	require.True(t, died)
	c.pass(60*time.Second, 1, 2)
	running, err := c.servers[1].History.Running(t.Context())
	require.NoError(t, err)
	require.Len(t, running, 1, during)
	ahead := members.Options{Name: "gw4", File: t.TempDir() + "/gw4", Version: "1", Now: func() time.Time { return c.now().Add(5 * time.Minute) }}
	self, err := members.Join(t.Context(), c.store, ahead)
	require.NoError(t, err)
	history, err := changes.Open(t.Context(), c.store, time.Hour, 1<<20)
	require.NoError(t, err)
	wrong := newTestServer(t, d.run(func(string) bool { return false }), func(o *Options) {
		o.Kept, o.History, o.Members, o.Now, o.SettleDelay = c.store, history, self, ahead.Now, time.Millisecond
	})
	for range 5 {
		c.pass(members.Beat, 1, 2)
		self.Tick(t.Context())
	}
	require.Error(t, self.Refuses())
	_, err = wrong.TakeOver(t.Context())
	require.NoError(t, err)
	after, err := c.servers[1].History.Get(t.Context(), running[0].ID)
	require.NoError(t, err, "it is taken for not made, and may still be made")
	assert.True(t, after.Running)
	assert.Equal(t, "gw1", after.Owner.Gateway)
}
