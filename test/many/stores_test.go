package many

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/keep/natsstore"
	"adgateway/test/histories"
	"adgateway/test/systemtest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shared is a store that several gateways share, over three nodes in this process, each of
// them with wires of its own to the nodes.
type shared struct {
	t      *testing.T
	engine *enginetest.Cluster
	wires  [][]*enginetest.Wire
	stores []*keep.Sealed
}

const (
	sharedName = "histories"
	valueKind  = keep.Kind("value")
	writeLog   = keep.Log("writes")
)

func newShared(t *testing.T) *shared {
	s := &shared{t: t, engine: enginetest.Start(t, members)}
	js, err := jetstream.New(s.engine.Connect())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), systemtest.Patience)
	defer cancel()
	require.NoError(t, natsstore.Create(ctx, js, natsstore.StreamOptions{Name: sharedName, Replicas: members}))
	folder := t.TempDir()
	for i := range members {
		var servers []string
		var wires []*enginetest.Wire
		for _, url := range s.engine.URLs() {
			wire, err := enginetest.NewClientWire(strings.TrimPrefix(url, "nats://"))
			require.NoError(t, err)
			t.Cleanup(wire.Close)
			wires, servers = append(wires, wire), append(servers, "nats://"+wire.Address())
		}
		store, err := natsstore.Open(ctx, natsstore.Options{
			Name: sharedName, Gateway: fmt.Sprint("gw", i+1), Mirror: filepath.Join(folder, fmt.Sprint("gw", i+1)),
			Connect: func(o ...nats.Option) (*nats.Conn, error) {
				return nats.Connect(strings.Join(servers, ","), append(o, nats.IgnoreDiscoveredServers())...)
			},
		})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, store.Close()) })
		s.wires, s.stores = append(s.wires, wires), append(s.stores, keeptest.Seal(t, store))
	}
	return s
}

// writer is a client of a gateway's store that records what it does.
type writer struct {
	r      *histories.Recorder
	store  *keep.Sealed
	at     int
	random *rand.Rand

	mu      *sync.Mutex
	written map[string]bool // what was logged, and whether it was acknowledged
}

// twin is the key of another value that is always written together with that of a key.
func twin(key string) string { return key + " twin" }

// read reads a value, and returns it with its revision.
func (w *writer) read(ctx context.Context, key string) (keep.Entry, bool) {
	call := w.r.Begin(histories.Op{Of: key, At: w.at, Do: "read"})
	place := key
	if paired(key) && w.random.IntN(2) == 0 {
		place = twin(key)
	}
	e, err := w.store.Get(ctx, valueKind, place)
	if err != nil && !errors.Is(err, keep.ErrAbsent) {
		call.Forget()
		return e, false
	}
	call.End(histories.Answer{Value: string(e.Value)})
	return e, true
}

// paired reports whether the value of a key has a twin.
func paired(key string) bool { return strings.HasSuffix(key, "b") }

// write creates, replaces or removes a value, as it was read.
func (w *writer) write(ctx context.Context, key, value string, was keep.Entry) {
	change := keep.Change{Kind: valueKind, Key: key, Expect: was.Revision, Value: []byte(value)}
	if value == "" {
		change.Value = nil
	}
	changes := []keep.Change{change}
	if paired(key) {
		change.Key = twin(key)
		changes = append(changes, change)
	}
	logged := value != "" && w.random.IntN(3) == 0
	if logged {
		changes = append(changes, keep.Change{Log: writeLog, Value: []byte(value)})
	}
	call := w.r.Begin(histories.Op{Of: key, At: w.at, Do: "write", Expect: string(was.Value), Value: value})
	_, err := w.store.Apply(ctx, changes...)
	switch {
	case err == nil:
		call.End(histories.Answer{})
	case errors.Is(err, keep.ErrConflict):
		call.End(histories.Answer{Refused: true})
		logged = false
	case errors.Is(err, keep.ErrNotSent):
		call.Forget()
		logged = false
	}
	if logged {
		w.mu.Lock()
		w.written[value] = err == nil
		w.mu.Unlock()
	}
}

// work reads and writes values, a few at a time, and others after a while, until ctx ends.
func (w *writer) work(ctx context.Context, number int) {
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		round := int(time.Since(began) / (300 * time.Millisecond))
		key := fmt.Sprintf("%d%c", round, 'a'+rune(w.random.IntN(3)))
		patience := 15 * time.Second
		if w.random.IntN(8) == 0 {
			patience = time.Duration(w.random.IntN(20)) * time.Millisecond
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		was, known := w.read(within, key)
		if known && w.random.IntN(3) > 0 {
			value := fmt.Sprintf("%d.%d", number, n)
			if was.Revision != keep.Absent && w.random.IntN(4) == 0 {
				value = ""
			}
			w.write(within, key, value, was)
		}
		cancel()
	}
}

// storeFault is what goes wrong with node or gateway i for a while.
type storeFault struct {
	name  string
	begin func(s *shared, i int) (end func())
}

func (s *shared) mischief(i int, m enginetest.Mischief) (end func()) {
	s.each(i, func(w *enginetest.Wire) { w.Mischief(m) })
	return func() { s.each(i, func(w *enginetest.Wire) { w.Mischief(enginetest.Mischief{}) }) }
}

// each calls do with the wires of a gateway.
func (s *shared) each(gateway int, do func(*enginetest.Wire)) {
	for _, wire := range s.wires[gateway] {
		do(wire)
	}
}

var storeFaults = []storeFault{
	{"doubled", func(s *shared, i int) func() { return s.mischief(i, enginetest.Mischief{Double: 0.3}) }},
	{"overtaken", func(s *shared, i int) func() {
		return s.mischief(i, enginetest.Mischief{Late: 0.2, By: 100 * time.Millisecond})
	}},
	{"late", func(s *shared, i int) func() {
		return s.mischief(i, enginetest.Mischief{Late: 0.1, Double: 0.1, By: 5 * time.Second})
	}},
	{"slow", func(s *shared, i int) func() {
		s.each(i, func(w *enginetest.Wire) { w.Delay(50 * time.Millisecond) })
		return func() { s.each(i, func(w *enginetest.Wire) { w.Delay(0) }) }
	}},
	{"gateway deaf", func(s *shared, i int) func() {
		s.each(i, func(w *enginetest.Wire) { w.HoldAnswers(true) })
		return func() { s.each(i, func(w *enginetest.Wire) { w.HoldAnswers(false) }) }
	}},
	{"gateway cut off", func(s *shared, i int) func() {
		s.cut(i, true)
		return func() { s.cut(i, false) }
	}},
	{"leader stopped", func(s *shared, _ int) func() {
		leader := s.engine.Leader(natsstore.StreamName(sharedName))
		if leader < 0 {
			return func() {}
		}
		s.engine.Stop(leader)
		return func() { s.engine.Start(leader) }
	}},
	{"leader cut off", func(s *shared, _ int) func() {
		leader := s.engine.Leader(natsstore.StreamName(sharedName))
		if leader < 0 {
			return func() {}
		}
		s.engine.Cut(leader)
		return func() { s.engine.Heal(leader) }
	}},
}

// cut holds back everything between a gateway and the engine, or lets it pass again.
func (s *shared) cut(gateway int, off bool) {
	s.each(gateway, func(w *enginetest.Wire) { w.Hold(off) })
}

// TestStoresAreLinearizable: whatever happens to the engine and on the way to it, each write
// of a value follows what it expected, in an order that all gateways could have seen; what a
// gateway reads never goes back; a log has what was acknowledged once. HISTORY_S, FAULT and
// SEED are for longer runs.
func TestStoresAreLinearizable(t *testing.T) {
	seed := uint64(systemtest.Number(t, "SEED", 1))
	lasts := time.Duration(systemtest.Number(t, "HISTORY_S", 4)) * time.Second
	s := newShared(t)
	var r histories.Recorder
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var writers sync.WaitGroup
	var mu sync.Mutex
	written := map[string]bool{}
	for n := range 2 * members {
		w := &writer{r: &r, store: s.stores[n%members], at: n % members, random: rand.New(rand.NewPCG(seed, uint64(n))), mu: &mu, written: written}
		writers.Go(func() { w.work(ctx, n) })
	}
	happened := s.fail(ctx, rand.New(rand.NewPCG(seed, 99)), lasts)
	writers.Wait()
	s.settle()
	all, lost := r.Counts()
	twice, late := s.mangled()
	t.Logf("seed %d: %d calls, %d of them without an answer; %d messages twice, %d late; %s", seed, all, lost, twice, late, strings.Join(happened, ", "))
	t.Logf("reads were old: %t, refusals were: %t", r.Contradiction(histories.LinearizableReads) != "", r.Contradiction(histories.LinearizableRefusals) != "")
	r.Check(t, histories.LinearizableWrites, fmt.Sprint("seed ", seed))
	s.checkLog(written)
}

// fail lets faults happen, one after the other, until ctx ends.
func (s *shared) fail(ctx context.Context, random *rand.Rand, lasts time.Duration) (happened []string) {
	only := storeFaults[:2] // what takes no longer than a moment
	if lasts >= time.Minute {
		only = storeFaults
	}
	for ctx.Err() == nil {
		one, i := only[random.IntN(len(only))], random.IntN(members)
		happened = append(happened, fmt.Sprint(one.name, " ", i+1))
		end := one.begin(s, i)
		pause(ctx, min(lasts/8, time.Duration(random.Int64N(int64(20*time.Second)))))
		end()
		pause(ctx, min(lasts/20, 3*time.Second))
	}
	return happened
}

// settle waits until all gateways have what the engine has.
func (s *shared) settle() {
	s.t.Helper()
	s.engine.AwaitReady()
	for _, store := range s.stores {
		require.EventuallyWithT(s.t, func(c *assert.CollectT) {
			ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
			defer cancel()
			assert.NoError(c, store.Reach(ctx))
			assert.NoError(c, store.State().Rewound)
		}, 2*systemtest.Patience, 50*time.Millisecond)
	}
}

func (s *shared) mangled() (twice, late int) {
	for _, wire := range slices.Concat(s.wires...) {
		a, b := wire.Mangled()
		twice, late = twice+a, late+b
	}
	return twice, late
}

// checkLog holds the log against what was acknowledged and what may have been written.
func (s *shared) checkLog(written map[string]bool) {
	s.t.Helper()
	for i, store := range s.stores {
		times := map[string]int{}
		require.NoError(s.t, store.Log(s.t.Context(), writeLog, keep.Position{}, func(a keep.Appended) bool {
			times[string(a.Value)]++
			return true
		}))
		for value, acknowledged := range written {
			assert.LessOrEqual(s.t, times[value], 1, "gateway %d, %s", i, value)
			if acknowledged {
				assert.Equal(s.t, 1, times[value], "gateway %d, %s was acknowledged", i, value)
			}
			delete(times, value)
		}
		assert.Empty(s.t, times, "gateway %d has what was refused", i)
	}
}

// TestAGatewayThatIsCutOffReadsWhatWas: reads come from a mirror, so that they would not pass
// for linearizable ones, while the writes are.
func TestAGatewayThatIsCutOffReadsWhatWas(t *testing.T) {
	s := newShared(t)
	var r histories.Recorder
	writers := make([]*writer, 2)
	for i := range writers {
		writers[i] = &writer{r: &r, store: s.stores[i], at: i, random: rand.New(rand.NewPCG(1, 1)), mu: &sync.Mutex{}, written: map[string]bool{}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*systemtest.Patience)
	defer cancel()
	for _, value := range []string{"a", "b"} {
		was, known := writers[0].read(ctx, "x")
		require.True(t, known)
		writers[0].write(ctx, "x", value, was)
	}
	require.NoError(t, s.stores[1].Reach(ctx))
	s.cut(1, true)
	was, known := writers[0].read(ctx, "x")
	require.True(t, known)
	writers[0].write(ctx, "x", "c", was)
	old, known := writers[1].read(ctx, "x")
	require.True(t, known)
	require.Equal(t, "b", string(old.Value), "it cannot know of the last write")
	s.cut(1, false)
	s.settle()
	now, known := writers[1].read(ctx, "x")
	require.True(t, known)
	require.Equal(t, "c", string(now.Value))
	assert.Contains(t, r.Contradiction(histories.LinearizableReads), `read x: "b"`)
	r.Check(t, histories.LinearizableRefusals, "a gateway cut off")
	r.Check(t, histories.LinearizableWrites, "a gateway cut off")
}
