package node_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	journal "adgateway/gateway/journal/jetstream"
	"adgateway/gateway/store"
	"adgateway/test/freeport"
)

// lines is the output of a running node.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// trusted is a cluster of gateways with settings files and folders.
type trusted struct {
	dir      string
	register *trust.Register
	ids      map[string]*trust.Identity
	monitors map[string]string
}

// newRegister returns a cluster without gateways.
func newRegister(t *testing.T) *trusted {
	t.Helper()
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(store.NewMemory(nil), key)
	require.NoError(t, err)
	return &trusted{t.TempDir(), trust.NewRegister(sealed, time.Now), map[string]*trust.Identity{},
		map[string]string{}}
}

// write writes the settings file of a gateway.
func (c *trusted) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(c.dir, name), 0o700))
	require.NoError(t, os.WriteFile(c.settings(name), []byte(text), 0o600))
}

// newTrusted makes a cluster of three hosts. All three have joined.
func newTrusted(t *testing.T) *trusted {
	t.Helper()
	c := newRegister(t)
	var hosts []trust.Member
	for i, addresses := 0, freeport.Addresses(t, 9); i < 9; i += 3 {
		name := fmt.Sprintf("gw%d", i/3+1)
		hosts = append(hosts, trust.Member{Name: name, ClientAddress: addresses[i], NodeAddress: addresses[i+1]})
		c.monitors[name] = addresses[i+2]
		text := fmt.Sprintf("store:\n  file: state.db\nengine:\n  listen: %s\n  cluster: %s\n  monitor: %s\n"+
			"  maxStore: 256MiB\n",
			addresses[i], addresses[i+1], addresses[i+2])
		c.write(t, name, text)
	}
	var err error
	c.ids["gw1"], err = trust.Create(t.Context(), c.register, "corp", hosts[0], c.folder("gw1"), hosts[1:]...)
	require.NoError(t, err)
	c.join(t, hosts[1])
	c.join(t, hosts[2])
	c.tell(t, "gw1", "gw2", "gw3")
	return c
}

func (c *trusted) settings(name string) string { return filepath.Join(c.dir, name, "adgateway.yaml") }
func (c *trusted) folder(name string) trust.Folder {
	return trust.Folder{Path: filepath.Join(c.dir, name, "cluster")}
}

func (c *trusted) list() trust.Members {
	m, _ := c.register.Members(context.Background()) // it cannot fail with a store in memory
	return m
}

// tell writes the member list to the folders of the named gateways, as these gateways would.
func (c *trusted) tell(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, trust.SaveMembers(c.folder(name).MembersFile(), c.list(), nil))
	}
}

// join lets a gateway join through the first one.
func (c *trusted) join(t *testing.T, self trust.Member) {
	t.Helper()
	first := c.ids["gw1"]
	listener, err := tls.Listen("tcp", "127.0.0.1:0", first.AllowJoins(first.Server(c.list)))
	require.NoError(t, err)
	defer listener.Close()
	i, err := c.register.Invite(t.Context(), self.Name)
	require.NoError(t, err)
	i.Address = listener.Addr().String()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = (&trust.Admission{Register: c.register}).Serve(t.Context(), conn.(*tls.Conn))
		}
		served <- err
	}()
	c.ids[self.Name], err = trust.Join(t.Context(), i, self, c.folder(self.Name))
	require.NoError(t, err)
	require.NoError(t, <-served)
}

// dial connects to the node of gw1 in the name of a gateway.
func (c *trusted) dial(gateway string, options ...nats.Option) (*nats.Conn, error) {
	m, _ := c.list().Find("gw1")
	options = append(options, nats.Secure(c.ids[gateway].Client(c.list, "gw1")), nats.MaxReconnects(0),
		nats.CustomInboxPrefix(stock.InboxPrefix("corp", gateway)))
	return nats.Connect("tls://"+m.ClientAddress, options...)
}

// routes returns the nodes to which a gateway's node is connected.
func (c *trusted) routes(t *testing.T, gateway string) map[string]bool {
	t.Helper()
	response, err := http.Get("http://" + c.monitors[gateway] + "/routez")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var page struct {
		Routes []struct {
			Name string `json:"remote_name"`
		} `json:"routes"`
	}
	require.NoError(t, json.Unmarshal(text, &page))
	all := map[string]bool{}
	for _, r := range page.Routes {
		all[r.Name] = true
	}
	return all
}

// TestNodesOfGateways: the nodes of three gateways form a cluster from the member list alone
// and create the log. They refuse gateways that are not on the list or have left it.
func TestNodesOfGateways(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := newTrusted(t)
	origin := store.Hash{1, 2, 3}
	require.NoError(t, c.folder("gw1").SetOrigin(origin))
	logs := map[string]*lines{}
	var all sync.WaitGroup
	running, stop := context.WithCancel(ctx)
	defer func() { stop(); all.Wait() }()
	for name := range c.ids {
		log := &lines{}
		logs[name] = log
		all.Go(func() { runTo(running, log, "run", "--config", c.settings(name)) })
	}
	await := func(what string, is func() bool) {
		t.Helper()
		require.Eventually(t, is, limit, 20*time.Millisecond, what)
	}
	await("the log", func() bool { return logs["gw1"].has("the log of the cluster is there") })
	for name, log := range logs {
		await(name, func() bool { return log.has("the node is ready") })
	}

	gone := make(chan struct{})
	third, err := c.dial("gw3", nats.ClosedHandler(func(*nats.Conn) { close(gone) }))
	require.NoError(t, err)
	defer third.Close()
	second, err := c.dial("gw2")
	require.NoError(t, err)
	defer second.Close()
	js, err := jetstream.New(second)
	require.NoError(t, err)
	config := enginetest.Stream(ctx, t, js, journal.StreamName("corp")).CachedInfo().Config
	assert.Equal(t, 3, config.Replicas)
	assert.EqualValues(t, 128<<20, config.MaxBytes)
	assert.Contains(t, config.Metadata, "adgateway.origin")
	assert.Equal(t, origin.String(), config.Metadata["adgateway.origin"])

	c.join(t, trust.Member{Name: "gw4"})
	_, err = c.dial("gw4")
	require.Error(t, err, "the list of the node does not have it")

	require.NoError(t, c.register.Remove(ctx, "gw3"))
	c.tell(t, "gw1", "gw2")
	select {
	case <-gone:
	case <-ctx.Done():
		t.Fatal("a gateway that has left is still connected")
	}
	for _, name := range []string{"gw1", "gw2"} {
		await("the node of a gateway that has left is still connected",
			func() bool { return !c.routes(t, name)["gw3"] })
	}
	_, err = c.dial("gw3")
	require.Error(t, err)
	fourth, err := c.dial("gw4")
	require.NoError(t, err, "it is on the list now")
	fourth.Close()
	require.NoError(t, second.Flush(), "the others stay")
	assert.True(t, c.routes(t, "gw1")["gw2"])

	_, stdout, _ := run(ctx, "config", "--config", c.settings("gw2"))
	assert.Contains(t, stdout, `user: "gw1.corp.adgateway.internal"`)
	assert.NotContains(t, stdout, "gw3.corp")
}

// TestAGatewayWithoutANode: a gateway that joined later has no node.
func TestAGatewayWithoutANode(t *testing.T) {
	c := newTrusted(t)
	c.write(t, "gw4", "store:\n  file: state.db\n")
	c.join(t, trust.Member{Name: "gw4"})
	code, _, stderr := run(t.Context(), "run", "--config", c.settings("gw4"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "the host of gateway gw4 has no node")
	code, _, stderr = run(t.Context(), "run", "--config", c.settings("gw1"), "--set",
		"cluster.servers=[nats://127.0.0.1:1]")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "not in a cluster whose hosts have nodes", "a NATS of one's own")
}
