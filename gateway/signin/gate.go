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

	"github.com/hashicorp/golang-lru/v2/simplelru"

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

	// Store keeps the sessions, what their pages are about to do, and the tries. Gates that
	// share it have them in common. Nil: they end with the gate.
	Store *keep.Sealed
	// Problem is told what could not be kept, or read, and why. Nil: nobody is.
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

// ErrStore is joined with why the store that several gates share cannot be used: nobody
// signs in meanwhile. It is joined with ErrRewound if the store has lost changes.
var (
	ErrStore   = errors.New("signin: the store that the gateways share cannot be used")
	ErrRewound = errors.New("signin: it has lost changes")
)

// Gate signs people in and keeps their sessions by hash. It is safe for concurrent use.
type Gate struct {
	o     Options
	key   [32]byte     // of the tokens in forms
	own   *keep.Sealed // in memory, for what the store cannot keep
	since time.Time    // when the gate was made

	addresses *addresses
	asking    asking

	mu    sync.Mutex
	uses  *simplelru.LRU[sum, use] // of sessions here
	ended map[sum]*Session         // that are still in the store
	links map[sum]*link
}

const (
	sessionsEach = 5 // of a person or a token; the oldest ends
	linkLife     = 10 * time.Minute
)

type link struct {
	person  *Person
	expires time.Time
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
	g := &Gate{
		o: o, own: inMemory(o.Now), since: o.Now(), addresses: newAddresses(o.Now),
		asking: make(asking, 1), ended: map[sum]*Session{}, links: map[sum]*link{},
	}
	g.asking <- time.Time{}
	if o.Store == nil {
		g.o.Store = g.own
	}
	g.uses, _ = simplelru.NewLRU[sum, use](remembered, nil) // fails only for size < 1
	copy(g.key[:], g.o.Store.Sum([]byte("forms")))          // those that are open in a browser can be sent to every gateway
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
// password. The error is ErrRefused, ErrTooMany, ErrMustChange, ErrExpired, [ErrStore], or
// why the directory could not answer.
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
	refused := func(reason string, err error) (string, error) {
		g.o.Record(Event{What: "refused", Name: account, Kind: KindPerson, Client: client, Reason: reason})
		return "", err
	}
	if g.addresses.full(client) { // before anything is asked
		return refused("too many tries from this address; the directory was not asked", ErrTooMany)
	}
	if err := g.lost(); err != nil {
		return refused(err.Error(), err)
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
	t := &try{gate: g, account: fold(key), at: g.o.Now()}
	switch err := t.take(ctx, client, most, window); {
	case errors.Is(err, ErrTooMany):
		return refused("too many tries; the directory was not asked", err)
	case err != nil:
		return refused(err.Error(), err)
	}
	person, err := g.o.Directory.Check(ctx, domain, account, password)
	switch {
	case err == nil:
		g.addresses.right(client)
		return g.start(ctx, ofPerson(person, client), "", t)
	case errors.Is(err, ErrMustChange), errors.Is(err, ErrExpired):
		g.addresses.right(client)
		t.change(ctx, t.forgiven)
	case !errors.Is(err, ErrRefused):
		t.change(ctx, t.withdrawn)
	}
	return refused(err.Error(), err)
}

// Token signs the holder of a token in and returns the id of the new session. The error
// is a [*auth.Refusal], or [ErrStore].
func (g *Gate) Token(ctx context.Context, token string, client netip.Addr) (string, error) {
	if g.o.Tokens == nil {
		return "", ErrUnsupported
	}
	p, err := g.byToken(token, client)
	if err != nil {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the token is not valid"})
		return "", err
	}
	return g.start(ctx, &stored{Name: p.Name, Kind: p.Kind, Client: client}, token, nil)
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

// Link returns the code of a link that signs a person in once, within ten minutes, at this
// gate.
func (g *Gate) Link(person *Person) string {
	code := NewID()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.links[sumOf(code)] = &link{person: person, expires: g.o.Now().Add(linkLife)}
	return code
}

// UseLink uses a link up and returns the id of the new session. The error is ErrRefused,
// or [ErrStore].
func (g *Gate) UseLink(ctx context.Context, code string, client netip.Addr) (string, error) {
	if err := g.lost(); err != nil { // the link can be used later
		return "", err
	}
	sum := sumOf(code)
	g.mu.Lock()
	found := g.links[sum]
	delete(g.links, sum)
	g.mu.Unlock()
	if found == nil || !g.o.Now().Before(found.expires) {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the link was used, has expired or was never made"})
		return "", ErrRefused
	}
	return g.start(ctx, ofPerson(found.person, client), "", nil)
}
