package beats

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/cluster"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang is how long a test waits for an event that must occur.
const hang = 3 * time.Minute

// end is a process that receives messages.
type end struct {
	*Peers
	t      testing.TB
	self   journal.Process
	number uint64
}

// options returns the options of a process of a gateway.
func options(gateway, start string, urls ...string) Options {
	return Options{
		Cluster: "test", Self: journal.Process{Gateway: gateway, Start: start}, Cipher: journaltest.Cipher("key"),
		Connect: func(o ...nats.Option) (*nats.Conn, error) { return nats.Connect(strings.Join(urls, ","), o...) },
	}
}

// begin starts a process and waits until the process is connected.
func begin(t testing.TB, o Options) *end {
	t.Helper()
	p, err := New(o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	e := &end{Peers: p, t: t, self: o.Self}
	e.awaitConnection()
	return e
}

func (e *end) awaitConnection() {
	e.t.Helper()
	require.Eventually(e.t, func() bool { return e.conn.Flush() == nil }, hang, 10*time.Millisecond)
}

// say sends a beat with a term, and returns once the node has it.
func (e *end) say(term uint64) {
	e.t.Helper()
	e.number++
	e.Send(cluster.Message{From: e.self, Number: e.number, Beat: &cluster.Beat{Term: term}})
	require.Eventually(e.t, func() bool { return len(e.outgoing) == 0 }, hang, time.Millisecond)
	require.NoError(e.t, e.conn.Flush())
}

// hears receives a message, which must come from the given process and have the given term.
func (e *end) hears(from *end, term uint64) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), hang)
	defer cancel()
	m, ok := e.Receive(ctx)
	require.True(e.t, ok)
	assert.Equal(e.t, from.self, m.From)
	assert.Equal(e.t, term, m.Beat.Term)
}

// refuses receives until n messages have been refused in total.
func (e *end) refuses(n uint64) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), hang)
	defer cancel()
	go func() {
		defer cancel()
		for e.Peers.Refused() < n && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}()
	m, ok := e.Receive(ctx)
	require.False(e.t, ok, "%+v", m)
	require.Equal(e.t, n, e.Peers.Refused())
}

// meet lets two processes hear each other.
func meet(a, b *end) {
	a.t.Helper()
	before := b.Peers.Refused()
	a.say(0)
	b.refuses(before + 1) // a has not heard b yet
	b.say(1)
	a.hears(b, 1)
	a.say(2)
	b.hears(a, 2)
}

// TestGatewaysHearEachOther: from the second message on, gateways hear each other's messages.
func TestGatewaysHearEachOther(t *testing.T) {
	url := enginetest.Start(t, 1).URLs()[0]
	a, b := begin(t, options("gw1", "a1", url)), begin(t, options("gw2", "b1", url))
	meet(a, b)
	c := begin(t, options("gw3", "c1", url))
	c.say(3)
	a.refuses(1)
	b.refuses(2)
	a.say(4)
	b.hears(a, 4)
	c.hears(a, 4)
	report := cluster.Message{From: b.self, Number: 9, To: "gw1",
		Report: &cluster.Report{Attempt: "x", Result: []byte("y")}}
	b.Send(report)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	got, ok := a.Receive(ctx)
	require.True(t, ok)
	assert.Equal(t, report, got)
}

// TestWhatOthersSendCountsForNothing: messages that are sealed with another key, for another cluster, in the
// name of another gateway, or malformed are ignored. The next message is heard nevertheless.
func TestWhatOthersSendCountsForNothing(t *testing.T) {
	nodes := enginetest.Start(t, 1)
	url := nodes.URLs()[0]
	a, b := begin(t, options("gw1", "a1", url)), begin(t, options("gw2", "b1", url))
	meet(a, b)
	stranger, subject := nodes.Connect(), stock.BeatSubject("test", "gw2")
	seal := func(password, cluster, bound, plain string) []byte {
		o := options(bound, "", url)
		o.Cluster = cluster
		return journaltest.Cipher(password).Seal([]byte(plain), (&Peers{o: o}).bound(bound))
	}
	const said = `{"heard":["a1"],"message":{"from":{"gateway":"gw2","start":"b1"},"number":7,"beat":{"term":7}}}`
	refused := a.Peers.Refused()
	for name, message := range map[string][]byte{
		"no message":             []byte("garbage"),
		"nothing":                nil,
		"another key":            seal("another", "test", "gw2", said),
		"another cluster":        seal("key", "another", "gw2", said),
		"bound to another":       seal("key", "test", "gw3", said),
		"in the name of another": seal("key", "test", "gw2", strings.ReplaceAll(said, "gw2", "gw3")),
		"no text":                seal("key", "test", "gw2", "garbage"),
		"for another process":    seal("key", "test", "gw2", strings.ReplaceAll(said, "a1", "a0")),
	} {
		require.NoError(t, stranger.Publish(subject, message), name)
		refused++
		a.refuses(refused)
	}
	require.NoError(t, stranger.Publish(subject, seal("key", "test", "gw2", said)))
	a.hears(b, 7) // the message was refused, not its sender
}

// TestAnOldMessageCountsForNothing: a process does not hear messages from before it began, and
// these do not keep it from hearing new ones.
func TestAnOldMessageCountsForNothing(t *testing.T) {
	nodes := enginetest.Start(t, 1)
	url := nodes.URLs()[0]
	kept := make(chan *nats.Msg, 100)
	thief := nodes.Connect()
	_, err := thief.ChanSubscribe(stock.BeatSubject("test", "*"), kept)
	require.NoError(t, err)
	require.NoError(t, thief.Flush())
	a, b := begin(t, options("gw1", "a1", url)), begin(t, options("gw2", "b1", url))
	meet(a, b)
	a.say(5)
	b.hears(a, 5)
	require.Eventually(t, func() bool { return len(kept) == 4 }, hang, time.Millisecond)

	again := begin(t, options("gw2", "b2", url))
	for range 4 {
		old := <-kept
		require.NoError(t, thief.Publish(old.Subject, old.Data))
	}
	again.refuses(4)
	again.say(6)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _ = a.Receive(ctx) // the member has to ignore repetitions of b1's messages
		a.mu.Lock()
		defer a.mu.Unlock()
		return slices.Contains(a.heard["gw2"], "b2")
	}, hang, time.Millisecond)
	a.say(7)
	again.hears(a, 7)
	again.say(8)
	a.hears(again, 8)
}

// TestSendNeverWaits: sending waits neither for a node that hangs nor for a node that cannot be reached.
// Messages sent meanwhile are lost, and later ones are heard.
func TestSendNeverWaits(t *testing.T) {
	nodes := enginetest.Start(t, 1)
	url := nodes.URLs()[0]
	wire, err := enginetest.NewWire(strings.TrimPrefix(url, "nats://"))
	require.NoError(t, err)
	t.Cleanup(wire.Close)
	a, b := begin(t, options("gw1", "a1", "nats://"+wire.Address())), begin(t, options("gw2", "b1", url))
	meet(a, b)
	large := cluster.Message{From: a.self, Report: &cluster.Report{Result: make([]byte, 128<<10)}}
	wire.Hold(true)
	for range 4 * outgoingMost {
		a.Send(large)
	}
	wire.Hold(false)
	nodes.Stop(0)
	require.Eventually(t, func() bool { return !a.conn.IsConnected() }, hang, time.Millisecond)
	for range 4 * outgoingMost {
		a.Send(large)
	}
	require.Eventually(t, func() bool { return len(a.outgoing) == 0 }, hang, time.Millisecond)
	nodes.Start(0)
	a.awaitConnection()
	b.awaitConnection()
	for drained := false; !drained; { // messages from before the node was stopped
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, ok := b.Receive(ctx)
		drained = !ok && len(b.incoming) == 0
		cancel()
	}
	a.say(9)
	b.hears(a, 9)
}

// TestNodesMayComeLater: a gateway that begins while no node is running is heard as soon as one is.
func TestNodesMayComeLater(t *testing.T) {
	nodes := enginetest.Start(t, 1)
	url := nodes.URLs()[0]
	nodes.Stop(0)
	var tries atomic.Int64
	o := options("gw1", "a1", url)
	connect := o.Connect
	o.Connect = func(n ...nats.Option) (*nats.Conn, error) {
		return connect(append(n, nats.ReconnectErrHandler(func(*nats.Conn, error) { tries.Add(1) }))...)
	}
	p, err := New(o)
	require.NoError(t, err)
	defer p.Close()
	p.Send(cluster.Message{From: o.Self, Number: 1})
	require.Eventually(t, func() bool { return tries.Load() > 0 }, hang, time.Millisecond)
	nodes.Start(0)
	a, b := &end{Peers: p, t: t, self: o.Self}, begin(t, options("gw2", "b1", url))
	a.awaitConnection()
	meet(a, b)
}
