package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/ps"

	"github.com/stretchr/testify/require"
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

// oneGateway is a gateway that shares its store with nobody, and can be started again.
type oneGateway struct {
	*Server
	t     *testing.T
	store keep.Store
	full  *fullStore
	life  *life
}

// fullStore is a store that takes nothing while it is full.
type fullStore struct {
	keep.Store
	full atomic.Bool
}

func (f *fullStore) Apply(ctx context.Context, all ...keep.Change) (keep.Revision, error) {
	if f.full.Load() {
		return 0, errors.New("the disk is full")
	}
	return f.Store.Apply(ctx, all...)
}

// newOneGateway starts one whose scripts are run by a function of the steps of its life.
func newOneGateway(t *testing.T, run func(at func(point string) (dies bool)) ps.Runner, change ...func(*Options)) *oneGateway {
	t.Helper()
	g := &oneGateway{t: t, store: keep.NewMemory(nil)}
	g.start(run, change...)
	return g
}

// start starts it again.
func (g *oneGateway) start(run func(at func(point string) (dies bool)) ps.Runner, change ...func(*Options)) {
	g.t.Helper()
	g.life = &life{}
	g.full = &fullStore{Store: &mortal{g.store, g.life}}
	store := keeptest.Seal(g.t, g.full)
	history, err := changes.Open(g.t.Context(), store, time.Hour, 1<<20)
	require.NoError(g.t, err)
	g.Server = newTestServer(g.t, run(g.life.step), func(o *Options) {
		o.Kept, o.History, o.Policy.SettlePause = store, history, time.Millisecond
		for _, one := range change {
			one(o)
		}
	})
}

// cutOutcome removes the last line about an outcome, and what follows it, from the end of an audit.
func cutOutcome(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	if at := bytes.LastIndex(text, []byte(`"event":"outcome"`)); at >= 0 {
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		require.NoError(t, os.WriteFile(file, text[:start], 0o600))
	}
}
