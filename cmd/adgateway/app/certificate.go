package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/config"
	"adgateway/gateway/tlscert"
	"adgateway/winsvc/events"
)

func tlsSettings(t config.TLS) tlscert.Settings {
	s := tlscert.Settings{
		CertificateFile: t.CertificateFile, KeyFile: t.KeyFile,
		PFXFile: t.PFXFile, PFXPasswordFile: t.PFXPasswordFile,
		StoreThumbprint: t.StoreThumbprint, StoreSubject: t.StoreSubject,
		ClientCAFile: t.ClientCAFile, RequireClientCertificates: t.ClientCertificates == "required",
		ClientCRLFiles: t.ClientCRLFiles,
		MinVersion:     tls.VersionTLS12,
	}
	if t.MinVersion == "1.3" {
		s.MinVersion = tls.VersionTLS13
	}
	return s
}

// certificateSettings returns the settings of the server's certificate and
// whether any of them is set, even one that is useless on its own.
func certificateSettings(t config.TLS) (s tlscert.Settings, given bool) {
	s = tlsSettings(t)
	return s, s.Given() || t.KeyFile != "" || t.ClientCAFile != "" || len(t.ClientCRLFiles) > 0
}

// certificate keeps the server's certificate up to date while the stack runs.
// Without TLS it is nil; all methods accept a nil receiver.
type certificate struct {
	*tlscert.Keeper
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// certificateEvents maps notices about certificates to entries of the system's event log.
var certificateEvents = map[tlscert.Notice]events.Event{
	tlscert.Taken: events.CertificateTaken, tlscert.Rejected: events.CertificateRefused, tlscert.Ending: events.CertificateEnds,
}

// newCertificate loads the certificate and watches its source until close. ctx bounds only the construction;
// the watching continues after it ends.
func newCertificate(
	ctx context.Context, t config.TLS, store tlscert.Store, log *logrus.Logger, write events.Write,
) (*certificate, error) {
	s, given := certificateSettings(t)
	if !given {
		return nil, nil
	}
	keeper, err := tlscert.New(tlscert.Options{Settings: s, Store: store,
		Log: func(n tlscert.Notice, message string) {
			if n == tlscert.Taken {
				log.Info(message)
			} else {
				log.Warn(message)
			}
			if event, has := certificateEvents[n]; has && write != nil {
				write(event, message)
			}
		}})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &certificate{Keeper: keeper, stop: stop}
	c.ended.Go(func() { keeper.Run(ctx) })
	return c, nil
}

// close stops watching; the current certificate remains in use.
func (c *certificate) close() {
	if c != nil {
		c.stop()
		c.ended.Wait()
	}
}

// config returns the TLS configuration of the listener, or nil without TLS.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return c.Config()
}

// endPoint returns the channel bindings of connections that use the current certificate, or nil without TLS.
func (c *certificate) endPoint() []byte {
	if c == nil {
		return nil
	}
	served, err := c.Config().GetCertificate(nil)
	if err != nil || len(served.Certificate) == 0 {
		return nil
	}
	leaf, err := x509.ParseCertificate(served.Certificate[0])
	if err != nil {
		return nil
	}
	return negotiate.EndPoint(leaf)
}

// names returns the DNS names of the current certificate.
func (c *certificate) names() []string {
	if c == nil {
		return nil
	}
	return c.Names()
}

// checks returns the readiness check of the certificate.
func (c *certificate) checks() []gateway.Check {
	if c == nil {
		return nil
	}
	ok, reason := c.State()
	return []gateway.Check{{Name: "certificate", OK: ok, Reason: reason, Degraded: ok && reason != ""}}
}

// certificateExpires returns the expiry of the server's certificate, or the zero time without TLS.
func (s *Stack) certificateExpires() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.Expires()
}

// RefreshCertificate checks for a new certificate now instead of at the next
// regular interval.
func (s *Stack) RefreshCertificate() {
	if s.certificate != nil {
		s.certificate.Refresh()
	}
}

// Certificate returns the certificate that a gateway with these settings would
// serve, with Leaf set, checked as New checks it, or [errors.ErrUnsupported] without TLS.
func Certificate(settings *config.Settings, store tlscert.Store) (*tls.Certificate, error) {
	s, given := certificateSettings(settings.TLS)
	if !given {
		return nil, errors.ErrUnsupported
	}
	keeper, err := tlscert.New(tlscert.Options{Settings: s, Store: store, Log: func(tlscert.Notice, string) {}})
	if err != nil {
		return nil, err
	}
	return keeper.Config().GetCertificate(nil)
}
