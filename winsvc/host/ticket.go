package host

import "fmt"

// Ticket is a Kerberos ticket that a client sent.
type Ticket struct {
	Token           []byte // a context token of Kerberos (RFC 4121)
	Bindings        []byte // bindings of the TLS connection (RFC 5929); nil means any connection
	MayLackBindings bool   // the client need not send bindings
}

// Accepted is the account that a ticket belongs to.
type Accepted struct {
	Logon
	Domains []string // NetBIOS name of its domain, and its realm
	Reply   []byte   // a context token that proves this computer's identity to the client; nil if not requested
}

// TicketError means that Windows refused a ticket. Code is an SSPI code.
type TicketError struct {
	Code uint32
	Text string // in the language of Windows
}

func (e *TicketError) Error() string {
	return fmt.Sprintf("AcceptSecurityContext: 0x%08x, %s", e.Code, e.Text)
}
