// Package authn identifies callers by tokens, users and certificates, which are stored in a file or
// in the store of a cluster, or come from the settings. It slows down guessing. The rights of a
// caller are a value of package identity.
package authn

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// Authenticator identifies the caller of a request by its credential. Its error is a [*Refusal]. An
// Authenticator is safe for concurrent use, and takes the same time for all wrong credentials of one kind.
type Authenticator interface {
	Authenticate(ctx context.Context, c Credential) (*identity.Principal, error)
}

// Credential holds the parts of a request that identify its sender. The zero value holds none.
type Credential struct {
	AuthToken     []string // values of the header Auth-Token
	Authorization []string // values of the header Authorization
	Query         []string // values of Auth-Token in the query
	Other         string   // name of a header in which other APIs expect credentials; empty if none was sent

	Chains [][]*x509.Certificate // verified chains of the client's certificate
	Client netip.Addr            // address of the client itself, not of a proxy
}

// Given reports whether the request contains a credential other than the certificate.
func (c Credential) Given() bool {
	return len(c.AuthToken)+len(c.Authorization)+len(c.Query) > 0
}

// First returns one of the given texts, or "" if there is none. All texts of a valid credential are equal.
func (c Credential) First() string {
	for _, values := range [][]string{c.AuthToken, c.Authorization, c.Query} {
		if len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// certified reports whether the certificate identifies the caller. Any other credential takes
// precedence, wherever it is and whether or not it is valid. An invalid one is rejected, and a
// valid one does not gain the rights of the certificate.
func (c Credential) certified() bool { return len(c.Chains) > 0 && !c.Given() }

// Ticket returns the Negotiate token in Authorization, which is empty if it is not valid base64. It
// returns false if there is none, or if there is another credential as well.
func (c Credential) Ticket() (token []byte, found bool) {
	if len(c.Authorization) != 1 || len(c.AuthToken)+len(c.Query) > 0 {
		return nil, false
	}
	scheme, text, _ := strings.Cut(c.Authorization[0], " ")
	if !strings.EqualFold(scheme, negotiate.Scheme) {
		return nil, false
	}
	token, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, true
	}
	return token, true
}

// Refusal is the error for a caller that is not authenticated.
type Refusal struct {
	// Code is InvalidRequest, Unauthenticated or RateLimited. It is Overloaded if too many credentials are being
	// checked at once, and Unavailable if none can be checked.
	Code       schema.Code
	Message    string // for the caller; the same for all invalid credentials that are well-formed
	RetryAfter time.Duration
	Reason     string // for the log only
}

func (r *Refusal) Error() string { return r.Message }

// Challenge is the value of WWW-Authenticate with a 401. It omits Basic, so browsers neither ask
// for a password nor store one.
const Challenge = `Bearer realm="adgateway"`

// needed is the message for every well-formed credential that is unknown, expired, revoked or used
// from the wrong address. It does not say which of these it is, because that would help guessing.
const needed = "The credential is not valid here: it is wrong, expired, revoked, or not accepted from " +
	"this address. The gateway's log contains the reason under the request ID."

// send explains how to send a credential.
const send = "Send the header 'Auth-Token: Bearer <token>' or 'Auth-Token: Basic <base64 user:password>'."

// unauthenticated returns a refusal with a reason for the log. The reason must not contain any part
// of the credential.
func unauthenticated(reason string) *Refusal {
	return &Refusal{Code: schema.Unauthenticated, Message: needed, Reason: reason}
}

// malformed returns the refusal of a text that cannot be a credential. message is for the caller and must
// describe only the form of the text.
func malformed(message, reason string) *Refusal {
	return &Refusal{Code: schema.Unauthenticated, Message: message, Reason: reason}
}

const wrongPassword = "the user is unknown or the password is wrong"

// unknownCertificate explains how an administrator can name a certificate that belongs to no token.
func unknownCertificate(certificate *x509.Certificate) string {
	return fmt.Sprintf("no token is for the certificate of %q issued by %q (sha256:%s, der:%x): a token "+
		"must name it exactly",
		certificate.Subject, certificate.Issuer, digestHex(certificate), certificate.RawSubject)
}

// Header determines where a credential may be sent.
type Header struct {
	AllowQuery bool // accept Auth-Token in the query, for old clients
}

// proof is either a bearer token or a user's name and password.
type proof struct {
	token          string
	user, password string
	basic          bool
}

// read returns the proof in a credential. Auth-Token and Authorization may carry the same value.
// Different values, a repeated header, and a token in the query unless allowed are invalid.
func (h Header) read(c Credential) (proof, error) {
	found, count := "", 0
	same := func(value string) bool {
		count++
		if count == 1 {
			found = value
		}
		return value == found
	}
	different := false
	for _, header := range []struct {
		name   string
		values []string
	}{{"Auth-Token", c.AuthToken}, {"Authorization", c.Authorization}} {
		if len(header.values) > 1 {
			return proof{}, invalid("The header " + header.name + " is given twice. Send one credential.")
		}
		different = different || len(header.values) == 1 && !same(header.values[0])
	}
	for i, value := range c.Query {
		if !h.AllowQuery {
			return proof{}, invalid("Auth-Token is not accepted in the query, where it would end up in logs. Send " +
				"it as a header.")
		}
		if i > 0 {
			return proof{}, invalid("Auth-Token is given twice in the query. Send one credential.")
		}
		different = different || !same(value)
	}
	switch {
	case different:
		return proof{}, invalid("The request carries different credentials. Send one, in Auth-Token or in " +
			"Authorization.")
	case count == 0 && c.Other != "":
		return proof{}, malformed("A credential in the header "+c.Other+" is not read. "+send, "the "+
			"credential is in "+c.Other)
	case count == 0:
		return proof{}, malformed("No credential was sent. "+send, "the request carries no credential")
	}
	return parse(found)
}

func invalid(message string) *Refusal {
	return &Refusal{Code: schema.InvalidRequest, Message: message}
}

// parse parses "Bearer <token>" or "Basic <base64>" (RFC 6750, RFC 7617).
func parse(value string) (proof, error) {
	scheme, rest, spaced := strings.Cut(value, " ")
	rest = strings.TrimSpace(rest)
	bearer, basic := strings.EqualFold(scheme, "Bearer"), strings.EqualFold(scheme, "Basic")
	switch {
	case !bearer && !basic:
		return proof{}, malformed(wrongScheme(scheme, spaced), "the credential's scheme is neither "+
			"Bearer nor Basic")
	case rest == "":
		return proof{}, malformed("Nothing follows '"+scheme+"': the credential is empty, perhaps because a "+
			"variable is not set.",
			"nothing follows the credential's scheme")
	case strings.HasPrefix(rest, "<") && strings.HasSuffix(rest, ">"):
		return proof{}, malformed("<token> is a placeholder. Put your token there, without < and >.", "the "+
			"credential is a placeholder")
	case strings.ContainsAny(rest[:1], "\"'"):
		return proof{}, malformed("There is a quote before the credential. Send it without "+
			"quotes.", "the credential is in quotes")
	case bearer:
		return proof{token: rest}, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return proof{}, malformed("What follows 'Basic' is not base64. Send the base64 of "+
			"user:password.", "the Basic credential is not base64")
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if !ok || user == "" {
		return proof{}, malformed("What follows 'Basic' has no name and colon before the password. "+
			"Send the base64 of user:password.",
			"the Basic credential has no name and colon before the password")
	}
	return proof{user: user, password: password, basic: true}, nil
}

// schemes are authentication schemes of other servers. Answers do not repeat any other word,
// because it may be the token.
var schemes = []string{"Token", "Digest", "Negotiate", "NTLM",
	"ApiKey", "Api-Key", "JWT", "OAuth", "Key", "Bearer:", "Basic:"}

// wrongScheme explains the fault of the first word of a credential.
func wrongScheme(scheme string, spaced bool) string {
	at := slices.IndexFunc(schemes, func(s string) bool { return strings.EqualFold(s, scheme) })
	switch {
	case at >= 0:
		return "The scheme '" + schemes[at] + "' is not known here. " + send
	case !spaced:
		return "The header has no 'Bearer ' before the token. " + send
	}
	return "The header begins with neither 'Bearer ' nor 'Basic '. " + send
}
