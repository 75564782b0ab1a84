package host

import "fmt"

// Ticket is a ticket of Kerberos that a client sent.
type Ticket struct {
	Token           []byte // a context token of Kerberos (RFC 4121)
	Bindings        []byte // of the TLS connection it came by (RFC 5929); nil: any connection
	MayLackBindings bool   // a client need not send bindings
}

// Accepted is the account of a ticket.
type Accepted struct {
	Logon
	Domains []string // its NetBIOS name, and its realm
	Reply   []byte   // a context token that proves this computer to the client; nil: it did not ask
}

// TicketError means that Windows refused a ticket, with a code of SSPI.
type TicketError struct {
	Code uint32
	Text string // in the language of Windows
}

func (e *TicketError) Error() string {
	return fmt.Sprintf("AcceptSecurityContext: 0x%08x, %s", e.Code, e.Text)
}
