package host

import (
	"crypto"
	"crypto/x509"
)

// CertificateStore is the machine's certificate store, as gateway/tlscert asks
// for it. It is safe for concurrent use.
type CertificateStore interface {
	// Certificates lists a store of LocalMachine, such as "MY" or "CA".
	Certificates(store string) ([]*x509.Certificate, error)
	// Key gives the private key of a certificate in "MY". The key stays where it
	// is and may be used as long as the process runs.
	Key(certificate *x509.Certificate) (crypto.Signer, error)
}
