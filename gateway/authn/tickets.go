package authn

import (
	"context"

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
