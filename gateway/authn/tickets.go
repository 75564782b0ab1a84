package authn

import (
	"context"
	"encoding/base64"
	"strings"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
)

// Tickets finds out who calls with a ticket of Kerberos. It is safe for concurrent use.
type Tickets interface {
	// Caller returns what the person of a ticket may do now, one principal for each role, and at least
	// one: without a role it has no scope. The reply proves the gateway to the client; nil: it did not
	// ask. The error is a [*Refusal].
	Caller(ctx context.Context, token negotiate.Token) (roles []*identity.Principal, reply []byte, err error)
	// Rights returns what a person with a SID may do now, as Caller does, without a ticket.
	Rights(ctx context.Context, sid string) ([]*identity.Principal, error)
}

// Ticket returns the token of Negotiate that a request carries in Authorization, which is empty if it is
// no base64. It returns false if it carries none, or another credential, too.
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
