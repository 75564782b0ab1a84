package authn

import (
	"context"
	"encoding/base64"
	"strings"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
)

// Tickets identifies callers by Kerberos tickets. It is safe for concurrent use.
type Tickets interface {
	// Caller returns the present rights of the person of a ticket: one principal for each role, and
	// at least one, which has no scope if there is no role. The reply proves the gateway to the
	// client; nil: the client did not ask. The error is a [*Refusal].
	Caller(ctx context.Context, token negotiate.Token) (roles []*identity.Principal, reply []byte, err error)
	// Rights returns the present rights of the person with a SID, like Caller, but without a
	// ticket.
	Rights(ctx context.Context, sid string) ([]*identity.Principal, error)
}

// Ticket returns the Negotiate token in Authorization, which is empty if it is not base64. It
// returns false if there is none, or also another credential.
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
