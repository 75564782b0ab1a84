// Package tlscert loads the certificate with which the gateway serves TLS and keeps it up to date.
//
// The certificate comes from PEM files, a PFX file or the Windows certificate store ([Settings]).
// [New] rejects a certificate that no client would accept, because it has expired, or has no key,
// an encrypted key or a key that belongs to another certificate. A [Keeper] then checks its source
// every few seconds and serves a new certificate without a restart. If the new one is invalid, it
// keeps serving the previous one, and reports the reason in the log and in [Keeper.State].
package tlscert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/every"
)

// Settings configure the server's certificate and the verification of client certificates. Exactly
// one source must be set: the two PEM files, the PFX file, or the thumbprint or subject of a
// certificate in the store.
type Settings struct {
	CertificateFile string // PEM; the server's certificate first, followed by intermediates
	KeyFile         string // PEM, unencrypted; may be the same file

	PFXFile         string
	PFXPasswordFile string // empty if the PFX has no password

	StoreThumbprint string // SHA-1 of the certificate, in hexadecimal
	// common name or a DNS name; of several matching certificates, the one that expires last is used
	StoreSubject string

	ClientCAFile              string // PEM; if empty, clients are not asked for a certificate
	RequireClientCertificates bool   // otherwise they are optional

	ClientCRLFiles []string // revocation lists in PEM or DER; with any, every authority needs a current one

	MinVersion uint16 // zero means TLS 1.2
}

// Given reports whether a source is set. If so, the gateway uses TLS.
func (s Settings) Given() bool { return len(s.sources()) > 0 }

// sources returns the keys of the sources that are set.
func (s Settings) sources() []string {
	var given []string
	for _, one := range []struct{ key, value string }{
		{"tls.certificateFile", s.CertificateFile}, {"tls.pfxFile", s.PFXFile},
		{"tls.storeThumbprint", s.StoreThumbprint}, {"tls.storeSubject", s.StoreSubject},
	} {
		if one.value != "" {
			given = append(given, one.key)
		}
	}
	return given
}

// Notice is the kind of a message.
type Notice uint8

// The notices. All but Taken are warnings.
const (
	Taken    Notice = iota // a certificate is served
	Rejected               // a changed certificate is invalid; the previous one is still served
	Ending                 // the certificate or a revocation list expires soon or has expired
	Weak                   // most clients will not accept the certificate
)

// Options configure a [Keeper]. Settings and Log are required.
type Options struct {
	Settings Settings
	Store    Store // Windows certificate store; nil on other systems
	// Log receives messages about certificates that were loaded or rejected, or that expire soon.
	Log   func(n Notice, message string)
	Now   func() time.Time // nil means time.Now
	Every time.Duration    // interval between checks of the source; zero means 10 s
}

// Warnings start warnBefore before a certificate expires, and are repeated every warnAgain.
const (
	warnBefore = 30 * 24 * time.Hour
	warnAgain  = 24 * time.Hour
)

// Keeper holds the current certificate. It is safe for concurrent use.
type Keeper struct {
	options Options
	source  source

	refreshing sync.Mutex // held by Refresh
	clients    clients

	mu      sync.Mutex
	config  *tls.Config // configuration with the current certificate
	leaf    *x509.Certificate
	seen    [sha256.Size]byte // fingerprint of the source when it was last read
	broken  error             // reason why that source was rejected; nil if it was accepted
	warned  time.Time         // time of the last warning about expiry
	revoked *revocationLists  // nil if there are none
}

// New loads the certificate. Its error explains the fault and how to fix it.
func New(o Options) (*Keeper, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	source, err := o.Settings.source(o.Store)
	if err != nil {
		return nil, err
	}
	k := &Keeper{options: o, source: source}
	k.Refresh()
	if k.broken != nil {
		return nil, k.broken
	}
	return k, nil
}

// Config returns the configuration of a listener. Every handshake uses the certificate that is
// current at that time.
func (k *Keeper) Config() *tls.Config {
	current := func() *tls.Config {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.config
	}
	outer := current().Clone()
	outer.Certificates = nil
	outer.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate,
		error) {
		return &current().Certificates[0], nil
	}
	outer.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		return k.clients.watch(current(), hello.Conn), nil
	}
	return outer
}

// Run checks the source at every interval until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	every.Do(ctx, k.options.Every, k.Refresh)
}

// Refresh checks the source, and loads the certificate if it has changed. It tries a rejected certificate
// again every time, because its key may be replaced later. It closes the connections of clients whose
// certificates were revoked meanwhile.
func (k *Keeper) Refresh() {
	k.refreshing.Lock()
	defer k.refreshing.Unlock()
	parts, err := k.read()
	seen := fingerprint(parts, err)
	k.mu.Lock()
	same := seen == k.seen && k.broken == nil
	k.mu.Unlock()
	if !same {
		var config *tls.Config
		if err == nil {
			config, err = k.build(parts)
		}
		k.take(seen, config, err)
	}
	k.mu.Lock()
	revoked := k.revoked
	k.mu.Unlock()
	if revoked != nil {
		k.clients.review(revoked, !same)
	}
	k.warnOfExpiry()
}

// read reads all raw data of the configuration. The revocation lists are the last parts, preceded
// by the client CAs if these are set. The error joins the errors of all files.
func (k *Keeper) read() ([][]byte, error) {
	parts, err := k.source.read(k.options.Now())
	if file := k.options.Settings.ClientCAFile; file != "" {
		authorities, authoritiesErr := readFile("tls.clientCAFile", file)
		parts, err = append(parts, authorities), errors.Join(err, authoritiesErr)
	}
	for _, file := range k.options.Settings.ClientCRLFiles {
		list, listErr := readFile("tls.clientCRLFiles", file)
		parts, err = append(parts, list), errors.Join(err, listErr)
	}
	return parts, err
}

// fingerprint returns a digest of the raw data, or of the error.
func fingerprint(parts [][]byte, err error) [sha256.Size]byte {
	if err != nil {
		parts = [][]byte{[]byte(err.Error())}
	}
	var all bytes.Buffer
	for _, part := range parts {
		fmt.Fprintf(&all, "%d:", len(part))
		all.Write(part)
	}
	return sha256.Sum256(all.Bytes())
}

func (k *Keeper) build(parts [][]byte) (*tls.Config, error) {
	s := k.options.Settings
	config := &tls.Config{MinVersion: max(s.MinVersion, tls.VersionTLS12), CipherSuites: suites(),
		NextProtos: []string{"h2", "http/1.1"}}
	lists := parts[len(parts)-len(s.ClientCRLFiles):]
	parts = parts[:len(parts)-len(lists)]
	if len(lists) > 0 {
		if s.ClientCAFile == "" {
			return nil, errors.New("tls.clientCRLFiles is set, but clients are not asked for a certificate: set " +
				"tls.clientCAFile too")
		}
		revoked, err := parseRevocationLists(s.ClientCRLFiles, lists, k.options.Now)
		if err != nil {
			return nil, err
		}
		config.VerifyPeerCertificate = revoked.verify
		k.mu.Lock()
		k.revoked = revoked
		k.mu.Unlock()
	}
	if s.ClientCAFile != "" {
		last := len(parts) - 1
		pool, err := authorities(s.ClientCAFile, parts[last])
		if err != nil {
			return nil, err
		}
		parts = parts[:last]
		config.ClientCAs, config.ClientAuth = pool, tls.VerifyClientCertIfGiven
		if s.RequireClientCertificates {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
		// A resumed session would not verify the client's certificate again.
		config.SessionTicketsDisabled = true
	}
	certificate, err := k.source.certificate(parts)
	if err != nil {
		return nil, err
	}
	if err := check(certificate, k.options.Now()); err != nil {
		return nil, fmt.Errorf("%s: %w", k.source, err)
	}
	config.Certificates = []tls.Certificate{*certificate}
	return config, nil
}

// suites returns the TLS 1.2 suites with authenticated encryption, which excludes all CBC suites.
// All TLS 1.3 suites have it.
func suites() []uint16 {
	var authenticated []uint16
	for _, suite := range tls.CipherSuites() {
		if !strings.Contains(suite.Name, "_CBC_") && slices.Contains(suite.SupportedVersions, tls.VersionTLS12) &&
			strings.Contains(suite.Name, "ECDHE") {
			authenticated = append(authenticated, suite.ID)
		}
	}
	return authenticated
}

// take makes a configuration the current one, or logs why the previous one is kept.
func (k *Keeper) take(seen [sha256.Size]byte, config *tls.Config, err error) {
	k.mu.Lock()
	first := k.config == nil
	known := err != nil && k.broken != nil && err.Error() == k.broken.Error()
	k.seen, k.broken = seen, err
	if err == nil {
		k.config, k.leaf, k.warned = config, config.Certificates[0].Leaf, time.Time{}
	}
	k.mu.Unlock()
	switch {
	case err != nil && first, known:
		// The error is returned by New, or was logged before.
	case err != nil:
		k.options.Log(Rejected, fmt.Sprintf(
			"the changed certificate is rejected, the previous one is still served: %v", err))
	default:
		leaf := config.Certificates[0].Leaf
		k.options.Log(Taken, fmt.Sprintf("serving TLS with the certificate %s (%s) from %s, valid until %s",
			leaf.Subject, Thumbprint(leaf), k.source, leaf.NotAfter.UTC().Format(time.RFC3339)))
		if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 {
			k.options.Log(Weak, "the certificate has no subject alternative name; most clients will not accept it")
		}
	}
}

// warnOfExpiry logs, once a day, that the certificate has expired or will soon.
func (k *Keeper) warnOfExpiry() {
	k.mu.Lock()
	now := k.options.Now()
	overdue := k.revoked != nil && k.revoked.warning() != ""
	due := k.leaf != nil && (overdue || !now.Before(k.leaf.NotAfter.Add(-warnBefore))) &&
		now.Sub(k.warned) >= warnAgain
	if due {
		k.warned = now
	}
	k.mu.Unlock()
	if due {
		_, reason := k.State()
		k.options.Log(Ending, reason)
	}
}

// State reports whether the current certificate is still valid. The reason is text for people. It may
// describe a problem even if ok is true, such as a changed certificate that was rejected.
func (k *Keeper) State() (ok bool, reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, end := k.options.Now(), k.leaf.NotAfter
	ok = !now.After(end)
	switch {
	case !ok:
		reason = "the certificate expired at " + end.UTC().Format(time.RFC3339) +
			"; clients refuse it: put a new one in its place"
	case !now.Before(end.Add(-warnBefore)):
		reason = fmt.Sprintf("the certificate expires in %d days, at %s", int(end.Sub(now).Hours()/24),
			end.UTC().Format(time.RFC3339))
	}
	if k.revoked != nil {
		if overdue := k.revoked.warning(); overdue != "" {
			reason = strings.TrimPrefix(reason+"; "+overdue, "; ")
		}
	}
	if k.broken != nil {
		earlier := "the changed certificate is not taken: " + k.broken.Error()
		if reason != "" {
			earlier = reason + "; " + earlier
		}
		reason = earlier
	}
	return ok, reason
}

// Expires returns the time when the current certificate expires.
func (k *Keeper) Expires() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.leaf.NotAfter
}

// Names returns the DNS names of the current certificate.
func (k *Keeper) Names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.leaf.DNSNames)
}

// check returns an error if no client would accept a certificate.
func check(certificate *tls.Certificate, now time.Time) error {
	leaf := certificate.Leaf
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate %s expired at %s: renew it", leaf.Subject, at(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate %s is not valid before %s, and the clock says %s: correct the clock "+
			"or wait", leaf.Subject, at(leaf.NotBefore), at(now))
	case !forServers(leaf):
		return fmt.Errorf("the certificate %s is not for servers: its extended key usage lacks server "+
			"authentication", leaf.Subject)
	}
	if err := proveKey(certificate); err != nil {
		return fmt.Errorf("the private key of %s cannot be used: %w", leaf.Subject, err)
	}
	return nil
}

var errNoCertificate = errors.New("contains no certificate in PEM format")

func authorities(file string, content []byte) (*x509.CertPool, error) {
	certificates, err := pemCertificates(content)
	if err == nil && len(certificates) == 0 {
		err = errNoCertificate
	}
	if err != nil {
		return nil, fmt.Errorf("tls.clientCAFile %s: %w", file, err)
	}
	pool := x509.NewCertPool()
	for _, certificate := range certificates {
		pool.AddCert(certificate)
	}
	return pool, nil
}
