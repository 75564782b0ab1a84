package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/config"
	"adgateway/gateway/tlscert"

	"github.com/sirupsen/logrus"
)

// Listen opens the listener of the settings. Where nothing is encrypted it
// opens one that only this machine reaches, unless the settings allow more: the
// error says how to go on.
func Listen(settings *config.Settings) (net.Listener, error) {
	listener, err := net.Listen("tcp", settings.HTTP.Listen)
	if err != nil {
		return nil, err
	}
	address, _ := netip.ParseAddrPort(listener.Addr().String())
	if tlsSettings(settings.TLS).Given() || settings.HTTP.AllowUnencrypted || address.Addr().Unmap().IsLoopback() {
		return listener, nil
	}
	_ = listener.Close() // nobody has been answered
	return nil, fmt.Errorf("http.listen: other machines reach %s, and without TLS tokens and passwords would cross the network readably; "+
		"set a certificate (tls.certificateFile with tls.keyFile, tls.pfxFile, tls.storeThumbprint or tls.storeSubject), "+
		"or listen on 127.0.0.1, or set http.allowUnencrypted to true where a proxy in front encrypts", settings.HTTP.Listen)
}

// Scheme is that of the URLs under which the settings are served.
func Scheme(settings *config.Settings) string {
	if tlsSettings(settings.TLS).Given() {
		return "https"
	}
	return "http"
}

func tlsSettings(t config.TLS) tlscert.Settings {
	s := tlscert.Settings{
		CertificateFile: t.CertificateFile, KeyFile: t.KeyFile,
		PFXFile: t.PFXFile, PFXPasswordFile: t.PFXPasswordFile,
		StoreThumbprint: t.StoreThumbprint, StoreSubject: t.StoreSubject,
		ClientCAFile: t.ClientCAFile, RequireClientCertificates: t.ClientCertificates == "required",
		MinVersion: tls.VersionTLS12,
	}
	if t.MinVersion == "1.3" {
		s.MinVersion = tls.VersionTLS13
	}
	return s
}

// certificateSettings are those of the server's certificate. given tells whether
// any is set, be it one that makes no sense alone.
func certificateSettings(t config.TLS) (s tlscert.Settings, given bool) {
	s = tlsSettings(t)
	return s, s.Given() || t.KeyFile != "" || t.ClientCAFile != ""
}

// certificate keeps the server's certificate up to date while the stack runs.
// Of settings without one it is nil, which does nothing.
type certificate struct {
	*tlscert.Keeper
	stop  context.CancelFunc
	ended sync.WaitGroup
}

func newCertificate(t config.TLS, store tlscert.Store, log *logrus.Logger) (*certificate, error) {
	s, given := certificateSettings(t)
	if !given {
		return nil, nil
	}
	keeper, err := tlscert.New(tlscert.Options{Settings: s, Store: store, Log: func(warning bool, message string) {
		if warning {
			log.Warn(message)
		} else {
			log.Info(message)
		}
	}})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &certificate{Keeper: keeper, stop: stop}
	c.ended.Go(func() { keeper.Run(ctx) })
	return c, nil
}

// close ends the keeping; serving goes on with the certificate of now.
func (c *certificate) close() {
	if c != nil {
		c.stop()
		c.ended.Wait()
	}
}

// config is the listener's; nil: nothing is encrypted.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return c.Config()
}

// checks are the lines of /readyz about it.
func (c *certificate) checks() []gateway.Check {
	if c == nil {
		return nil
	}
	ok, reason := c.State()
	return []gateway.Check{{Name: "certificate", OK: ok, Reason: reason}}
}

// certificateExpires is when the server's certificate ends, for metrics; the
// zero time where nothing is encrypted.
func (s *Stack) certificateExpires() time.Time {
	if s.certificate == nil {
		return time.Time{}
	}
	return s.certificate.Expires()
}

// RefreshCertificate looks at once whether there is a new certificate; by
// itself the stack looks every few seconds.
func (s *Stack) RefreshCertificate() {
	if s.certificate != nil {
		s.certificate.Refresh()
	}
}

func connections(h config.HTTP, config *tls.Config) gateway.Connections {
	return gateway.Connections{
		TLS:           config,
		HeaderTimeout: h.HeaderTimeout, BodyTimeout: h.BodyTimeout, SendTimeout: h.SendTimeout, IdleTimeout: h.IdleTimeout,
		Total: h.MaxConnections, PerAddress: h.MaxConnectionsPerAddress,
	}
}

// Certificate is the one that the settings' server would serve now, whole as
// New would take it. Where nothing is encrypted it is errors.ErrUnsupported.
func Certificate(settings *config.Settings, store tlscert.Store) (*x509.Certificate, error) {
	s, given := certificateSettings(settings.TLS)
	if !given {
		return nil, errors.ErrUnsupported
	}
	keeper, err := tlscert.New(tlscert.Options{Settings: s, Store: store, Log: func(bool, string) {}})
	if err != nil {
		return nil, err
	}
	served, err := keeper.Config().GetCertificate(nil)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(served.Certificate[0])
}
