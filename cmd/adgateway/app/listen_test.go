package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
)

func TestUnencryptedOnlyOnLoopback(t *testing.T) {
	for name, c := range map[string]struct {
		overrides []string
		rejected  bool
	}{
		"loopback":               {[]string{"http.listen=127.0.0.1:0"}, false},
		"another loopback":       {[]string{"http.listen=127.0.0.9:0"}, false},
		"by name":                {[]string{"http.listen=localhost:0"}, false},
		"every address":          {[]string{"http.listen=0.0.0.0:0"}, true},
		"no host":                {[]string{"http.listen=:0"}, true},
		"every address, allowed": {[]string{"http.listen=0.0.0.0:0", "http.allowUnencrypted=true"}, false},
		"every address, TLS":     {[]string{"http.listen=0.0.0.0:0", "tls.certificateFile=c", "tls.keyFile=k"}, false},
		"CAs are no TLS":         {[]string{"http.listen=0.0.0.0:0", "tls.clientCAFile=c"}, true},
	} {
		settings, err := configtest.Load("", nil, c.overrides)
		require.NoError(t, err)
		listener, err := app.Listen(t.Context(), settings)
		if err == nil {
			require.NoError(t, listener.Close())
		}
		assert.Equal(t, c.rejected, err != nil, "%s: %v", name, err)
		checked := app.Check(t.Context(), settings, nil)
		assert.Equal(t, c.rejected, checked != nil && strings.Contains(checked.Error(), "http.listen"),
			"%s: it is known before listening: %v", name, checked)
		if c.rejected {
			for _, text := range []string{"http.listen", "tls.certificateFile", "127.0.0.1", "http.allowUnencrypted"} {
				assert.ErrorContains(t, err, text)
			}
		}
	}
}

// certificateFile writes a self-signed certificate with its key.
func certificateFile(t *testing.T, name string, usage x509.ExtKeyUsage) (file string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{"Example"}},
		DNSNames:  []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(20 * 24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, BasicConstraintsValid: true, IsCA: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})...)
	file = filepath.Join(t.TempDir(), "both.pem")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	pair, err = tls.X509KeyPair(text, text)
	require.NoError(t, err)
	return file, pair
}

func TestTLSWithClientCertificate(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	server, serverPair := certificateFile(t, "gw.corp.example", x509.ExtKeyUsageServerAuth)
	authorities, clientPair := certificateFile(t, "portal", x509.ExtKeyUsageClientAuth)
	settings, err := configtest.Load("", nil, []string{
		"http.listen=127.0.0.1:0", "tls.certificateFile=" + server, "tls.keyFile=" + server,
		"tls.clientCAFile=" + authorities, "tls.minVersion=1.3"})
	require.NoError(t, err)
	assert.Equal(t, "https", app.Scheme(settings))
	world, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddCertificate("CN=portal, O=Example",
		&identity.Principal{Name: "portal", Scopes: []identity.Scope{identity.OpsRead}}))
	log := logrus.New()
	log.SetOutput(io.Discard)
	s, err := app.New(ctx, app.Options{
		Settings: settings, Auth: static, Log: log, Engine: "sandbox", Dial: world.Dial,
		Session: func(ps.Lane) session.Config { return session.Config{Starter: world.Starter()} },
	})
	require.NoError(t, err)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		assert.NoError(t, s.Close(ctx))
	}()
	listener, err := app.Listen(t.Context(), settings)
	require.NoError(t, err)
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Gateway.Run(serving, listener) }()

	trusted := x509.NewCertPool()
	trusted.AddCert(serverPair.Leaf)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "gw.corp.example",
		Certificates: []tls.Certificate{clientPair}}}
	get := func(path string) string {
		answer, err := (&http.Client{Transport: transport, Timeout: patience}).Get("https://" +
			listener.Addr().String() + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(body)
	}
	assert.Contains(t, get("/readyz"), `{"name":"certificate","ok":true`)
	assert.Contains(t, get("/metrics"), "\nadgateway_certificate_expires_timestamp_seconds ")
	assert.Contains(t, get("/metrics"), "\nadgateway_check_ok{check=\"certificate\"} 1\n")
	assert.Contains(t, get("/api/OU/All"), "the scope 'ou:read'", "the certificate is accepted")
	transport.CloseIdleConnections()
	stop()
	assert.NoError(t, <-ended)
}

func TestNewFailsWithABadCertificate(t *testing.T) {
	settings, err := configtest.Load("", nil,
		[]string{"tls.certificateFile=no-such.pem", "tls.keyFile=no-such.pem"})
	require.NoError(t, err)
	s, err := app.New(t.Context(), app.Options{Settings: settings, Log: logrus.New()})
	require.ErrorContains(t, err, "tls.certificateFile")
	assert.Nil(t, s)
}
