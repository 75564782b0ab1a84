package signin

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/auth"
)

var root = &url.URL{Path: "/"}

func fold(name string) string { return strings.ToLower(name) }

// account returns the name of an account without the domain that may stand before it, and
// that domain, or an error if it, or the suffix of the name, is none of the domains.
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
	if given && len(domains) > 0 && !slices.ContainsFunc(domains, func(d string) bool { return strings.EqualFold(d, domain) }) {
		return "", "", ErrRefused
	}
	if name == "" || len(name) > 256 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`"/\[]:;|=,+*?<>`, r) }) {
		return "", "", ErrRefused
	}
	return name, before, nil
}

// start keeps a new session. The oldest ones of the same credential end beyond the limit.
func (g *Gate) start(s *Session) string {
	id := NewID()
	now := g.o.Now()
	s.gate, s.startedAt, s.usedAt, s.checkedAt, s.savedAt = g, now, now, now, now
	kept := true
	if s.person != nil {
		s.groups = s.person.Groups
	} else if err := s.sealToken(id); err != nil {
		kept = false
		g.o.Problem(err)
	}
	key := sumOf(id)
	g.mu.Lock()
	for key, other := range g.sessions {
		if g.over(other, now) {
			g.drop(key)
		}
	}
	g.limit(func(other *Session) bool { return other.Kind == s.Kind && fold(other.Name) == fold(s.Name) }, sessionsEach-1)
	g.limit(func(*Session) bool { return true }, sessionsMost-1)
	g.sessions[key] = s
	g.o.Record(s.event("signed in", ""))
	g.mu.Unlock()
	g.forget()
	if kept {
		g.save(key, s)
	}
	return id
}

// limit ends the oldest sessions that match until no more than most are left.
func (g *Gate) limit(match func(*Session) bool, most int) {
	var keys []sum
	for key, s := range g.sessions {
		if match(s) {
			keys = append(keys, key)
		}
	}
	if len(keys) <= most {
		return
	}
	slices.SortFunc(keys, func(a, b sum) int { return g.sessions[a].startedAt.Compare(g.sessions[b].startedAt) })
	for _, key := range keys[:len(keys)-most] {
		g.drop(key)
	}
}

func (g *Gate) over(s *Session, now time.Time) bool {
	return now.Sub(s.usedAt) >= g.o.Idle || now.Sub(s.startedAt) >= g.o.Max
}

func (s *Session) event(what, reason string) Event {
	e := Event{What: what, Name: s.Name, Kind: s.Kind, Client: s.client, Reason: reason}
	if s.person != nil {
		e.SID = s.person.SID
	}
	return e
}

// Find returns the session with an id, or nil if there is none, or none any more. From
// time to time it asks whether the person may still log on.
func (g *Gate) Find(ctx context.Context, id string) *Session {
	if id == "" {
		return nil
	}
	key, now := sumOf(id), g.o.Now()
	g.mu.Lock()
	s := g.sessions[key]
	if s == nil || g.over(s, now) || !s.openToken(id) {
		g.drop(key)
		g.mu.Unlock()
		g.forget()
		return nil
	}
	s.usedAt = now
	due := s.person != nil && g.o.Directory != nil && now.Sub(s.checkedAt) >= g.o.Recheck
	save := now.Sub(s.savedAt) >= saveEvery
	if save {
		s.savedAt = now
	}
	g.mu.Unlock()
	if !due || g.recheck(ctx, s, now) {
		if save {
			g.save(key, s)
		}
		return s
	}
	g.mu.Lock()
	g.drop(key)
	g.mu.Unlock()
	g.forget()
	return nil
}

// unreachable is how long a session goes on while the directory does not answer.
const unreachable = 15 * time.Minute

// recheck asks the directory for the person of a session, and reports whether the
// session goes on.
func (g *Gate) recheck(ctx context.Context, s *Session, now time.Time) bool {
	person, err := g.o.Directory.Groups(ctx, s.person.SID)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err == nil:
		s.checkedAt, s.groups, s.principals = now, person.Groups, principals(person, g.o.Roles)
		return true
	case errors.Is(err, ErrRefused):
		g.o.Record(s.event("ended", "the account may not log on any more"))
		return false
	case now.Sub(s.checkedAt) < g.o.Recheck+unreachable:
		s.principals = readers(s.principals)
		return true
	}
	g.o.Record(s.event("ended", "the directory did not answer for too long"))
	return false
}

// readers returns the principals with their scopes for reading only.
func readers(all []*auth.Principal) []*auth.Principal {
	var reading []*auth.Principal
	for _, p := range all {
		own := *p
		own.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s auth.Scope) bool { return !strings.HasSuffix(string(s), ":read") })
		reading = append(reading, &own)
	}
	return reading
}

// End ends a session.
func (g *Gate) End(id string) {
	key := sumOf(id)
	g.mu.Lock()
	if s := g.sessions[key]; s != nil {
		g.drop(key)
		g.o.Record(s.event("signed out", ""))
	}
	g.mu.Unlock()
	g.forget()
}

// Principals returns what the session may do: one principal for each role of a person,
// or that of the token as it is now. The error is a [*auth.Refusal].
func (s *Session) Principals(client netip.Addr) ([]*auth.Principal, error) {
	if s.person == nil {
		p, err := s.gate.byToken(s.token, client)
		if err != nil {
			return nil, err
		}
		return []*auth.Principal{p}, nil
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return slices.Clone(s.principals), nil
}
