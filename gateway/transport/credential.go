package transport

import (
	"net/http"
	"net/url"
	"strings"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
)

// authenticate finds the caller.
func (s *Server) authenticate(req *http.Request) (*identity.Principal, error) {
	principal, err := s.caller(req)
	if err == nil {
		s.proved(Peer(req))
		return principal, nil
	}
	return nil, refusedBy(err)
}

// caller returns the caller of a request, which is counted.
func (s *Server) caller(r *http.Request) (*identity.Principal, error) {
	p, err := s.Auth.Authenticate(r.Context(), credentialIn(r))
	if err != nil {
		return nil, err
	}
	return s.Quotas.Of(p), nil
}

// carries reports whether a request has anything that is meant as a credential, in
// a header or in the query.
func carries(r *http.Request) bool { return credentialIn(r).Given() }

// credentialIn returns what a request carries to say who sends it.
func credentialIn(r *http.Request) authn.Credential {
	c := authn.Credential{
		AuthToken: r.Header.Values(ops.TokenName), Authorization: r.Header.Values("Authorization"),
		Query: queryTokens(r.URL.RawQuery), Client: ClientOf(r),
	}
	if r.TLS != nil {
		c.Chains = r.TLS.VerifiedChains
	}
	return c
}

// queryTokens returns the values of every pair with the name, even of pairs that
// the binder could not parse, so that no possible token is missed.
func queryTokens(raw string) []string {
	if raw == "" {
		return nil
	}
	var values []string
	for pair := range strings.SplitSeq(raw, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(rawName); err != nil || !strings.EqualFold(name, ops.TokenName) {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			value = "" // not a credential
		}
		values = append(values, value)
	}
	return values
}
