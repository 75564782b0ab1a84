package engine_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/test/freeport"
)

const limit = 3 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func alone(t *testing.T) engine.Options {
	return engine.Options{Options: stock.Options{Node: "n1", Cluster: "corp", Listen: "127.0.0.1:-1",
		Store: filepath.Join(t.TempDir(), "store"), MaxStore: 1 << 30}}
}

func start(t *testing.T, o engine.Options) (*engine.Node, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	n, err := engine.Start(ctx, o)
	if n != nil {
		t.Cleanup(n.Close)
	}
	return n, err
}

func ready(t *testing.T, nodes ...*engine.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for _, n := range nodes {
		require.NoError(t, n.Ready(ctx))
	}
}

func TestANode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	log, entries := logtest.NewNullLogger()
	o := alone(t)
	o.Log = log
	n, err := start(t, o)
	require.NoError(t, err)
	ready(t, n)
	require.NoError(t, n.Health())
	assert.Equal(t, fmt.Sprintf("nats://127.0.0.1:%d", n.Port()), n.URL())
	assert.Zero(t, n.ClusterPort())
	leads, nodes := n.LeadsCluster()
	assert.True(t, leads)
	assert.Equal(t, 1, nodes)
	assert.False(t, n.LeadsStream("S"))

	connection, err := nats.Connect(n.URL())
	require.NoError(t, err)
	defer connection.Close()
	assert.EqualValues(t, 8<<20, connection.MaxPayload())
	js, err := jetstream.New(connection)
	require.NoError(t, err)
	enginetest.MakeStream(ctx, t, js, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	assert.True(t, n.LeadsStream("S"))

	_, err = connection.Request("$SYS.REQ.SERVER.PING", nil, limit)
	require.ErrorIs(t, err, nats.ErrNoResponders, "the system account is out of reach")
	_, err = nats.Connect(n.URL(), nats.UserInfo("sys", "sys"))
	require.Error(t, err)
	assert.NotEmpty(t, entries.AllEntries(), "the server reports to the log")
	n.Close()
	n.Close()
}

func TestWhatKeepsANodeFromStarting(t *testing.T) {
	running := alone(t)
	n, err := start(t, running)
	require.NoError(t, err)
	taken := fmt.Sprintf("127.0.0.1:%d", n.Port())
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	used := t.TempDir()
	first := alone(t)
	first.Store = used
	before, err := start(t, first)
	require.NoError(t, err)
	before.Close()
	for name, c := range map[string]struct {
		change func(*engine.Options)
		want   string
	}{
		"a port in use":               {func(o *engine.Options) { o.Listen = taken }, "engine.listen: " + taken + " cannot be used"},
		"the page's port in use":      {func(o *engine.Options) { o.Monitor = taken }, "engine.monitor: " + taken},
		"a file as the folder":        {func(o *engine.Options) { o.Store = file }, "engine.store: " + file + " cannot be used"},
		"the folder of another":       {func(o *engine.Options) { o.Store, o.Node = used, "n2" }, `belongs to node "n1" of cluster "corp", and this is node "n2"`},
		"that of another cluster":     {func(o *engine.Options) { o.Store, o.Cluster = used, "lab" }, "correct engine.store"},
		"a folder in use":             {func(o *engine.Options) { o.Store = running.Store }, "is in use by another process"},
		"no such certificate":         {func(o *engine.Options) { o.Certificate, o.Key, o.CA = "no.pem", "no.key", "no.ca" }, "check the certificate"},
		"what the settings get wrong": {func(o *engine.Options) { o.Listen = ":4222" }, "the node has no certificate"},
	} {
		o := alone(t)
		c.change(&o)
		_, err := start(t, o)
		assert.ErrorContains(t, err, c.want, name)
	}
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	if n, err := engine.Start(canceled, alone(t)); err == nil {
		n.Close() // it has started before
	} else {
		require.ErrorContains(t, err, "told to stop")
	}
}

// TestMutualTLS: gateways can only connect with a certificate for a listed name, and nodes can only join with
// a certificate for a name among the peers (facts J22).
func TestMutualTLS(t *testing.T) {
	ca := newAuthority(t)
	node, gateway, other := ca.issue(t, "localhost"), ca.issue(t, "gw1.corp.example"), ca.issue(t,
		"pc7.corp.example")
	stranger := newAuthority(t).issue(t, "gw1.corp.example")
	key, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := key.PublicKey()
	require.NoError(t, err)
	ports := freeport.Ports(t, 3)
	options := func(i int, cert pair) engine.Options {
		o := engine.Options{Options: stock.Options{
			Node: fmt.Sprintf("n%d", i+1), Cluster: "corp", Listen: "localhost:-1",
			ClusterListen: fmt.Sprintf("localhost:%d", ports[i]),
			Store:         filepath.Join(t.TempDir(), "store"), MaxStore: 1 << 30,
			Certificate: cert.certificate, Key: cert.key, CA: ca.file,
			Members: []stock.Member{{Gateway: "gw1", User: "gw1.corp.example"}, {Gateway: "gw2", User: public}},
		}}
		for j, port := range ports {
			if j != i {
				o.Peers = append(o.Peers, fmt.Sprintf("localhost:%d", port))
			}
		}
		return o
	}
	// The third node has a certificate from the authority, but for a different name.
	nodes := make([]*engine.Node, 3)
	for i, cert := range []pair{node, node, other} {
		nodes[i], err = start(t, options(i, cert))
		require.NoError(t, err)
	}
	ready(t, nodes[0], nodes[1])
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, nodes[2].Ready(short), "no other node is reached")
	assert.Contains(t, nodes[0].URL(), "tls://")

	connect := func(options ...nats.Option) error {
		connection, err := nats.Connect(fmt.Sprintf("tls://localhost:%d", nodes[0].Port()),
			append(options, nats.RootCAs(ca.file))...)
		if err == nil {
			connection.Close()
		}
		return err
	}
	require.NoError(t, connect(nats.ClientCert(gateway.certificate, gateway.key)))
	sign := nats.Nkey(public, key.Sign)
	require.NoError(t, connect(nats.ClientCert(other.certificate, other.key), sign), "known by its key")
	require.ErrorIs(t, connect(nats.ClientCert(other.certificate, other.key)), nats.ErrAuthorization)
	require.Error(t, connect(sign), "a certificate is asked for in any case")
	require.Error(t, connect(nats.ClientCert(stranger.certificate, stranger.key)))
	require.Error(t, connect())
}

// TestAStockServerIsTheSameNode: a plain nats-server that is started with the printed file is the same node.
func TestAStockServerIsTheSameNode(t *testing.T) {
	ca := newAuthority(t)
	cert := ca.issue(t, "localhost")
	o := stock.Options{
		Node: "n1", Cluster: "corp", Listen: ":4222", ClusterListen: ":6222",
		Peers: []string{"n2.corp.example:6222", "n3.corp.example:6222"},
		Store: `D:\adgateway "engine"`, MaxStore: 20 << 30, Certificate: cert.certificate, Key: cert.key, CA: ca.file,
		Members: []stock.Member{{Gateway: "gw1", User: "gw1.corp.example"}}, Monitor: "127.0.0.1:8222",
	}
	require.NoError(t, o.Check())
	file := filepath.Join(t.TempDir(), "nats.conf")
	require.NoError(t, os.WriteFile(file, []byte(stock.Configuration(o)), 0o600))
	got, err := server.ProcessConfigFile(file)
	require.NoError(t, err)
	assert.Equal(t, "n1", got.ServerName)
	assert.Equal(t, o.Store, got.StoreDir)
	assert.True(t, got.JetStream)
	assert.True(t, got.SyncAlways)
	assert.EqualValues(t, 20<<30, got.JetStreamMaxStore)
	assert.Empty(t, got.JetStreamKey)
	assert.Equal(t, 4222, got.Port)
	assert.Equal(t, "127.0.0.1", got.HTTPHost)
	assert.EqualValues(t, stock.MaxPayload, got.MaxPayload)
	assert.Equal(t, stock.SystemAccount, got.SystemAccount)
	assert.Empty(t, got.NoAuthUser)
	assert.Equal(t, tls.RequireAndVerifyClientCert, got.TLSConfig.ClientAuth)
	assert.True(t, got.TLSMap)
	assert.EqualValues(t, 0x0304, got.TLSConfig.MinVersion)
	assert.Equal(t, "corp", got.Cluster.Name)
	assert.Equal(t, 6222, got.Cluster.Port)
	assert.True(t, got.Cluster.NoAdvertise)
	assert.True(t, got.Cluster.TLSCheckKnownURLs)
	assert.EqualValues(t, 0x0304, got.Cluster.TLSConfig.MinVersion)
	require.Len(t, got.Routes, 2)
	assert.Equal(t, "n3.corp.example:6222", got.Routes[1].Host)
	require.Len(t, got.Users, 1)
	assert.Equal(t, "gw1.corp.example", got.Users[0].Username)
	assert.Equal(t, stock.Account, got.Users[0].Account.Name)
	assert.Contains(t, got.Users[0].Permissions.Publish.Allow, "$JS.API.STREAM.INFO.ADGW_corp_log")
	assert.NotContains(t, got.Users[0].Permissions.Publish.Allow, "$JS.API.STREAM.DELETE.ADGW_corp_log")
	assert.Equal(t, []string{"adgw.corp.inbox.gw1.>", "adgw.corp.beat.*"},
		got.Users[0].Permissions.Subscribe.Allow)
	assert.Contains(t, engine.Configuration(
		engine.Options{Options: stock.Options{Node: "n1",
			Certificate: "0123456789abcdef0123456789abcdef01234567"}}),
		`cert_match: "0123456789ABCDEF0123456789ABCDEF01234567"`)
}

// TestAStockServerGivesTheSameRights: the configuration printed for a cluster with a log contains
// the rights of each gateway.
func TestAStockServerGivesTheSameRights(t *testing.T) {
	cert := newAuthority(t).issue(t, "localhost")
	o := stock.Options{
		Node: "n1", Cluster: "corp", Listen: ":4222", Store: "data", MaxStore: 1 << 30,
		Certificate: cert.certificate, Key: cert.key, CA: cert.certificate,
		Members: []stock.Member{{Gateway: "gw1", User: "gw1.corp.adgateway.internal"},
			{Gateway: "gw2", User: "gw2.corp.adgateway.internal"}},
	}
	require.NoError(t, o.Check())
	got := &server.Options{}
	require.NoError(t, got.ProcessConfigString(stock.Configuration(o)))
	assert.True(t, got.TLSMap)
	assert.EqualValues(t, tls.VersionTLS13, got.TLSConfig.MinVersion)
	require.Len(t, got.Users, 2)
	for i, m := range o.Members {
		want := stock.LogPermissions("corp", m.Gateway)
		assert.Equal(t, m.User, got.Users[i].Username)
		assert.Equal(t, want.Publish, got.Users[i].Permissions.Publish.Allow)
		assert.Equal(t, want.Subscribe, got.Users[i].Permissions.Subscribe.Allow)
	}
	assert.Empty(t, got.NoAuthUser)
}

// TestPeersMayBeMissing: a node starts although others are missing, and waits for them.
func TestPeersMayBeMissing(t *testing.T) {
	ports := freeport.Ports(t, 3)
	log := logrus.New()
	log.SetOutput(t.Output())
	nodes := make([]*engine.Node, 3)
	begin := func(i int) {
		o := alone(t)
		o.Log, o.Node, o.ClusterListen = log, fmt.Sprintf("n%d", i+1), fmt.Sprintf("127.0.0.1:%d", ports[i])
		for j, port := range ports {
			if j != i {
				o.Peers = append(o.Peers, fmt.Sprintf("127.0.0.1:%d", port))
			}
		}
		var err error
		nodes[i], err = start(t, o)
		require.NoError(t, err)
	}
	begin(0)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, nodes[0].Ready(short), "start the nodes of the other hosts")
	begin(1)
	ready(t, nodes[:2]...)
	begin(2)
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() { ready(t, n) })
	}
	all.Wait()
}
