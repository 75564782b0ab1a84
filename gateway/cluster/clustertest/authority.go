package clustertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority is the CA of a cluster.
type Authority struct {
	t           testing.TB
	key         *ecdsa.PrivateKey
	Certificate *x509.Certificate
	Pool        *x509.CertPool // of its certificate
}

// NewAuthority returns an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &Authority{t: t, key: key, Pool: x509.NewCertPool()}
	a.Certificate = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "cluster"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, key)
	a.Pool.AddCert(a.Certificate)
	return a
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Now().AddDate(-2, 0, 0), time.Now().AddDate(18, 0, 0)
	parent := a.Certificate
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return certificate
}

// Settings returns the hop's TLS settings of a gateway, for both directions.
func (a *Authority) Settings(name string) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	leaf := a.sign(&x509.Certificate{
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key)
	own := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	return &tls.Config{
		Certificates: []tls.Certificate{own}, RootCAs: a.Pool, ClientCAs: a.Pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}
}

// Client returns the settings for a gateway that connects to another one.
func (a *Authority) Client(name string) func(gateway string) *tls.Config {
	own := a.Settings(name)
	return func(gateway string) *tls.Config {
		settings := own.Clone()
		settings.ServerName = gateway
		return settings
	}
}
