// Package negotiate accepts Kerberos tickets that browsers and programs send as "Authorization:
// Negotiate" (RFC 4559). It accepts nothing else: an NTLM token is refused.
//
// An HTTP request carries one token and gets one reply; there are no further legs. An [Acceptor]
// removes the SPNEGO wrapping (RFC 4178), reads the name in the ticket, and wraps the reply. The
// ticket itself is checked by a [Mechanism]: a [Keytab], or Windows.
//
//	negotiate.go  the acceptor, and its refusals
//	spnego.go     tokens and replies
//	keytab.go     tickets by the keys in a file
//	pac.go        the account and the groups in an Active Directory ticket
//	use.go        identifies the use of a ticket
//	bindings.go   the connection that a ticket is made for
package negotiate

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	// Scheme is the scheme in the Authorization header, and the challenge in WWW-Authenticate.
	Scheme = "Negotiate"
	// MaxToken is the longest token that is read, in bytes. Windows limits its own to 48,000.
	MaxToken = 48 << 10
	// Skew is how far the clocks of client and gateway may be apart.
	Skew = 5 * time.Minute
)

// Token is a token as sent by a client.
type Token struct {
	Value    []byte     // decoded text after the scheme
	Bindings []byte     // bindings of the connection, see [EndPoint]; nil if TLS does not end at this gateway
	Client   netip.Addr // zero if unknown
}

// Person is the account that a ticket names.
type Person struct {
	Account string   // sAMAccountName
	Domains []string // names of the person's domain: the realm, and the NetBIOS name if known
	SID     string   // empty if the ticket does not contain it
	Groups  []string // SIDs of the groups that give rights; nil if the ticket contains none

	// Reply proves the gateway's identity to the client. It is the value for the WWW-Authenticate header, before
	// encoding, or nil if the client did not ask for a proof.
	Reply []byte
	// Use identifies this use of the ticket, no matter which gateway receives it. The [Acceptor] sets Use but
	// accepts repeated uses. Its caller must remember uses, and refuse a repeated one with [Replayed].
	Use []byte
}

// Mechanism checks Kerberos tokens. It is safe for concurrent use.
type Mechanism interface {
	// Check checks a Kerberos context token (RFC 4121), and returns the person in its ticket, with
	// the reply as a context token. The error is a [*Refusal] if the ticket is at fault.
	Check(ctx context.Context, token Token) (*Person, error)
}

// Acceptor accepts tokens. It is safe for concurrent use.
type Acceptor struct {
	Mechanism Mechanism
	Domains   []string // realms and NetBIOS names whose accounts are accepted
}

// Reason is the reason why a token is refused.
type Reason string

// Reasons for refusals.
const (
	NotKerberos  Reason = "not_kerberos"
	Unreadable   Reason = "unreadable"
	TooLong      Reason = "too_long"
	OtherService Reason = "other_service"
	Replayed     Reason = "replayed"
	Expired      Reason = "expired"
	NotYet       Reason = "not_yet_valid"
	ClockOff     Reason = "clock_off"
	OtherDomain  Reason = "other_domain"
	NoPerson     Reason = "no_person"
	Relayed      Reason = "other_connection"
	Invalid      Reason = "invalid"
	NotAllowed   Reason = "not_allowed"
)

// sentences maps reasons to sentences for people.
var sentences = map[Reason]string{
	NotKerberos: "This computer did not send a Kerberos ticket, and NTLM is not accepted. " +
		"Open the gateway by its full name.",
	Unreadable:   "What this computer sent to sign you in cannot be read.",
	TooLong:      "The ticket of this computer is too large, because the account is in very many groups.",
	OtherService: "The ticket of this computer is for another service.",
	Replayed:     "This ticket was already used. Load the page again.",
	Expired:      "The ticket of this computer has expired. Lock Windows, unlock it, and try again.",
	NotYet:       "The ticket of this computer is not valid yet. Compare its clock with the clock of the gateway.",
	ClockOff: "The clock of this computer differs from the clock of the gateway by more than five minutes. " +
		"Set it, and try again.",
	OtherDomain: "Accounts of your domain may not sign in here.",
	NoPerson:    "The account of the ticket does not belong to a person.",
	Relayed:     "The ticket was issued for another connection than the one on which it arrived.",
	Invalid:     "The ticket of this computer is not valid here.",
	NotAllowed:  "Your account may not log on now: it is disabled, locked out or expired.",
}

// Refusal is the error of a faulty token.
type Refusal struct {
	Reason Reason
	Cause  string // for the log; it contains no secret
}

// Sentence returns the reason as a sentence for people.
func (r Reason) Sentence() string { return sentences[r] }

// Error returns the sentence for the person.
func (r *Refusal) Error() string { return r.Reason.Sentence() }

func refuse(reason Reason, cause string) *Refusal { return &Refusal{Reason: reason, Cause: cause} }

// Refuse returns a [*Refusal], for a [Mechanism].
func Refuse(reason Reason, cause string) error { return refuse(reason, cause) }

// Accept returns the person of a token. The error is a [*Refusal], or the reason why the ticket
// could not be checked.
func (a *Acceptor) Accept(ctx context.Context, token Token) (*Person, error) {
	found, err := open(token.Value)
	if err != nil {
		return nil, err
	}
	token.Value = found.token
	req, err := parseRequest(token.Value)
	if err != nil {
		return nil, err
	}
	// Windows accepts a ticket for any service of the account, so the name of the service is checked here.
	if asked := req.Ticket.SName.NameString; !isService(asked) {
		name := strings.Join(asked, "/") + "@" + req.Ticket.Realm
		return nil, refuse(OtherService, fmt.Sprintf("the ticket is for %q, and not for %s", name, service))
	}
	person, err := a.Mechanism.Check(ctx, token)
	if err != nil {
		return nil, err
	}
	if err := a.admit(person); err != nil {
		return nil, err
	}
	if person.Reply, err = found.reply(person.Reply); err != nil {
		return nil, err
	}
	person.Use = useOf(req)
	return person, nil
}

// admit refuses accounts that do not belong to a person of the domains. The name is compared with names in
// the directory, so it must not contain characters that the directory would interpret.
func (a *Acceptor) admit(p *Person) error {
	switch {
	case !slices.ContainsFunc(p.Domains, a.accepts):
		return refuse(OtherDomain, "the account is of the domain "+strings.Join(p.Domains, ", ")+
			", which signIn.domains does not name")
	case strings.HasSuffix(p.Account, "$"):
		return refuse(NoPerson, "the account is that of a computer or a service")
	case p.Account == "", len(p.Account) > 256, strings.ContainsFunc(p.Account, unusual):
		return refuse(NoPerson, "the name of the account has a character that logon names do not have")
	}
	return nil
}

func (a *Acceptor) accepts(domain string) bool {
	return slices.ContainsFunc(a.Domains, func(d string) bool { return strings.EqualFold(d, domain) })
}

// unusual reports whether a character cannot occur in a sAMAccountName.
func unusual(r rune) bool {
	return r < ' ' || r == 0x7f || strings.ContainsRune(`"/\[]:;|=,+*?<>@`, r)
}

// errCheck is wrapped by errors that are the gateway's fault.
var errCheck = errors.New("the ticket could not be checked")
