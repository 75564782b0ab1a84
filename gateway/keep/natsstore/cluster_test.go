package natsstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/test/thorough"
)

// What was acknowledged stays and was granted once, whichever node is cut off or stopped
// meanwhile (facts J5, J8). Each write has an owner, so that an answer that was lost is not
// taken for one.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	engine := enginetest.Start(t, 3)
	urls := strings.Join(engine.URLs(), ",")
	create(t, urls, "c", 3)
	folder := t.TempDir()
	const gateways, keys = 3, 20
	var stores []*keep.Sealed
	for i := range gateways {
		s, err := Open(t.Context(), Options{Name: "c", Gateway: fmt.Sprint("gw", i), Mirror: filepath.Join(folder, fmt.Sprint("gw", i)), Connect: connectTo(urls), Patience: 20 * time.Second})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		stores = append(stores, keeptest.Seal(t, s))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var mu sync.Mutex
	granted, doubts := map[string][]int{}, 0
	write := func(round int) {
		var group sync.WaitGroup
		for i, s := range stores {
			group.Go(func() {
				for k := range keys {
					key := fmt.Sprintf("%d.%d", round, k)
					_, err := s.Apply(ctx, set(key, fmt.Sprint(i), keep.Absent), said(key))
					mu.Lock()
					switch {
					case err == nil:
						granted[key] = append(granted[key], i)
					case !errors.Is(err, keep.ErrConflict):
						doubts++
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
	}
	write(0)
	if thorough.All() {
		leader := engine.Leader(StreamName("c"))
		engine.Cut(leader)
		write(1)
		engine.Heal(leader)
	}
	leader := engine.Leader(StreamName("c"))
	engine.Stop(leader)
	write(2)
	engine.Start(leader)
	write(3)
	t.Logf("%d granted, %d in doubt", len(granted), doubts)
	assert.GreaterOrEqual(t, len(granted)+doubts, 3*keys)
	entries := map[string]int{}
	require.NoError(t, stores[0].Store.(*Store).catchUp(ctx))
	require.NoError(t, stores[0].Log(ctx, "log", keep.Position{}, func(a keep.Appended) bool { entries[string(a.Value)]++; return true }))
	for key, by := range granted {
		assert.Len(t, by, 1, "%s was granted twice", key)
		e, err := stores[(by[0]+1)%gateways].Get(ctx, "k", key)
		require.NoError(t, err, key)
		assert.Equal(t, fmt.Sprint(by[0]), string(e.Value), key)
		assert.Equal(t, 1, entries[key], "%s in the log", key)
	}
}

// behindWire opens two stores: the first one reaches the engine over a wire only.
func behindWire(t *testing.T) (first, second *Store, wire *enginetest.Wire) {
	engine := enginetest.Start(t, 3)
	urls := strings.Join(engine.URLs(), ",")
	create(t, urls, "c", 3)
	wire, err := enginetest.NewClientWire(strings.TrimPrefix(engine.URLs()[0], "nats://"))
	require.NoError(t, err)
	t.Cleanup(wire.Close)
	folder := t.TempDir()
	first, err = Open(t.Context(), Options{Name: "c", Gateway: "gw1", Mirror: filepath.Join(folder, "gw1"), Patience: time.Minute, Connect: func(o ...nats.Option) (*nats.Conn, error) {
		return nats.Connect("nats://"+wire.Address(), append(o, nats.IgnoreDiscoveredServers())...)
	}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, first.Close()) })
	return first, open(t, urls, "c", "gw2", folder), wire
}

// What was made is not made again because the answer was lost, even if another gateway has
// removed or replaced it before it was seen here (facts J11).
func TestWhatIsNotHeardIsNotMadeTwice(t *testing.T) {
	for name, c := range map[string]struct {
		calls [][]keep.Change                                // of one batch
		other func(ctx context.Context, second *Store) error // once they were made
		known bool                                           // that they were
		log   []string                                       // in the end
	}{
		"a value that was removed": {
			calls: [][]keep.Change{{set("a", "1", keep.Absent)}},
			other: func(ctx context.Context, second *Store) error {
				found, err := second.Get(ctx, "k", "a")
				if err == nil {
					_, err = second.Apply(ctx, keep.Change{Kind: "k", Key: "a", Expect: found.Revision})
				}
				return err
			},
		},
		"entries of a log that has gone on": {
			calls: [][]keep.Change{{said("b")}, {said("c")}},
			other: func(ctx context.Context, second *Store) error {
				if len(logged(ctx, t, second)) < 2 {
					return keep.ErrAbsent
				}
				_, err := second.Apply(ctx, said("d"))
				return err
			},
			known: true,
			log:   []string{"b", "c", "d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second, wire := behindWire(t)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			var calls []*write
			for _, changes := range c.calls {
				calls = append(calls, &write{changes: changes, done: make(chan struct{})})
			}
			wire.HoldAnswers(true)
			made := make(chan struct{})
			go func() {
				defer close(made)
				first.applyAll(calls)
			}()
			require.Eventually(t, func() bool { return c.other(ctx, second) == nil }, 3*time.Minute, 5*time.Millisecond)
			require.Eventually(t, func() bool { return !first.conn.IsConnected() }, 3*time.Minute, 5*time.Millisecond, "it looks for another node")
			wire.HoldAnswers(false)
			<-made
			for _, w := range calls {
				if c.known {
					assert.NoError(t, w.err)
					continue
				}
				require.ErrorIs(t, w.err, keep.ErrUnreachable, "nobody knows")
				assert.NotErrorIs(t, w.err, keep.ErrNotSent)
			}
			assert.Equal(t, c.log, logged(ctx, t, second))
			_, err := second.Get(ctx, "k", "a")
			assert.ErrorIs(t, err, keep.ErrAbsent, "it was removed")
		})
	}
}

// A call in doubt is not sent again before it is known whether it was made, although the
// mirror has what it would be appended to.
func TestWhatTheMirrorShowsIsKnownABitLater(t *testing.T) {
	node := startNode(t, t.TempDir())
	create(t, node.ClientURL(), "c", 1)
	s := open(t, node.ClientURL(), "c", "gw1", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	revision, err := s.Apply(ctx, said("a"))
	require.NoError(t, err)
	made := newToken()
	w := &write{changes: []keep.Change{said("a")}, done: make(chan struct{}), doubt: keep.ErrUnreachable, sent: []sending{{made, 0}}}
	s.mu.Lock()
	applied := s.applied
	s.applied, s.seen[made] = applied-1, 0 // as after the mirror has followed, and before that is noted
	s.mu.Unlock()
	composed := make(chan *batch, 1)
	go func() {
		b, rest, err := s.compose([]*write{w}, false)
		assert.NoError(t, err)
		assert.Equal(t, []*write{w}, rest)
		composed <- b
	}()
	select {
	case <-composed:
		assert.Fail(t, "it would be sent again")
	case <-time.After(50 * time.Millisecond): // it waits, however long
	}
	s.mu.Lock()
	s.applied, s.seen[made] = applied, revision
	close(s.moved)
	s.moved = make(chan struct{})
	s.mu.Unlock()
	select {
	case b := <-composed:
		assert.Empty(t, b.writes)
	case <-ctx.Done():
		assert.Fail(t, "it was not composed")
	}
	s.applyAll([]*write{w})
	require.NoError(t, w.err)
	assert.Equal(t, revision, w.revision)
	assert.Equal(t, []string{"a"}, logged(ctx, t, s))
}

// logged returns what is in the log.
func logged(ctx context.Context, t *testing.T, s *Store) (all []string) {
	require.NoError(t, s.Reach(ctx))
	require.NoError(t, s.Log(ctx, "log", keep.Position{}, func(a keep.Appended) bool { all = append(all, string(a.Value)); return true }))
	return all
}

// What reaches the engine twice does not conflict with itself, even if another gateway has
// changed the value meanwhile (facts J11).
func TestWhatComesTwiceIsNoConflict(t *testing.T) {
	t.Parallel() // it waits most of the time
	first, second, wire := behindWire(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		double float64
		keys   []string
	}{
		"a message":         {1, []string{"a"}},
		"some of a batch's": {0.2, []string{"b", "c"}},
	} {
		wire.Mischief(enginetest.Mischief{Double: c.double})
		for n := range 30 {
			mine, theirs := []keep.Change{}, []keep.Change{}
			for _, key := range c.keys {
				mine, theirs = append(mine, set(fmt.Sprint(key, n), "1", keep.Absent)), append(theirs, set(fmt.Sprint(key, n), "2", 0))
			}
			replaced := make(chan error, 1)
			go func() {
				for ctx.Err() == nil && theirs[0].Expect == keep.Absent {
					found, _ := second.get(ctx, "k", theirs[0].Key)
					for i := range theirs {
						theirs[i].Expect = found.Revision
					}
				}
				_, err := second.Apply(ctx, theirs...)
				replaced <- err
			}()
			_, err := first.Apply(ctx, mine...)
			if len(c.keys) == 1 || !errors.Is(err, keep.ErrUnreachable) || errors.Is(err, keep.ErrNotSent) {
				require.NoError(t, err, "%s, %d", name, n) // what was made of a batch may not be known
			}
			require.NoError(t, <-replaced, "%s, %d", name, n)
		}
	}
}

func TestCertain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&jetstream.APIError{Code: 400, ErrorCode: 10025}, true},
		{&jetstream.APIError{Code: 400, ErrorCode: jetstreamext.JSErrCodeBatchPublishIncomplete}, false},
		{&jetstream.APIError{Code: 429, ErrorCode: jetstreamext.JSErrCodeAtomicPublishTooManyInflight}, false},
		{&jetstream.APIError{Code: 503, ErrorCode: 10077}, false},
		{nats.ErrMaxPayload, true},
		{nats.ErrBadSubject, true},
		{nats.ErrNoResponders, false},
		{context.DeadlineExceeded, false},
	} {
		assert.Equal(t, c.want, certain(c.err), "%v", c.err)
	}
}
