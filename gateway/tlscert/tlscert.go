// Package tlscert keeps the certificate with which the gateway serves TLS.
//
// The certificate comes from PEM files, a PFX file or the Windows certificate
// store ([Settings]). [New] refuses what no client would accept: a certificate
// without key, with another's key, encrypted, expired. A [Keeper] then looks
// every few seconds whether its source has changed and takes the new
// certificate without a restart. One that is broken is not taken: the earlier
// goes on being served, and the log and [Keeper.State] say why.
package tlscert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Settings say where the certificate comes from and what is asked of clients.
// One source is given: the two PEM files, the PFX file, or a certificate of the
// store by thumbprint or subject.
type Settings struct {
	CertificateFile string // PEM; the server's certificate first, intermediates after it
	KeyFile         string // PEM, not encrypted; may be the same file

	PFXFile         string
	PFXPasswordFile string // empty: the PFX has no password

	StoreThumbprint string // SHA-1 of the certificate, in hexadecimal
	StoreSubject    string // its common name or one of its DNS names; of several the one that lasts longest

	ClientCAFile              string // PEM; empty: clients are not asked for a certificate
	RequireClientCertificates bool   // else a client may do without

	MinVersion uint16 // zero: TLS 1.2
}

// Given tells whether the settings name a source, so that TLS is wanted.
func (s Settings) Given() bool { return len(s.sources()) > 0 }

// sources are the settings that name a source.
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

// Options are what a keeper is made of. Log must be given.
type Options struct {
	Settings Settings
	Store    Store // of Windows; nil: this system has none
	// Log tells about certificates that were taken, refused or will expire soon.
	Log   func(warning bool, message string)
	Now   func() time.Time // nil: time.Now
	Every time.Duration    // how often the source is looked at; zero: 10 s
}

// warnBefore is how long before its end a certificate is warned about, and
// warnAgain how often.
const (
	warnBefore = 30 * 24 * time.Hour
	warnAgain  = 24 * time.Hour
)

// Keeper holds the certificate in use. It is safe for concurrent use.
type Keeper struct {
	options Options
	source  source

	refreshing sync.Mutex // one at a time

	mu     sync.Mutex
	config *tls.Config // of the certificate in use
	leaf   *x509.Certificate
	seen   [sha256.Size]byte // of what the source held when it was read last
	broken error             // why that was not taken; nil: it was
	warned time.Time         // when the coming end was logged last
}

// New reads the certificate. The error says what is wrong with it and how to
// put it right; of an expired or broken certificate there is no keeper.
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

// Config is the configuration of a listener that always serves the certificate
// in use. Every handshake takes the one of that moment.
func (k *Keeper) Config() *tls.Config {
	current := func() *tls.Config {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.config
	}
	outer := current().Clone()
	outer.Certificates = nil
	outer.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &current().Certificates[0], nil }
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return current(), nil }
	return outer
}

// Run looks at the source again and again until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	ticker := time.NewTicker(k.options.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.Refresh()
		}
	}
}

// Refresh looks at the source at once, and takes what it holds when that has
// changed and is good. What was not taken is tried again every time: a key may
// come after its certificate.
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
	k.warnOfTheEnd()
}

// read reads everything that the configuration is built from. The client CAs, if
// set, are the last part. The error joins that of every file.
func (k *Keeper) read() ([][]byte, error) {
	parts, err := k.source.read(k.options.Now())
	if file := k.options.Settings.ClientCAFile; file != "" {
		authorities, authoritiesErr := readFile("tls.clientCAFile", file)
		parts, err = append(parts, authorities), errors.Join(err, authoritiesErr)
	}
	return parts, err
}

// fingerprint changes when what was read changes, or how reading it failed.
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
	config := &tls.Config{MinVersion: max(s.MinVersion, tls.VersionTLS12), NextProtos: []string{"h2", "http/1.1"}}
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
		// A resumed session would not look at the client's certificate again.
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

// take makes a configuration the one in use, or keeps the earlier and says so.
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
		// New returns it; it has been said
	case err != nil:
		k.options.Log(true, fmt.Sprintf("the changed certificate is not taken, the earlier one is served on: %v", err))
	default:
		leaf := config.Certificates[0].Leaf
		k.options.Log(false, fmt.Sprintf("serving TLS with the certificate %s (%s) from %s, valid until %s",
			leaf.Subject, Thumbprint(leaf), k.source, leaf.NotAfter.UTC().Format(time.RFC3339)))
		if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 {
			k.options.Log(true, "the certificate has no subject alternative name; most clients will not accept it")
		}
	}
}

// warnOfTheEnd logs, once a day, that the certificate has or will soon have expired.
func (k *Keeper) warnOfTheEnd() {
	k.mu.Lock()
	now := k.options.Now()
	due := k.leaf != nil && !now.Before(k.leaf.NotAfter.Add(-warnBefore)) && now.Sub(k.warned) >= warnAgain
	if due {
		k.warned = now
	}
	k.mu.Unlock()
	if due {
		_, reason := k.State()
		k.options.Log(true, reason)
	}
}

// State tells, for people, how the certificate in use does: false once it has
// expired. The reason may also name what is wrong while ok, such as a changed
// certificate that could not be taken; it is empty when all is well.
func (k *Keeper) State() (ok bool, reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, end := k.options.Now(), k.leaf.NotAfter
	ok = !now.After(end)
	switch {
	case !ok:
		reason = "the certificate expired at " + end.UTC().Format(time.RFC3339) + "; clients refuse it: put a new one in its place"
	case !now.Before(end.Add(-warnBefore)):
		reason = fmt.Sprintf("the certificate expires in %d days, at %s", int(end.Sub(now).Hours()/24), end.UTC().Format(time.RFC3339))
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

// Expires is when the certificate in use ends, for metrics.
func (k *Keeper) Expires() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.leaf.NotAfter
}

// check refuses a certificate that no client would accept.
func check(certificate *tls.Certificate, now time.Time) error {
	leaf := certificate.Leaf
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate %s expired at %s: renew it", leaf.Subject, at(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate %s is not valid before %s, and the clock says %s: set the clock right or wait", leaf.Subject, at(leaf.NotBefore), at(now))
	case !forServers(leaf):
		return fmt.Errorf("the certificate %s is not one for servers: its extended key usage lacks server authentication", leaf.Subject)
	}
	if err := proveKey(certificate); err != nil {
		return fmt.Errorf("the private key of %s cannot be used: %w", leaf.Subject, err)
	}
	return nil
}

var errNoCertificate = errors.New("holds no certificate in PEM form")

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
