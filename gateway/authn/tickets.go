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
	// Caller returns the current rights of the person that a ticket identifies: at least one
	// principal, one for each role. A person without a role gets one without scopes. The reply proves
	// the gateway's identity to the client; it is nil if the client did not ask for it. The error is a
	// [*Refusal].
	Caller(ctx context.Context, token negotiate.Token) (roles []*identity.Principal, reply []byte, err error)
	// Rights returns the current rights of the person with the given SID, like Caller but without a ticket.
	Rights(ctx context.Context, sid string) ([]*identity.Principal, error)
}

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
