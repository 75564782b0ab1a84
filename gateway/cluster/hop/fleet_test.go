package hop

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/clustertest"
)

// network connects by pipes, which neither delay nor buffer anything.
type network struct {
	mutex     sync.Mutex
	listeners map[string]*listener
	wrap      func(address string, c net.Conn) net.Conn // wraps a dialed connection; may be nil
}

type listener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

func (n *network) listen(address string) net.Listener {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	l := &listener{accepted: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[address] = l
	return l
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mutex.Lock()
	l, wrap := n.listeners[address], n.wrap
	n.mutex.Unlock()
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	near, far := net.Pipe()
	select {
	case l.accepted <- far:
	case <-l.closed:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if wrap != nil {
		near = wrap(address, near)
	}
	return near, nil
}

// chosen is a [Leader] that a test sets.
type chosen struct {
	mutex         sync.Mutex
	name, address string
	term          uint64
	known         bool
	changed       chan struct{}
}

func (c *chosen) Leader() (string, string, uint64, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.name, c.address, c.term, c.known
}

func (c *chosen) Changed() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.changed
}

// elect lets a gateway lead in the next term. If name is empty, no leader is known.
func (c *chosen) elect(name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.name, c.address, c.known = name, addressOf(name), name != ""
	if c.known {
		c.term++
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// tell signals a change, as each entry of the log does.
func (c *chosen) tell() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

func addressOf(name string) string { return name + ".example:8444" }

// fleet is a cluster whose gateways agree on the leader, unless a test changes that. It needs the
// clock of a synctest bubble.
type fleet struct {
	t       testing.TB
	ca      *clustertest.Authority
	network *network
	leader  *chosen

	// options, if set, changes the options of an edge's forwarder.
	options func(*Options)
}

func newFleet(t testing.TB) *fleet {
	// If both ends of a pipe are closed at once, each waits for the other to read its TLS close message.
	t.Cleanup(func() { time.Sleep(time.Minute) })
	return &fleet{
		t: t, ca: clustertest.NewAuthority(t), network: &network{listeners: map[string]*listener{}},
		leader: &chosen{changed: make(chan struct{})},
	}
}

var silent = log.New(io.Discard, "", 0)

// nobody is the Peer function of a gateway with an empty list.
func nobody(tls.ConnectionState) (string, bool) { return "", false }

// members is a Peer function that accepts the gateways on the list.
func members(s tls.ConnectionState) (string, bool) {
	name := s.PeerCertificates[0].DNSNames[0]
	return name, name != "removed"
}

// gateway starts the hop listener of a gateway.
func (f *fleet) gateway(name string, next http.HandlerFunc) *Server {
	return f.serve(&Receiver{Gateway: name, Leader: f.leader, Peer: members, Next: next}, f.ca.Settings(name))
}

func (f *fleet) serve(receiver *Receiver, settings *tls.Config) *Server {
	f.t.Helper()
	server, err := NewServer(receiver, settings)
	require.NoError(f.t, err)
	server.ErrorLog = silent
	l := f.network.listen(addressOf(receiver.Gateway))
	go func() { _ = server.ServeTLS(l, "", "") }()
	f.t.Cleanup(func() { _ = server.Close() })
	return server
}

// edge is a gateway with a public listener that forwards all calls.
type edge struct {
	client    *http.Client
	forwarder *Forwarder
	limit     time.Duration
	origin    Origin
	here      http.HandlerFunc // handles calls that are not forwarded

	mutex    sync.Mutex
	seen     []string // calls of Observe
	failures []Failure
}

const edgeURL = "http://edge.example"

func (f *fleet) edge() *edge { return f.edgeNamed("edge") }

func (f *fleet) edgeNamed(name string) *edge {
	f.t.Helper()
	e := &edge{
		limit:  time.Minute,
		origin: Origin{Client: netip.MustParseAddr("2001:db8::7"), Scheme: "https", RequestID: "r-1"},
	}
	options := Options{
		Gateway: name, Leader: f.leader, TLS: f.ca.Client(name), Waiting: 10,
		Observe: func(_ *http.Request, outcome Outcome, gateway string) { e.note(string(outcome) + " " + gateway) },
	}
	if f.options != nil {
		f.options(&options)
	}
	forwarder := NewForwarder(options)
	forwarder.dial, e.forwarder = f.network.dial, forwarder
	server := &http.Server{Handler: http.HandlerFunc(e.serve), ErrorLog: silent}
	l := f.network.listen(name + ".example:80")
	go func() { _ = server.Serve(l) }()
	transport := &http.Transport{DialContext: f.network.dial, DisableCompression: true,
		ExpectContinueTimeout: time.Hour}
	e.client = &http.Client{Transport: transport}
	f.t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		forwarder.Close()
	})
	return e
}

func (e *edge) serve(w http.ResponseWriter, r *http.Request) {
	Clean(r.Header)
	w.Header().Set("X-Request-Id", "of the edge")
	w.Header().Set("Etag", `"of the edge"`)
	here, failure := e.forwarder.Forward(w, r, e.origin, e.limit)
	switch {
	case here:
		e.here(w, r)
	case failure != nil:
		e.fail(w, failure)
	}
}

func (e *edge) fail(w http.ResponseWriter, failure *Failure) {
	e.mutex.Lock()
	e.failures = append(e.failures, *failure)
	e.mutex.Unlock()
	if failure.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(failure.RetryAfter.Seconds())))
	}
	status := map[Outcome]int{NotLeader: http.StatusServiceUnavailable,
		Unknown: http.StatusGatewayTimeout}[failure.Outcome]
	http.Error(w, string(failure.Outcome), status)
}

func (e *edge) note(what string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.seen = append(e.seen, what)
}

// observed returns the calls of Observe.
func (e *edge) observed() []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.seen
}

// request returns a request to the edge.
func request(t testing.TB, method, path string, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, edgeURL+path, body)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// answer is an answer with its whole body.
type answer struct {
	*http.Response
	body string
	err  error // error of reading the body
}

// do makes a call and reads its answer.
func (e *edge) do(t testing.TB, r *http.Request) answer {
	t.Helper()
	res, err := e.client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res, string(body), err}
}
