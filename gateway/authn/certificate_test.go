package authn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// subject returns a subject in DER. Its parts are in certificate order. A "+" joins the values of
// one part.
func subject(t testing.TB, parts ...string) []byte {
	t.Helper()
	types := map[string]asn1.ObjectIdentifier{"CN": {2, 5, 4, 3}, "O": {2, 5, 4, 10}, "OU": {2, 5, 4, 11},
		"C": {2, 5, 4, 6}}
	var sequence pkix.RDNSequence
	for _, part := range parts {
		var set pkix.RelativeDistinguishedNameSET
		for one := range strings.SplitSeq(part, "+") {
			name, value, _ := strings.Cut(one, "=")
			set = append(set, pkix.AttributeTypeAndValue{Type: types[name], Value: value})
		}
		sequence = append(sequence, set)
	}
	der, err := asn1.Marshal(sequence)
	require.NoError(t, err)
	return der
}

// notYet is a time at which certificates of tests end, long after the time of their stores.
var notYet = time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)

// chainOf returns the verified chain of a certificate with a subject, issued by a named authority.
func chainOf(t testing.TB, der []byte, issuer string, change func(*x509.Certificate)) [][]*x509.Certificate {
	t.Helper()
	create := func(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
		raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
		require.NoError(t, err)
		certificate, err := x509.ParseCertificate(raw)
		require.NoError(t, err)
		return certificate
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: issuer}, IsCA: true,
		BasicConstraintsValid: true, NotAfter: notYet}
	authority := create(root, root, authorityKey, authorityKey)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), RawSubject: der,
		NotAfter: notYet}
	if change != nil {
		change(template)
	}
	return [][]*x509.Certificate{{create(template, authority, key, authorityKey), authority}}
}

func withCertificates(t testing.TB, names map[string][2]string) *stored {
	return store(t, func(d *Document, now time.Time) {
		for name, of := range names {
			a := NewAccount(name, now, Rights{Scopes: []string{"ou:read"}, Networks: []string{"192.0.2.0/24"}})
			a.Subject, a.Issuer = of[0], of[1]
			d.Tokens = append(d.Tokens, a)
		}
	})
}

// TestASubjectStandsForExactlyOneCertificateName: subjects that a lossy text form would confuse are
// told apart.
func TestASubjectStandsForExactlyOneCertificateName(t *testing.T) {
	s := withCertificates(t, map[string][2]string{"portal": {"CN=portal, O=Example", ""}})
	own := NewStatic(Header{})
	require.NoError(t, own.AddCertificate("CN=portal,O=Example", &identity.Principal{Name: "portal"}))
	for _, source := range []Source{s.Store, own} {
		p, err := source.Authenticate(t.Context(),
			Credential{Chains: chainOf(t, subject(t, "O=Example", "CN=portal"), "CA", nil), Client: here})
		require.NoError(t, err)
		assert.Equal(t, "portal", p.Name)
		for _, parts := range [][]string{
			{"CN=portal", "O=Example"}, {"O=Example", "CN=PORTAL"}, {"O=Example", "CN=attacker", "CN=portal"}, {"O=Example+CN=portal"},
			{"O=Example", "CN=portal", "CN=attacker"}, {"O=Example", "OU=x", "CN=portal"}, {"O=Other", "O=Example", "CN=portal"},
			{"CN=portal"}, {"O=Example"}, {"O=Example", "CN=portal "}, {"O=Example", "CN=portal,O=Example"}, {"C=DE", "O=Example", "CN=portal"}, {},
		} {
			_, err := source.Authenticate(t.Context(),
				Credential{Chains: chainOf(t, subject(t, parts...), "CA", nil), Client: here})
			var refused *Refusal
			require.ErrorAs(t, err, &refused, "%v", parts)
			assert.Equal(t, schema.Unauthenticated, refused.Code)
			assert.Equal(t, needed, refused.Message)
			assert.Contains(t, refused.Reason, "sha256:", "the log says how to name it")
		}
	}
	_, err := s.byCertificate(chainOf(t, subject(t, "O=Example", "CN=portal"), "CA", nil),
		netip.MustParseAddr("10.0.0.1"))
	assert.ErrorAs(t, err, new(*Refusal), "its networks apply as well")
}

func TestWaysToNameACertificate(t *testing.T) {
	plain := chainOf(t, subject(t, "O=Example", "CN=portal"), "CA", func(c *x509.Certificate) {
		c.DNSNames, c.EmailAddresses = []string{"Portal.corp.example"}, []string{"Ops@Corp.example"}
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "corp.example", Path: "/portal"}}
	})
	several := chainOf(t, subject(t, "O=Example", "CN=portal+OU=x"), "CA", nil)
	other := chainOf(t, subject(t, "O=Example", "CN=portal"), "Another CA", nil)
	leaf := plain[0][0]
	for name, c := range map[string]struct {
		subject, issuer string
		accepted        [][][]*x509.Certificate
	}{
		"subject":               {"CN=portal,O=Example", "", [][][]*x509.Certificate{plain, other}},
		"subject, with types":   {"oid.2.5.4.3=portal,2.5.4.10=Example", "", [][][]*x509.Certificate{plain, other}},
		"subject, escaped":      {`cn=\70ortal,o=Exampl\65`, "", [][][]*x509.Certificate{plain, other}},
		"subject in DER":        {"der:" + hex.EncodeToString(leaf.RawSubject), "", [][][]*x509.Certificate{plain, other}},
		"several values in DER": {"der:" + hex.EncodeToString(several[0][0].RawSubject), "", [][][]*x509.Certificate{several}},
		"digest":                {"sha256:" + strings.ToUpper(digestHex(leaf)), "", [][][]*x509.Certificate{plain}},
		"DNS name":              {"dns:portal.CORP.example", "", [][][]*x509.Certificate{plain}},
		"URI":                   {"uri:spiffe://corp.example/portal", "", [][][]*x509.Certificate{plain}},
		"another URI":           {"uri:spiffe://corp.example/Portal", "", nil},
		"mail":                  {"email:Ops@corp.example", "", [][][]*x509.Certificate{plain}},
		"another mail":          {"email:ops@corp.example", "", nil},
		"issuer":                {"CN=portal,O=Example", "CN=CA", [][][]*x509.Certificate{plain}},
		"issuer by digest":      {"CN=portal,O=Example", "sha256:" + digestHex(other[0][1]), [][][]*x509.Certificate{other}},
		"the leaf is no issuer": {"CN=portal,O=Example", "sha256:" + digestHex(leaf), nil},
		"an issuer that is not": {"CN=portal,O=Example", "CN=portal,O=Example", nil},
	} {
		s := withCertificates(t, map[string][2]string{"a": {c.subject, c.issuer}})
		for i, chains := range [][][]*x509.Certificate{plain, several, other} {
			_, err := s.byCertificate(chains, here)
			want := false
			for _, accepted := range c.accepted {
				want = want || accepted[0][0] == chains[0][0]
			}
			assert.Equal(t, want, err == nil, "%s, certificate %d: %v", name, i, err)
		}
	}

	s := withCertificates(t, map[string][2]string{"a": {"CN=portal,O=Example", "CN=CA"},
		"b": {"CN=portal,O=Example", "CN=Another CA"}, "c": {"dns:portal.corp.example", ""}})
	p, err := s.byCertificate(other, here)
	require.NoError(t, err)
	assert.Equal(t, "b", p.Name, "the same subject of two issuers")
	_, err = s.byCertificate(plain, here)
	var refused *Refusal
	require.ErrorAs(t, err, &refused)
	assert.Regexp(t, `stands for both '[ac]' and '[ac]'`, refused.Reason)
}

func TestNamesOfCertificatesThatAreRefused(t *testing.T) {
	for text, why := range map[string]string{
		"portal": "has no '='", "CN=": "is empty", "CN=a,": "is empty", "XX=a": `"xx" is not the type`, "CN=a+OU=b,O=c": "use der: for several values",
		"CN=#0c01": "must be written as der:HEX", `CN=a\`: "ends in a backslash", "CN=a;O=b": "needs a backslash", "sha256:12": "64 hexadecimal digits",
		"der:xy": "hexadecimal DER", "dns:": "does not name", "email:ops": "does not name", "uri:x": "does not name", "CN=a,,O=b": "",
	} {
		_, err := certificateKey(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), why, text)
	}
	for issuer, why := range map[string]string{"dns:ca": "is not an issuer", "CA": "has no '='"} {
		a := NewAccount("a", time.Now(), rights())
		a.Subject, a.Issuer = "CN=a", issuer
		assert.ErrorContains(t, a.Check(), why)
	}
}

func FuzzCertificateKey(f *testing.F) {
	for _, seed := range []string{"CN=portal,O=Example", `CN=a\,b\2c,O=\#`, "sha256:", "CN=a+O=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := certificateKey(text); err == nil {
			require.NotEmpty(t, key)
		}
	})
}

// TestACertificateEndsWhileItsConnectionIsOpen: TLS verifies a certificate when a client connects, and the
// client may stay connected for weeks.
func TestACertificateEndsWhileItsConnectionIsOpen(t *testing.T) {
	s := withCertificates(t, map[string][2]string{"portal": {"CN=portal", ""}})
	end := s.clock.Now().Add(time.Hour)
	for of, chains := range map[string][][]*x509.Certificate{
		"client": chainOf(t, subject(t, "CN=portal"), "CA", func(c *x509.Certificate) { c.NotAfter = end }),
		"authority": func() [][]*x509.Certificate {
			chains := chainOf(t, subject(t, "CN=portal"), "CA", func(c *x509.Certificate) {
				c.NotAfter = end.Add(time.Hour)
			})
			chains[0][1].NotAfter = end
			return chains
		}(),
	} {
		s.ExpireBy(func() time.Time { return end.Add(-time.Second) })
		_, err := s.byCertificate(chains, here)
		require.NoError(t, err, of)
		s.ExpireBy(func() time.Time { return end.Add(time.Second) })
		_, err = s.byCertificate(chains, here)
		var refused *Refusal
		require.ErrorAs(t, err, &refused, of)
		assert.Equal(t, schema.Unauthenticated, refused.Code)
		assert.Contains(t, refused.Reason, "has expired since the client connected")
	}
}
