package trust

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhoMayConnect: certificates of all kinds are presented, each by a client and by a server. The side that
// refuses a certificate names its owner.
func TestWhoMayConnect(t *testing.T) {
	c, lab, twin := newCluster(t, "corp"), newCluster(t, "lab"), newCluster(t, "corp")
	c.serve(t)
	second, _ := c.join(t, "gw2")
	removed, _ := c.join(t, "gw3")
	renamed, _ := c.join(t, "gw4")
	require.NoError(t, c.Remove(t.Context(), "gw3"))
	require.NoError(t, c.Remove(t.Context(), "gw4"))
	c.join(t, "gw4")
	authority, err := c.authority(t.Context())
	require.NoError(t, err)

	company := certificate(t, &x509.Certificate{Subject: pkix.Name{CommonName: "Corp Issuing CA 1"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	companyKey := company.PrivateKey.(*ecdsa.PrivateKey)
	name := DNSName("corp", "gw2")
	forServers := named("gw2", name)
	forServers.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
	for what, try := range map[string]struct {
		shown  tls.Certificate
		reason string // empty if it may connect
	}{
		"another gateway":              {second.shown, ""},
		"the company's authority":      {certificate(t, named("gw2", name), company.Leaf, companyKey), `was signed by "CN=Corp Issuing CA 1", not by the authority of the cluster corp`},
		"self-signed":                  {certificate(t, named("gw2", name), nil, nil), "is self-signed"},
		"another cluster":              {lab.first.shown, `is of the cluster "lab", and this is the cluster corp`},
		"another cluster of that name": {twin.first.shown, "another cluster that is named corp, too"},
		"a removed gateway":            {removed.shown, "gateway gw3 is not on the list of the cluster corp"},
		"who had the name before":      {renamed.shown, "gateway gw4 shows another key than the one that it joined with"},
		"the authority itself":         {tls.Certificate{Certificate: [][]byte{authority.cert.Raw}, PrivateKey: authority.key, Leaf: authority.cert}, "names no gateway"},
		"two names":                    {certificate(t, named("gw2", name, DNSName("corp", "gw1")), authority.cert, authority.key), "names no gateway"},
		"a host's name":                {certificate(t, named("gw2", "www.corp.example"), authority.cert, authority.key), "not one that its gateways use"},
		"another use":                  {certificate(t, forServers, authority.cert, authority.key), "not one that its gateways use"},
		"a chain of ours behind it":    {tls.Certificate{Certificate: [][]byte{company.Certificate[0], second.shown.Certificate[0]}, PrivateKey: companyKey}, "is self-signed"},
	} {
		t.Run(what, func(t *testing.T) {
			show := &tls.Config{Certificates: []tls.Certificate{try.shown}, InsecureSkipVerify: true}
			_, ofClient, ofServer := connect(t, show, c.first.Server(c.list(t)))
			seen, ofDialer, _ := connect(t, c.first.Client(c.list(t), ""), show)
			if try.reason == "" {
				require.NoError(t, ofClient)
				require.NoError(t, ofServer)
				require.NoError(t, ofDialer)
				gateway, err := Listed(seen, c.list(t)())
				require.NoError(t, err)
				assert.Equal(t, "gw2", gateway)
				return
			}
			require.Error(t, ofClient)
			require.ErrorContains(t, ofServer, try.reason)
			require.ErrorContains(t, ofDialer, try.reason)
		})
	}
}

func TestHandshakes(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	second, _ := c.join(t, "gw2")
	server := c.first.Server(c.list(t))

	t.Run("without a certificate", func(t *testing.T) {
		_, _, ofServer := connect(t, &tls.Config{InsecureSkipVerify: true}, server)
		require.Error(t, ofServer)
	})
	t.Run("an older protocol", func(t *testing.T) {
		config := second.Client(c.list(t), "gw1")
		config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		_, _, ofServer := connect(t, config, server)
		require.ErrorContains(t, ofServer, "unsupported versions")
	})
	t.Run("another gateway than was called", func(t *testing.T) {
		_, ofClient, _ := connect(t, second.Client(c.list(t), "gw3"), server)
		require.ErrorContains(t, ofClient, "gateway gw3 was expected, and gw1 answered")
		_, ofClient, _ = connect(t, second.Client(c.list(t), "gw1"), server)
		require.NoError(t, ofClient)
	})
	t.Run("what crypto/tls verifies as well", func(t *testing.T) {
		strict := c.first.Server(c.list(t))
		strict.ClientAuth, strict.ClientCAs = tls.RequireAndVerifyClientCert, strict.RootCAs
		_, ofClient, ofServer := connect(t, second.Client(c.list(t), "gw1"), strict)
		require.NoError(t, errors.Join(ofClient, ofServer))
		client := second.Client(c.list(t), "gw1")
		client.InsecureSkipVerify, client.ServerName = false, DNSName("corp", "gw1")
		_, ofClient, ofServer = connect(t, client, strict)
		require.NoError(t, errors.Join(ofClient, ofServer))
		assert.Equal(t, checkedAt(c.first.authority), strict.Time(), "no clock")
		show := &tls.Config{Certificates: []tls.Certificate{newCluster(t, "lab").first.shown},
			InsecureSkipVerify: true}
		_, _, ofServer = connect(t, show, strict)
		require.Error(t, ofServer)
	})
	t.Run("a join is another protocol", func(t *testing.T) {
		joins := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{JoinProtocol}}
		_, _, ofServer := connect(t, joins, server)
		require.Error(t, ofServer, "not allowed")
		open := c.first.AllowJoins(c.first.Server(c.list(t)))
		seen, ofClient, _ := connect(t, joins, open)
		require.NoError(t, ofClient)
		assert.Equal(t, JoinProtocol, seen.NegotiatedProtocol, "so that nobody takes it for a gateway")
		_, _, ofServer = connect(t, &tls.Config{InsecureSkipVerify: true,
			NextProtos: []string{"http/1.1", JoinProtocol}}, open)
		require.Error(t, ofServer)
	})
	t.Run("who was removed is not listed on a connection from before", func(t *testing.T) {
		seen, _, _ := connect(t, c.first.Client(c.list(t), ""), second.Server(c.list(t)))
		_, err := Listed(seen, c.list(t)())
		require.NoError(t, err)
		require.NoError(t, c.Remove(t.Context(), "gw2"))
		_, err = Listed(seen, c.list(t)())
		require.ErrorContains(t, err, "gateway gw2 is not on the list")
		_, err = Listed(tls.ConnectionState{}, c.list(t)())
		require.Error(t, err)
	})
}

// TestNoClockEndsAConnection: neither side's wall clock matters, not even when an authority is
// created.
func TestNoClockEndsAConnection(t *testing.T) {
	const day = 24 * time.Hour
	for _, made := range []time.Duration{0, -3000 * day, 3000 * day} {
		c := newCluster(t, "corp")
		c.clock.add(made)
		c.store.Store = newMemory()
		c.folder = folder(t)
		var err error
		c.first, err = Create(t.Context(), c.Register, "corp", Member{Name: "gw1"}, c.folder)
		require.NoError(t, err)
		c.serve(t)
		second, _ := c.join(t, "gw2")
		for _, off := range []time.Duration{0, 400 * day, -400 * day, 40 * 365 * day} {
			wrong := func() time.Time { return time.Now().Add(off) }
			client, server := second.Client(c.list(t), "gw1"), c.first.Server(c.list(t))
			client.Time = wrong
			_, ofClient, ofServer := connect(t, client, server)
			require.NoError(t, ofClient)
			require.NoError(t, ofServer)
			client.Time, server.Time = nil, wrong
			_, ofClient, ofServer = connect(t, client, server)
			require.NoError(t, ofClient)
			require.NoError(t, ofServer)
		}
	}
}

func TestWhatAnAuthoritySigns(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a, err := New("corp", now)
	require.NoError(t, err)
	assert.Equal(t, now.AddDate(-2, 0, 0), a.cert.NotBefore)
	assert.Equal(t, now.AddDate(18, 0, 0), a.cert.NotAfter)
	_, err = New("Corp", now)
	require.ErrorContains(t, err, "not the name of a cluster")
	key := certificate(t, named("x"), nil, nil).PrivateKey.(*ecdsa.PrivateKey)
	_, err = a.Issue("gw.1", key.Public())
	require.ErrorContains(t, err, "not the name of a gateway")
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, err = a.Issue("gw1", other.Public())
	require.ErrorContains(t, err, "P-256")

	der, err := a.Issue("gw1", key.Public())
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	assert.Equal(t, []string{"gw1.corp.adgateway.internal"}, leaf.DNSNames)
	assert.Equal(t, a.cert.NotBefore, leaf.NotBefore)
	assert.Equal(t, a.cert.NotAfter, leaf.NotAfter)
	assert.False(t, leaf.IsCA)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: leaf.DNSNames[0], CurrentTime: now})
	require.NoError(t, err, "as any other program sees it")
}
