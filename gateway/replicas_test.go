package gateway_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/clustertest"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// replicaPatience is how long a test waits for an event that must occur. It is not a promise about
// speed.
const replicaPatience = time.Minute

// replicas are the gateways of a cluster within this process, over a log in memory. Calls are
// forwarded over TLS on loopback.
type replicas struct {
	t     *testing.T
	nodes *journaltest.Memory
	mail  *clustertest.Mail
	ca    *clustertest.Authority
	all   []*replicated

	working sync.WaitGroup // background work of the gateways
}

// replicated is one gateway of replicas. It can be started again after it was killed.
type replicated struct {
	*gateway.Server // the current process
	replica         *replica.Replica
	history         *changes.History

	name    string
	of      *replicas
	n       int
	path    string // path of its store file
	starts  int
	ahead   atomic.Int64 // nanoseconds that its clocks are ahead
	client  *journaltest.Client
	hop     *hopListener
	options func() (ps.Runner, func(*gateway.Options))
	kill    func() // ends its process like a power failure
}

// newReplicas starts gateways named gw1, gw2 and so on, with copies of an empty store. Gateway n runs its
// scripts with runner(n). newReplicas returns once a gateway leads.
func newReplicas(
	t *testing.T, n int, runner func(n int) ps.Runner, change func(n int, o *gateway.Options),
) *replicas {
	t.Helper()
	rs := &replicas{t: t, nodes: journaltest.NewMemory(), ca: clustertest.NewAuthority(t)}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("gw%d", i+1)
	}
	rs.mail = clustertest.NewMail(names...)
	t.Cleanup(rs.working.Wait)
	folder := t.TempDir()
	first, _, err := store.Open(store.Options{Path: filepath.Join(folder, "first")})
	require.NoError(t, err)
	require.NoError(t, first.Close())
	empty, err := os.ReadFile(filepath.Join(folder, "first"))
	require.NoError(t, err)
	for i := range n {
		r := &replicated{of: rs, n: i, name: names[i], client: rs.nodes.Client(), kill: func() {}}
		r.path = filepath.Join(folder, r.name)
		require.NoError(t, os.WriteFile(r.path, empty, 0o600))
		r.options = func() (ps.Runner, func(*gateway.Options)) {
			return runner(i), func(o *gateway.Options) {
				if change != nil {
					change(i, o)
				}
			}
		}
		rs.all = append(rs.all, r)
		t.Cleanup(func() { r.kill() })
	}
	for _, r := range rs.all {
		r.start()
	}
	rs.leader()
	return rs
}

func (rs *replicas) names() (names []string) {
	for _, r := range rs.all {
		names = append(names, r.name)
	}
	return names
}

// leader returns the leading gateway, once it is certain to lead and all running, connected
// gateways know it.
func (rs *replicas) leader() (leads *replicated) {
	rs.t.Helper()
	require.Eventually(rs.t, func() bool {
		leads = nil
		for _, r := range rs.all {
			if r.runs() && !rs.mail.IsCut(r.name) && r.Leads() {
				leads = r
			}
		}
		return leads != nil && rs.know(leads)
	}, replicaPatience, 5*time.Millisecond, "no gateway leads")
	return leads
}

// know reports whether all running, connected gateways know the leader.
func (rs *replicas) know(leader *replicated) bool {
	for _, r := range rs.all {
		if !r.runs() || rs.mail.IsCut(r.name) {
			continue
		}
		if name, _, _, ok := hop.Of(r.Member, r.name).Leader(); !ok || name != leader.name {
			return false
		}
	}
	return true
}

// others returns all gateways except one.
func (rs *replicas) others(than *replicated) (others []*replicated) {
	for _, r := range rs.all {
		if r != than {
			others = append(others, r)
		}
	}
	return others
}

// level waits until all running, connected gateways hold the same values.
func (rs *replicas) level() {
	rs.t.Helper()
	require.Eventually(rs.t, func() bool {
		digests := map[store.Hash]bool{}
		for _, r := range rs.all {
			if r.runs() && !rs.mail.IsCut(r.name) {
				_, digest, err := r.replica.File().Digest(rs.t.Context())
				assert.NoError(rs.t, err)
				digests[digest] = true
			}
		}
		return len(digests) == 1
	}, replicaPatience, 5*time.Millisecond, "their copies differ")
}

func (r *replicated) runs() bool { return r.replica != nil }

func (r *replicated) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

// cut separates the gateway from the log and from the other gateways' messages and calls.
func (r *replicated) cut() {
	r.of.mail.Cut(r.name, true)
	r.client.Cut()
	r.hop.refuse(true)
}

// mend undoes cut.
func (r *replicated) mend() {
	r.hop.refuse(false)
	r.client.Mend()
	r.of.mail.Cut(r.name, false)
}

// sleep moves the gateway's clocks forward, as if its host had been suspended.
func (r *replicated) sleep(d time.Duration) { r.ahead.Add(int64(d)) }

// start starts the gateway as a new process.
func (r *replicated) start() {
	t := r.of.t
	t.Helper()
	clock := store.NewClock(time.Time{}, store.ClockSources{})
	file, _, err := store.Open(store.Options{Path: r.path, Clock: clock, Follows: true})
	require.NoError(t, err)
	r.starts++
	r.hop = newHopListener(t)
	self := journal.Process{Gateway: r.name, Start: fmt.Sprint(r.name, "-", r.starts)}
	r.replica = replica.New(replica.Options{
		File: file, Stream: r.client, Journal: journaltest.Options(), Clock: clock,
		Member: cluster.Options{
			Self: self, Gateways: r.of.names(), Reads: store.Newest, Hop: r.hop.Addr().String(), Now: r.now,
			Wall:  r.now,
			Peers: r.of.mail.Peers(r.name), Formats: clustertest.NoFormats{}, SettleDelay: time.Millisecond,
		},
	})
	member := r.replica.Member()
	own := storetest.Seal(t, file)
	way := relay.New(relay.Options{
		File: r.replica.File, Gateway: r.name, Leader: hop.Of(member, r.name), TLS: r.of.ca.Client(r.name),
		Leads: func() bool { _, leads := member.Leads(); return leads },
	})
	r.history = changes.New(own, time.Hour, 1<<20)
	runner, change := r.options()
	leader := hop.Of(member, r.name)
	r.Server = harness.New(t, runner, func(o *gateway.Options) {
		o.Kept, o.History, o.Member, o.Policy.SettlePause = own, r.history, member, time.Millisecond
		o.Relay = own.Over(way)
		o.Hop = &hop.Options{Gateway: r.name, Leader: leader, TLS: r.of.ca.Client(r.name), Waiting: 20}
		change(o)
	})
	receiver := &hop.Receiver{Gateway: r.name, Leader: leader, Peer: peerName, Next: r.HopHandler()}
	receiver.Beside = map[string]http.Handler{relay.Path: &relay.Handler{
		File: r.replica.File, Leader: leader, Leads: func() bool { _, leads := member.Leads(); return leads },
	}}
	server, err := hop.NewServer(receiver, r.of.ca.Settings(r.name))
	require.NoError(t, err)
	server.ErrorLog = log.New(io.Discard, "", 0)
	go func() { _ = server.ServeTLS(r.hop, "", "") }()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	running, gateway := r.replica, r.Server
	go func() { defer close(ended); running.Run(ctx, gateway.Writer().Attempts()) }()
	r.of.working.Go(func() { gateway.RunMember(ctx) })
	r.kill = sync.OnceFunc(func() {
		_ = server.Close()
		_ = way.Close()
		cancel()
		<-ended
		harness.Stop(t, gateway)
		r.replica = nil
		assert.NoError(t, running.File().Close())
	})
}

// hopListener closes its connections, and each new one, while refuse is set.
type hopListener struct {
	net.Listener
	mu      sync.Mutex
	refuses bool
	open    []net.Conn
}

func newHopListener(t *testing.T) *hopListener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return &hopListener{Listener: l}
}

func (l *hopListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		refuses := l.refuses
		if !refuses {
			l.open = append(l.open, c)
		}
		l.mu.Unlock()
		if !refuses {
			return c, nil
		}
		_ = c.Close()
	}
}

func (l *hopListener) refuse(refuses bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses = refuses; refuses {
		for _, c := range l.open {
			_ = c.Close() // it may have been closed
		}
		l.open = nil
	}
}

func peerName(s tls.ConnectionState) (string, bool) { return s.PeerCertificates[0].DNSNames[0], true }
