// Package peer runs the parts that a gateway needs to take part in its cluster: its copy of the
// store, the log in the nodes of the engine, the messages between gateways, and the listener for
// the other gateways.
package peer

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/beats"
	"adgateway/gateway/cluster/copies"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Options describe a gateway of a cluster. Fields are required unless their comments say otherwise.
type Options struct {
	Folder   trust.Folder
	Identity *trust.Identity // as read from the folder
	File     string          // path of the store file
	Listen   string          // address for the other gateways
	Wrapper  keyring.Wrapper // wrapper of the key ring in the store
	Format   int             // newest format that the gateway reads
	Erase    []store.Kind    // see [store.Options]
	Nodes    Nodes

	Waiting     int                             // calls that may wait for a leader at the same time
	SettleDelay time.Duration                   // see [cluster.Options]
	Lanes       func() []string                 // see [cluster.Options]; may be nil
	Clock       store.ClockSources              // clocks of log time; Agree is set by Open
	Note        func(message string, err error) // receives messages for administrators
}

// Gateway is a gateway's part of a cluster. The caller must call [Gateway.Close].
type Gateway struct {
	o       Options
	self    journal.Process
	alone   bool // the log has not begun, see grow.go
	clock   *store.Clock
	list    *trust.List
	ring    *keyring.Ring
	relay   *store.Sealed // nil if the log has not begun
	stream  *jetstream.Stream
	peers   *beats.Peers
	replica atomic.Pointer[replica.Replica]
	first   *store.File // the file, until there is a replica

	listener net.Listener
	server   *hop.Server
	running  sync.WaitGroup
	stop     context.CancelFunc
}

// firstFor is how long a new gateway waits for a copy of the store, and for the log. It cannot
// start without them.
const firstFor = 2 * time.Minute

// Open opens a gateway's part of its cluster. A gateway that has taken part before waits neither
// for the other gateways nor for the nodes. Values expire by the clock that [Gateway.Clock]
// returns. ctx only limits the opening.
func Open(ctx context.Context, o Options) (*Gateway, error) {
	list, err := o.Folder.List()
	if err != nil {
		return nil, err
	}
	g := &Gateway{o: o, list: list, self: journal.Process{Gateway: o.Identity.Gateway, Start: uuid.NewString()},
		stop: func() {}}
	if g.alone, err = o.Folder.Alone(); err != nil {
		return nil, err
	}
	sources := o.Clock
	sources.Agree = func() bool { r := g.replica.Load(); return r != nil && r.Member().Agree() }
	g.clock = store.NewClock(g.begin(), sources)
	first, cancel := context.WithTimeout(ctx, firstFor)
	defer cancel()
	if err = g.openFile(first); err == nil && !g.alone {
		err = g.openLog(first)
	}
	if err == nil {
		err = g.listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// begin returns the initial log time. A gateway that works alone uses its wall clock. In a cluster the
// initial log time is the time in the copy of the store, because the wall clock of this host may be wrong. A
// leader advances it when the members agree.
func (g *Gateway) begin() time.Time {
	if g.alone {
		return time.Time{} // the zero time means the wall clock
	}
	return time.Unix(0, 0)
}

// copyAgain is the pause before another gateway is asked for its store.
const copyAgain = time.Second

// openFile opens the copy of the store. A gateway that does not have one yet gets a copy from
// another gateway.
func (g *Gateway) openFile(ctx context.Context) (err error) {
	if g.first, err = g.open(); err != nil {
		return err
	}
	others := g.copying(g.others)
	for told := false; ; {
		there, err := keyring.Exists(ctx, g.first)
		if err != nil {
			return err
		}
		if there {
			break
		}
		file, err := others.Copy(ctx, g.first, func(context.Context, store.Point) error { return nil })
		switch g.first = file; {
		case err == nil:
			continue
		case file == nil:
			return err
		}
		if !told {
			g.o.Note("the store of the cluster cannot be copied yet from another gateway", err)
			told = true
		}
		select {
		case <-time.After(copyAgain):
		case <-ctx.Done():
			return err
		}
	}
	g.ring, err = keyring.Open(ctx, relay.NewLocal(g.File), g.o.Wrapper, g.o.Format)
	return err
}

// others returns the other gateways on the list that have stores to copy.
func (g *Gateway) others() (all []copies.Source) {
	for _, m := range g.Members().Gateways {
		if m.Name != g.self.Gateway && m.HopAddress != "" {
			all = append(all, copies.Source{Gateway: m.Name, Address: m.HopAddress})
		}
	}
	return all
}

func (g *Gateway) open() (*store.File, error) {
	file, aside, err := store.Open(store.Options{Path: g.o.File, Clock: g.clock, Follows: !g.alone,
		Erase: g.o.Erase})
	if aside != "" {
		g.o.Note("the copy of the store was damaged, and is replaced by the copy of another gateway",
			errors.New("it is now "+aside))
	}
	return file, err
}

// copying returns a client that copies the store of other gateways.
func (g *Gateway) copying(sources func() []copies.Source) *copies.Client {
	return &copies.Client{Path: g.o.File, Open: g.open, Sources: sources, TLS: g.client}
}

// connect connects to one of the nodes.
func (g *Gateway) connect(options ...nats.Option) (*nats.Conn, error) {
	return g.o.Nodes.connect(g.o.Identity, g.Members, options)
}

// client returns the settings for a connection to another gateway.
func (g *Gateway) client(gateway string) *tls.Config { return g.o.Identity.Client(g.Members, gateway) }

// openStream opens the log in the nodes. It waits for them only the first time.
func (g *Gateway) openStream(ctx context.Context) error {
	at := jetstream.Options{Cluster: g.o.Identity.Cluster, Connect: g.connect}
	text, err := os.ReadFile(g.o.Folder.LogFile())
	if err == nil {
		var known jetstream.Identity
		if err = json.Unmarshal(text, &known); err == nil {
			g.stream, err = jetstream.Resume(at, known)
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for fails := 0; ; fails++ {
		if g.stream, err = jetstream.Open(ctx, at); err == nil {
			break
		}
		if fails == 0 {
			g.o.Note("the log of the cluster cannot be opened yet", err)
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the log of the cluster %s cannot be opened: %w; start the nodes of most hosts",
				g.o.Identity.Cluster, err)
		}
	}
	text, err = json.Marshal(g.stream.Identity())
	if err != nil {
		return err
	}
	return atomicfile.Write(g.o.Folder.LogFile(), append(text, '\n'), g.o.Folder.Restrict)
}

// openLog connects the copy of the store, the log and the other gateways.
func (g *Gateway) openLog(ctx context.Context) error {
	err := g.openStream(ctx)
	if err != nil {
		return err
	}
	cipher := g.Store().Cipher()
	g.peers, err = beats.New(beats.Options{
		Cluster: g.o.Identity.Cluster, Self: g.self, Cipher: cipher, Connect: g.connect,
	})
	if err != nil {
		return err
	}
	own, _ := g.Members().Find(g.self.Gateway)
	copying := g.copying(func() []copies.Source { return copies.Sources(g.replica.Load().Member().Status()) })
	g.replica.Store(replica.New(replica.Options{
		File: g.first, Stream: g.stream, Journal: g.stream.Options(cipher), Clock: g.clock, Copy: copying.Copy,
		SetFormat: g.Store().SetFormat,
		Member: cluster.Options{
			Self: g.self, Gateways: g.Members().Joined(), Hop: own.HopAddress, Reads: g.o.Format, Peers: g.peers,
			Formats: replica.NewFormats(g.Store()), SettleDelay: g.o.SettleDelay, Lanes: g.o.Lanes,
			KeyVersion: g.ring.Version, Note: g.o.Note, Wall: g.o.Clock.Wall,
		},
	}))
	g.relay = g.Store().Over(relay.New(relay.Options{
		File: g.File, Gateway: g.self.Gateway, Leader: g.leader(), Leads: g.leads, TLS: g.client,
		Waiting: g.o.Waiting,
	}))
	return nil
}
