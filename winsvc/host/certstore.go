package host

import (
	"crypto"
	"crypto/x509"
)

// CertificateStore is the machine's certificate store, as required by
// gateway/tlscert. It is safe for concurrent use.
type CertificateStore interface {
	// Certificates returns the certificates in a store of LocalMachine, such as "MY"
	// or "CA".
	Certificates(store string) ([]*x509.Certificate, error)
	// Key returns the private key of a certificate in "MY". The key never leaves the
	// store and remains usable for the life of the process.
	Key(certificate *x509.Certificate) (crypto.Signer, error)
}
