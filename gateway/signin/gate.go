package signin

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/keep"
)

// Options configure a [Gate]. The zero value of every field but Now selects a default.
type Options struct {
	Directory Directory          // nil: nobody signs in with a password
	Tokens    auth.Authenticator // nil: nobody signs in with a token
	Roles     []Role
	Domains   []string // NetBIOS names and UPN suffixes of the accounts that may sign in; none: any

	Idle    time.Duration // without a request, after which a session ends; zero: 15 min
	Max     time.Duration // after which a session ends; zero: 8 h
	Recheck time.Duration // between two questions whether a person may still log on; zero: 5 min
	Tries   int           // wrong passwords of an account that are passed on to the domain; zero: 3

	// Policy returns the account's name, at how many wrong passwords the domain locks it
	// out, and for how long each counts. Nil, or an error: the defaults; with an error the
	// account may be empty.
	Policy func(ctx context.Context, name string, client netip.Addr) (account string, threshold int, window time.Duration, err error)
	// Record records what became of signing in: who, from where, why. Nil: nothing is recorded.
	Record func(Event)
	Now    func() time.Time // nil: time.Now

	// Store keeps the sessions, so that [Gate.Restore] can continue them. Nil: they end with
	// the gate.
	Store *keep.Sealed
	// Problem is told why a session could not be kept. Nil: nobody is.
	Problem func(error)
}

// Event is a line of the log about signing in.
type Event struct {
	What   string // "signed in", "refused", "signed out" or "ended"
	Name   string
	Kind   string // KindPerson, or that of a credential
	SID    string
	Client netip.Addr
	Reason string
}

// ErrTooMany is the error after too many wrong passwords. People see the same text as
// for a wrong one.
var ErrTooMany = errors.New("signin: too many tries")

// Gate signs people in and keeps their sessions by hash, in memory and in a store if there
// is one. It is safe for concurrent use.
type Gate struct {
	o     Options
	key   [32]byte // of the tokens in forms
	tries *tries

	mu       sync.Mutex
	sessions map[sum]*Session
	ended    map[sum]*Session // that are still in the store
	links    map[sum]*link
}

// Limits of what a gate keeps.
const (
	sessionsEach = 5    // of a credential; the oldest ends
	sessionsMost = 5000 // the oldest ends
	linkLife     = 10 * time.Minute
)

type link struct {
	person  *Person
	expires time.Time
}

// Session is a person, or a token, that is signed in.
type Session struct {
	Name string
	Kind string // KindPerson, or that of a credential

	person *Person // nil: a token
	token  string
	gate   *Gate
	client netip.Addr

	startedAt, usedAt, checkedAt, savedAt time.Time // guarded by the gate, and so are those that follow
	principals                            []*auth.Principal
	groups                                []string // of the person, when it was last asked for

	sealed   []byte     // the token
	keeping  sync.Mutex // held while the store is used; guards the fields below
	revision keep.Revision
	ended    bool

	// Steps are what the session is about to do, or did; of the pages.
	Steps sync.Map
}

// NewGate returns a gate without sessions.
func NewGate(o Options) *Gate {
	o.Idle, o.Max, o.Recheck = cmp.Or(o.Idle, 15*time.Minute), cmp.Or(o.Max, 8*time.Hour), cmp.Or(o.Recheck, 5*time.Minute)
	o.Tries = cmp.Or(o.Tries, standardTries)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Record == nil {
		o.Record = func(Event) {}
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	g := &Gate{o: o, tries: newTries(o.Now), sessions: map[sum]*Session{}, links: map[sum]*link{}}
	if o.Store != nil {
		copy(g.key[:], o.Store.Sum([]byte("forms"))) // those that are open in a browser can still be sent
	} else {
		_, _ = rand.Read(g.key[:]) // never fails
	}
	return g
}

// Passwords reports whether people can sign in with their account.
func (g *Gate) Passwords() bool { return g.o.Directory != nil }

// Tokens reports whether tokens can sign in.
func (g *Gate) Tokens() bool { return g.o.Tokens != nil }

// Roles returns the names of the roles.
func (g *Gate) Roles() []string {
	var names []string
	for _, role := range g.o.Roles {
		names = append(names, role.Name)
	}
	return names
}

// NewID returns 256 random bits as text.
func NewID() string {
	var id [32]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// FormToken returns the token that forms shown to the holder of a cookie carry.
func (g *Gate) FormToken(cookie string) string {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// FormValid reports whether a form was shown to the holder of a cookie.
func (g *Gate) FormValid(cookie, token string) bool {
	return cookie != "" && hmac.Equal([]byte(g.FormToken(cookie)), []byte(token))
}

// Password signs a person in and returns the id of the new session. It wipes the
// password. The error is ErrRefused, ErrTooMany, ErrMustChange, ErrExpired, or why the
// directory could not answer.
func (g *Gate) Password(ctx context.Context, name string, password []byte, client netip.Addr) (string, error) {
	defer clear(password)
	if g.o.Directory == nil {
		return "", ErrUnsupported
	}
	account, domain, err := account(name, g.o.Domains)
	if err != nil || len(password) == 0 {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the name or the password has no valid form"})
		return "", ErrRefused
	}
	if g.tries.full(client) { // before anything is asked
		g.o.Record(Event{What: "refused", Name: account, Kind: KindPerson, Client: client, Reason: "too many tries from this address; the directory was not asked"})
		return "", ErrTooMany
	}
	key, _, _ := strings.Cut(account, "@") // unless it is known better
	most, window := g.o.Tries, StandardWindow
	if g.o.Policy != nil {
		known, threshold, counts, err := g.o.Policy(ctx, account, client)
		key = cmp.Or(known, key)
		if err == nil {
			most, window = allowed(g.o.Tries, threshold), max(counts, StandardWindow)
		}
	}
	key = fold(key)
	if !g.tries.take(key, client, most, window) {
		g.o.Record(Event{What: "refused", Name: account, Kind: KindPerson, Client: client, Reason: "too many tries; the directory was not asked"})
		return "", ErrTooMany
	}
	person, err := g.o.Directory.Check(ctx, domain, account, password)
	switch {
	case err == nil:
		g.tries.right(key, client)
		return g.start(&Session{Name: person.Name, Kind: KindPerson, person: person, client: client, principals: principals(person, g.o.Roles)}), nil
	case errors.Is(err, ErrMustChange), errors.Is(err, ErrExpired):
		g.tries.right(key, client)
	case !errors.Is(err, ErrRefused):
		g.tries.withdrawn(key)
	}
	g.o.Record(Event{What: "refused", Name: account, Kind: KindPerson, Client: client, Reason: err.Error()})
	return "", err
}

// Token signs the holder of a token in and returns the id of the new session. The error
// is a [*auth.Refusal].
func (g *Gate) Token(token string, client netip.Addr) (string, error) {
	if g.o.Tokens == nil {
		return "", ErrUnsupported
	}
	p, err := g.byToken(token, client)
	if err != nil {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the token is not valid"})
		return "", err
	}
	return g.start(&Session{Name: p.Name, Kind: p.Kind, token: token, client: client}), nil
}

// byToken returns the principal of a token as it is now, in the dialect of the pages.
func (g *Gate) byToken(token string, client netip.Addr) (*auth.Principal, error) {
	header := http.Header{"Auth-Token": {"Bearer " + token}}
	p, err := g.o.Tokens.Authenticate((&http.Request{Method: http.MethodGet, Header: header, URL: root}), client)
	if err != nil {
		return nil, err
	}
	own := *p
	own.Dialect = auth.Standard
	return &own, nil
}

// Link returns the code of a link that signs a person in once, within ten minutes.
func (g *Gate) Link(person *Person) string {
	code := NewID()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.links[sumOf(code)] = &link{person: person, expires: g.o.Now().Add(linkLife)}
	return code
}

// UseLink uses a link up and returns the id of the new session.
func (g *Gate) UseLink(code string, client netip.Addr) (string, error) {
	sum := sumOf(code)
	g.mu.Lock()
	found := g.links[sum]
	delete(g.links, sum)
	g.mu.Unlock()
	if found == nil || !g.o.Now().Before(found.expires) {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the link was used, has expired or was never made"})
		return "", ErrRefused
	}
	p := found.person
	return g.start(&Session{Name: p.Name, Kind: KindPerson, person: p, client: client, principals: principals(p, g.o.Roles)}), nil
}
