package signin

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// Options configure a [Gate]. Every field may be zero.
type Options struct {
	Directory   Directory           // nil if nobody signs in with an account
	Tickets     bool                // people can sign in with a Kerberos ticket
	TicketsOnly bool                // nobody signs in with a password
	Tokens      authn.Authenticator // nil if nobody signs in with a token
	Roles       []Role
	Domains     []string // NetBIOS names and UPN suffixes of the accounts that may sign in; empty for any

	Idle    time.Duration // time without a request after which a session ends; zero means 15 min
	Max     time.Duration // time after which a session ends; zero means 8 h
	Recheck time.Duration // interval between checks of a person's account; zero means 5 min
	Tries   int           // wrong passwords per account that are passed on to the domain; zero means 3

	// Policy returns the domain's data about the account whose password is to be tried. If it returns an error,
	// the domain could not be asked, and no password is tried. If Policy is nil, nothing is known about any
	// account.
	Policy func(ctx context.Context, name string) (Policy, error)
	// Record records the outcome of a sign-in: the account, the address and the reason. If nil,
	// nothing is recorded.
	Record func(Event)
	Now    func() time.Time // nil means the store's clock

	// Store stores the sessions, their steps, and the wrong passwords. Gates with the same store share these. If
	// Store is nil, they are lost when the gate ends.
	Store *store.Sealed
	// Problem is called with errors of the store. It may be nil.
	Problem func(error)
}

// Event is a log line about signing in.
type Event struct {
	What   string // "signed in", "refused", "signed out" or "ended"
	Name   string
	Kind   string // identity.KindPerson, or the kind of the credential
	SID    string // SID of a person; empty if unknown, or for a token
	ID     string // of the token, or the SID; empty if unknown
	Client netip.Addr
	Reason string
}

// ErrTooMany is the error after too many wrong passwords. A [*TooMany] says how long to wait.
var ErrTooMany = errors.New("signin: too many tries")

// ErrStore is joined with the reason why the shared store cannot be used. Nobody can sign in meanwhile. If
// the store has lost changes, it is also joined with ErrRewound.
var (
	ErrStore   = errors.New("signin: the store of the cluster cannot be used")
	ErrRewound = errors.New("signin: it has lost changes")
)

// Gate signs people in and keeps their sessions, identified by hash. It is safe for concurrent use.
type Gate struct {
	o     Options
	key   [32]byte      // key of the tokens in forms
	own   *store.Sealed // store in memory, for data that the store cannot keep
	since time.Time     // when the gate was made

	addresses  *addresses
	badTickets *failures
	lookups    *lookups
	rights     *rights
	marks      *marks
	turns      authn.Turns
	asking     asking

	mu    sync.Mutex
	uses  *simplelru.LRU[sum, use] // uses of sessions at this gate
	ended map[sum]*Session         // ended sessions that are still in the store
	links map[sum]*link
}

const (
	sessionsEach = 5 // maximum number of sessions of a person or a token; if there are more, the oldest ends
	linkLife     = 10 * time.Minute
)

type link struct {
	person  *Person
	expires time.Time
}

// NewGate returns a gate without sessions.
func NewGate(o Options) *Gate {
	o.Idle, o.Max, o.Recheck = cmp.Or(o.Idle, 15*time.Minute), cmp.Or(o.Max, 8*time.Hour), cmp.Or(o.Recheck,
		5*time.Minute)
	o.Tries = cmp.Or(o.Tries, standardTries)
	if o.Now == nil && o.Store != nil {
		o.Now = o.Store.Now
	}
	memory := inMemory(o.Now)
	if o.Now == nil {
		o.Now = memory.Now
	}
	if o.Record == nil {
		o.Record = func(Event) {}
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	g := &Gate{
		o: o, own: memory, since: o.Now(),
		addresses: newAddresses(o.Now), badTickets: newFailures(o.Now), lookups: newLookups(o),
		turns:  authn.NewTurns(signInsAtOnce, mostSignIns, turnWait),
		rights: newRights(),
		asking: make(asking, 1), ended: map[sum]*Session{}, links: map[sum]*link{},
	}
	g.asking <- time.Time{}
	if o.Store == nil {
		g.o.Store = g.own
	}
	g.uses, _ = simplelru.NewLRU[sum, use](remembered, nil) // fails only for size < 1
	var marked [32]byte
	copy(marked[:], g.o.Store.Sum([]byte("marks")))
	g.marks = newMarks(marked, o.Now)
	// the key is derived from the store, so any gateway accepts a form that is open in a browser
	copy(g.key[:], g.o.Store.Sum([]byte("forms")))
	return g
}

// Passwords reports whether people can sign in with their account's password.
func (g *Gate) Passwords() bool { return g.o.Directory != nil && !g.o.TicketsOnly }

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

// FormToken returns the token for forms that are shown to the holder of a cookie.
func (g *Gate) FormToken(cookie string) string {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// FormValid reports whether the form with a token was shown to the holder of a cookie.
func (g *Gate) FormValid(cookie, token string) bool {
	return cookie != "" && hmac.Equal([]byte(g.FormToken(cookie)), []byte(token))
}

// Password signs a person in and returns the id of the new session. mark is the browser's value of
// [Gate.Mark], or "" if it has none. Password wipes the password. The error is ErrRefused, a
// [*TooMany], ErrMustChange, ErrExpired, [ErrStore], [ErrUnread], [ErrBusy], or the reason why the
// directory could not answer.
func (g *Gate) Password(
	ctx context.Context, name string, password []byte, client netip.Addr, mark string,
) (string, error) {
	defer clear(password)
	if !g.Passwords() {
		return "", ErrUnsupported
	}
	a := &attempt{gate: g, client: client}
	var err error
	a.name, a.domain, err = account(name, g.o.Domains)
	if err != nil || len(password) == 0 {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the name or the password has no valid form"})
		return "", ErrRefused
	}
	if err := g.lost(); err != nil {
		return "", a.refused(err.Error(), err)
	}
	if err := a.count(mark); err != nil { // before any query
		return "", a.refused("too many tries from this address; the directory was not asked", err)
	}
	end, has := g.turns.Take(ctx)
	if !has {
		a.giveBack()
		return "", a.refused(ErrBusy.Error(), ErrBusy)
	}
	defer end()
	return a.make(ctx, password)
}

// attempt is an attempt to sign in with a password. It is counted for its address, or for the
// browser's mark.
type attempt struct {
	gate         *Gate
	client       netip.Addr
	name, domain string // as typed, so either may be a password in the wrong box
	policy       Policy // of the account; zero if unknown

	marked bool // whether it is counted for a mark
	mark   [markIDs]byte
}

// count counts the attempt as a wrong password.
func (a *attempt) count(mark string) error {
	if a.mark, a.marked = a.gate.marks.take(mark, a.domain, a.name); a.marked {
		return nil
	}
	return a.gate.addresses.take(a.client, 1)
}

// giveBack undoes [attempt.count].
func (a *attempt) giveBack() {
	if a.marked {
		a.gate.marks.giveBack(a.mark)
		return
	}
	a.gate.addresses.giveBack(a.client, 1)
}

// shorten makes the attempt count for only a minute, because the failure was not the client's.
func (a *attempt) shorten() {
	if !a.marked { // a mark has few tries, and this one stays counted even if the failure was ours
		a.gate.addresses.shorten(a.client, 1)
	}
}

// refused records the reason for refusing the attempt, and returns err. The record contains the
// name of an existing account, but not what was typed.
func (a *attempt) refused(reason string, err error) error {
	event := Event{What: "refused", Name: a.policy.Account, Kind: identity.KindPerson, Client: a.client,
		Reason: reason}
	a.gate.o.Record(event)
	return err
}

// make performs the attempt.
func (a *attempt) make(ctx context.Context, password []byte) (string, error) {
	g := a.gate
	var err error
	a.policy, err = g.lookups.of(ctx, a.name, a.client, a.marked)
	switch {
	case errors.Is(err, ErrTooMany):
		return "", a.refused("too many names were tried from this address; the directory was not asked", err)
	case err != nil:
		a.shorten()
		return "", a.refused(err.Error(), err)
	}
	holder, allowed := a.policy.counted(a.name, g.o.Tries)
	t := &try{gate: g, holder: holder, host: authn.Host(a.client), at: g.o.Now()}
	switch err := t.take(ctx, allowed); {
	case allowed.most == 0:
		return "", a.refused("the domain locks the account out at the first wrong password, so none is tried",
			err)
	case errors.Is(err, ErrTooMany):
		return "", a.refused("too many tries; the directory was not asked", err)
	case err != nil:
		a.giveBack()
		return "", a.refused(err.Error(), err)
	}
	person, err := g.o.Directory.Check(ctx, a.domain, a.name, password)
	switch {
	case err == nil:
		a.right()
		return g.start(ctx, ofPerson(person, a.client), "", t)
	case errors.Is(err, ErrMustChange), errors.Is(err, ErrExpired):
		a.right()
		a.policy.Account = cmp.Or(a.policy.Account, a.name) // the account exists
		t.change(ctx, t.forgiven)
	case !errors.Is(err, ErrRefused):
		a.shorten()
		t.change(ctx, t.withdrawn)
	case a.policy.Account == "" && g.o.Policy != nil:
		return "", a.refused("there is no such account in the domain; "+err.Error(), err)
	}
	return "", a.refused(err.Error(), err)
}

// right uncounts the attempt, because the password was correct.
func (a *attempt) right() {
	a.giveBack()
	if !a.marked {
		a.gate.lookups.runs.giveBack(a.client, lookupRuns)
	}
}

// Token signs in the holder of a token and returns the id of the new session. The error is a
// [*authn.Refusal], or [ErrStore].
func (g *Gate) Token(ctx context.Context, token string, client netip.Addr) (string, error) {
	if g.o.Tokens == nil {
		return "", ErrUnsupported
	}
	p, err := g.byToken(ctx, token, client)
	if err != nil {
		g.o.Record(Event{What: "refused", Client: client, Reason: "the token is not valid"})
		return "", err
	}
	return g.start(ctx, &stored{Name: p.Name, Kind: p.Kind, Account: p.ID, Client: client}, token, nil)
}

// byToken returns the current principal of a token, with the dialect of the pages.
func (g *Gate) byToken(ctx context.Context, token string, client netip.Addr) (*identity.Principal, error) {
	p, err := g.o.Tokens.Authenticate(ctx,
		authn.Credential{AuthToken: []string{"Bearer " + token}, Client: client})
	if err != nil {
		return nil, err
	}
	standard := *p
	standard.Dialect = identity.Standard
	return &standard, nil
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

// UseLink uses up a link and returns the id of the new session. The error is ErrRefused, or
// [ErrStore].
func (g *Gate) UseLink(ctx context.Context, code string, client netip.Addr) (string, error) {
	if err := g.lost(); err != nil { // the link can still be used later
		return "", err
	}
	sum := sumOf(code)
	g.mu.Lock()
	found := g.links[sum]
	delete(g.links, sum)
	g.mu.Unlock()
	if found == nil || !g.o.Now().Before(found.expires) {
		g.o.Record(Event{What: "refused", Client: client,
			Reason: "the link was used, has expired or was never created"})
		return "", ErrRefused
	}
	return g.start(ctx, ofPerson(found.person, client), "", nil)
}

// A ticket names a person, and the groups at the time of its issue. It is valid for hours, so the
// directory is queried as it is for a password. An account that is disabled, locked or expired is
// refused, and a group counts only if the account is still a member.

// Tickets reports whether people can sign in with a Kerberos ticket.
func (g *Gate) Tickets() bool { return g.o.Tickets && g.o.Directory != nil }

// Ticket signs in the person of a ticket. It returns the id of the new session, and the reply that
// proves the gateway's identity to the browser. The error is a [*negotiate.Refusal], a [*TooMany],
// [ErrStore], or the reason why the directory could not answer.
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

// Caller implements [authn.Tickets]. It queries the directory as often as for a session.
func (g *Gate) Caller(ctx context.Context, token negotiate.Token) ([]*identity.Principal, []byte, error) {
	person, reply, err := g.accept(ctx, token, g.o.Recheck)
	var refused *negotiate.Refusal
	var tooMany *TooMany
	switch {
	case err == nil:
	case errors.As(err, &refused):
		return nil, nil, &authn.Refusal{
			Code: schema.Unauthenticated, Message: refused.Error(), Reason: refused.Cause,
		}
	case errors.As(err, &tooMany):
		return nil, nil, &authn.Refusal{Code: schema.RateLimited, RetryAfter: tooMany.Wait,
			Message: "Too many tickets from this address were not valid."}
	case errors.Is(err, ErrStore):
		return nil, nil, &authn.Refusal{Code: schema.Unavailable, RetryAfter: time.Second, Reason: err.Error(),
			Message: "The store of the cluster does not answer, so nobody can sign in with a ticket. Try again later."}
	default:
		return nil, nil, &authn.Refusal{Code: schema.Unavailable, RetryAfter: time.Second, Reason: err.Error(),
			Message: "The directory does not answer, so nobody can sign in with a ticket. Try again later."}
	}
	all := principals(person, g.o.Roles)
	if len(all) == 0 {
		all = append(all, &identity.Principal{
			ID: person.SID, Name: person.Name, Kind: identity.KindPerson, Dialect: identity.Standard,
		})
	}
	return all, reply, nil
}

// accept returns the person of a ticket, with groups that are no older than life.
func (g *Gate) accept(
	ctx context.Context, token negotiate.Token, life time.Duration,
) (*Person, []byte, error) {
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
	if err == nil {
		err = useTicket(ctx, g, ticket.Use)
	}
	if err != nil {
		var refused *negotiate.Refusal
		if !errors.As(err, &refused) {
			return refuse(Event{Reason: err.Error()}, err)
		}
		if refused.Reason != negotiate.NotKerberos { // browsers send other tokens by themselves
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
