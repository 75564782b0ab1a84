package tlscert

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/filefault"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"software.sslmate.com/src/go-pkcs12"
)

// source is a place from which a certificate is loaded.
type source interface {
	fmt.Stringer // describes the place in messages
	// read returns the raw data of the certificate.
	read(now time.Time) ([][]byte, error)
	// certificate builds the certificate from its raw data, with Leaf set.
	certificate(parts [][]byte) (*tls.Certificate, error)
}

// source returns the source that the settings name.
func (s Settings) source(store Store) (source, error) {
	given := s.sources()
	switch {
	case len(given) == 0 && s.KeyFile != "":
		return nil, errors.New("tls.keyFile is set without a certificate: set tls.certificateFile too")
	case len(given) == 0 && s.ClientCAFile != "":
		return nil, errors.New("tls.clientCAFile is set, but the server has no certificate of its own: set " +
			"tls.certificateFile and tls.keyFile, tls.pfxFile, tls.storeThumbprint or tls.storeSubject")
	case len(given) == 0:
		return nil, errors.New("no certificate is set")
	case len(given) > 1:
		return nil, fmt.Errorf("%s are set: the certificate can only come from one place, keep one of them",
			strings.Join(given, " and "))
	}
	switch given[0] {
	case "tls.certificateFile":
		if s.KeyFile == "" {
			return nil, errors.New("tls.certificateFile is set without its private key: set tls.keyFile, to the " +
				"same file if that contains both")
		}
		return pemFiles{s.CertificateFile, s.KeyFile}, nil
	case "tls.pfxFile":
		return pfxFile{s.PFXFile, s.PFXPasswordFile}, nil
	}
	if store == nil {
		return nil, fmt.Errorf("%s is set, but only Windows has a certificate store: use tls.certificateFile "+
			"and tls.keyFile, or tls.pfxFile", given[0])
	}
	return newFromStore(store, s.StoreThumbprint, s.StoreSubject)
}

// readFile reads a file that a setting names.
func readFile(key, file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, filefault.Explain(key, err)
	}
	return content, nil
}

// pemFiles are files with a certificate and its key in PEM format.
type pemFiles struct{ certificateFile, keyFile string }

func (p pemFiles) String() string { return p.certificateFile }

func (p pemFiles) read(time.Time) ([][]byte, error) {
	certificate, err := readFile("tls.certificateFile", p.certificateFile)
	key, keyErr := readFile("tls.keyFile", p.keyFile)
	return [][]byte{certificate, key}, errors.Join(err, keyErr)
}

func (p pemFiles) certificate(parts [][]byte) (*tls.Certificate, error) {
	chain, err := pemCertificates(parts[0])
	if err == nil && len(chain) == 0 {
		err = errNoCertificate
	}
	if err != nil {
		return nil, fmt.Errorf("tls.certificateFile %s: %w", p.certificateFile, err)
	}
	if err := plainKey(parts[1]); err != nil {
		return nil, fmt.Errorf("tls.keyFile %s: %w", p.keyFile, err)
	}
	pair, err := tls.X509KeyPair(parts[0], parts[1])
	if err != nil {
		return nil, fmt.Errorf("tls.keyFile %s does not match tls.certificateFile %s, whose first certificate "+
			"is %s: %w",
			p.keyFile, p.certificateFile, chain[0].Subject, err)
	}
	pair.Leaf = chain[0]
	return &pair, nil
}

// pemCertificates returns all certificates in a PEM text. It skips other blocks.
func pemCertificates(content []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d is damaged: %w", len(all)+1, err)
		}
		all = append(all, certificate)
	}
	return all, nil
}

// plainKey returns an error unless a PEM text contains an unencrypted private key.
func plainKey(content []byte) error {
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return errors.New("the private key is encrypted: remove the password ('openssl pkey -in FILE -out " +
				"NEW'), or use a PFX with tls.pfxPasswordFile")
		}
		return nil
	}
	return errors.New("contains no private key in PEM format")
}

// pfxFile is a file with a certificate and its key in PKCS #12 format, as exported by Windows.
type pfxFile struct{ file, passwordFile string }

func (p pfxFile) String() string { return p.file }

func (p pfxFile) read(time.Time) ([][]byte, error) {
	content, err := readFile("tls.pfxFile", p.file)
	if p.passwordFile == "" {
		return [][]byte{content, nil}, err
	}
	password, passwordErr := readFile("tls.pfxPasswordFile", p.passwordFile)
	return [][]byte{content, password}, errors.Join(err, passwordErr)
}

func (p pfxFile) certificate(parts [][]byte) (*tls.Certificate, error) {
	password, err := firstLine(parts[1])
	if err != nil {
		return nil, fmt.Errorf("tls.pfxPasswordFile %s: %w", p.passwordFile, err)
	}
	if block, _ := pem.Decode(parts[0]); block != nil {
		return nil, fmt.Errorf("tls.pfxFile %s is PEM, not a PFX: set tls.certificateFile to it, and "+
			"tls.keyFile to its key", p.file)
	}
	key, leaf, others, err := pkcs12.DecodeChain(parts[0], password)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword) && p.passwordFile == "":
		return nil, fmt.Errorf("tls.pfxFile %s has a password: write it to a file that only the gateway's "+
			"account can read, and set tls.pfxPasswordFile", p.file)
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return nil, fmt.Errorf("tls.pfxFile %s: the password in %s does not open it", p.file, p.passwordFile)
	case err != nil:
		return nil, fmt.Errorf("tls.pfxFile %s cannot be read; it must contain one certificate with its private "+
			"key: %w", p.file, err)
	}
	return chained(key, leaf, others), nil
}

// firstLine returns the only line of a file. Because editors and shells differ, it accepts UTF-8 and UTF-16,
// with or without a byte order mark.
func firstLine(content []byte) (string, error) {
	decoded, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), content)
	if err != nil {
		return "", err
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(decoded, []byte("\n")), []byte("\r"))
	if bytes.ContainsAny(line, "\r\n") {
		return "", errors.New("contains more than one line")
	}
	return string(line), nil
}

// chained returns a certificate with its key and with its intermediates, which it selects from others.
// The root is omitted, because clients either have it or do not trust it.
func chained(key crypto.PrivateKey, leaf *x509.Certificate, others []*x509.Certificate) *tls.Certificate {
	chain := &tls.Certificate{PrivateKey: key, Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
	for last := leaf; !bytes.Equal(last.RawIssuer, last.RawSubject); {
		next := slices.IndexFunc(others, func(other *x509.Certificate) bool {
			return bytes.Equal(other.RawSubject, last.RawIssuer) && !bytes.Equal(other.RawSubject, other.RawIssuer) &&
				last.CheckSignatureFrom(other) == nil
		})
		if next < 0 || len(chain.Certificate) > len(others) {
			break
		}
		last = others[next]
		chain.Certificate = append(chain.Certificate, last.Raw)
	}
	return chain
}

func forServers(leaf *x509.Certificate) bool {
	return len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0 ||
		slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) ||
		slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// proveKey signs a text and verifies the signature, which proves that the key belongs to the certificate and
// is usable.
func proveKey(certificate *tls.Certificate) error {
	signer, ok := certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return fmt.Errorf("a key of type %T cannot sign", certificate.PrivateKey)
	}
	message := []byte("adgateway")
	digest := sha256.Sum256(message)
	toSign, options := digest[:], crypto.SignerOpts(crypto.SHA256)
	var algorithm x509.SignatureAlgorithm
	switch certificate.Leaf.PublicKeyAlgorithm {
	case x509.RSA:
		algorithm = x509.SHA256WithRSAPSS // as in TLS 1.3
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
	case x509.ECDSA:
		algorithm = x509.ECDSAWithSHA256
	case x509.Ed25519:
		algorithm = x509.PureEd25519
		toSign, options = message, crypto.Hash(0)
	default:
		return fmt.Errorf("TLS does not support keys of the type %s", certificate.Leaf.PublicKeyAlgorithm)
	}
	signature, err := signer.Sign(rand.Reader, toSign, options)
	if err != nil {
		return err
	}
	if err := certificate.Leaf.CheckSignature(algorithm, message, signature); err != nil {
		return errors.New("it belongs to another certificate")
	}
	return nil
}
