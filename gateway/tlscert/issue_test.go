package tlscert_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/tlscert"
)

var gatewayNames = []string{"gw.corp.example", "gw", "10.20.0.5", "fd00::5"}

func TestSelfSignedIsServed(t *testing.T) {
	certificate, key, err := tlscert.SelfSigned(gatewayNames, 30, time.Now())
	require.NoError(t, err)
	f := newFolder(t)
	k, err := tlscert.New(tlscert.Options{Settings: tlscert.Settings{CertificateFile: f.write("gw.pem",
		string(certificate)), KeyFile: f.write("gw.key", string(key))}, Log: func(tlscert.Notice, string) {}})
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().AddDate(0, 0, 30), k.Expires(), time.Minute)

	block, _ := pem.Decode(certificate)
	leaf, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	for _, name := range gatewayNames {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		assert.NoError(t, err, name)
	}
	assert.False(t, leaf.IsCA)
	assert.Equal(t, gatewayNames, tlscert.Names(leaf))
}

func TestRequestNamesTheTemplate(t *testing.T) {
	for _, template := range []string{"WebServer", "Größe", ""} {
		request, key, err := tlscert.Request(gatewayNames, template)
		require.NoError(t, err)
		block, rest := pem.Decode(request)
		require.Empty(t, rest)
		parsed, err := x509.ParseCertificateRequest(block.Bytes)
		require.NoError(t, err)
		require.NoError(t, parsed.CheckSignature())
		assert.Equal(t, []string{"gw.corp.example", "gw"}, parsed.DNSNames)
		assert.Len(t, parsed.IPAddresses, 2)
		at := slices.IndexFunc(parsed.Extensions,
			func(e pkix.Extension) bool { return e.Id.String() == "1.3.6.1.4.1.311.20.2" })
		assert.Equal(t, template != "", at >= 0)
		if at >= 0 {
			var name string
			_, err := asn1.Unmarshal(parsed.Extensions[at].Value, &name)
			require.NoError(t, err)
			assert.Equal(t, template, name)
		}
		assert.Contains(t, string(key), "BEGIN PRIVATE KEY")
	}
}

func TestWhatIsNotIssued(t *testing.T) {
	for name, names := range map[string][]string{
		"none": nil, "empty": {""}, "blank": {"a b"}, "URL": {"https://gw"}, "two dots": {"gw..corp"}, "hyphen": {"-gw"}, "label": {strings.Repeat("a", 64)},
		"long": {strings.Repeat("abcdefgh.", 29)}, "wildcard inside": {"gw.*.corp"}, "zone": {"fe80::1%eth0"}, "letters": {"gw.größe"},
	} {
		_, _, err := tlscert.SelfSigned(names, 30, today)
		assert.Error(t, err, name)
		_, _, err = tlscert.Request(names, "")
		assert.Error(t, err, name)
	}
	for _, days := range []int{-1, 0, 398} {
		_, _, err := tlscert.SelfSigned(gatewayNames, days, today)
		assert.ErrorContains(t, err, "397")
	}
}

func TestImport(t *testing.T) {
	root := issued(t, "root", nil, authority)
	issuing := issued(t, "issuing", root, authority)
	server := issued(t, "gw.corp.example", issuing, nil)
	bundle := func(all ...*identity) []byte {
		var raw []byte
		for _, i := range all {
			raw = append(raw, i.Raw...)
		}
		data, err := pkcs7.DegenerateCertificate(raw)
		require.NoError(t, err)
		return data
	}
	text := func(all ...*identity) []byte {
		var out []byte
		for _, i := range all {
			out = append(out, i.pem()...)
		}
		return out
	}
	whole := string(text(server, issuing))
	names := []string{"gw", "gw.corp.example"}
	for name, c := range map[string]struct {
		files [][]byte
		key   *identity
		names []string
		want  string // chain, or part of the error
	}{
		"PEM":                  {[][]byte{text(server, issuing)}, server, names, whole},
		"wrong order and root": {[][]byte{text(root, issuing, server)}, server, names, whole},
		"DER and its chain":    {[][]byte{server.Raw, issuing.Raw}, server, names, whole},
		"PKCS #7":              {[][]byte{bundle(root, server, issuing)}, server, names, whole},
		"PKCS #7 in PEM":       {[][]byte{pem.EncodeToMemory(&pem.Block{Type: "PKCS7", Bytes: bundle(server, issuing)})}, server, names, whole},
		"no chain":             {[][]byte{server.Raw}, server, nil, string(text(server))},
		"the key of another":   {[][]byte{text(server, issuing)}, root, names, "the key belongs to none of the certificates"},
		"another name":         {[][]byte{text(server)}, server, []string{"www.corp.example"}, "is for gw.corp.example, not for www.corp.example"},
		"nothing":              {[][]byte{[]byte("\n")}, server, names, "contains no certificate"},
		"a request":            {[][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("x")})}, server, names, "contains no certificate"},
		"broken":               {[][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Raw[:99]})}, server, names, "x509"},
	} {
		t.Run(name, func(t *testing.T) {
			chain, leaf, err := tlscert.Import(c.files, []byte(c.key.keyPEM(t)), c.names, today)
			if err != nil {
				assert.ErrorContains(t, err, c.want)
				return
			}
			assert.Equal(t, c.want, string(chain))
			assert.True(t, leaf.Equal(server.Certificate))
		})
	}
	for name, change := range map[string]func(*x509.Certificate){
		"expired":       func(c *x509.Certificate) { c.NotAfter = today.AddDate(0, 0, -1) },
		"not valid yet": func(c *x509.Certificate) { c.NotBefore = today.AddDate(0, 0, 1) },
		"for clients":   func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
	} {
		bad := issued(t, "gw", issuing, change)
		_, _, err := tlscert.Import([][]byte{bad.Raw}, []byte(bad.keyPEM(t)), nil, today)
		assert.Error(t, err, name)
	}
	_, _, err := tlscert.Import([][]byte{server.Raw}, []byte("no key"), nil, today)
	assert.ErrorContains(t, err, "no private key")
}

// TestImportOfDERThatEndsInWhiteSpace: the last byte of a signature may have the value of a whitespace
// character, and must be kept.
func TestImportOfDERThatEndsInWhiteSpace(t *testing.T) {
	root := issued(t, "root", nil, authority)
	server := issued(t, "gw", root, nil)
	for n := 0; !strings.ContainsRune(" \t\r\n", rune(server.Raw[len(server.Raw)-1])); n++ {
		require.Less(t, n, 10_000)
		server = issued(t, "gw", root, nil)
	}
	_, leaf, err := tlscert.Import([][]byte{server.Raw}, []byte(server.keyPEM(t)), nil, today)
	require.NoError(t, err)
	assert.True(t, leaf.Equal(server.Certificate))
}

// FuzzImport: the answer of an authority is either imported as certificates, the first of which
// belongs to the key, or refused.
func FuzzImport(f *testing.F) {
	root := issued(f, "root", nil, authority)
	server := issued(f, "gw", root, nil)
	key := []byte(server.keyPEM(f))
	bundle, err := pkcs7.DegenerateCertificate(slices.Concat(server.Raw, root.Raw))
	require.NoError(f, err)
	for _, seed := range [][]byte{server.Raw, []byte(server.pem() + root.pem()), bundle,
		pem.EncodeToMemory(&pem.Block{Type: "PKCS7", Bytes: bundle}), []byte("-----BEGIN"), {0x30, 0x80}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		chain, leaf, err := tlscert.Import([][]byte{content}, key, nil, today)
		if err != nil {
			return
		}
		assert.True(t, leaf.Equal(server.Certificate), "no other has the key")
		block, _ := pem.Decode(chain)
		assert.Equal(t, server.Raw, block.Bytes)
	})
}

// TestImportOfAnswersFromElsewhere: a certificate that OpenSSL signed is imported as it was
// received.
func TestImportOfAnswersFromElsewhere(t *testing.T) {
	for _, file := range []string{"answer.p7b", "answer.pem.p7b"} {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		key, err := os.ReadFile(filepath.Join("testdata", "answer.key"))
		require.NoError(t, err)
		chain, leaf, err := tlscert.Import([][]byte{content}, key, []string{"gw.corp.example"},
			time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
		require.NoError(t, err, file)
		assert.Equal(t, "CN=gw.corp.example", leaf.Subject.String())
		assert.Equal(t, 2, strings.Count(string(chain), "BEGIN"), "the root is left out")
	}
}
