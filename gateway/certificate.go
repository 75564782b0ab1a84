package gateway

import (
	"net/http"
	"net/netip"

	"adgateway/gateway/auth"
)

// Certificates finds the caller whom a client's certificate names: subject is
// that of a verified one, as [crypto/x509/pkix.Name.String] writes it. The error
// is a [*auth.Refusal]. It is safe for concurrent use.
type Certificates interface {
	BySubject(subject string, client netip.Addr) (*auth.Principal, error)
}

// caller finds who a request comes from. A credential in the request, in any
// place and form, says it alone: a wrong one is refused whatever certificate
// the connection has, and a right one has its own rights and none of the
// certificate's. Only a request without a credential is the certificate's.
func (s *Server) caller(r *http.Request) (*auth.Principal, error) {
	client := auth.Client(r)
	if s.Certificates != nil && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && !auth.Carries(r) {
		return s.Certificates.BySubject(r.TLS.PeerCertificates[0].Subject.String(), client)
	}
	return s.Auth.Authenticate(r, client)
}
