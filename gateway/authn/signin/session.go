package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/store"
)

func fold(name string) string { return strings.ToLower(name) }

// account returns the name of an account, and the domain that was typed before it, if any. It fails
// if the domain, or the suffix of the name, is not in domains.
func account(typed string, domains []string) (name, before string, err error) {
	name = strings.TrimSpace(typed)
	before, after, given := strings.Cut(name, `\`)
	domain := before
	if given {
		name = strings.TrimSpace(after)
	} else {
		before = ""
		_, domain, given = strings.Cut(name, "@")
	}
	if given && len(domains) > 0 &&
		!slices.ContainsFunc(domains, func(d string) bool { return strings.EqualFold(d, domain) }) {
		return "", "", ErrRefused
	}
	if name == "" || len(name) > 256 ||
		strings.ContainsFunc(name, func(
			r rune) bool {
			return r < ' ' || r == 0x7f || strings.ContainsRune(`"/\[]:;|=,+*?<>`, r)
		}) {
		return "", "", ErrRefused
	}
	return name, before, nil
}

// Session is a signed-in person or token, as found by one request.
type Session struct {
	Name string
	Kind string // identity.KindPerson, or the kind of a credential

	Identity identity.ID // of the person or the token

	gate       *Gate
	key        sum
	in         *store.Sealed // store that contains it
	revision   store.Revision
	kept       stored
	token      string                // token of a session that does not belong to a person
	principals []*identity.Principal // principals of the person
}

// use holds the times of a session's use that a gate knows.
type use struct{ at, savedAt time.Time }

// ofPerson returns the stored form of a new session of a person.
func ofPerson(p *Person, client netip.Addr) *stored {
	return &stored{Name: p.Name, Kind: identity.KindPerson, Person: p, Client: client}
}

// start stores a new session and returns its id. It removes the wrong passwords counted for the account,
// because the person has now proved the right one. If the credential then has too many sessions, the oldest
// ones end.
func (g *Gate) start(ctx context.Context, session *stored, token string, proved *try) (id string, err error) {
	id, now := NewID(), g.o.Now()
	session.Started, session.Used, session.Checked = now, now, now
	if session.Person == nil {
		if session.Token, err = sealToken(id, token); err != nil {
			return "", err
		}
	}
	key := sumOf(id)
	err = g.decide(ctx, func(ctx context.Context, in *store.Sealed) ([]store.Change, error) {
		all, err := g.joinOthers(ctx, in, session, key)
		if err != nil {
			return nil, err
		}
		set, err := g.change(in, key, store.Absent, session)
		if err != nil {
			return nil, err
		}
		all = append(all, set)
		if proved != nil {
			forgiven, err := proved.forgiven(ctx, in)
			if err != nil {
				return nil, err
			}
			all = append(all, forgiven...)
		}
		return all, nil
	})
	if err != nil {
		g.o.Record(session.event("refused", err.Error()))
		return "", err
	}
	g.o.Record(session.event("signed in", ""))
	return id, nil
}

// over reports whether a session has expired.
func (g *Gate) over(s *stored, usedAt, now time.Time) bool {
	return now.Sub(usedAt) >= g.o.Idle || now.Sub(s.Started) >= g.o.Max
}

func (s *stored) event(what, reason string) Event {
	e := Event{What: what, Name: s.Name, Kind: s.Kind, Client: s.Client, Reason: reason}
	if s.Person != nil {
		e.SID = s.Person.SID
	}
	e.ID = cmp.Or(e.SID, s.Account)
	return e
}

// Find returns the session with the given id, or nil if it does not exist or has ended. From time to time
// it asks the directory whether the person may still log on. It fails with [ErrStore] if that is
// due but it cannot find out whether another gateway has ended the session. Find counts as a use of
// the session.
func (g *Gate) Find(ctx context.Context, id string) (*Session, error) {
	s, checked, err := g.find(ctx, id)
	if s != nil {
		g.used(ctx, s, g.o.Now(), checked)
	}
	return s, err
}

// Peek is like [Gate.Find] but does not prolong the session. It is for requests that no person made, such as
// the refresh of an open page.
func (g *Gate) Peek(ctx context.Context, id string) (*Session, error) {
	s, checked, err := g.find(ctx, id)
	if s != nil && checked && g.lost() == nil {
		g.keep(ctx, s)
	}
	return s, err
}

// find returns the session with the given id, and whether the directory was just asked about its person.
func (g *Gate) find(ctx context.Context, id string) (s *Session, checked bool, err error) {
	s, _ = g.lookUp(ctx, id) // if the look-up fails, the session is unknown here
	if s == nil || !s.openToken(id) {
		return nil, false, nil
	}
	now := g.o.Now()
	due := s.kept.Checked.Before(g.since) || now.Sub(s.kept.Checked) >= g.o.Recheck
	if due {
		if err := g.lost(); err != nil {
			return nil, false, err
		}
		if !g.recheck(ctx, s, now) {
			return nil, false, g.end(ctx, s)
		}
	} else {
		s.principals = s.roles()
	}
	return s, due && s.kept.Checked.Equal(now), nil
}

// roles returns the principals of a person's session.
func (s *Session) roles() []*identity.Principal {
	if s.kept.Person == nil {
		return nil
	}
	return principals(s.kept.Person, s.gate.o.Roles)
}

// used records that a session was used, and saves it if that is due or the session has changed.
func (g *Gate) used(ctx context.Context, s *Session, now time.Time, changed bool) {
	g.mu.Lock()
	last, _ := g.uses.Get(s.key)
	due := changed || now.Sub(s.kept.Used) >= saveEvery && now.Sub(last.savedAt) >= saveEvery
	last.at = now
	if due {
		last.savedAt = now
	}
	g.uses.Add(s.key, last)
	g.mu.Unlock()
	if !due || g.lost() != nil {
		return
	}
	s.kept.Used = now
	g.keep(ctx, s)
}

// keep saves a session, unless another request has already saved or ended it.
func (g *Gate) keep(ctx context.Context, s *Session) {
	if err := g.save(ctx, s); err != nil && !errors.Is(err, store.ErrConflict) {
		g.o.Problem(fmt.Errorf("the use of a session could not be stored: %w", err))
	}
}

// unreachable is how long a session continues while the directory does not answer.
const unreachable = 15 * time.Minute

// recheck asks the directory about the person of a session, and reports whether the session
// continues.
func (g *Gate) recheck(ctx context.Context, s *Session, now time.Time) bool {
	if s.kept.Person == nil || g.o.Directory == nil { // a token is checked for each request
		s.kept.Checked, s.principals = now, s.roles()
		return true
	}
	person, err := g.o.Directory.Groups(ctx, s.kept.Person.SID)
	switch {
	case err == nil:
		s.kept.Checked, s.kept.Person = now, &Person{SID: s.kept.Person.SID, Name: s.kept.Person.Name,
			Groups: person.Groups}
		s.principals = s.roles()
		return true
	case errors.Is(err, ErrRefused):
		g.o.Record(s.kept.event("ended", "the account may no longer log on"))
		return false
	case now.Sub(s.kept.Checked) < g.o.Recheck+unreachable:
		s.principals = readers(s.roles())
		return true
	}
	g.o.Record(s.kept.event("ended", "the directory did not answer for too long"))
	return false
}

// readers returns the principals reduced to their reading scopes.
func readers(all []*identity.Principal) []*identity.Principal {
	var reading []*identity.Principal
	for _, p := range all {
		reader := *p
		reader.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes),
			func(s identity.Scope) bool { return !strings.HasSuffix(string(s), ":read") })
		reading = append(reading, &reader)
	}
	return reading
}

// End ends a session at all gateways. If it fails with [ErrStore], the session has ended only at
// this gate. [Gate.Tidy] informs the others once the store can be used again.
func (g *Gate) End(ctx context.Context, id string) error {
	s, err := g.lookUp(ctx, id)
	if s == nil {
		return err
	}
	g.o.Record(s.kept.event("signed out", ""))
	return g.end(ctx, s)
}

// end removes a session from the store, or records that it must be removed later.
func (g *Gate) end(ctx context.Context, s *Session) error {
	err := g.remove(ctx, s)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uses.Remove(s.key)
	if err == nil {
		delete(g.ended, s.key)
		return nil
	}
	if g.ended[s.key] == nil {
		g.o.Problem(fmt.Errorf("an ended session could not be removed from the store; the gateway tries again: "+
			"%w", err))
	}
	g.ended[s.key] = s
	return err
}

// Tidy removes ended sessions that could not be removed at once. The caller should call it about
// once a second.
func (g *Gate) Tidy(ctx context.Context) {
	g.mu.Lock()
	ended := slices.Collect(maps.Values(g.ended))
	g.mu.Unlock()
	for _, s := range ended {
		if g.lost() == nil {
			_ = g.end(ctx, s) // end has reported the reason for a failure
		}
	}
	_, _ = g.own.Sweep(ctx) // Sweep fails only for a closed store, and this one is never closed
}

// Principals returns the rights of the session: one principal for each role of a person, or the
// current principal of the token. The error is a [*authn.Refusal].
func (s *Session) Principals(ctx context.Context, client netip.Addr) ([]*identity.Principal, error) {
	if s.kept.Person != nil {
		return slices.Clone(s.principals), nil
	}
	p, err := s.gate.byToken(ctx, s.token, client)
	if err != nil {
		return nil, err
	}
	return []*identity.Principal{p}, nil
}

// Rights returns the current rights of a person, whether or not the person is signed in: one
// principal for each role. It returns none if the account may no longer log on, or has no role. It
// fails if the directory could not answer.
func (g *Gate) Rights(ctx context.Context, sid string) ([]*identity.Principal, error) {
	if g.o.Directory == nil {
		return nil, nil
	}
	person, err := g.ask(ctx, sid, rightsLife)
	if err != nil || person == nil {
		return nil, err
	}
	return principals(person, g.o.Roles), nil
}

// ask returns a person as the directory reported it at most life ago, or nil if the account may not log on.
// The error means that the directory could not answer.
func (g *Gate) ask(ctx context.Context, sid string, life time.Duration) (*Person, error) {
	if known, fresh := g.rights.of(sid, g.o.Now(), life); fresh {
		return known, nil
	}
	asked := g.rights.flight.DoChan(sid, func() (any, error) {
		at := g.o.Now() // the time before the query, so that changes made during it are read again
		person, err := g.o.Directory.Groups(context.WithoutCancel(ctx), sid)
		switch {
		case errors.Is(err, ErrRefused):
			person = nil
		case err != nil:
			return nil, err
		}
		g.rights.keep(sid, person, at)
		return person, nil
	})
	select {
	case answer := <-asked:
		person, _ := answer.Val.(*Person)
		return person, answer.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
