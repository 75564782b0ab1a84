package auditmirror

import (
	"bytes"
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

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
)

// cut is a store that is sometimes unreachable.
type cut struct {
	store.Store
	off   atomic.Bool
	stuck func() // called before each change; may be nil
}

var errCut = errors.New("cut off")

func (c *cut) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if c.off.Load() {
		return 0, errCut
	}
	if c.stuck != nil {
		c.stuck()
	}
	return c.Store.Apply(ctx, changes...)
}

// shared is a store that several gateways share.
type shared struct {
	t     *testing.T
	inner store.Store
	key   *store.Key
}

func newShared(t *testing.T) *shared {
	key, err := store.NewKey(bytes.Repeat([]byte{7}, store.KeyLength))
	require.NoError(t, err)
	inner := store.NewMemory(nil)
	t.Cleanup(func() { _ = inner.Close() })
	return &shared{t, inner, key}
}

// gateway is one of the gateways in a test.
type gateway struct {
	t       *testing.T
	name    string
	file    string
	line    *cut
	store   *store.Sealed
	log     *audit.Log
	mirror  *Mirror
	witness *Witness
}

func (s *shared) gateway(name string) *gateway {
	g := &gateway{t: s.t, name: name, file: filepath.Join(s.t.TempDir(), name+".jsonl"),
		line: &cut{Store: s.inner}}
	var err error
	g.store, err = store.Seal(g.line, s.key)
	require.NoError(s.t, err)
	g.start()
	s.t.Cleanup(func() { _ = g.log.Close() })
	return g
}

// start opens the log of the gateway, like a new process.
func (g *gateway) start() {
	var err error
	g.log, err = audit.Open(audit.Options{File: g.file, Gateway: g.name, MaxSize: 4000})
	require.NoError(g.t, err)
	g.mirror = New(Options{Gateway: g.name, Store: g.store, Log: g.log, File: g.file, Keep: time.Hour,
		Gather: time.Millisecond, Retry: time.Millisecond})
	g.witness = NewWitness(WitnessOptions{Gateway: g.name, Store: g.store, Log: g.log, Interval: time.Hour})
}

// record records a number of calls.
func (g *gateway) record(calls int) {
	for i := range calls {
		entry, err := g.log.Intent(audit.Call{Operation: "user.update", RequestID: fmt.Sprint(g.name, i)})
		require.NoError(g.t, err)
		require.NoError(g.t, entry.Outcome(audit.Result{Outcome: "done"}))
	}
}

func (g *gateway) chain() Chain { return Chain{Check: audit.Check{File: g.file}} }

// copied returns the lines of the gateway that are in the store.
func (g *gateway) copied() (lines []string) {
	require.NoError(g.t, Read(g.t.Context(), g.store, g.name, func(c Copy) error {
		lines = append(lines, string(c.Raw))
		return nil
	}))
	return lines
}

// written returns the lines in the gateway's files.
func (g *gateway) written() (lines []string) {
	require.NoError(g.t, audit.Each(g.file, nil, func(p audit.Placed) error {
		lines = append(lines, string(p.Raw()))
		return nil
	}))
	return lines
}

func TestLinesAreCopiedAsTheyAreWritten(t *testing.T) {
	g := newShared(t).gateway("gw1")
	g.record(30) // enough for several files
	require.NoError(t, g.mirror.Send(t.Context()))
	g.record(5)
	require.NoError(t, g.mirror.Send(t.Context()))
	require.NoError(t, g.mirror.Send(t.Context()), "there is nothing new")
	assert.Equal(t, g.written(), g.copied())
	assert.Zero(t, g.mirror.Stats())
}

func TestALongLineIsCut(t *testing.T) {
	g := newShared(t).gateway("gw1")
	_, err := g.log.Intent(audit.Call{Operation: "user.update",
		Parameters: map[string]string{"Note": strings.Repeat("x", 3*mostEntry)}})
	require.NoError(t, err)
	g.record(2)
	require.NoError(t, g.mirror.Send(t.Context()))
	assert.Equal(t, g.written(), g.copied())
}

// TestACopyGoesOnAfterARestart: lines that the store could not accept are sent later, even by the
// next process, in order and once.
func TestACopyGoesOnAfterARestart(t *testing.T) {
	g := newShared(t).gateway("gw1")
	g.record(3)
	require.NoError(t, g.mirror.Send(t.Context()))
	g.line.off.Store(true)
	g.record(20)
	require.ErrorIs(t, g.mirror.Send(t.Context()), errCut)
	stats := g.mirror.Stats()
	assert.ErrorIs(t, stats.Failed, errCut)
	assert.EqualValues(t, 40, stats.Behind)
	assert.NotZero(t, stats.Since)

	require.NoError(t, g.log.Close())
	g.start()
	require.ErrorIs(t, g.mirror.Send(t.Context()), errCut, "changes are recorded nevertheless")
	g.record(3)
	g.line.off.Store(false)
	require.NoError(t, g.mirror.Send(t.Context()))
	assert.Equal(t, g.written(), g.copied())
	assert.False(t, g.mirror.Stats().Forked)
}

// TestRunCopiesWhatIsWritten: mirrors and witnesses that run as in a gateway copy all lines and
// record the ends.
func TestRunCopiesWhatIsWritten(t *testing.T) {
	s := newShared(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	running, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	gateways := []*gateway{s.gateway("gw1"), s.gateway("gw2"), s.gateway("gw3")}
	for _, g := range gateways {
		ended.Go(func() { g.mirror.Run(running) })
		ended.Go(func() { g.witness.Run(running) })
	}
	for _, g := range gateways {
		g.line.off.Store(true)
		g.record(10)
		g.line.off.Store(false)
	}
	for _, g := range gateways {
		for {
			appended := s.inner.Appends(logOf(g.name))
			if n := len(g.copied()); n >= 21 {
				break
			}
			select {
			case <-appended:
			case <-ctx.Done():
				require.Fail(t, "lines are missing", "%s: %d", g.name, len(g.copied()))
			}
		}
	}
	// Each gateway records the end of every other gateway's log, as published when that gateway started.
	for _, g := range gateways {
		for {
			grown := g.log.Grown()
			by := map[string]bool{}
			require.NoError(t, audit.Each(g.file, nil, func(p audit.Placed) error {
				if p.Witness != nil {
					by[p.Witness.Gateway] = true
				}
				return nil
			}))
			if len(by) == 2 {
				break
			}
			select {
			case <-grown:
			case <-ctx.Done():
				require.Fail(t, "ends were not witnessed", "%s: %v", g.name, by)
			}
		}
	}
	cancel()
	ended.Wait()
	result, err := Verify(t.Context(), gateways[0].store,
		[]Chain{gateways[0].chain(), gateways[1].chain(), gateways[2].chain()}, nil)
	require.NoError(t, err)
	assert.Empty(t, result.Findings)
}

// TestALogIsWrittenWhileItsCopyIsStuck: a change waits neither for the copy of its lines nor for
// the end of its chain to be published.
func TestALogIsWrittenWhileItsCopyIsStuck(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	running, cancel := context.WithCancel(ctx)
	g := newShared(t).gateway("gw1")
	stuck, reached := make(chan struct{}), make(chan struct{}, 2)
	g.line.stuck = func() {
		select {
		case reached <- struct{}{}:
		default:
		}
		<-stuck
	}
	var ended sync.WaitGroup
	ended.Go(func() { g.mirror.Run(running) })
	ended.Go(func() { g.witness.Run(running) })
	g.record(1)
	for range 2 { // both are written
		select {
		case <-reached:
		case <-ctx.Done():
			require.Fail(t, "nothing is copied")
		}
	}
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		g.record(100)
	}()
	select {
	case <-recorded:
	case <-ctx.Done():
		assert.Fail(t, "the log waits for its copy")
	}
	close(stuck)
	<-recorded
	cancel()
	ended.Wait()
	require.NoError(t, g.mirror.Send(t.Context()))
	assert.Equal(t, g.written(), g.copied())
}

func TestAloneIsRecorded(t *testing.T) {
	g := newShared(t).gateway("gw1")
	events := func() (all []string) {
		for _, line := range g.written() {
			if strings.Contains(line, `"event":"alone"`) {
				all = append(all, line)
			}
		}
		return all
	}
	start := time.Now()
	require.NoError(t, g.witness.Look(t.Context()))
	g.witness.Judge(start, nil)
	assert.Empty(t, events(), "the others may still be starting")
	g.witness.Judge(start.Add(4*time.Hour), nil)
	g.witness.Judge(start.Add(4*time.Hour+time.Minute), nil)
	require.Len(t, events(), 1)
	assert.Contains(t, events()[0], "no other gateway")
	g.witness.Judge(start.Add(6*time.Hour), errCut)
	require.Len(t, events(), 2)
	assert.Contains(t, events()[1], "cannot be reached")
}

func TestNewerFormatsAreNotGuessedAt(t *testing.T) {
	g := newShared(t).gateway("gw1")
	_, err := g.store.Apply(t.Context(),
		store.Change{Kind: positions, Key: keyOf(g.store, "gw1"), Value: []byte(`{"v":2}`)})
	require.NoError(t, err)
	assert.ErrorIs(t, g.mirror.Send(t.Context()), store.ErrNewer)
	_, err = g.store.Apply(t.Context(), store.Change{Kind: heads, Key: keyOf(g.store, "gw2"), Value: []byte(`{"v":2}`)})
	require.NoError(t, err)
	assert.ErrorIs(t, g.witness.Look(t.Context()), store.ErrNewer)
}

// backup copies the files of a gateway, and returns a function that restores them.
func (g *gateway) backup() (restore func()) {
	folder := filepath.Dir(g.file)
	saved := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	require.NoError(g.t, err)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(g.t, err)
		saved[entry.Name()] = text
	}
	return func() {
		entries, err := os.ReadDir(folder)
		require.NoError(g.t, err)
		for _, entry := range entries {
			require.NoError(g.t, os.Remove(filepath.Join(folder, entry.Name())))
		}
		for name, text := range saved {
			require.NoError(g.t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
		}
	}
}
