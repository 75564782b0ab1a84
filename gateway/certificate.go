package gateway

import (
	"crypto/x509"
	"net/http"
	"net/netip"

	"adgateway/gateway/auth"
)

// Certificates maps client certificates, given as their verified chains, to callers.
// Errors are [*auth.Refusal]. Implementations must be safe for concurrent use.
type Certificates interface {
	ByCertificate(chains [][]*x509.Certificate, client netip.Addr) (*auth.Principal, error)
}

// caller authenticates a request. A credential in the request takes precedence over
// the client certificate, wherever it is and whether or not it is valid: an invalid
// one is rejected, and a valid one does not gain the rights of the certificate.
func (s *Server) caller(r *http.Request) (*auth.Principal, error) {
	p, err := s.identify(r)
	if err != nil {
		return nil, err
	}
	return s.Quotas.Of(p), nil
}

// identify is caller before anything is counted.
func (s *Server) identify(r *http.Request) (*auth.Principal, error) {
	if p := auth.Preset(r); p != nil {
		return p, nil
	}
	client := auth.Client(r)
	if s.Certificates != nil && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && !auth.Carries(r) {
		return s.Certificates.ByCertificate(r.TLS.VerifiedChains, client)
	}
	return s.Auth.Authenticate(r, client)
}
