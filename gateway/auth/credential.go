package auth

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Authenticator identifies the caller of a request. client is the caller's
// address, which behind a proxy is not that of the connection. The error is a
// [*Refusal]. An Authenticator is safe for concurrent use, and takes equally long
// for every wrong credential of a kind.
type Authenticator interface {
	Authenticate(r *http.Request, client netip.Addr) (*Principal, error)
}

// Refusal is the error of a request that is not authenticated or over a limit.
type Refusal struct {
	Status      int    // 400, 401, 429 or 503
	Message     string // for the caller; always the same with 401
	RetryAfter  time.Duration
	Reason      string // for the log only, not for the caller
	Unavailable bool   // with 503: credentials cannot be checked at all, as opposed to too many at once
}

func (r *Refusal) Error() string { return r.Message }

// Challenge is the value of WWW-Authenticate with a 401. It omits Basic so that
// browsers neither ask for a password nor store one.
const Challenge = `Bearer realm="adgateway"`

// needed is the message for every credential that is missing, malformed, unknown,
// expired or revoked.
const needed = "A valid credential is required: send the header 'Auth-Token: Bearer <token>' or 'Auth-Token: Basic <base64 user:password>'."

// unauthenticated returns a 401 with the reason for the log, which must not contain
// anything of the credential.
func unauthenticated(reason string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Message: needed, Reason: reason}
}

const wrongPassword = "the user is unknown or the password is wrong"

// unknownCertificate says how an administrator can name a certificate that stands for
// no token.
func unknownCertificate(certificate *x509.Certificate) string {
	return fmt.Sprintf("no token stands for the certificate of %q by %q (sha256:%s, der:%x): a token must name it exactly",
		certificate.Subject, certificate.Issuer, digestHex(certificate), certificate.RawSubject)
}

// QueryParameter is the name, in any case, of the query parameter that may carry a
// token if the settings allow it.
const QueryParameter = "Auth-Token"

// Header reads the credential of a request.
type Header struct {
	AllowQuery bool // accept Auth-Token in the query, for old clients
}

// Credential is either a bearer token or a user's name and password.
type Credential struct {
	Token          string
	User, Password string
	Basic          bool
}

// Read returns the credential of a request. Auth-Token and Authorization may carry
// the same value; different values, a repeated header, and a token in the query
// unless allowed are rejected with 400.
func (h Header) Read(r *http.Request) (Credential, error) {
	found, count := "", 0
	same := func(value string) bool {
		count++
		if count == 1 {
			found = value
		}
		return value == found
	}
	different := false
	for _, name := range []string{"Auth-Token", "Authorization"} {
		values := r.Header.Values(name)
		if len(values) > 1 {
			return Credential{}, badRequest("The header " + name + " is given twice. Send one credential.")
		}
		different = different || len(values) == 1 && !same(values[0])
	}
	for i, value := range queryValues(r.URL.RawQuery) {
		if !h.AllowQuery {
			return Credential{}, badRequest("Auth-Token is not accepted in the query, where it would end up in logs. Send it as a header.")
		}
		if i > 0 {
			return Credential{}, badRequest("Auth-Token is given twice in the query. Send one credential.")
		}
		different = different || !same(value)
	}
	switch {
	case different:
		return Credential{}, badRequest("The request carries different credentials. Send one, in Auth-Token or in Authorization.")
	case count == 0:
		return Credential{}, unauthenticated("the request carries no credential")
	}
	return parse(found)
}

func badRequest(message string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Message: message}
}

// queryValues returns the values of every pair with the name, even of pairs that
// the binder could not parse, so that no possible token is missed.
func queryValues(raw string) []string {
	if raw == "" {
		return nil
	}
	var values []string
	for pair := range strings.SplitSeq(raw, "&") {
		rawName, rawValue, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(rawName); err != nil || !strings.EqualFold(name, QueryParameter) {
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

// parse parses "Bearer <token>" or "Basic <base64>" (RFC 6750, RFC 7617).
func parse(value string) (Credential, error) {
	scheme, rest, _ := strings.Cut(value, " ")
	rest = strings.TrimSpace(rest)
	bearer, basic := strings.EqualFold(scheme, "Bearer"), strings.EqualFold(scheme, "Basic")
	switch {
	case !bearer && !basic:
		return Credential{}, unauthenticated("the credential's scheme is neither Bearer nor Basic")
	case rest == "":
		return Credential{}, unauthenticated("nothing follows the credential's scheme")
	case bearer:
		return Credential{Token: rest}, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return Credential{}, unauthenticated("the Basic credential is not base64")
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if !ok || user == "" {
		return Credential{}, unauthenticated("the Basic credential has no name and colon before the password")
	}
	return Credential{User: user, Password: password, Basic: true}, nil
}
