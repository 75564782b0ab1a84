package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/program"
)

// answered returns an authority's answer to a request, in DER format.
func answered(t *testing.T, requestFile string) []byte {
	t.Helper()
	text, err := os.ReadFile(requestFile)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	request, err := x509.ParseCertificateRequest(block.Bytes)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "corp CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true,
		BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject: request.Subject, DNSNames: request.DNSNames, IPAddresses: request.IPAddresses,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 90),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, request.PublicKey, key)
	require.NoError(t, err)
	return raw
}

// serving serves the files of a folder over TLS and returns the address.
func serving(t *testing.T, folder string) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "gw.pem"), filepath.Join(folder, "gw.key"))
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, connection)
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}

// A gateway gets a first certificate, and an authority renews it.
func TestCertificateOfTheGateway(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	tlsRun := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := runCommand(t, append([]string{"tls"}, args...)...)
		require.Equal(t, want, code, "%s%s", stdout, stderr)
		return stdout, stderr
	}
	written := func(args ...string) (w certificateFiles) {
		t.Helper()
		stdout, _ := tlsRun(0, append(args, "--json")...)
		require.NoError(t, json.Unmarshal([]byte(stdout), &w))
		return w
	}
	const name = "--name=gw.corp.example"

	_, stderr := tlsRun(1, "show")
	assert.Contains(t, stderr, "tls selfsigned")
	first := written("selfsigned", name, "--out", folder)
	_, stderr = tlsRun(1, "selfsigned", "--out", folder)
	assert.Contains(t, stderr, "--force")
	_, stderr = tlsRun(1, "selfsigned", "--name=a b", "--force", "--out", folder)
	assert.Contains(t, stderr, "neither a DNS name")
	for _, file := range []string{first.Certificate, first.Key} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.True(t, filepath.IsAbs(file))
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
	}
	settings := []string{"--set", "tls.certificateFile=" + first.Certificate, "--set",
		"tls.keyFile=" + first.Key, "--set", "http.listen=" + serving(t, folder)}
	stdout, _ := tlsRun(0, append([]string{"show"}, settings...)...)
	assert.Contains(t, stdout, "this certificate")
	assert.Contains(t, stdout, first.SHA256)

	request := written("request", name, "--out", folder)
	_, stderr = tlsRun(1, "request", "--out", folder)
	assert.Contains(t, stderr, "its answer has not been imported")
	answer := filepath.Join(t.TempDir(), "gw.cer")
	require.NoError(t, os.WriteFile(answer, answered(t, request.Request), 0o600))
	_, stderr = tlsRun(1, "import", answer, "--name=www.corp.example", "--out", folder)
	assert.Contains(t, stderr, "not for www.corp.example")
	_, stderr = tlsRun(1, "import", first.Certificate+".none", "--out", folder)
	assert.Contains(t, stderr, ".none")
	stdout, _ = tlsRun(0, append([]string{"show"}, settings...)...)
	assert.Contains(t, stdout, "this certificate", "what was refused changes nothing")

	renewed := written("import", answer, name, "--out", folder)
	assert.Equal(t, "CN=corp CA", renewed.Issuer)
	assert.Equal(t, renewed, written("import", answer, name, "--out", folder), "it may be repeated")
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	assert.Len(t, left, 2, "%q", left)
	stdout, _ = tlsRun(0, append([]string{"show", "--json"}, settings...)...)
	var shown shownCertificate
	require.NoError(t, json.Unmarshal([]byte(stdout), &shown))
	assert.Equal(t, renewed.SHA256, shown.Configured.SHA256)
	assert.Equal(t, first.SHA256, shown.Served.SHA256,
		"what is served is another one until the gateway takes the new one")

	_, stderr = tlsRun(1, "import", first.Certificate+".none")
	assert.True(t, strings.HasPrefix(stderr,
		"the folder of the files is "+program.DataDir()+"; --out names another one\n"), stderr)
	_, stderr = tlsRun(1, "import", first.Certificate, "--out", t.TempDir())
	assert.Contains(t, stderr, "there is no key")
	require.NoError(t, os.WriteFile(first.Key, []byte("broken"), 0o600))
	stdout, _ = tlsRun(1, append([]string{"show"}, settings...)...)
	assert.Contains(t, stdout, "cannot be used")
	tlsRun(1, "import", answer, "--out", folder)
}
