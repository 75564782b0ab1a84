package negotiate

import (
	"crypto"
	"crypto/md5"
	"crypto/subtle"
	"crypto/x509"
	"encoding/binary"

	_ "crypto/sha256" // hashes of certificates
	_ "crypto/sha512"
)

// Bindings determine whether a ticket must be bound to the TLS connection that it arrives on. Without
// bindings, a server that people visit could pass on their tickets to the gateway.
type Bindings string

// Values of [Bindings].
const (
	Required Bindings = "required" // a ticket without bindings is refused
	IfSent   Bindings = "ifSent"   // bindings are checked if the client sends them
	Ignored  Bindings = "off"      // for a gateway behind a proxy that ends TLS
)

// EndPoint returns the bindings of connections with a server certificate: tls-server-end-point (RFC 5929).
func EndPoint(certificate *x509.Certificate) []byte {
	hash := crypto.SHA256 // also in place of MD5 and SHA-1
	switch certificate.SignatureAlgorithm {
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		hash = crypto.SHA384
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		hash = crypto.SHA512
	}
	h := hash.New()
	h.Write(certificate.Raw)
	return h.Sum([]byte("tls-server-end-point:"))
}

const (
	checksumGSS   = 0x8003 // type of an authenticator's checksum with bindings and flags (RFC 4121, 4.1.1)
	bindingsBegin = 4
	bindingsEnd   = 20
	flagsEnd      = 24
	flagMutual    = 2
)

// sumOf returns the digest that identifies bindings in an authenticator.
func sumOf(bindings []byte) [md5.Size]byte {
	text := make([]byte, 16, 20+len(bindings)) // no addresses
	text = binary.LittleEndian.AppendUint32(text, uint32(len(bindings)))
	return md5.Sum(append(text, bindings...))
}

// bound checks the bindings in the checksum of an authenticator.
func (b Bindings) bound(checksum, connection []byte) error {
	if b == Ignored || connection == nil {
		return nil
	}
	sent := checksum[bindingsBegin:bindingsEnd]
	if subtle.ConstantTimeCompare(sent, make([]byte, md5.Size)) == 1 {
		if b == IfSent {
			return nil
		}
		return refuse(Relayed, "the client sent no channel bindings, which signIn.bindings requires")
	}
	want := sumOf(connection)
	if subtle.ConstantTimeCompare(sent, want[:]) != 1 {
		return refuse(Relayed, "the channel bindings are of a certificate other than this gateway's: a proxy "+
			"ends TLS, or somebody relays tickets")
	}
	return nil
}
