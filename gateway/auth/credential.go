package auth

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Authenticator finds who a request comes from; client is the address it is
// taken to come from, which is not always the connection's. The error is a
// [*Refusal]. It is safe for concurrent use and takes equally long for every
// wrong credential of a kind.
type Authenticator interface {
	Authenticate(r *http.Request, client netip.Addr) (*Principal, error)
}

// Refusal says why a request has no principal.
type Refusal struct {
	Status      int    // 400, 401, 429 or 503
	Message     string // fit for the caller; of a 401 always the same
	RetryAfter  time.Duration
	Reason      string // for the log only: what the caller is not told
	Unavailable bool   // of a 503: no credential can be checked at all; else there are too many
}

func (r *Refusal) Error() string { return r.Message }

// Challenge is the value of WWW-Authenticate on a 401. Basic is left out so
// that browsers neither ask for nor keep a password.
const Challenge = `Bearer realm="adgateway"`

// needed is the one answer to a credential that is missing, malformed, unknown,
// expired or revoked.
const needed = "A valid credential is required: send the header 'Auth-Token: Bearer <token>' or 'Auth-Token: Basic <base64 user:password>'."

// unauthenticated is a 401 with its reason for the log, which holds nothing of
// what was sent.
func unauthenticated(reason string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Message: needed, Reason: reason}
}

const wrongPassword = "the user is unknown or the password is wrong"

func noSubject(subject string) string {
	return fmt.Sprintf("no token stands for the certificate of %q", subject)
}

// QueryParameter is the name, in any case, under which a token may stand in
// the query where the settings allow it.
const QueryParameter = "Auth-Token"

// Header holds the rules by which a request carries its credential.
type Header struct {
	AllowQuery bool // take Auth-Token from the query (old clients)
}

// Credential is a bearer token, or a user's name and password.
type Credential struct {
	Token          string
	User, Password string
	Basic          bool
}

// Read finds the credential of a request. The same value may stand in
// Auth-Token and in Authorization; different values, or a header given twice,
// are a 400, and so is a token in the query unless it is allowed there.
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

// queryValues finds every pair of the name, even one that the binder could not
// read: nothing that may be a token passes unseen.
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
			value = "" // no credential
		}
		values = append(values, value)
	}
	return values
}

// parse reads "Bearer <token>" or "Basic <base64>" (RFC 6750, RFC 7617).
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
