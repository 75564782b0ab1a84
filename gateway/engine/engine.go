// Package engine runs one node of the engine in which several gateways store their shared data:
// nats-server as a library, with the settings of package stock and no others.
//
// [Start] claims the node's folder, opens its streams and listens. [Node.Ready] waits until the node takes
// part in a cluster that can write. Only cmd/adgateway-engine and tests import this package. A gateway and
// its node are separate processes, so that a problem that starves one does not starve the other.
package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/engine/stock"
)

// Options describe a node and its listeners.
type Options struct {
	stock.Options

	// TLS is the configuration with which the node listens for gateways and other nodes, and connects
	// to other nodes. It replaces Certificate, Key and CA, which must be set as well. It may be nil.
	TLS *tls.Config

	// Log receives the server's messages. If nil, they are discarded.
	Log logrus.FieldLogger
}

// Configuration returns the configuration file with which a stock nats-server is the same node.
func Configuration(o Options) string { return stock.Configuration(o.Options) }

// Version returns the version of the built-in server.
func Version() string { return server.VERSION }

// Node is a running node. It is safe for concurrent use.
type Node struct {
	server *server.Server
	folder *folder
	log    *serverLog
	tls    bool
	single bool
	admin  nkeys.KeyPair // key of this process only
	guests *visitors

	mu      sync.Mutex // guards the fields below, and changes of them
	options Options
	former  []string // addresses of removed peers

	started sync.WaitGroup // waits for the server's own start
	once    sync.Once
}

// pollEvery is the interval at which a starting node is checked.
const pollEvery = 20 * time.Millisecond

// Start runs the node until [Node.Close]. It returns once clients can connect, which takes minutes if
// there is a lot of data, because all streams are opened first (facts J21). ctx only limits the start.
// The errors are sentences that explain what to do.
//
// Unreachable peers are not an error. They are reported in the log, and [Node.Ready] waits for them.
func Start(ctx context.Context, o Options) (*Node, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	admin, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	guests := &visitors{}
	if o.TLS != nil {
		o.TLS = guests.watch(o.TLS)
	}
	options, err := serverOptions(o, admin)
	if err != nil {
		return nil, err
	}
	if err := portsAreFree(o.Options); err != nil {
		return nil, err
	}
	claimed, err := claim(o.Store, identity{Node: o.Node, Cluster: o.Cluster})
	if err != nil {
		return nil, err
	}
	running, err := server.NewServer(options)
	if err != nil {
		claimed.release()
		return nil, fmt.Errorf("the engine's node cannot start: %w", err)
	}
	n := &Node{
		server: running, folder: claimed, log: newServerLog(o.Log),
		tls: o.Certificate != "", single: len(o.Peers) == 0, admin: admin, guests: guests, options: o,
	}
	running.SetLoggerV2(n.log, false, false, false)
	n.started.Go(running.Start)
	if err := n.listening(ctx); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// serverOptions returns the options of the configuration file, and those that no file can express.
func serverOptions(o Options, admin nkeys.KeyPair) (*server.Options, error) {
	options := &server.Options{}
	if err := options.ProcessConfigString(Configuration(o)); err != nil {
		return nil, fmt.Errorf("the engine's node cannot start: %w; check the certificate, its key and its "+
			"authority in the folder of the cluster", err)
	}
	options.NoSigs = true // the process handles signals itself
	options.DisableJetStreamBanner = true
	if o.TLS != nil {
		options.TLSConfig = o.TLS.Clone()
		options.Cluster.TLSConfig = o.TLS.Clone()
		options.Cluster.TLSCheckKnownURLs = false // o.TLS decides who may connect
	}
	public, err := admin.PublicKey()
	if err != nil {
		return nil, err
	}
	account := slices.IndexFunc(options.Accounts,
		func(a *server.Account) bool { return a.Name == stock.Account })
	options.Nkeys = append(options.Nkeys, &server.NkeyUser{
		Nkey: public, Account: options.Accounts[account],
		AllowedConnectionTypes: map[string]struct{}{jwt.ConnectionTypeInProcess: {}},
	})
	return options, nil
}

// portsAreFree returns an error that names an address that is already in use. The server itself would only
// log such an address, and only after opening all streams.
func portsAreFree(o stock.Options) error {
	for _, listener := range []struct{ key, address string }{
		{"engine.listen", o.Listen}, {"engine.cluster", o.ClusterListen}, {"engine.monitor", o.Monitor},
	} {
		if listener.address == "" || strings.HasSuffix(listener.address, ":-1") ||
			listener.key == "engine.cluster" && len(o.Peers) == 0 {
			continue
		}
		l, err := net.Listen("tcp", listener.address)
		if err != nil {
			return fmt.Errorf("%s: %s cannot be used: %w; end the program that has the port, or choose another",
				listener.key, listener.address, err)
		}
		_ = l.Close()
	}
	return nil
}

// listening waits until clients can connect.
func (n *Node) listening(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !n.server.ReadyForConnections(time.Millisecond) {
		select {
		case message := <-n.log.fatal:
			return fmt.Errorf("the engine's node cannot start: %s", message)
		case <-ctx.Done():
			return fmt.Errorf("the engine's node was still opening its streams when it was told to stop: %w",
				context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// Ready waits until the node belongs to a majority that agrees on a leader, so streams can be
// created and written, or until ctx ends.
func (n *Node) Ready(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		status := n.server.Healthz(&server.HealthzOptions{JSMetaOnly: true})
		if status.Error == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			remedy := "restart the node, and if that does not help, wipe it and let it join anew"
			if !n.single && n.server.NumRoutes() == 0 {
				remedy = "no other node is reached: start the nodes of the other hosts, and open their port between " +
					"the hosts"
			}
			return fmt.Errorf("the engine's node is not ready: %s; %s", status.Error, remedy)
		case <-tick.C:
		}
	}
}

// Administrator connects this process to the node as a user with all rights in the gateways' account, for
// example to create streams. Nobody else can be that user, because its key is created when the node starts
// and only accepted within the process.
func (n *Node) Administrator(options ...nats.Option) (*nats.Conn, error) {
	public, err := n.admin.PublicKey()
	if err != nil {
		return nil, err
	}
	all := []nats.Option{nats.InProcessServer(n.server), nats.Nkey(public, n.admin.Sign)}
	return nats.Connect("", append(all, options...)...)
}

// SetMembers changes which gateways may connect, and the addresses of the other nodes. It disconnects
// gateways and nodes that may no longer connect, so Options.TLS must reflect the change before the call. A
// node that has peers keeps at least one.
func (n *Node) SetMembers(members []stock.Member, peers []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.options
	o.Members, o.Peers = members, peers
	if n.single != (len(peers) == 0) {
		return errors.New("the engine's node keeps the gateways that it knows: it cannot become one of several, " +
			"or one alone")
	}
	if err := o.Check(); err != nil {
		return err
	}
	options, err := serverOptions(o, n.admin)
	if err != nil {
		return err
	}
	if err := n.server.ReloadOptions(options); err != nil {
		return fmt.Errorf("the engine's node keeps the gateways that it knows: %w", err)
	}
	for _, peer := range n.options.Peers {
		if !slices.Contains(peers, peer) {
			n.former = append(n.former, peer)
		}
	}
	n.options = o
	n.guests.review()
	return nil
}

// Expel closes the routes to nodes that [Node.SetMembers] has removed. It misses a route that the
// node was still creating, so the caller should repeat it from time to time.
func (n *Node) Expel() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	routes, err := n.server.Routez(nil)
	if err != nil || len(n.former) == 0 {
		return err
	}
	stranger := func(r *server.RouteInfo) bool {
		known := func(m stock.Member) bool { return m.Gateway == r.RemoteName }
		return r.RemoteName != "" && !slices.ContainsFunc(n.options.Members, known)
	}
	if !slices.ContainsFunc(routes.Routes, stranger) {
		return nil
	}
	// The server closes the routes to a peer that is removed.
	with := n.options
	for _, peer := range n.former {
		if !slices.Contains(with.Peers, peer) {
			with.Peers = append(slices.Clip(with.Peers), peer)
		}
	}
	for _, o := range []Options{with, n.options} {
		options, err := serverOptions(o, n.admin)
		if err != nil {
			return err
		}
		if err := n.server.ReloadOptions(options); err != nil {
			return err
		}
	}
	return nil
}

// Health returns nil if all streams of the node are current and its disk can be written (facts J4,
// J23).
func (n *Node) Health() error {
	if status := n.server.Healthz(nil); status.Error != "" {
		return errors.New(status.Error)
	}
	return nil
}

// URL returns the URL at which a gateway on this machine connects.
func (n *Node) URL() string {
	scheme := "nats"
	if n.tls {
		scheme = "tls"
	}
	u, err := url.Parse(n.server.ClientURL())
	if err != nil { // not in the form that the server generates
		return n.server.ClientURL()
	}
	u.Scheme = scheme
	return u.String()
}

// Port returns the port that clients connect to.
func (n *Node) Port() int {
	u, err := url.Parse(n.server.ClientURL())
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port()) // generated by the server
	return port
}

// ClusterPort returns the port that other nodes connect to, or 0 if there is none.
func (n *Node) ClusterPort() int {
	if address := n.server.ClusterAddr(); address != nil {
		return address.Port
	}
	return 0
}

// LeadsCluster reports whether the node leads the cluster. If it does, nodes is the number of nodes that it
// knows.
func (n *Node) LeadsCluster() (leads bool, nodes int) {
	if n.single {
		return true, 1
	}
	return n.server.JetStreamIsLeader(), len(n.server.JetStreamClusterPeers())
}

// LeadsStream reports whether the node leads the stream with the given name.
func (n *Node) LeadsStream(name string) bool {
	if n.single {
		return n.server.Healthz(&server.HealthzOptions{Account: stock.Account, Stream: name}).Error == ""
	}
	return n.server.JetStreamIsStreamLeader(stock.Account, name)
}

// Close hands over leadership, ends the node and waits until its files are closed. It may be called
// more than once.
func (n *Node) Close() {
	n.once.Do(func() {
		n.started.Wait() // a server that is shut down before it has started would continue to start and never end
		n.server.Shutdown()
		n.server.WaitForShutdown()
		n.folder.release()
	})
}
