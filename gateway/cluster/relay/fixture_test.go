package relay

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/store"
)

// patience is how long a test waits for an event that must occur. It is not a promise about speed.
const patience = 3 * time.Minute

const tick = 5 * time.Millisecond

// certificates holds the certificates of a cluster's gateways.
type certificates struct {
	t         testing.TB
	authority *trust.Authority
	pool      *x509.CertPool
	own       map[string]tls.Certificate
}

func newCertificates(t testing.TB, names ...string) *certificates {
	t.Helper()
	authority, err := trust.New("corp", time.Now())
	require.NoError(t, err)
	c := &certificates{t: t, authority: authority, pool: x509.NewCertPool(), own: map[string]tls.Certificate{}}
	c.pool.AddCert(authority.Certificate())
	for _, name := range names {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		der, err := authority.Issue(name, &key.PublicKey)
		require.NoError(t, err)
		c.own[name] = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return c
}

func (c *certificates) server(name string) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{c.own[name]}, ClientCAs: c.pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}
}

// client returns the function TLS of [Options].
func (c *certificates) client(name string) func(string) *tls.Config {
	return func(gateway string) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{c.own[name]}, RootCAs: c.pool,
			ServerName: trust.DNSName("corp", gateway), MinVersion: tls.VersionTLS13,
		}
	}
}

// serve serves a handler on the hop listener of a gateway, and returns a function that ends it.
func (c *certificates) serve(
	name string, l net.Listener, leader hop.Leader, handler http.Handler,
) (end func()) {
	c.t.Helper()
	server, err := hop.NewServer(&hop.Receiver{
		Gateway: name, Leader: leader, Next: http.NotFoundHandler(),
		Peer:   func(tls.ConnectionState) (string, bool) { return "another", true },
		Beside: map[string]http.Handler{Path: handler},
	}, c.server(name))
	require.NoError(c.t, err)
	server.ErrorLog = log.New(io.Discard, "", 0)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.ServeTLS(l, "", "") }()
	return sync.OnceFunc(func() {
		_ = server.Close()
		<-ended
	})
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// chosen is a [hop.Leader] that a test sets.
type chosen struct {
	mu            sync.Mutex
	name, address string
	term          uint64
	changed       chan struct{}
}

func (c *chosen) Leader() (name, address string, term uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name, c.address, c.term, c.name != ""
}

func (c *chosen) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *chosen) elect(name, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name, c.address = name, address
	c.term++
	close(c.changed)
	c.changed = make(chan struct{})
}

// pair is a leading gateway, gw1, and a following one, gw2, without the election.
type pair struct {
	t            testing.TB
	now          func() time.Time
	certificates *certificates
	leading      *store.File
	following    *store.File
	leader       *chosen // as gw2 knows the leader
	handler      *Handler
	address      string      // address of gw1
	certain      atomic.Bool // gw1 is certain to lead
	journal      *copier
	folder       string
	store        *Store // store of gw2
	end          func()
}

// copier is the appender of the leader's file. It applies each batch to the follower's file.
type copier struct {
	mu    sync.Mutex
	at    store.Point
	fails func() error // if nil, nothing fails
	each  chan stored
}

type stored struct {
	batch []byte
	at    store.Point
	time  time.Time
}

func (c *copier) Append(_ context.Context, batch []byte, at time.Time) (store.Point, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails != nil {
		if err := c.fails(); err != nil {
			return store.Point{}, err
		}
	}
	c.at.Sequence++
	c.each <- stored{append([]byte(nil), batch...), c.at, at}
	return c.at, nil
}

func (c *copier) fail(fails func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = fails
}

func newPair(t testing.TB, folder string, now func() time.Time, wrap func(http.Handler) http.Handler) *pair {
	t.Helper()
	open := func(name string) *store.File {
		file, _, err := store.Open(store.Options{Path: filepath.Join(folder, name), Now: now, Follows: true})
		require.NoError(t, err)
		return file
	}
	first := open("gw1")
	require.NoError(t, first.Close())
	require.NoError(t, copyFile(filepath.Join(folder, "gw1"), filepath.Join(folder, "gw2")))
	p := &pair{
		t: t, now: now, folder: folder, certificates: newCertificates(t, "gw1", "gw2", "gw3"),
		leading: open("gw1"), following: open("gw2"), leader: &chosen{changed: make(chan struct{})},
	}
	p.certain.Store(true)
	journal := &copier{each: make(chan stored, 1<<16), at: store.Point{Journal: "j"}}
	p.journal = journal
	p.leading.Lead(journal)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for s := range journal.each {
			err := p.following.ApplyBatch(context.Background(), s.batch, s.at, s.time)
			if !errors.Is(err, store.ErrClosed) {
				assert.NoError(t, err)
			}
		}
	}()
	l := listen(t)
	p.address = l.Addr().String()
	p.leader.elect("gw1", p.address)
	self := &chosen{name: "gw1", term: 1, changed: make(chan struct{})}
	p.handler = &Handler{File: func() *store.File { return p.leading }, Leader: self, Leads: p.certain.Load}
	var handler http.Handler = p.handler
	if wrap != nil {
		handler = wrap(handler)
	}
	end := p.certificates.serve("gw1", l, self, handler)
	p.store = New(Options{
		File: func() *store.File { return p.following }, Gateway: "gw2", Leader: p.leader,
		Leads: func() bool { return false }, TLS: p.certificates.client("gw2"),
	})
	p.end = sync.OnceFunc(func() {
		assert.NoError(t, p.store.Close())
		end()
		assert.NoError(t, p.leading.Close())
		close(journal.each)
		<-ended
		assert.NoError(t, p.following.Close())
	})
	return p
}

// client returns the client of a command on gw2's host.
func (p *pair) client(gateways ...Gateway) *Client {
	p.t.Helper()
	if len(gateways) == 0 {
		gateways = []Gateway{{"gw1", p.address}}
	}
	c, err := NewClient(p.t.Context(), ClientOptions{Gateways: gateways, TLS: p.certificates.client("gw2")})
	require.NoError(p.t, err)
	return c
}
