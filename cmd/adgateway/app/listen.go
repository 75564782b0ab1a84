package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"adgateway/gateway/config"
)

// Listen opens the listener of the settings. Without TLS it listens only on
// addresses that other machines cannot reach, unless http.allowUnencrypted is set.
func Listen(ctx context.Context, settings *config.Settings) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.HTTP.Listen)
	if err != nil {
		return nil, err
	}
	address, _ := netip.ParseAddrPort(listener.Addr().String())
	if err := checkExposure(settings, address.Addr()); err != nil {
		_ = listener.Close() // no connection was accepted
		return nil, err
	}
	return listener, nil
}

// checkExposure returns an error if other machines could reach the
// address without encryption and the settings do not allow that.
func checkExposure(settings *config.Settings, address netip.Addr) error {
	if tlsSettings(settings.TLS).Given() || settings.HTTP.AllowUnencrypted || address.Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("http.listen: other machines can reach %s, and without TLS tokens and passwords would "+
		"cross the network in clear text; "+
		"set a certificate (tls.certificateFile with tls.keyFile, tls.pfxFile, tls.storeThumbprint or "+
		"tls.storeSubject), "+
		"or listen on 127.0.0.1, or set http.allowUnencrypted to true if a proxy in front of the gateway encrypts",
		settings.HTTP.Listen)
}

// Scheme returns the URL scheme under which the settings are served.
func Scheme(settings *config.Settings) string {
	if tlsSettings(settings.TLS).Given() {
		return "https"
	}
	return "http"
}
