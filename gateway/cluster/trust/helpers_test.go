package trust

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// clock is log time set by a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }
func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// faulty is a store in which a given number of changes fail, either before or after they are made.
type faulty struct {
	store.Store
	before, after int
}

var errFault = fmt.Errorf("%w: the test says so", store.ErrUnreachable)

func (f *faulty) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if f.before > 0 {
		f.before--
		return 0, errFault
	}
	revision, err := f.Store.Apply(ctx, changes...)
	if f.after > 0 {
		f.after--
		return 0, errFault
	}
	return revision, err
}

// cluster is a cluster with the gateway gw1, which lets others join.
type cluster struct {
	*Register
	clock  *clock
	store  *faulty
	secret []byte
	first  *Identity
	folder Folder
	served chan error // result of each join
	addr   string
}

func newKeyed(t *testing.T, db store.Store, secret []byte) *store.Sealed {
	t.Helper()
	key, err := store.NewKey(secret)
	require.NoError(t, err)
	sealed, err := store.Seal(db, key)
	require.NoError(t, err)
	return sealed
}

func newSecret() []byte {
	secret := make([]byte, store.KeyLength)
	_, _ = rand.Read(secret) // never fails
	return secret
}

func folder(t *testing.T) Folder { return Folder{Path: filepath.Join(t.TempDir(), "gateway")} }

func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	c := &cluster{clock: &clock{at: time.Now()}, store: &faulty{Store: store.NewMemory(nil)},
		secret: newSecret(), folder: folder(t), served: make(chan error, 100)}
	c.Register = NewRegister(newKeyed(t, c.store, c.secret), c.clock.now)
	var err error
	c.first, err = Create(t.Context(), c.Register, name, Member{Name: "gw1", Hosts: []string{"h1"}}, c.folder)
	require.NoError(t, err)
	return c
}

func (c *cluster) list(t *testing.T) func() Members {
	return func() Members {
		m, err := c.Members(t.Context())
		require.NoError(t, err)
		return m
	}
}

// serve lets gateways join on a listener until the test ends.
func (c *cluster) serve(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.addr = listener.Addr().String()
	config := c.first.AllowJoins(c.first.Server(c.list(t)))
	admission := &Admission{c.Register, c.secret}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				_, err := admission.Serve(t.Context(), tls.Server(conn, config))
				c.served <- err
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close(); all.Wait() })
}

func (c *cluster) invite(t *testing.T, gateway string) Invitation {
	t.Helper()
	i, err := c.Invite(t.Context(), gateway)
	require.NoError(t, err)
	i.Address = c.addr
	return i
}

func (c *cluster) join(t *testing.T, gateway string) (*Identity, Folder) {
	t.Helper()
	f := folder(t)
	id, err := Join(t.Context(), c.invite(t, gateway), Member{Hosts: []string{"h2"}, HopAddress: "h2:7443"}, f)
	require.NoError(t, err)
	return id, f
}

// connect performs a handshake between two sides, and returns the client's state and the error of
// each side.
func connect(t *testing.T, client, server *tls.Config) (seen tls.ConnectionState, ofClient, ofServer error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	left, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	right, err := listener.Accept()
	require.NoError(t, err)
	c, s := tls.Client(left, client), tls.Server(right, server)
	var all sync.WaitGroup
	all.Go(func() {
		ofServer = s.HandshakeContext(t.Context())
		if ofServer == nil {
			_, ofServer = s.Write([]byte{1})
		}
		_ = right.Close()
	})
	ofClient = c.HandshakeContext(t.Context())
	if ofClient == nil {
		_, ofClient = c.Read(make([]byte, 1)) // with TLS 1.3 a refusal arrives after the handshake
	}
	seen = c.ConnectionState()
	_ = left.Close()
	all.Wait()
	return seen, ofClient, ofServer
}

// certificate returns a certificate for a template, signed by a parent or by itself.
func certificate(t *testing.T, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	if template.SerialNumber == nil {
		template.SerialNumber = serial()
	}
	if template.NotBefore.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().AddDate(-3, 0, 0), time.Now().AddDate(30, 0, 0)
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func named(common string, names ...string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: common}, DNSNames: names,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
}

func decoded(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	secret, err := base64.StdEncoding.DecodeString(string(text[:len(text)-1]))
	require.NoError(t, err)
	return secret
}
