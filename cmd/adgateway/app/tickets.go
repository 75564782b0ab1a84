package app

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/config"
	"adgateway/winsvc/host"
)

// ticketsOf returns the acceptor of Kerberos tickets for
// accounts of these domains, or nil if the settings accept none.
func ticketsOf(s config.SignIn, domains []string) (*negotiate.Acceptor, error) {
	bindings := negotiate.Bindings(s.Bindings)
	switch {
	case !s.Tickets():
		return nil, nil
	case s.Keytab != "":
		keys, err := negotiate.ReadKeytab(s.Keytab, bindings)
		if err != nil {
			return nil, fmt.Errorf("signIn.keytab: %w", err)
		}
		return &negotiate.Acceptor{Mechanism: keys, Domains: slices.Concat(domains, keys.Realms())}, nil
	case runtime.GOOS != "windows":
		return nil, errors.New("signIn.mode: on this system tickets are checked with the keys of a file; " +
			"set signIn.keytab")
	}
	return &negotiate.Acceptor{Mechanism: windowsTickets{bindings}, Domains: domains}, nil
}

// windowsTickets lets Windows check tickets with the keys of the account of this process.
type windowsTickets struct{ bindings negotiate.Bindings }

// Check implements [negotiate.Mechanism].
func (w windowsTickets) Check(ctx context.Context, token negotiate.Token) (*negotiate.Person, error) {
	asked := host.Ticket{Token: token.Value, MayLackBindings: w.bindings == negotiate.IfSent}
	if w.bindings != negotiate.Ignored {
		asked.Bindings = token.Bindings
	}
	found, err := host.AcceptTicket(ctx, asked)
	var refused *host.TicketError
	switch {
	case errors.As(err, &refused):
		return nil, negotiate.Refuse(ticketReason(refused.Code), refused.Error())
	case err != nil:
		return nil, err
	}
	return &negotiate.Person{
		Account: found.Name, Domains: found.Domains, SID: found.SID, Groups: found.Groups, Reply: found.Reply,
	}, nil
}

// ticketReasons maps the error codes of Windows (winerror.h).
var ticketReasons = map[uint32]negotiate.Reason{
	0x80090308: negotiate.Unreadable,   // SEC_E_INVALID_TOKEN
	0x80090305: negotiate.NotKerberos,  // SEC_E_SECPKG_NOT_FOUND
	0x80090317: negotiate.Expired,      // SEC_E_CONTEXT_EXPIRED
	0x80090322: negotiate.OtherService, // SEC_E_WRONG_PRINCIPAL
	0x80090324: negotiate.ClockOff,     // SEC_E_TIME_SKEW
	0x80090346: negotiate.Relayed,      // SEC_E_BAD_BINDINGS
	0x80090310: negotiate.Replayed,     // SEC_E_OUT_OF_SEQUENCE
}

// ticketReason returns the reason why Windows refuses a ticket.
func ticketReason(code uint32) negotiate.Reason {
	if reason, known := ticketReasons[code]; known {
		return reason
	}
	return negotiate.Invalid
}

// Accept implements [signin.Directory]. It finds the account by name, because the domain that issues the
// tickets may use other SIDs than the simulated domain. If the simulated domain is a copy of the issuing
// domain, the groups in the ticket are valid in both.
func (d worldDirectory) Accept(ctx context.Context, token negotiate.Token) (*signin.Person, []byte, error) {
	if d.tickets == nil {
		return nil, nil, signin.ErrUnsupported
	}
	ticket, err := d.tickets.Accept(ctx, token)
	if err != nil {
		return nil, nil, err
	}
	person, err := personOf(d.world.Lookup(ctx, ticket.Account))
	if errors.Is(err, signin.ErrRefused) {
		const none = "the simulated domain has no account with the name in the ticket"
		return nil, nil, negotiate.Refuse(negotiate.NotAllowed, none)
	}
	if err != nil {
		return nil, nil, err
	}
	found := &signin.Person{SID: person.SID, Name: person.Name, Use: ticket.Use}
	switch {
	case ticket.SID == person.SID:
		found.Groups = ticket.Groups
	case domainOf(ticket.SID) == domainOf(person.SID):
		const another = "the name and the SID in the ticket belong to different accounts"
		return nil, nil, negotiate.Refuse(negotiate.NotAllowed, another)
	}
	return found, ticket.Reply, nil
}

// domainOf returns the SID of an account's domain.
func domainOf(sid string) string { return sid[:max(strings.LastIndexByte(sid, '-'), 0)] }

// Accept implements [signin.Directory].
func (d windowsDirectory) Accept(ctx context.Context, token negotiate.Token) (*signin.Person, []byte, error) {
	if d.tickets == nil {
		return nil, nil, signin.ErrUnsupported
	}
	ticket, err := d.tickets.Accept(ctx, token)
	switch {
	case err != nil:
		return nil, nil, err
	case ticket.SID == "":
		const nameless = "the ticket does not name the SID of its account, as tickets of Active Directory do"
		return nil, nil, negotiate.Refuse(negotiate.Invalid, nameless)
	}
	return &signin.Person{
		SID: ticket.SID, Name: ticket.Account, Groups: ticket.Groups, Use: ticket.Use,
	}, ticket.Reply, nil
}
