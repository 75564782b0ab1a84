package tlscert_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"software.sslmate.com/src/go-pkcs12"

	"adgateway/gateway/tlscert"
)

const patience = 3 * time.Minute

var today = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// identity is a certificate with its key.
type identity struct {
	*x509.Certificate
	key crypto.Signer
}

// issued returns a certificate for 2026, signed by an issuer or self-signed. change may modify the
// template.
func issued(t testing.TB, name string, issuer *identity, change func(*x509.Certificate)) *identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return issuedFor(t, key, name, issuer, change)
}

func issuedFor(
	t testing.TB, key crypto.Signer, name string, issuer *identity, change func(*x509.Certificate),
) *identity {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: today.AddDate(0, -2, 0), NotAfter: today.AddDate(0, 10, 0),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.Certificate, issuer.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &identity{certificate, key}
}

func authority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
}

func (i *identity) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Raw}))
}

func (i *identity) keyPEM(t testing.TB) string {
	raw, err := x509.MarshalPKCS8PrivateKey(i.key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// folder is a folder with the files named in settings.
type folder struct {
	t    testing.TB
	path string
}

func newFolder(t testing.TB) folder { return folder{t, t.TempDir()} }

func (f folder) write(name, content string) string {
	path := filepath.Join(f.path, name)
	require.NoError(f.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// journal records the messages of a keeper.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(n tlscert.Notice, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n != tlscert.Taken {
		message = "WARNING " + message
	}
	j.lines = append(j.lines, message)
}

// take returns the messages since the last call.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := strings.Join(j.lines, "\n")
	j.lines = nil
	return all
}

func keeper(t testing.TB, s tlscert.Settings) (*tlscert.Keeper, error) {
	t.Helper()
	return tlscert.New(tlscert.Options{Settings: s, Log: (&journal{}).add,
		Now: func() time.Time { return today }})
}

// served connects to a listener with a configuration and returns the state of the connection.
func served(t testing.TB, config *tls.Config, client *tls.Config) tls.ConnectionState {
	t.Helper()
	state, err := handshake(t, config, client)
	require.NoError(t, err)
	return state
}

func handshake(t testing.TB, config, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	server := tls.Server(there, config)
	ended := make(chan error, 1)
	go func() {
		err := server.HandshakeContext(ctx)
		there.Close()
		ended <- err
	}()
	client = client.Clone()
	client.InsecureSkipVerify = true // the tests check the served certificate themselves
	connection := tls.Client(here, client)
	err := connection.HandshakeContext(ctx)
	_, _ = connection.Read(make([]byte, 1)) // with TLS 1.3 the server rejects the client at this point
	return connection.ConnectionState(), errors.Join(err, <-ended)
}

func TestEverySourceServesItsChain(t *testing.T) {
	root := issued(t, "Root", nil, authority)
	middle := issued(t, "Middle", root, authority)
	server := issued(t, "gw.corp.example", middle, nil)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	rsaServer := issuedFor(t, rsaKey, "gw.corp.example", middle, nil)
	f := newFolder(t)
	pfx := func(i *identity, password string) string {
		content, err := pkcs12.Modern.Encode(i.key, i.Certificate,
			[]*x509.Certificate{root.Certificate, middle.Certificate}, password)
		require.NoError(t, err)
		return f.write(password+".pfx", string(content))
	}
	both := f.write("both.pem", server.keyPEM(t)+server.pem()+middle.pem())
	const password = "pässword"
	utf16 := "\xff\xfe"
	for _, r := range password + "\r\n" {
		utf16 += string([]byte{byte(r), byte(r >> 8)})
	}
	for name, s := range map[string]tlscert.Settings{
		"PEM":                      {CertificateFile: f.write("c.pem", server.pem()+middle.pem()), KeyFile: f.write("k.pem", server.keyPEM(t))},
		"PEM in one file":          {CertificateFile: both, KeyFile: both},
		"PFX":                      {PFXFile: pfx(server, password), PFXPasswordFile: f.write("p.txt", password+"\n")},
		"PFX, RSA":                 {PFXFile: pfx(rsaServer, password), PFXPasswordFile: f.write("p.txt", password)},
		"PFX, password in UTF-16":  {PFXFile: pfx(server, password), PFXPasswordFile: f.write("p16.txt", utf16)},
		"PFX, password with a BOM": {PFXFile: pfx(server, password), PFXPasswordFile: f.write("p8.txt", "\ufeff"+password+"\r\n")},
		"PFX without password":     {PFXFile: pfx(server, "")},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := keeper(t, s)
			require.NoError(t, err)
			got := served(t, k.Config(), &tls.Config{NextProtos: []string{"h2"}})
			require.Len(t, got.PeerCertificates, 2, "the root is not sent")
			assert.Equal(t, "gw.corp.example", got.PeerCertificates[0].Subject.CommonName)
			assert.Equal(t, "Middle", got.PeerCertificates[1].Subject.CommonName)
			assert.Equal(t, "h2", got.NegotiatedProtocol)
			ok, reason := k.State()
			assert.True(t, ok)
			assert.Empty(t, reason)
			assert.Equal(t, server.NotAfter, k.Expires())
		})
	}
}

func TestOldTLSVersionsAreRejected(t *testing.T) {
	f, server := newFolder(t), issued(t, "gw", nil, nil)
	s := tlscert.Settings{CertificateFile: f.write("c.pem", server.pem()),
		KeyFile: f.write("k.pem", server.keyPEM(t))}
	for _, c := range []struct {
		least, offered uint16
		ok             bool
	}{{0, tls.VersionTLS11, false}, {0, tls.VersionTLS12, true}, {0, tls.VersionTLS13, true},
		{tls.VersionTLS13, tls.VersionTLS12, false}} {
		s.MinVersion = c.least
		k, err := keeper(t, s)
		require.NoError(t, err)
		_, err = handshake(t, k.Config(), &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: c.offered})
		assert.Equal(t, c.ok, err == nil, "%+v: %v", c, err)
	}
}

func TestNewRejects(t *testing.T) {
	f := newFolder(t)
	server, other := issued(t, "gw", nil, nil), issued(t, "other", nil, nil)
	expired := issued(t, "gw", nil, func(c *x509.Certificate) { c.NotAfter = today.Add(-time.Hour) })
	future := issued(t, "gw", nil, func(c *x509.Certificate) { c.NotBefore = today.Add(time.Hour) })
	client := issued(t, "gw", nil,
		func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	key, certificate := f.write("k.pem", server.keyPEM(t)), f.write("c.pem", server.pem())
	pfx, err := pkcs12.Modern.Encode(server.key, server.Certificate, nil, "right")
	require.NoError(t, err)
	pfxFile := f.write("c.pfx", string(pfx))
	trust, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{server.Certificate}, "right")
	require.NoError(t, err)
	password := f.write("p.txt", "right")
	pair := func(i *identity) tlscert.Settings {
		return tlscert.Settings{CertificateFile: f.write(i.SerialNumber.String(), i.pem()),
			KeyFile: f.write(i.SerialNumber.String()+".key", i.keyPEM(t))}
	}
	for name, c := range map[string]struct {
		settings tlscert.Settings
		says     []string
	}{
		"nothing":                  {tlscert.Settings{}, []string{"no certificate is set"}},
		"certificate without key":  {tlscert.Settings{CertificateFile: certificate}, []string{"set tls.keyFile"}},
		"key without certificate":  {tlscert.Settings{KeyFile: key}, []string{"set tls.certificateFile"}},
		"CAs without certificate":  {tlscert.Settings{ClientCAFile: certificate}, []string{"tls.clientCAFile", "no certificate of its own"}},
		"two sources":              {tlscert.Settings{CertificateFile: certificate, KeyFile: key, PFXFile: pfxFile}, []string{"tls.certificateFile and tls.pfxFile", "keep one"}},
		"missing certificate":      {tlscert.Settings{CertificateFile: "no-such.pem", KeyFile: key}, []string{"tls.certificateFile", "no-such.pem"}},
		"missing key":              {tlscert.Settings{CertificateFile: certificate, KeyFile: "no-such.pem"}, []string{"tls.keyFile", "no-such.pem"}},
		"empty certificate":        {tlscert.Settings{CertificateFile: f.write("e.pem", ""), KeyFile: key}, []string{"e.pem", "no certificate in PEM form"}},
		"damaged certificate":      {tlscert.Settings{CertificateFile: f.write("d.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), KeyFile: key}, []string{"d.pem", "certificate 1 is damaged"}},
		"no key in the key's file": {tlscert.Settings{CertificateFile: certificate, KeyFile: certificate}, []string{"tls.keyFile", "contains no private key"}},
		"key of another":           {tlscert.Settings{CertificateFile: certificate, KeyFile: f.write("o.pem", other.keyPEM(t))}, []string{"o.pem", "does not match", "c.pem", "CN=gw"}},
		"encrypted key":            {tlscert.Settings{CertificateFile: certificate, KeyFile: f.write("x.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")}, []string{"x.pem", "is encrypted", "openssl pkey", "tls.pfxPasswordFile"}},
		"encrypted old key":        {tlscert.Settings{CertificateFile: certificate, KeyFile: f.write("y.pem", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n")}, []string{"is encrypted"}},
		"expired":                  {pair(expired), []string{"CN=gw", "expired at 2026-03-01T11:00:00Z", "renew"}},
		"not yet valid":            {pair(future), []string{"not valid before 2026-03-01T13:00:00Z", "clock"}},
		"for clients":              {pair(client), []string{"server authentication"}},
		"wrong PFX password":       {tlscert.Settings{PFXFile: pfxFile, PFXPasswordFile: f.write("w.txt", "wrong-one")}, []string{"c.pfx", "w.txt", "does not open it"}},
		"PFX password missing":     {tlscert.Settings{PFXFile: pfxFile}, []string{"c.pfx", "has a password", "set tls.pfxPasswordFile"}},
		"PFX password of two":      {tlscert.Settings{PFXFile: pfxFile, PFXPasswordFile: f.write("2.txt", "wrong-one\nwrong-one\n")}, []string{"2.txt", "more than one line"}},
		"PFX without key":          {tlscert.Settings{PFXFile: f.write("t.pfx", string(trust)), PFXPasswordFile: password}, []string{"t.pfx", "with its private key"}},
		"PFX that is none":         {tlscert.Settings{PFXFile: certificate, PFXPasswordFile: password}, []string{"c.pem is PEM, not a PFX", "tls.certificateFile"}},
		"PFX of junk":              {tlscert.Settings{PFXFile: f.write("j.pfx", "junk"), PFXPasswordFile: password}, []string{"j.pfx", "cannot be read"}},
		"missing PFX":              {tlscert.Settings{PFXFile: "no-such.pfx"}, []string{"tls.pfxFile", "no-such.pfx"}},
		"missing password file":    {tlscert.Settings{PFXFile: pfxFile, PFXPasswordFile: "no-such.txt"}, []string{"tls.pfxPasswordFile", "no-such.txt"}},
		"missing client CAs":       {tlscert.Settings{CertificateFile: certificate, KeyFile: key, ClientCAFile: "no-such.pem"}, []string{"tls.clientCAFile", "no-such.pem"}},
		"empty client CAs":         {tlscert.Settings{CertificateFile: certificate, KeyFile: key, ClientCAFile: key}, []string{"tls.clientCAFile", "no certificate in PEM form"}},
		"no store here":            {tlscert.Settings{StoreSubject: "gw"}, []string{"tls.storeSubject", "only Windows", "tls.certificateFile"}},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := keeper(t, c.settings)
			require.Error(t, err)
			assert.Nil(t, k)
			for _, text := range c.says {
				assert.ErrorContains(t, err, text)
			}
			assert.NotContains(t, err.Error(), "wrong-one")
		})
	}
}

func TestRefresh(t *testing.T) {
	f, now := newFolder(t), today
	first, second := issued(t, "first", nil, nil), issued(t, "second", nil, nil)
	var log journal
	certificate, key := f.write("c.pem", first.pem()), f.write("k.pem", first.keyPEM(t))
	k, err := tlscert.New(tlscert.Options{
		Settings: tlscert.Settings{CertificateFile: certificate, KeyFile: key},
		Log:      log.add, Now: func() time.Time { return now },
	})
	require.NoError(t, err)
	assert.Contains(t, log.take(),
		"serving TLS with the certificate CN=first ("+tlscert.Thumbprint(first.Certificate)+")")
	config := k.Config()
	name := func() string {
		return served(t, config, &tls.Config{}).PeerCertificates[0].Subject.CommonName
	}

	k.Refresh()
	assert.Empty(t, log.take(), "nothing has changed")

	f.write("c.pem", second.pem())
	k.Refresh()
	assert.Contains(t, log.take(),
		"WARNING the changed certificate is rejected, the previous one is still served: tls.keyFile "+key+
			" does not match")
	assert.Equal(t, "first", name(), "served on")
	ok, reason := k.State()
	assert.True(t, ok)
	assert.Contains(t, reason, "the changed certificate is not taken: tls.keyFile")
	k.Refresh()
	assert.Empty(t, log.take(), "it is logged once")

	f.write("k.pem", second.keyPEM(t))
	k.Refresh()
	assert.Contains(t, log.take(), "CN=second")
	assert.Equal(t, "second", name())
	_, reason = k.State()
	assert.Empty(t, reason)

	require.NoError(t, os.Remove(key))
	k.Refresh()
	assert.Contains(t, log.take(), "WARNING the changed certificate is rejected")
	assert.Equal(t, "second", name())

	f.write("k.pem", second.keyPEM(t))
	k.Refresh()
	assert.Contains(t, log.take(), "CN=second")

	now = second.NotAfter.AddDate(0, 0, -29)
	k.Refresh()
	assert.Contains(t, log.take(), "WARNING the certificate expires in 29 days, at 2027-01-01T12:00:00Z")
	now = now.Add(time.Hour)
	k.Refresh()
	assert.Empty(t, log.take(), "once a day")
	now = second.NotAfter.Add(time.Second)
	k.Refresh()
	assert.Contains(t, log.take(), "WARNING the certificate expired at")
	ok, reason = k.State()
	assert.False(t, ok)
	assert.Contains(t, reason, "put a new one in its place")
	assert.Equal(t, "second", name(), "it is still served: a client may decide to accept it")
}

func TestRunRefreshes(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	f := newFolder(t)
	first, second := issued(t, "first", nil, nil), issued(t, "second", nil, nil)
	both := f.write("c.pem", first.pem()+first.keyPEM(t))
	k, err := tlscert.New(tlscert.Options{
		Settings: tlscert.Settings{CertificateFile: both, KeyFile: both},
		Log:      (&journal{}).add, Now: func() time.Time { return today }, Every: time.Millisecond,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx)
	}()
	config := k.Config()
	f.write("c.pem", second.pem()+second.keyPEM(t))
	assert.Eventually(t, func() bool {
		return served(t, config, &tls.Config{}).PeerCertificates[0].Subject.CommonName == "second"
	}, patience, time.Millisecond)
	stop()
	<-ended
}

func TestClientCertificates(t *testing.T) {
	f := newFolder(t)
	forClients := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	// Handshakes use the real time.
	lasting := func(more func(*x509.Certificate)) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
			more(c)
		}
	}
	root, strange := issued(t, "Clients", nil, lasting(authority)), issued(t, "Strange", nil, lasting(authority))
	server := issued(t, "gw", nil, nil)
	both := f.write("c.pem", server.pem()+server.keyPEM(t))
	s := tlscert.Settings{CertificateFile: both, KeyFile: both, ClientCAFile: f.write("ca.pem", root.pem())}
	for name, c := range map[string]struct {
		client             *identity
		optional, required bool
	}{
		"none":             {nil, true, false},
		"of the CA":        {issued(t, "portal", root, lasting(forClients)), true, true},
		"of another CA":    {issued(t, "portal", strange, lasting(forClients)), false, false},
		"of a server":      {issued(t, "portal", root, lasting(func(*x509.Certificate) {})), false, false},
		"expired":          {issued(t, "portal", root, func(c *x509.Certificate) { forClients(c); c.NotAfter = time.Now().Add(-time.Hour) }), false, false},
		"signed by itself": {issued(t, "portal", nil, lasting(forClients)), false, false},
	} {
		for _, required := range []bool{false, true} {
			s.RequireClientCertificates = required
			k, err := keeper(t, s)
			require.NoError(t, err)
			client := &tls.Config{}
			if c.client != nil {
				client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return &tls.Certificate{Certificate: [][]byte{c.client.Raw}, PrivateKey: c.client.key}, nil
				}
			}
			want := c.optional
			if required {
				want = c.required
			}
			_, err = handshake(t, k.Config(), client)
			assert.Equal(t, want, err == nil, "%s, required %t: %v", name, required, err)
		}
	}

	// A client whose CA was removed cannot resume an old session.
	s.RequireClientCertificates = true
	k, err := keeper(t, s)
	require.NoError(t, err)
	config, portal := k.Config(), issued(t, "portal", root, lasting(forClients))
	client := &tls.Config{
		ClientSessionCache: tls.NewLRUClientSessionCache(4), ServerName: "gw",
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: [][]byte{portal.Raw}, PrivateKey: portal.key}, nil
		},
	}
	served(t, config, client)
	f.write("ca.pem", strange.pem())
	k.Refresh()
	_, err = handshake(t, config, client)
	assert.Error(t, err)
}

// fakeStore is a certificate store in memory.
type fakeStore struct {
	personal, intermediate []*x509.Certificate
	keys                   map[string]crypto.Signer
	err                    error
}

func (s *fakeStore) Certificates(store string) ([]*x509.Certificate, error) {
	switch store {
	case tlscert.PersonalStore:
		return s.personal, s.err
	case tlscert.IntermediateStore:
		return s.intermediate, nil
	}
	return nil, fmt.Errorf("no store %s", store)
}

func (s *fakeStore) Key(c *x509.Certificate) (crypto.Signer, error) {
	key, ok := s.keys[tlscert.Thumbprint(c)]
	if !ok {
		return nil, errors.New("keyset does not exist")
	}
	return key, nil
}

func newStore(all ...*identity) *fakeStore {
	s := &fakeStore{keys: map[string]crypto.Signer{}}
	for _, one := range all {
		s.personal = append(s.personal, one.Certificate)
		s.keys[tlscert.Thumbprint(one.Certificate)] = one.key
	}
	return s
}

func TestCertificateFromTheStore(t *testing.T) {
	root := issued(t, "Root", nil, authority)
	middle := issued(t, "Middle", root, authority)
	until := func(months int) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.NotAfter = today.AddDate(0, months, 0) }
	}
	short, long := issued(t, "gw.corp.example", middle, until(1)), issued(t, "gw.corp.example", middle, until(8))
	later := issued(t, "gw.corp.example", middle, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = today.AddDate(0, 1, 0), today.AddDate(2, 0, 0)
	})
	forClients := issued(t, "gw.corp.example", middle, func(c *x509.Certificate) {
		c.NotAfter, c.ExtKeyUsage = today.AddDate(3, 0, 0), []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	byName := issued(t, "Management", middle,
		func(c *x509.Certificate) { c.DNSNames = []string{"alt.corp.example"} })
	keyless := issued(t, "keyless", middle, nil)
	wrong := issued(t, "wrong", middle, nil)
	store := newStore(short, later, forClients, long, byName, keyless, wrong)
	store.intermediate = []*x509.Certificate{root.Certificate, middle.Certificate}
	delete(store.keys, tlscert.Thumbprint(keyless.Certificate))
	store.keys[tlscert.Thumbprint(wrong.Certificate)] = short.key

	thumbprint := tlscert.Thumbprint(short.Certificate)
	spaced := "\u200e" + strings.ToLower(thumbprint[:2]+" "+thumbprint[2:])
	for name, c := range map[string]struct {
		settings tlscert.Settings
		want     *identity
		says     []string
	}{
		"thumbprint":            {tlscert.Settings{StoreThumbprint: thumbprint}, short, nil},
		"thumbprint as copied":  {tlscert.Settings{StoreThumbprint: spaced}, short, nil},
		"subject: the longest":  {tlscert.Settings{StoreSubject: "GW.corp.example"}, long, nil},
		"DNS name":              {tlscert.Settings{StoreSubject: "alt.corp.example"}, byName, nil},
		"no thumbprint":         {tlscert.Settings{StoreThumbprint: "abc"}, nil, []string{"tls.storeThumbprint", "40 hexadecimal digits"}},
		"unknown thumbprint":    {tlscert.Settings{StoreThumbprint: strings.Repeat("0", 40)}, nil, []string{`Cert:\LocalMachine\My has no certificate 0000`}},
		"unknown subject":       {tlscert.Settings{StoreSubject: "corp.example"}, nil, []string{"has no certificate for 'corp.example'"}},
		"no key, or not for us": {tlscert.Settings{StoreSubject: "keyless"}, nil, []string{"keyset does not exist", "Manage Private Keys"}},
		"another's key":         {tlscert.Settings{StoreSubject: "wrong"}, nil, []string{"belongs to another certificate"}},
		"not yet valid":         {tlscert.Settings{StoreThumbprint: tlscert.Thumbprint(later.Certificate)}, nil, []string{"not valid before"}},
		"both":                  {tlscert.Settings{StoreThumbprint: thumbprint, StoreSubject: "x"}, nil, []string{"tls.storeThumbprint and tls.storeSubject"}},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := tlscert.New(tlscert.Options{Settings: c.settings, Store: store, Log: (&journal{}).add,
				Now: func() time.Time { return today }})
			if c.want == nil {
				require.Error(t, err)
				for _, text := range c.says {
					assert.ErrorContains(t, err, text)
				}
				return
			}
			require.NoError(t, err)
			got := served(t, k.Config(), &tls.Config{}).PeerCertificates
			assert.Equal(t, c.want.Raw, got[0].Raw)
			assert.Len(t, got, 2)
		})
	}

	store.err = errors.New("access is denied")
	_, err := tlscert.New(tlscert.Options{Settings: tlscert.Settings{StoreSubject: "x"}, Store: store})
	assert.ErrorContains(t, err, "the certificate store cannot be read: access is denied")
}

func TestRenewedCertificateInTheStore(t *testing.T) {
	old := issued(t, "gw", nil, nil)
	renewed := issued(t, "gw", nil, func(c *x509.Certificate) { c.NotAfter = today.AddDate(1, 0, 0) })
	store := newStore(old)
	k, err := tlscert.New(tlscert.Options{Settings: tlscert.Settings{StoreSubject: "gw"}, Store: store,
		Log: (&journal{}).add, Now: func() time.Time { return today }})
	require.NoError(t, err)
	config := k.Config()
	store.personal = append(store.personal, renewed.Certificate)
	k.Refresh()
	assert.Equal(t, old.NotAfter, k.Expires(), "its key does not exist yet")
	store.keys[tlscert.Thumbprint(renewed.Certificate)] = renewed.key
	k.Refresh()
	assert.Equal(t, renewed.NotAfter, k.Expires(), "a source that failed is retried")
	assert.Equal(t, renewed.Raw, served(t, config, &tls.Config{}).PeerCertificates[0].Raw)
}
