package tlscert

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/smallstep/pkcs7"
)

// MaxDays is the maximum lifetime of a certificate that browsers accept, just below the 398 days in
// the CA/Browser Forum's Baseline Requirements.
const MaxDays = 397

// errNoNames is the error for a certificate without names, because clients only check names.
var errNoNames = errors.New("a certificate needs at least one name")

// SelfSigned returns a self-signed server certificate and its key (ECDSA P-256), both in PEM
// format. The certificate is valid from one hour before now. Names are DNS names and addresses; the
// first one is the common name.
func SelfSigned(names []string, days int, now time.Time) (certificate, key []byte, err error) {
	if days < 1 || days > MaxDays {
		return nil, nil, fmt.Errorf("a certificate lives 1 to %d days, which is what browsers accept", MaxDays)
	}
	hosts, addresses, err := split(names)
	if err != nil {
		return nil, nil, err
	}
	signer, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, DNSNames: hosts, IPAddresses: addresses,
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, days),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	return encodeCertificate(raw), key, nil
}

// templateName is the extension by which a Windows authority recognizes the template of a request
// ([MS-WCCE] 2.2.2.7.7.1).
var templateName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 20, 2}

// Request returns a certificate request and its new key, both in PEM format. template is the name
// of an AD CS template. It is empty for other authorities.
func Request(names []string, template string) (request, key []byte, err error) {
	hosts, addresses, err := split(names)
	if err != nil {
		return nil, nil, err
	}
	wanted := &x509.CertificateRequest{Subject: pkix.Name{CommonName: names[0]}, DNSNames: hosts,
		IPAddresses: addresses}
	if template != "" {
		value, err := bmpString(template)
		if err != nil {
			return nil, nil, err
		}
		wanted.ExtraExtensions = []pkix.Extension{{Id: templateName, Value: value}}
	}
	signer, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.CreateCertificateRequest(rand.Reader, wanted, signer)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: raw}), key, err
}

// ErrOtherKey means that a key does not belong to any of the certificates.
var ErrOtherKey = errors.New("the key belongs to none of the certificates: they answer another request")

// Import converts the answer of an authority to the PEM format that a server needs, with the certificate of
// the key first, followed by the chain to the root in order. Certificates may be in PEM or DER format, or in
// PKCS #7 (.p7b) in either. The key is in PEM format. The certificate must be valid now, and for at least one
// of the names, if there are any.
func Import(
	certificates [][]byte, key []byte, names []string, now time.Time,
) (chain []byte, leaf *x509.Certificate, err error) {
	var all []*x509.Certificate
	for _, content := range certificates {
		found, err := anyCertificates(content)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, found...)
	}
	if err := plainKey(key); err != nil {
		return nil, nil, err
	}
	why := errors.New("there are no certificates")
	var pair tls.Certificate
	at := slices.IndexFunc(all, func(c *x509.Certificate) bool {
		pair, why = tls.X509KeyPair(encodeCertificate(c.Raw), key)
		return why == nil
	})
	if at < 0 {
		return nil, nil, fmt.Errorf("%w (%w)", ErrOtherKey, why)
	}
	ordered := chained(pair.PrivateKey, all[at], all)
	if err := check(ordered, now); err != nil {
		return nil, nil, err
	}
	leaf = all[at]
	if len(names) > 0 && !slices.ContainsFunc(names,
		func(name string) bool { return leaf.VerifyHostname(name) == nil }) {
		return nil, nil, fmt.Errorf(
			"the certificate is for %s, not for %s: request it for the name that clients use", orNone(Names(leaf)),
			strings.Join(names, " or "))
	}
	for _, raw := range ordered.Certificate {
		chain = append(chain, encodeCertificate(raw)...)
	}
	return chain, leaf, nil
}

// Names returns the DNS names and addresses in a certificate.
func Names(leaf *x509.Certificate) []string {
	names := slices.Clone(leaf.DNSNames)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	return names
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}

// split separates DNS names from addresses.
func split(names []string) (hosts []string, addresses []net.IP, err error) {
	if len(names) == 0 {
		return nil, nil, errNoNames
	}
	for _, name := range names {
		switch address := net.ParseIP(name); {
		case address != nil:
			addresses = append(addresses, address)
		case !isHost(name):
			return nil, nil, fmt.Errorf("%q is neither a DNS name nor an address", name)
		default:
			hosts = append(hosts, name)
		}
	}
	return hosts, addresses, nil
}

// isHost reports whether a text is a DNS name, possibly with a wildcard as its first label.
func isHost(name string) bool {
	name = strings.TrimPrefix(name, "*.")
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") ||
			strings.IndexFunc(label, func(r rune) bool {
				return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			}) >= 0 {
			return false
		}
	}
	return true
}

func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), err
}

func encodeCertificate(raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// bmpString encodes a text as a BMPString: tag 30, then UTF-16 with the high byte first.
func bmpString(text string) ([]byte, error) {
	var value []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		value = append(value, byte(unit>>8), byte(unit))
	}
	return asn1.Marshal(asn1.RawValue{Tag: asn1.TagBMPString, Bytes: value})
}

// Readable returns an error unless a file contains certificates in a format that authorities use.
// The error continues a sentence that begins with the file's name.
func Readable(content []byte) error {
	_, err := anyCertificates(content)
	return err
}

// anyCertificates returns the certificates in a text of any format that authorities use.
func anyCertificates(content []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	var found bool
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		var some []*x509.Certificate
		var err error
		switch block.Type {
		case "CERTIFICATE":
			some, err = x509.ParseCertificates(block.Bytes)
		case "PKCS7":
			some, err = signedData(block.Bytes)
		default:
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("contains a damaged certificate; copy it again, with the lines "+
				"that begin with -----: %w", err)
		}
		all, found = append(all, some...), true
	}
	if found {
		return all, nil
	}
	// Whitespace added by a mail program or an editor is dropped, unless it belongs to the
	// certificate.
	for _, content := range [][]byte{content, bytes.TrimSpace(content)} {
		if all, err := x509.ParseCertificates(content); err == nil && len(all) > 0 {
			return all, nil
		}
		if all, err := signedData(content); err == nil && len(all) > 0 {
			return all, nil
		}
	}
	return nil, errors.New("contains no certificate in PEM, DER or PKCS #7 (.p7b) format")
}

func signedData(content []byte) ([]*x509.Certificate, error) {
	data, err := pkcs7.Parse(content)
	if err != nil {
		return nil, fmt.Errorf("PKCS #7: %w", err)
	}
	return data.Certificates, nil
}
