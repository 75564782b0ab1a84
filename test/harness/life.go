package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// Life is the life of a gateway that dies at one of its steps. A step is the moment before or after a write
// to the store, or a point in a script. A dead gateway does nothing.
type Life struct {
	mu     sync.Mutex
	ends   int // number of the step; 0 means never
	steps  int
	ended  bool
	during string // the step at which it died

	folder string            // folder of its audit; empty means no audit
	left   map[string][]byte // files in the folder at its death
}

// Audits sets the folder of the gateway's audit. [Life.Bury] restores the folder to its state at the
// gateway's death. The gateway also writes each audit line to the store, so it dies before and after each
// audit line.
func (l *Life) Audits(folder string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.folder = folder
}

// Bury removes the audit lines that the gateway wrote after its death.
func (l *Life) Bury(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended || l.folder == "" {
		return
	}
	later, err := filepath.Glob(filepath.Join(l.folder, "*"))
	require.NoError(t, err)
	for _, file := range later {
		require.NoError(t, os.Remove(file))
	}
	for file, text := range l.left {
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
}

// audited returns the files of the audit.
func (l *Life) audited() map[string][]byte {
	all := map[string][]byte{}
	if l.folder == "" {
		return all
	}
	files, _ := filepath.Glob(filepath.Join(l.folder, "*")) // the pattern is valid
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			all[file] = text
		}
	}
	return all
}

// Begin starts to count the steps. The gateway dies at the step with the number ends, or never if ends is 0.
func (l *Life) Begin(ends int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends, l.steps, l.ended, l.during = ends, 0, false, ""
}

// Step counts a step and reports whether the gateway is dead, because it died at an earlier step or dies at
// this one.
func (l *Life) Step(what string) (dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps++
	if l.ends > 0 && l.steps == l.ends {
		l.left = l.audited()
		l.ended, l.during = true, fmt.Sprintf("%s, step %d", what, l.steps)
	}
	return l.ended
}

// Dead reports whether the gateway is dead, and at which step it died.
func (l *Life) Dead() (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended, l.during
}

// mortal is a store that fails once its gateway has died.
type mortal struct {
	store.Store
	*Life
}

func (m *mortal) Get(ctx context.Context, kind store.Kind, key string) (store.Entry, error) {
	if dead, _ := m.Dead(); dead {
		return store.Entry{}, store.ErrClosed
	}
	return m.Store.Get(ctx, kind, key)
}

func (m *mortal) Apply(ctx context.Context, all ...store.Change) (store.Revision, error) {
	if m.Step("before a write") {
		return 0, store.ErrClosed
	}
	revision, err := m.Store.Apply(ctx, all...)
	if m.Step("after a write") {
		return 0, store.ErrClosed
	}
	return revision, err
}

// Gateway is a gateway with its own store. It can be restarted.
type Gateway struct {
	*gateway.Server
	T     *testing.T
	Store store.Store
	Full  *FullStore
	Life  *Life
}

// FullStore is a store that rejects writes while it is full.
type FullStore struct {
	store.Store
	full atomic.Bool
}

// Fill sets whether the store is full.
func (f *FullStore) Fill(full bool) { f.full.Store(full) }

func (f *FullStore) Apply(ctx context.Context, all ...store.Change) (store.Revision, error) {
	if f.full.Load() {
		return 0, errors.New("the disk is full")
	}
	return f.Store.Apply(ctx, all...)
}

// NewGateway starts a gateway. run returns the runner of its scripts. The argument of run is a function that
// counts the steps of the gateway's life.
func NewGateway(
	t *testing.T, run func(at func(point string) (dies bool)) ps.Runner, change ...func(*gateway.Options),
) *Gateway {
	t.Helper()
	g := &Gateway{T: t, Store: store.NewMemory(nil)}
	g.Start(run, change...)
	return g
}

// Start restarts the gateway.
func (g *Gateway) Start(
	run func(at func(point string) (dies bool)) ps.Runner, change ...func(*gateway.Options),
) {
	g.T.Helper()
	g.Life = &Life{}
	g.Full = &FullStore{Store: &mortal{g.Store, g.Life}}
	store := storetest.Seal(g.T, g.Full)
	history := changes.New(store, time.Hour, 1<<20)
	g.Server = New(g.T, run(g.Life.Step), func(o *gateway.Options) {
		o.Kept, o.History, o.Policy.SettlePause = store, history, time.Millisecond
		for _, one := range change {
			one(o)
		}
	})
}

// CloseOpen tries again to close the changes that are still open, as a gateway does every second.
func (g *Gateway) CloseOpen() { CloseOpen(g.Server) }

// CloseOpen is [Gateway.CloseOpen] for any server.
func CloseOpen(s *gateway.Server) {
	now, cancel := context.WithCancel(context.Background())
	cancel() // the last attempt runs after the cancellation
	s.Writer().RunClosing(now)
}

// Stop ends the event streams and the deliveries of a server that is serving no calls.
func Stop(t testing.TB, s *gateway.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, s.Run(ctx, listener))
}
