// Package enginetest runs a cluster of the engine's nodes in a test process. The nodes reach each other only
// through proxies, so a test can cut a node off. The proxies then hold bytes back while connections stay
// open, which is the difficult kind of partition (facts J8).
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/stock"
)

// startLimit is the time limit for a cluster to be ready.
const startLimit = 60 * time.Second

// answerLimit is the time limit of one request to JetStream before it is repeated.
const answerLimit = 5 * time.Second

// Cluster is a running cluster. It is safe for concurrent use, except for Start and Stop of the
// same node.
type Cluster struct {
	t      testing.TB
	folder string
	wires  *Wires
	adjust func(*engine.Options)

	mu    sync.Mutex
	nodes []*engine.Node // nil entries while stopped
	ports []int          // client ports, which stay the same after a restart
}

// Start runs 1, 3 or 5 nodes and waits until streams can be created. The nodes are stopped at the
// end of the test.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	return StartWith(t, n, func(*engine.Options) {})
}

// StartWith is like Start, but calls adjust to modify the options at each start of a node.
func StartWith(t testing.TB, n int, adjust func(*engine.Options)) *Cluster {
	t.Helper()
	c := &Cluster{t: t, folder: t.TempDir(), wires: &Wires{}, adjust: adjust, nodes: make([]*engine.Node, n),
		ports: make([]int, n)}
	t.Cleanup(c.close)
	if n > 1 {
		var err error
		c.wires, err = NewWires(n)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = c.start(i) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	c.AwaitReady()
	return c
}

// Options returns the options of node i.
func (c *Cluster) Options(i int) stock.Options {
	o := stock.Options{
		Node: Name(i), Cluster: "test", Listen: "127.0.0.1:-1",
		Store: filepath.Join(c.folder, Name(i)), MaxStore: 4 << 30,
	}
	if c.ports[i] != 0 {
		o.Listen = "127.0.0.1:" + strconv.Itoa(c.ports[i])
	}
	if len(c.nodes) > 1 {
		o.ClusterListen = "127.0.0.1:-1"
		o.Peers = c.wires.Peers(i)
		o.Advertise = "127.0.0.1:1" // nothing listens there, so nodes cannot bypass the proxies
	}
	return o
}

// Name returns the name of node i, which is n1 for 0.
func Name(i int) string { return fmt.Sprintf("n%d", i+1) }

func (c *Cluster) start(i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	options := engine.Options{Options: c.Options(i)}
	c.adjust(&options)
	node, err := engine.Start(ctx, options)
	if err != nil {
		return err
	}
	c.wires.To(i, local(node.ClusterPort()))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i], c.ports[i] = node, node.Port()
	return nil
}

// Start runs node i again, with the same folder and port. It does not wait until the node has
// caught up; see [Cluster.AwaitReady].
func (c *Cluster) Start(i int) {
	c.t.Helper()
	require.NoError(c.t, c.start(i))
}

// Stop ends node i regularly and keeps its folder.
func (c *Cluster) Stop(i int) {
	c.mu.Lock()
	node := c.nodes[i]
	c.nodes[i] = nil
	c.mu.Unlock()
	if node != nil {
		node.Close()
	}
}

// Cut holds back all traffic between node i and the other nodes. Clients can still reach it.
func (c *Cluster) Cut(i int) { c.wires.Cut(i, true) }

// Heal delivers the messages that Cut held back.
func (c *Cluster) Heal(i int) { c.wires.Cut(i, false) }

// Tap calls listen with all further traffic between the nodes, like [Wire.Tap].
func (c *Cluster) Tap(listen func([]byte)) {
	c.wires.Each(func(w *Wire) { w.Tap(listen) })
}

// URLs returns the URLs at which clients connect, including those of stopped nodes.
func (c *Cluster) URLs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	urls := make([]string, len(c.ports))
	for i, port := range c.ports {
		urls[i] = "nats://127.0.0.1:" + strconv.Itoa(port)
	}
	return urls
}

// Node returns node i, or nil while it is stopped.
func (c *Cluster) Node(i int) *engine.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

// Connect returns a connection to the cluster, which is closed at the end of the test. Without
// options it reconnects indefinitely.
func (c *Cluster) Connect(options ...nats.Option) *nats.Conn {
	c.t.Helper()
	options = append([]nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond)},
		options...)
	connection, err := nats.Connect(join(c.URLs()), options...)
	require.NoError(c.t, err)
	c.t.Cleanup(connection.Close)
	return connection
}

// MakeStream creates a stream. Creating the same stream again changes nothing.
func MakeStream(ctx context.Context, t testing.TB, js jetstream.JetStream, config jetstream.StreamConfig) {
	t.Helper()
	Ask(ctx, t, func(once context.Context) error {
		_, err := js.CreateStream(once, config)
		return err
	})
}

// Stream returns an existing stream.
func Stream(ctx context.Context, t testing.TB, js jetstream.JetStream, name string) (found jetstream.Stream) {
	t.Helper()
	Ask(ctx, t, func(once context.Context) (err error) {
		found, err = js.Stream(once, name)
		return err
	})
	return found
}

// DeleteStream deletes a stream, or does nothing if there is none.
func DeleteStream(ctx context.Context, t testing.TB, js jetstream.JetStream, name string) {
	t.Helper()
	Ask(ctx, t, func(once context.Context) error {
		err := js.DeleteStream(once, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) { // deleted by a request whose answer was lost
			return nil
		}
		return err
	})
}

// Ask makes a request to JetStream and repeats it until it is answered. Nodes do not answer a request that
// reaches them while they elect a leader or are overloaded, and a node that does not know a new stream or
// consumer yet answers that there are no responders.
func Ask(ctx context.Context, t testing.TB, request func(context.Context) error) {
	t.Helper()
	for {
		once, cancel := context.WithTimeout(ctx, answerLimit)
		err := request(once)
		cancel()
		unanswered := errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) ||
			errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
		if !unanswered || ctx.Err() != nil {
			require.NoError(t, err)
			return
		}
	}
}

// Leader returns the index of the node that leads the stream, or -1 if no node does.
func (c *Cluster) Leader(stream string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, node := range c.nodes {
		if node != nil && node.LeadsStream(stream) {
			return i
		}
	}
	return -1
}

// AwaitReady waits until all running nodes follow a leader that knows all of them.
func (c *Cluster) AwaitReady() {
	c.t.Helper()
	c.mu.Lock()
	var running []*engine.Node
	for _, node := range c.nodes {
		if node != nil {
			running = append(running, node)
		}
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for _, node := range running {
		require.NoError(c.t, node.Ready(ctx))
	}
	require.Eventually(c.t, func() bool {
		for _, node := range running {
			if leads, known := node.LeadsCluster(); leads {
				return known >= len(running)
			}
		}
		return false
	}, startLimit, 20*time.Millisecond, "no node leads the cluster")
}

func (c *Cluster) close() {
	c.wires.Close()
	var all sync.WaitGroup
	for i := range c.nodes {
		all.Go(func() { c.Stop(i) })
	}
	all.Wait()
}
