package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var signs = flag.Bool("sign", false,
	"sign an executable for Windows with a throw-away certificate (needs osslsigncode)")

// throwAway writes a code signing certificate that nobody trusts, and its key.
func throwAway(t *testing.T) (certificate, key string) {
	t.Helper()
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "throw-away"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(signer)
	require.NoError(t, err)
	certificate, key = filepath.Join(t.TempDir(), "c.pem"), filepath.Join(t.TempDir(), "k.pem")
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		0o600))
	return certificate, key
}

func TestSigning(t *testing.T) {
	none, err := newSigner("", "", "")
	require.NoError(t, err)
	content, err := none.sign(t.Context(), "x.exe", []byte("x"))
	require.NoError(t, err)
	assert.Equal(t, "x", string(content))
	_, err = newSigner("c.pem", "", "")
	assert.ErrorContains(t, err, "belong together")
	if !*signs {
		return
	}

	// make sign-check
	certificate, key := throwAway(t)
	s, err := newSigner(certificate, key, "")
	require.NoError(t, err)
	t.Chdir("../..")
	executable, err := build(t.Context(), gateway, target{"windows", "amd64"}, "v1.0.0")
	require.NoError(t, err)
	executable, err = withVersion(executable, gateway, "v1.0.0", stamp)
	require.NoError(t, err)
	signed, err := s.sign(t.Context(), "adgateway.exe", executable)
	require.NoError(t, err)
	assert.Greater(t, len(signed), len(executable))
	assert.Contains(t, string(signed), "throw-away")

	changed := bytes.Replace(signed, []byte("This program cannot be run in DOS mode"),
		[]byte("this program cannot be run in DOS mode"), 1)
	path := filepath.Join(t.TempDir(), "changed.exe")
	require.NoError(t, os.WriteFile(path, changed, 0o600))
	assert.Error(t, run(t.Context(), "verify", "-CAfile", certificate, "-in", path),
		"a changed byte breaks the signature")
	_, err = s.sign(t.Context(), "x.exe", []byte("no executable"))
	assert.Error(t, err)
	other, _ := throwAway(t)
	s.certificate = other
	_, err = s.sign(t.Context(), "adgateway.exe", executable)
	assert.Error(t, err, "the key of another certificate")
}
