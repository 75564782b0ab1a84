package tlscert

import (
	"crypto"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Names of the machine's stores that are used.
const (
	PersonalStore     = "MY" // certificates with private keys
	IntermediateStore = "CA"
)

// Store is the certificate store of the machine (LocalMachine). It must be safe for concurrent use.
type Store interface {
	// Certificates returns the certificates in one of the machine's stores.
	Certificates(store string) ([]*x509.Certificate, error)
	// Key returns the private key of a certificate in [PersonalStore]. The key must remain usable for
	// the lifetime of the process.
	Key(certificate *x509.Certificate) (crypto.Signer, error)
}

// Thumbprint returns the SHA-1 digest of a certificate, which identifies it in Windows.
func Thumbprint(certificate *x509.Certificate) string {
	sum := sha1.Sum(certificate.Raw)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// fromStore finds a certificate in the store by its thumbprint or subject.
type fromStore struct {
	store      Store
	thumbprint string // in upper case
	subject    string
}

func newFromStore(store Store, thumbprint, subject string) (source, error) {
	if subject != "" {
		return fromStore{store: store, subject: subject}, nil
	}
	// The certificate dialog of Windows shows the thumbprint with spaces, and copies an invisible mark
	// with it.
	plain := strings.Map(func(r rune) rune {
		if r == ' ' || r == ':' || r == '\u200e' || r == '\u200f' {
			return -1
		}
		return r
	}, strings.ToUpper(thumbprint))
	if digest, err := hex.DecodeString(plain); err != nil || len(digest) != sha1.Size {
		return nil, fmt.Errorf("tls.storeThumbprint %q is not a thumbprint, which has 40 hexadecimal digits "+
			"('Get-ChildItem Cert:\\LocalMachine\\My' lists them)", thumbprint)
	}
	return fromStore{store: store, thumbprint: plain}, nil
}

func (f fromStore) String() string { return `Cert:\LocalMachine\My` }

// read returns the matching certificate that expires last, because a renewed certificate is added
// to the store next to the old one.
func (f fromStore) read(now time.Time) ([][]byte, error) {
	all, err := f.store.Certificates(PersonalStore)
	if err != nil {
		return nil, fmt.Errorf("the certificate store cannot be read: %w", err)
	}
	var best *x509.Certificate
	for _, candidate := range all {
		if f.matches(candidate) && (best == nil || better(candidate, best, now)) {
			best = candidate
		}
	}
	switch {
	case best != nil:
		return [][]byte{best.Raw}, nil
	case f.thumbprint != "":
		return nil, fmt.Errorf("tls.storeThumbprint: %s has no certificate %s", f, f.thumbprint)
	default:
		return nil, fmt.Errorf("tls.storeSubject: %s has no certificate for '%s'", f, f.subject)
	}
}

func (f fromStore) matches(certificate *x509.Certificate) bool {
	if f.thumbprint != "" {
		return Thumbprint(certificate) == f.thumbprint
	}
	if strings.EqualFold(certificate.Subject.CommonName, f.subject) {
		return true
	}
	for _, name := range certificate.DNSNames {
		if strings.EqualFold(name, f.subject) {
			return true
		}
	}
	return false
}

func (f fromStore) certificate(parts [][]byte) (*tls.Certificate, error) {
	leaf, err := x509.ParseCertificate(parts[0])
	if err != nil {
		return nil, err
	}
	key, err := f.store.Key(leaf)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s (%s) of %s has no private key that can be used: %w; "+
			"give the gateway's account read access to it (certlm.msc, All Tasks, Manage Private Keys)", leaf.Subject,
			Thumbprint(leaf), f, err)
	}
	intermediates, err := f.store.Certificates(IntermediateStore)
	if err != nil {
		return nil, fmt.Errorf("the store of intermediate certificates cannot be read: %w", err)
	}
	return chained(key, leaf, intermediates), nil
}

// better prefers a certificate that is valid now, and then the one that expires later.
func better(a, b *x509.Certificate, now time.Time) bool {
	usable := func(c *x509.Certificate) bool {
		return forServers(c) && !now.Before(c.NotBefore) && !now.After(c.NotAfter)
	}
	if usable(a) != usable(b) {
		return usable(a)
	}
	return a.NotAfter.After(b.NotAfter)
}
