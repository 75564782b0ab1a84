package tlscert_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/tlscert"
)

// TestRevokedClientCertificates: lists that revoke a certificate, belong to another authority, have
// expired, are missing, or are replaced while the gateway runs.
func TestRevokedClientCertificates(t *testing.T) {
	f := newFolder(t)
	lasting := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	ca := func(c *x509.Certificate) { lasting(c); authority(c); c.KeyUsage |= x509.KeyUsageCRLSign }
	forClients := func(c *x509.Certificate) { lasting(c); c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	root, impostor := issued(t, "Clients", nil, ca), issued(t, "Clients", nil, ca)
	between := issued(t, "Between", root, ca)
	portal, direct := issued(t, "portal", between, forClients), issued(t, "direct", root, forClients)
	list := func(by *identity, until time.Time, revoked ...*identity) string {
		template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: until}
		for _, one := range revoked {
			template.RevokedCertificateEntries = append(template.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: one.SerialNumber, RevocationTime: time.Now()})
		}
		der, err := x509.CreateRevocationList(rand.Reader, template, by.Certificate, by.key)
		require.NoError(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
	}
	server := issued(t, "gw", nil, lasting)
	both := f.write("c.pem", server.pem()+server.keyPEM(t))
	later, earlier := time.Now().Add(2*24*time.Hour), time.Now().Add(-time.Minute)
	s := tlscert.Settings{CertificateFile: both, KeyFile: both, ClientCAFile: f.write("ca.pem", root.pem()), ClientCRLFiles: []string{f.write("a.crl", list(root, later)+list(between, later))}}
	k, err := tlscert.New(tlscert.Options{Settings: s, Log: func(tlscert.Notice, string) {}})
	require.NoError(t, err)
	connects := func(client *identity, more ...*identity) bool {
		config := &tls.Config{}
		if client != nil {
			presented := &tls.Certificate{Certificate: [][]byte{client.Raw}, PrivateKey: client.key}
			for _, one := range more {
				presented.Certificate = append(presented.Certificate, one.Raw)
			}
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return presented, nil }
		}
		_, err := handshake(t, k.Config(), config)
		return err == nil
	}
	for _, c := range []struct {
		name, lists    string
		portal, direct bool
	}{
		{"nothing is revoked", list(root, later) + list(between, later), true, true},
		{"one is revoked", list(root, later) + list(between, later, portal), false, true},
		{"an authority is revoked", list(root, later, between) + list(between, later), false, true},
		{"revoked by another of the same name", list(root, later) + list(impostor, later, direct) + list(between, later), true, true},
		{"a list is missing", list(root, later), false, true},
		{"a list of another of the same name only", list(impostor, later) + list(between, later), false, false},
		{"a list has ended", list(root, earlier) + list(between, later), false, false},
		{"an ended list still revokes", list(root, earlier, direct) + list(root, later) + list(between, later), true, false},
		{"whole again", list(root, later) + list(between, later), true, true},
	} {
		f.write("a.crl", c.lists)
		k.Refresh()
		assert.Equal(t, c.portal, connects(portal, between), "portal: %s", c.name)
		assert.Equal(t, c.direct, connects(direct), "direct: %s", c.name)
		assert.True(t, connects(nil), "without a certificate: %s", c.name)
	}
	f.write("a.crl", list(root, time.Now().Add(time.Hour))+list(between, later))
	k.Refresh()
	ok, reason := k.State()
	assert.True(t, ok)
	assert.Contains(t, reason, "the revocation list of CN=Clients")
	f.write("a.crl", "damaged")
	k.Refresh()
	_, reason = k.State()
	assert.Contains(t, reason, "not a certificate revocation list")
	assert.True(t, connects(direct), "the previous lists stay in use")
	s.ClientCAFile = ""
	_, err = tlscert.New(tlscert.Options{Settings: s, Log: func(tlscert.Notice, string) {}})
	assert.ErrorContains(t, err, "set tls.clientCAFile too")
}

// watched is a connection that reports whether it was closed.
type watched struct {
	net.Conn
	closed atomic.Bool
}

func (w *watched) Close() error {
	w.closed.Store(true)
	return w.Conn.Close()
}

func (w *watched) Closed() bool { return w.closed.Load() }

// TestARevokedClientIsDisconnected: a client stays connected for as long as it likes, so its connection is
// closed when its certificate is revoked.
func TestARevokedClientIsDisconnected(t *testing.T) {
	f := newFolder(t)
	now := time.Now()
	lasting := func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(-time.Hour), now.Add(time.Hour) }
	root := issued(t, "Clients", nil, func(c *x509.Certificate) {
		lasting(c)
		authority(c)
		c.KeyUsage |= x509.KeyUsageCRLSign
	})
	forClients := func(c *x509.Certificate) {
		lasting(c)
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	portal, other := issued(t, "portal", root, forClients), issued(t, "other", root, forClients)
	list := func(revoked ...x509.RevocationListEntry) string {
		der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(1),
			ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(time.Hour), RevokedCertificateEntries: revoked},
			root.Certificate, root.key)
		require.NoError(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
	}
	server := issued(t, "gw", nil, lasting)
	both := f.write("c.pem", server.pem()+server.keyPEM(t))
	k, err := tlscert.New(tlscert.Options{Settings: tlscert.Settings{CertificateFile: both, KeyFile: both,
		ClientCAFile: f.write("ca.pem", root.pem()), ClientCRLFiles: []string{f.write("a.crl", list())}},
		Log: func(tlscert.Notice, string) {}, Now: func() time.Time { return now }})
	require.NoError(t, err)
	connect := func(client *identity) *watched {
		here, there := net.Pipe()
		t.Cleanup(func() { _ = here.Close() })
		w := &watched{Conn: there}
		t.Cleanup(func() { _ = w.Close() })
		config := &tls.Config{InsecureSkipVerify: true}
		if client != nil {
			config.Certificates = []tls.Certificate{{Certificate: [][]byte{client.Raw}, PrivateKey: client.key}}
		}
		ended := make(chan error, 1)
		go func() { ended <- tls.Client(here, config).HandshakeContext(t.Context()) }()
		require.NoError(t, tls.Server(w, k.Config()).HandshakeContext(t.Context()))
		require.NoError(t, <-ended)
		return w
	}
	revoked, stays, without := connect(portal), connect(other), connect(nil)
	k.Refresh()
	assert.Equal(t, []bool{false, false, false}, []bool{revoked.Closed(), stays.Closed(), without.Closed()})
	f.write("a.crl", list(x509.RevocationListEntry{SerialNumber: portal.SerialNumber, RevocationTime: now}))
	k.Refresh()
	assert.Equal(t, []bool{true, false, false}, []bool{revoked.Closed(), stays.Closed(), without.Closed()})
	now = now.Add(2 * time.Hour)
	k.Refresh()
	assert.Equal(t, []bool{true, false}, []bool{stays.Closed(), without.Closed()}, "the list has ended")
}

// TestSuitesWithCBCAreRefused: every suite known to Go is offered, one at a time.
func TestSuitesWithCBCAreRefused(t *testing.T) {
	f := newFolder(t)
	lasting := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	server := issued(t, "gw", nil, lasting)
	both := f.write("c.pem", server.pem()+server.keyPEM(t))
	k, err := tlscert.New(tlscert.Options{Settings: tlscert.Settings{CertificateFile: both, KeyFile: both}, Log: func(tlscert.Notice, string) {}})
	require.NoError(t, err)
	accepted := 0
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if !slices.Contains(suite.SupportedVersions, tls.VersionTLS12) {
			continue
		}
		_, err := handshake(t, k.Config(), &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}})
		if err == nil {
			accepted++
			assert.NotContains(t, suite.Name, "CBC")
			assert.Contains(t, suite.Name, "ECDHE_ECDSA") // the certificate's key type
		}
	}
	assert.Equal(t, 3, accepted)
}
