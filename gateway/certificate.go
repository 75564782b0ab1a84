package gateway

import (
	"crypto/x509"
	"net/http"
	"net/netip"

	"adgateway/gateway/auth"
	"adgateway/gateway/transport"
)

// callerOf returns what a caller's share of what callers share counts for.
func callerOf(p *auth.Principal) transport.Caller {
	return transport.Caller{ID: p.ID, Kind: p.Kind, Name: p.Name}
}

// locate stores the address of the client in the context of each request.
func locate(from transport.Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(auth.WithClient(r.Context(), from.Client(r))))
	})
}

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
