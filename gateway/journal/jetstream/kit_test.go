package jetstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	native "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// hang is the time after which a test gives up waiting.
const hang = 3 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a function that connects to one of the nodes.
func connect(urls ...string) func(...nats.Option) (*nats.Conn, error) {
	return func(o ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(strings.Join(urls, ","), o...)
	}
}

// create creates the stream of a cluster on all nodes.
func create(t testing.TB, nodes *enginetest.Cluster, cluster string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	o := jetstream.Options{Cluster: cluster, Connect: connect(nodes.URLs()...)}
	require.NoError(t, jetstream.Create(ctx, o,
		jetstream.Settings{Replicas: len(nodes.URLs()), MaxBytes: 64 << 20}))
}

// publish publishes a message as soon as the node to which s is connected accepts it. It retries because
// nodes learn of a new leader only a moment after that leader answers requests.
func publish(t testing.TB, s *jetstream.Stream, expect uint64, message []byte) (sequence uint64) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		sequence, err = s.Publish(t.Context(), expect, message, 0)
		return !errors.Is(err, native.ErrNoStreamResponse)
	}, hang, 10*time.Millisecond)
	require.NoError(t, err)
	return sequence
}

// gateway is a log with the entries that it has applied.
type gateway struct {
	*journal.Log
	*journaltest.Record
	stream  *jetstream.Stream
	process journal.Process
}

// newGateway returns a gateway that has applied nothing, and is connected to one of the nodes.
func newGateway(t testing.TB, cluster, name string, urls ...string) *gateway {
	t.Helper()
	return restarted(t, cluster, name, journaltest.NewRecord(store.Point{}), urls...)
}

func restarted(t testing.TB, cluster, name string, record *journaltest.Record, urls ...string) *gateway {
	t.Helper()
	s := open(t, cluster, urls...)
	return &gateway{
		Log: journal.New(s, record, s.Options(journaltest.Cipher("key"))), Record: record, stream: s,
		process: journal.Process{Gateway: name, Start: name + "1"},
	}
}

// open opens the stream of a cluster once it has a leader.
func open(t testing.TB, cluster string, urls ...string) (s *jetstream.Stream) {
	t.Helper()
	require.Eventually(t, func() (done bool) {
		var err error
		s, err = jetstream.Open(t.Context(), jetstream.Options{Cluster: cluster, Connect: connect(urls...)})
		return err == nil
	}, hang, 50*time.Millisecond)
	t.Cleanup(s.Close)
	return s
}

// lead catches up and claims a term, and retries while new entries arrive.
func (g *gateway) lead(t testing.TB) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.NoError(c, g.CatchUp(t.Context()))
		_, err := g.Claim(t.Context(), g.process, time.Now())
		require.NoError(c, err)
	}, hang, 10*time.Millisecond)
}

// catchUp catches up once a node answers.
func (g *gateway) catchUp(t testing.TB) { g.awaitError(t, nil) }

// awaitError catches up, retrying while no node answers, and expects the result want.
func (g *gateway) awaitError(t testing.TB, want error) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		err = g.CatchUp(t.Context())
		return !errors.Is(err, store.ErrUnreachable)
	}, hang, 10*time.Millisecond)
	require.ErrorIs(t, err, want)
}

func (g *gateway) append(ctx context.Context, batch string) error {
	_, err := g.Append(ctx, []byte(batch), time.Now())
	return err
}

// follow follows until the test ends.
func (g *gateway) follow(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Follow(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

// awaitSame waits until another gateway has applied the same entries as this one.
func (g *gateway) awaitSame(t testing.TB, other *gateway) {
	t.Helper()
	require.Eventually(t, func() bool {
		return other.Status().Point == g.Status().Point
	}, hang, 10*time.Millisecond)
	require.Equal(t, len(g.Entries()), len(other.Entries()))
	for i, e := range g.Entries() {
		require.True(t, assert.ObjectsAreEqual(e, other.Entries()[i]), "entry %d differs", i)
	}
}

// wires are proxies between a gateway and each node.
type wires []*enginetest.Wire

func newWires(t testing.TB, nodes *enginetest.Cluster) wires {
	t.Helper()
	var all wires
	for _, url := range nodes.URLs() {
		w, err := enginetest.NewWire(strings.TrimPrefix(url, "nats://"))
		require.NoError(t, err)
		t.Cleanup(w.Close)
		all = append(all, w)
	}
	return all
}

func (w wires) urls() []string {
	var all []string
	for _, wire := range w {
		all = append(all, "nats://"+wire.Address())
	}
	return all
}
