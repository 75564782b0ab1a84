package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	native "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// TestOverThreeNodes runs tests that share nodes, because nodes take seconds to start. Each test has its own
// stream.
func TestOverThreeNodes(t *testing.T) {
	nodes := enginetest.Start(t, 3)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *enginetest.Cluster)
	}{
		{"settings", testSettings},
		{"messages", testMessages},
		{"late", testLate},
		{"strangers", testStrangers},
		{"restart", testRestart},
		{"another stream", testAnotherStream},
		{"the leader is cut off", testLeaderIsCutOff},
		{"the leader ends", testLeaderEnds},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, nodes) })
	}
}

// testResume: a gateway that starts while no node can be reached keeps its stream, and does not
// accept another one instead.
func testResume(t *testing.T, o jetstream.Options, s *jetstream.Stream) {
	away := o
	away.Connect = connect("nats://127.0.0.1:1")
	resumed, err := jetstream.Resume(away, s.Identity())
	require.NoError(t, err)
	defer resumed.Close()
	assert.Equal(t, s.Options(nil), resumed.Options(nil))
	_, err = resumed.Read(t.Context(), 1)
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrNotYet)
	there, err := jetstream.Resume(o, s.Identity())
	require.NoError(t, err)
	defer there.Close()
	_, err = there.Read(t.Context(), 1)
	require.ErrorIs(t, err, journal.ErrNotYet)
	other, err := jetstream.Resume(o, jetstream.Identity{Journal: "another"})
	require.NoError(t, err)
	defer other.Close()
	_, err = other.Read(t.Context(), 1)
	require.ErrorIs(t, err, journal.ErrRewound)
}

// testSettings: a stream is created only once, and a stream with different settings is refused,
// with an error for each setting.
func testSettings(t *testing.T, nodes *enginetest.Cluster) {
	ctx := t.Context()
	o := jetstream.Options{Cluster: "settings", Connect: connect(nodes.URLs()...)}
	_, err := jetstream.Open(ctx, o)
	require.ErrorIs(t, err, jetstream.ErrNoStream)
	settings := jetstream.Settings{Replicas: 3, MaxBytes: 64 << 20, Origin: store.Hash{7}}
	require.NoError(t, jetstream.Create(ctx, o, settings))
	s := open(t, "settings", nodes.URLs()...)
	first := s.Options(nil)
	assert.Equal(t, settings.Origin, first.Origin)
	assert.Equal(t, "settings", first.Cluster)
	assert.NotEmpty(t, first.Journal)
	require.NoError(t, jetstream.Create(ctx, o, settings), "it is there")
	assert.Equal(t, first, open(t, "settings", nodes.URLs()...).Options(nil))
	settings.Origin = store.Hash{8}
	require.ErrorIs(t, jetstream.Create(ctx, o, settings), jetstream.ErrExists)
	testResume(t, o, s)

	js, err := native.New(nodes.Connect())
	require.NoError(t, err)
	stream := enginetest.Stream(ctx, t, js, jetstream.StreamName("settings"))
	require.Error(t, stream.DeleteMsg(ctx, 1))
	require.Error(t, stream.Purge(ctx))
	config := stream.CachedInfo().Config
	for want, change := range map[string]func(*native.StreamConfig){
		"max_age is 60000000000 and must be 0":                    func(c *native.StreamConfig) { c.MaxAge, c.Duplicates = time.Minute, time.Second },
		`discard is "new" and must be "old"`:                      func(c *native.StreamConfig) { c.Discard = native.DiscardNew },
		"allow_direct is true and must be false":                  func(c *native.StreamConfig) { c.AllowDirect = true },
		"max_msgs is 9 and must be -1":                            func(c *native.StreamConfig) { c.MaxMsgs = 9 },
		"max_bytes is not set":                                    func(c *native.StreamConfig) { c.MaxBytes = -1 },
		"max_msg_size is 9 and must be 65536 or more":             func(c *native.StreamConfig) { c.MaxMsgSize = 9 },
		"allow_msg_ttl is true and must not be set":               func(c *native.StreamConfig) { c.AllowMsgTTL = true },
		`deny_delete is not set and must be true`:                 func(c *native.StreamConfig) { c.DenyDelete = false },
		`deny_purge is not set and must be true`:                  func(c *native.StreamConfig) { c.DenyPurge = false },
		"was not made by adgateway":                               func(c *native.StreamConfig) { c.Metadata = nil },
		`subjects is ["a","b"] and must be ["adgw.other.log"]`:    func(c *native.StreamConfig) { c.Subjects = []string{"a", "b"} },
		"max_age is 1000000000 and must be 0; max_msgs is 8 and ": func(c *native.StreamConfig) { c.MaxAge, c.Duplicates, c.MaxMsgs = time.Second, time.Second, 8 },
	} {
		c := config
		c.Name, c.Replicas, c.Subjects = jetstream.StreamName("other"), 1, []string{jetstream.Subject("other")}
		change(&c)
		enginetest.MakeStream(ctx, t, js, c)
		require.Eventually(t, func() bool { // it has no leader yet
			_, err = jetstream.Open(ctx, jetstream.Options{Cluster: "other", Connect: o.Connect})
			return !errors.Is(err, store.ErrUnreachable)
		}, hang, 10*time.Millisecond)
		assert.ErrorContains(t, err, want)
		enginetest.DeleteStream(ctx, t, js, c.Name)
	}
}

// testMessages checks the answers of a stream about messages that exist, that do not exist yet, and
// that were removed.
func testMessages(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "messages")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	s := open(t, "messages", nodes.URLs()...)
	_, last, err := s.Last(ctx)
	require.NoError(t, err)
	assert.Zero(t, last)
	_, err = s.Read(ctx, 1)
	require.ErrorIs(t, err, journal.ErrNotYet)
	for i := range uint64(3) {
		assert.Equal(t, i+1, publish(t, s, i, []byte{byte(i)}))
	}
	for _, wrong := range []uint64{0, 2, 4} {
		_, err = s.Publish(ctx, wrong, []byte("wrong"), 0)
		require.ErrorIs(t, err, journal.ErrRefused)
	}
	_, err = s.Publish(ctx, 3, make([]byte, 9<<20), 0)
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrRefused)
	message, err := s.Read(ctx, 2)
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, message)
	_, err = s.Read(ctx, 4)
	require.ErrorIs(t, err, journal.ErrNotYet)
	var seen []uint64
	require.NoError(t, s.Follow(ctx, 1, func(sequence uint64, message []byte) bool {
		assert.Equal(t, []byte{byte(sequence - 1)}, message)
		seen = append(seen, sequence)
		return sequence < 3
	}))
	assert.Equal(t, []uint64{2, 3}, seen)

	// Only one of many messages with the same expectation is stored.
	var all sync.WaitGroup
	var stored atomic.Int32
	for i := range 20 {
		all.Go(func() {
			if _, err := s.Publish(ctx, 3, []byte{byte(i)}, 0); err == nil {
				stored.Add(1)
			} else {
				assert.ErrorIs(t, err, journal.ErrRefused)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, stored.Load())

	// A full stream drops its oldest messages.
	js, err := native.New(nodes.Connect())
	require.NoError(t, err)
	c := enginetest.Stream(ctx, t, js, jetstream.StreamName("messages")).CachedInfo().Config
	c.MaxBytes = 2 << 20
	enginetest.Ask(ctx, t, func(once context.Context) error { _, err := js.UpdateStream(once, c); return err })
	for i := range uint64(3) {
		publish(t, s, 4+i, make([]byte, 900<<10))
	}
	_, err = s.Read(ctx, 2)
	require.ErrorIs(t, err, journal.ErrGone)
	oldest, last, err := s.Last(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 7, last)
	assert.Greater(t, oldest, uint64(2))
}

// testLate: if the leader's node delays a message or its answer, the message is sent again through
// another node, and stored once, even if the first copy arrives then.
func testLate(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "late")
	ways := newWires(t, nodes)
	a, b := newGateway(t, "late", "a", ways.urls()...), newGateway(t, "late", "b", nodes.URLs()...)
	a.lead(t)
	b.follow(t)
	for round, hold := range []func(*enginetest.Wire,
		bool){(*enginetest.Wire).Hold, (*enginetest.Wire).HoldAnswers} {
		used := slices.Index(ways.urls(), a.stream.Node())
		require.GreaterOrEqual(t, used, 0)
		again := a.Status().Again
		hold(ways[used], true)
		require.NoError(t, a.append(t.Context(), fmt.Sprint("held ", round)))
		assert.Greater(t, a.Status().Again, again)
		assert.NotEqual(t, ways.urls()[used], a.stream.Node())
		hold(ways[used], false)
		require.NoError(t, a.append(t.Context(), fmt.Sprint("next ", round)))
	}
	a.awaitSame(t, b)
	assert.Equal(t, []string{"held 0", "next 0", "held 1", "next 1"}, b.Batches())
	assert.Zero(t, b.Status().Strangers)
}

// testStrangers: somebody without the key publishes up to 300 messages a second, as fast as the
// nodes can process them. Appends continue, and all are applied.
func testStrangers(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "strangers")
	a, b := newGateway(t, "strangers", "a", nodes.URLs()...), newGateway(t, "strangers", "b", nodes.URLs()...)
	a.lead(t)
	a.follow(t)
	b.follow(t)
	js, err := native.New(nodes.Connect())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var stranger sync.WaitGroup
	stranger.Go(func() {
		for ctx.Err() == nil {
			begun := time.Now()
			_, _ = js.Publish(ctx, jetstream.Subject("strangers"), []byte("anything"))
			select {
			case <-time.After(max(time.Since(begun), time.Second/300)):
			case <-ctx.Done():
			}
		}
	})
	require.Eventually(t, func() bool { return a.Status().Strangers > 0 }, hang, time.Millisecond)
	begun := time.Now()
	const batches = 100
	for i := range batches {
		require.NoError(t, a.append(t.Context(), fmt.Sprint(i)))
	}
	took := time.Since(begun)
	stop()
	stranger.Wait()
	status := a.Status()
	t.Logf("%d batches beside %d strangers in %s, %d messages sent", batches, status.Strangers, took,
		status.Sent)
	a.awaitSame(t, b)
	assert.Len(t, b.Batches(), batches)
	assert.Positive(t, b.Status().Strangers)
}

// testRestart: a gateway catches up without a consumer, continues from its point after a restart,
// and notices if its last applied entry has been replaced. The batches are larger than the messages
// that a node accepts.
func testRestart(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "restart")
	a := newGateway(t, "restart", "a", nodes.URLs()...)
	a.lead(t)
	large := make([]byte, 5<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(large) // never fails
	require.NoError(t, a.append(t.Context(), "1"))
	require.NoError(t, a.append(t.Context(), string(large)))
	b := newGateway(t, "restart", "b", nodes.URLs()...)
	b.catchUp(t)
	a.awaitSame(t, b)
	js, err := native.New(nodes.Connect())
	require.NoError(t, err)
	state := enginetest.Stream(t.Context(), t, js, jetstream.StreamName("restart")).CachedInfo().State
	assert.Zero(t, state.Consumers)
	assert.EqualValues(t, 2+7, state.LastSeq, "it is sent in parts")

	require.NoError(t, a.append(t.Context(), "3"))
	b = restarted(t, "restart", "b", b.Record, nodes.URLs()...)
	b.follow(t)
	a.awaitSame(t, b)
	at := a.Status().Point
	at.Hash[0]++
	c := restarted(t, "restart", "c", journaltest.NewRecord(at), nodes.URLs()...)
	c.awaitError(t, journal.ErrRewound)
}

// testAnotherStream: a stream that has replaced the previous stream is not mistaken for it.
func testAnotherStream(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "another")
	a := newGateway(t, "another", "a", nodes.URLs()...)
	a.lead(t)
	require.NoError(t, a.append(t.Context(), "1"))
	js, err := native.New(nodes.Connect())
	require.NoError(t, err)
	enginetest.DeleteStream(t.Context(), t, js, jetstream.StreamName("another"))
	require.ErrorIs(t, a.CatchUp(t.Context()), store.ErrUnreachable, "for a while")
	create(t, nodes, "another")
	a.awaitError(t, journal.ErrRewound)
	b := restarted(t, "another", "b", a.Record, nodes.URLs()...)
	b.awaitError(t, journal.ErrBehind)
}

// testLeaderIsCutOff: the node that leads the stream still believes that it does, and shows an old
// end. A reader there notices nothing. A writer stays undecided, and is deposed once the node is
// back.
func testLeaderIsCutOff(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "cutoff")
	node := awaitLeader(t, nodes, "cutoff")
	there := nodes.URLs()[node]
	a, reader := newGateway(t, "cutoff", "a", there), newGateway(t, "cutoff", "reader", there)
	b := newGateway(t, "cutoff", "b", nodes.URLs()[(node+1)%3], nodes.URLs()[(node+2)%3])
	a.lead(t)
	require.NoError(t, a.append(t.Context(), "1"))
	reader.catchUp(t)
	b.catchUp(t)

	nodes.Cut(node)
	brief, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	require.ErrorIs(t, a.append(brief, "x"), journal.ErrUndecided)
	b.lead(t)
	require.NoError(t, b.append(t.Context(), "2"))
	if err := reader.CatchUp(t.Context()); err != nil {
		require.ErrorIs(t, err, store.ErrUnreachable)
	}
	assert.Equal(t, []string{"1"}, reader.Batches())

	nodes.Heal(node)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	require.ErrorIs(t, a.Resolve(ctx), journal.ErrDeposed)
	require.ErrorIs(t, a.append(ctx, "y"), journal.ErrDeposed)
	reader.follow(t)
	b.awaitSame(t, reader)
	b.awaitSame(t, a)
	assert.Equal(t, []string{"1", "2"}, a.Batches())
}

// testLeaderEnds: the node that leads the stream ends while batches are appended. Each is stored
// exactly once.
func testLeaderEnds(t *testing.T, nodes *enginetest.Cluster) {
	create(t, nodes, "ends")
	a, b := newGateway(t, "ends", "a", nodes.URLs()...), newGateway(t, "ends", "b", nodes.URLs()...)
	a.lead(t)
	b.follow(t)
	node := awaitLeader(t, nodes, "ends")
	ctx, cancel := context.WithCancel(t.Context())
	appended := make(chan []string)
	go func() {
		var all []string
		for i := 0; ctx.Err() == nil; i++ {
			batch := fmt.Sprint(i)
			if assert.NoError(t, a.append(t.Context(), batch)) {
				all = append(all, batch)
			}
		}
		appended <- all
	}()
	applied := func() int { return len(b.Batches()) }
	require.Eventually(t, func() bool { return applied() > 5 }, hang, time.Millisecond)
	nodes.Stop(node)
	before := applied()
	require.Eventually(t, func() bool { return applied() > before+20 }, hang, time.Millisecond)
	nodes.Start(node)
	cancel()
	all := <-appended
	a.awaitSame(t, b)
	assert.Equal(t, all, b.Batches())
	nodes.AwaitReady()
}

// awaitLeader waits until a stream has a leader, and returns its node.
func awaitLeader(t *testing.T, nodes *enginetest.Cluster, cluster string) (node int) {
	t.Helper()
	require.Eventually(t, func() bool {
		node = nodes.Leader(jetstream.StreamName(cluster))
		return node >= 0
	}, hang, 10*time.Millisecond)
	return node
}
