package signin

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// A ticket says who a person is, and in which groups the domain issued it. It lasts for hours, so that the
// directory is asked as for a password: an account that is disabled, locked or has expired is refused, and a
// group counts only while the account is still in it.

// Tickets reports whether people can sign in with a ticket of Kerberos.
func (g *Gate) Tickets() bool { return g.o.Tickets && g.o.Directory != nil }

// Ticket signs the person of a ticket in. It returns the id of the new session, and what proves the gateway
// to the browser. The error is a [*negotiate.Refusal], a [*TooMany], [ErrStore], or why the directory could
// not answer.
func (g *Gate) Ticket(ctx context.Context, token negotiate.Token) (id string, reply []byte, err error) {
	if err := g.lost(); err != nil {
		return "", nil, err
	}
	person, reply, err := g.accept(ctx, token, rightsLife)
	if err != nil {
		return "", nil, err
	}
	id, err = g.start(ctx, ofPerson(person, token.Client), "", nil)
	return id, reply, err
}

// Caller implements [authn.Tickets]. The directory is asked as often as for a session.
func (g *Gate) Caller(ctx context.Context, token negotiate.Token) ([]*identity.Principal, []byte, error) {
	person, reply, err := g.accept(ctx, token, g.o.Recheck)
	var refused *negotiate.Refusal
	var tooMany *TooMany
	switch {
	case err == nil:
	case errors.As(err, &refused):
		return nil, nil, &authn.Refusal{Code: schema.Unauthenticated, Message: refused.Error(), Reason: refused.Cause}
	case errors.As(err, &tooMany):
		return nil, nil, &authn.Refusal{Code: schema.RateLimited, RetryAfter: tooMany.Wait,
			Message: "Too many tickets from this address were not valid."}
	default:
		return nil, nil, &authn.Refusal{Code: schema.Unavailable, RetryAfter: time.Second, Reason: err.Error(),
			Message: "The directory does not answer, so that nobody can be signed in by a ticket."}
	}
	all := principals(person, g.o.Roles)
	if len(all) == 0 {
		all = append(all, &identity.Principal{
			ID: person.SID, Name: person.Name, Kind: identity.KindPerson, Dialect: identity.Standard,
		})
	}
	return all, reply, nil
}

// accept returns the person of a ticket, with groups that are not older than life.
func (g *Gate) accept(ctx context.Context, token negotiate.Token, life time.Duration) (*Person, []byte, error) {
	if !g.Tickets() {
		return nil, nil, ErrUnsupported
	}
	refuse := func(event Event, err error) (*Person, []byte, error) {
		event.What, event.Client = "refused", token.Client
		g.o.Record(event)
		return nil, nil, err
	}
	if wait := g.badTickets.wait(token.Client); wait > 0 {
		return refuse(Event{Reason: "too many tickets from this address were not valid"}, &TooMany{Wait: wait})
	}
	ticket, reply, err := g.o.Directory.Accept(ctx, token)
	if err != nil {
		var refused *negotiate.Refusal
		if !errors.As(err, &refused) {
			return refuse(Event{Reason: err.Error()}, err)
		}
		if refused.Reason != negotiate.NotKerberos { // browsers send it by themselves
			g.badTickets.note(token.Client)
		}
		return refuse(Event{Reason: refused.Cause}, err)
	}
	event := Event{Name: ticket.Name, Kind: identity.KindPerson, SID: ticket.SID, ID: ticket.SID}
	now, err := g.ask(ctx, ticket.SID, life)
	switch {
	case err != nil:
		event.Reason = err.Error()
		return refuse(event, err)
	case now == nil || now.Locked:
		const cause = "the ticket is valid, but the account is disabled, locked out or has expired"
		event.Reason = cause
		return refuse(event, negotiate.Refuse(negotiate.NotAllowed, cause))
	}
	person := &Person{SID: ticket.SID, Name: now.Name, Groups: now.Groups}
	if ticket.Groups != nil {
		person.Groups = slices.DeleteFunc(slices.Clone(ticket.Groups), func(sid string) bool {
			return !slices.Contains(now.Groups, sid)
		})
	}
	return person, reply, nil
}

// failures counts tickets that were not valid, by address.
type failures struct {
	now func() time.Time

	mu       sync.Mutex
	limiters *simplelru.LRU[netip.Prefix, *rate.Limiter]
}

const failuresAtOnce = 60

var failureRate = rate.Every(5 * time.Second)

func newFailures(now func() time.Time) *failures {
	f := &failures{now: now}
	f.limiters, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](remembered, nil) // fails only for size < 1
	return f
}

// wait returns how long an address must wait; zero: it need not.
func (f *failures) wait(client netip.Addr) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	limiter, known := f.limiters.Get(authn.Host(client))
	if !known {
		return 0
	}
	if missing := 1 - limiter.TokensAt(f.now()); missing > 0 {
		return max(time.Duration(missing/float64(failureRate)*float64(time.Second)), time.Second)
	}
	return 0
}

// note counts a ticket.
func (f *failures) note(client netip.Addr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host := authn.Host(client)
	limiter, known := f.limiters.Get(host)
	if !known {
		limiter = rate.NewLimiter(failureRate, failuresAtOnce)
		f.limiters.Add(host, limiter)
	}
	limiter.AllowN(f.now(), 1)
}
