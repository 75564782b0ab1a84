package enginecheck_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/enginecheck"
)

const limit = 3 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func good(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: "ADGW_GOOD", Subjects: []string{"good.>"}, Replicas: replicas, DenyDelete: true, DenyPurge: true}
}

// streams makes streams. A request is lost when the leader changes meanwhile: it is made
// again.
func streams(ctx context.Context, t *testing.T, connection *nats.Conn, configs ...jetstream.StreamConfig) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(connection)
	require.NoError(t, err)
	for _, c := range configs {
		require.Eventually(t, func() bool {
			try, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			_, err := js.CreateStream(try, c)
			return err == nil
		}, limit, 10*time.Millisecond, c.Name)
	}
	return js
}

// whats are what the findings are about.
func whats(r enginecheck.Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.What)
		if f.Remedy == "" || f.Found == "" || f.Wanted == "" {
			all = append(all, "incomplete: "+f.String())
		}
	}
	return all
}

func TestAClusterAsItMustBe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := enginetest.Start(t, 3)
	connection := c.Connect()
	streams(ctx, t, connection, good(3))
	r, err := enginecheck.Check(ctx, connection)
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	require.NoError(t, r.Err())
	require.Len(t, r.Nodes, 3)
	leaders := 0
	for i, n := range r.Nodes {
		assert.Equal(t, enginetest.Name(i), n.Name)
		assert.True(t, n.SyncAlways)
		assert.Equal(t, 3, n.ClusterSize)
		assert.Equal(t, server.VERSION, n.Version)
		if n.Leads {
			leaders++
		}
	}
	assert.Equal(t, 1, leaders)

	c.Stop(2)
	require.Eventually(t, func() bool { return c.Leader("ADGW_GOOD") >= 0 }, limit, 20*time.Millisecond)
	connection = c.Connect()
	r, err = enginecheck.Check(ctx, connection)
	require.NoError(t, err)
	require.NoError(t, r.Err(), "one of three may be away")
	assert.Equal(t, []string{"the number of nodes that answer"}, whats(r))
	assert.Contains(t, r.Findings[0].String(), "2 (n1, n2), and must be 3")
}

func TestStreamsAsTheyMustNotBe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := enginetest.Start(t, 3)
	connection := c.Connect()
	memory, single, direct, open := good(3), good(1), good(3), good(3)
	memory.Name, memory.Subjects, memory.Storage = "ADGW_MEMORY", []string{"m"}, jetstream.MemoryStorage
	single.Name, single.Subjects = "ADGW_SINGLE", []string{"s"}
	direct.Name, direct.Subjects, direct.AllowDirect = "ADGW_DIRECT", []string{"d"}, true
	open.Name, open.Subjects, open.DenyDelete, open.DenyPurge = "ADGW_OPEN", []string{"o"}, false, false
	foreign := jetstream.StreamConfig{Name: "OTHERS", Subjects: []string{"x"}, AllowDirect: true}
	js := streams(ctx, t, connection, good(3), memory, single, direct, open, foreign)
	for name, config := range map[string]jetstream.ConsumerConfig{
		"lasting": {Durable: "lasting", MemoryStorage: true},
		"few":     {Durable: "few", Replicas: 1},
		"passing": {Name: "passing", MemoryStorage: true, InactiveThreshold: time.Minute},
	} {
		require.Eventually(t, func() bool {
			try, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			_, err := js.CreateConsumer(try, "ADGW_GOOD", config)
			return err == nil
		}, limit, 10*time.Millisecond, name)
	}
	r, err := enginecheck.Check(ctx, connection)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"stream ADGW_MEMORY: storage", "stream ADGW_SINGLE: num_replicas", "stream ADGW_DIRECT: allow_direct",
		"stream ADGW_OPEN: deny_delete", "stream ADGW_OPEN: deny_purge",
		"stream ADGW_GOOD: consumer lasting: mem_storage", "stream ADGW_GOOD: consumer few: num_replicas",
	}, whats(r))
	var refused *enginecheck.Refused
	require.ErrorAs(t, r.Err(), &refused)
	assert.Len(t, refused.Findings, 7)
	assert.ErrorContains(t, refused, "stream ADGW_DIRECT: allow_direct is true, and must be false: ")
}

// foreign runs a server that is set up by somebody else.
func foreign(t *testing.T, change func(*server.Options)) *nats.Conn {
	t.Helper()
	o := &server.Options{}
	require.NoError(t, o.ProcessConfigString(stock.Configuration(stock.Options{
		Node: "n1", Listen: "127.0.0.1:-1", Store: filepath.Join(t.TempDir(), "store"), MaxStore: 1 << 30,
	})))
	o.NoSigs, o.NoLog = true, true
	change(o)
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(limit))
	connection, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(connection.Close)
	return connection
}

func TestNodesAsTheyMustNotBe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := enginecheck.Check(ctx, foreign(t, func(o *server.Options) {
		o.SyncAlways, o.SyncInterval, o.MaxPayload = false, time.Minute, 1<<20
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"sync_interval", "max_payload"}, whats(r))
	assert.Equal(t, "n1", r.Findings[0].Node)
	require.Error(t, r.Err())

	r, err = enginecheck.Check(ctx, foreign(t, func(o *server.Options) { o.JetStream = false }))
	require.NoError(t, err)
	assert.Equal(t, []string{"jetstream"}, whats(r))

	_, err = enginecheck.Check(ctx, foreign(t, func(o *server.Options) { o.Accounts, o.Users, o.NoAuthUser, o.SystemAccount = nil, nil, "", "" }))
	assert.ErrorContains(t, err, "nobody answers to adgw.nodes")
}

// TestNobodyAnswersInTime: a connection that is lost is not taken for an engine that is
// set up well.
func TestNobodyAnswersInTime(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	_, err := enginecheck.Check(ctx, foreign(t, func(*server.Options) {}))
	assert.ErrorContains(t, err, "told to stop")
}
