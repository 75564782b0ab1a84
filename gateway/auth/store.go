package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// StoreOptions are what a store is made of. File must be given; of everything
// else the zero value is a sensible choice.
type StoreOptions struct {
	File     File
	Header   Header
	Defaults Quota // of accounts without their own
	Failures int   // failed logins of a name from an address until it is locked; zero: 5
	Cost     Cost  // of passwords; zero: StandardCost
	Now      func() time.Time
	Poll     time.Duration // how often the file is looked at; zero: 250 ms
	// Log is told what happens to the file; fields hold no secrets. Nil: nobody.
	Log func(problem bool, message string, fields map[string]any)
}

// Store authenticates by a file of tokens and users. It reads the file again
// when it changes. When the file cannot be used, what was read before stays in
// force for [grace]; from then on nobody is let in until it can be used again.
// It is safe for concurrent use.
type Store struct {
	options  StoreOptions
	guard    *guard
	verifier *verifier
	accounts atomic.Pointer[accounts]

	mu     sync.Mutex        // of a reading
	meters map[string]*meter // by id of the account
	seen   os.FileInfo       // of the reading
	state  atomic.Pointer[storeState]
	uses   uses
}

// grace is how long a file may be unusable before nobody is let in: an editor
// that saves in several steps must not cause an outage, and who takes an
// account out of the file must not wait long, whatever state it is left in.
const grace = 2 * time.Second

// storeState says whether the file is in force.
type storeState struct {
	err   error     // why it cannot be used; nil: it can
	since time.Time // of err; of several in a row the first
	shut  bool      // that nobody is let in has been told
}

// accounts are one reading of the file.
type accounts struct {
	tokens   map[[tokenKey]byte]*tokenAccount
	users    map[string]*compiled // by nameKey
	subjects map[string]*compiled // by subjectKey
	count    int
}

// tokenKey is how much of a digest the look-up goes by. It takes as long as it
// takes; the rest is compared in constant time.
const tokenKey = 16

type tokenAccount struct {
	*compiled
	secret compiledSecret
}

// OpenStore reads the file. The error says what is wrong with it, and where.
func OpenStore(o StoreOptions) (*Store, error) {
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	if o.Cost == (Cost{}) {
		o.Cost = StandardCost
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(bool, string, map[string]any) {}
	}
	if err := o.Defaults.check(); err != nil {
		return nil, err
	}
	s := &Store{
		options: o, guard: newGuard(o.Now, o.Failures), verifier: newVerifier(o.Now, o.Cost),
		meters: map[string]*meter{}, uses: uses{path: o.File.Path + usesSuffix},
	}
	s.state.Store(&storeState{})
	if err := s.read(); err != nil {
		return nil, err
	}
	for id, at := range s.uses.load() {
		if m := s.meters[id]; m != nil {
			m.lastUse.Store(at)
		}
	}
	return s, nil
}

// Run follows the file and writes down when accounts were last used, until ctx
// is done.
func (s *Store) Run(ctx context.Context) {
	poll := time.NewTicker(s.options.Poll)
	defer poll.Stop()
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case <-ctx.Done():
			s.flush()
			return
		case <-poll.C:
			s.follow()
		case <-flush.C:
			s.flush()
		}
	}
}

// State tells why the file that is there now is not in force; nil: it is. Shut
// tells whether it has been so for so long that nobody is let in.
func (s *Store) State() (shut bool, err error) {
	state := s.state.Load()
	return state.shut || state.err != nil && s.options.Now().Sub(state.since) >= grace, state.err
}

// Empty tells whether nobody can be let in.
func (s *Store) Empty() bool { return s.accounts.Load().count == 0 }

// follow reads the file again if it is another than before, or could not be
// used: that it can be read at last changes nothing that is seen from outside.
func (s *Store) follow() {
	before := s.state.Load()
	if before.err == nil && !s.changed() {
		return
	}
	err := s.read()
	if err == nil {
		return
	}
	fields := map[string]any{"cause": err.Error()}
	switch {
	case before.err == nil:
		s.options.Log(true, fmt.Sprintf("the credentials cannot be used; those from before stay in force for %s", grace), fields)
	case before.err.Error() != err.Error():
		s.options.Log(true, "the credentials still cannot be used", fields)
	}
	if shut, _ := s.State(); shut && !before.shut {
		s.state.Store(&storeState{err, before.since, true})
		s.options.Log(true, "the credentials cannot be used: nobody is let in until they can be used again", fields)
	}
}

// changed tells whether the file is another than the one that was read, or
// cannot be opened any more.
func (s *Store) changed() bool {
	file, err := os.Open(s.options.File.Path)
	if err != nil {
		return true
	}
	defer func() { _ = file.Close() }() // it was only looked at
	info, err := file.Stat()
	s.mu.Lock()
	defer s.mu.Unlock()
	return err != nil || s.seen == nil || !os.SameFile(info, s.seen) ||
		info.Size() != s.seen.Size() || info.Mode() != s.seen.Mode() || !info.ModTime().Equal(s.seen.ModTime())
}

// read puts the file into force.
func (s *Store) read() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.options.File.Path) // before reading: a change in between is seen the next time
	if err != nil {
		info = nil
	}
	s.seen = info
	document, warning, err := s.options.File.Read()
	if err != nil {
		failing := storeState{err: err, since: s.options.Now()}
		if before := s.state.Load(); before.err != nil {
			failing.since, failing.shut = before.since, before.shut
		}
		s.state.Store(&failing)
		return err
	}
	all, _ := document.compile() // Read has found no faults
	meters := map[string]*meter{}
	for _, c := range all {
		m := s.meters[c.ID]
		if m == nil {
			m = newMeter(s.options.Now)
		}
		m.set(c.Quota.over(s.options.Defaults))
		meters[c.ID], c.principal.meter = m, m
	}
	s.meters = meters
	s.accounts.Store(indexed(all))
	s.state.Store(&storeState{})
	fields := map[string]any{"tokens": len(document.Tokens), "users": len(document.Users)}
	s.options.Log(false, "credentials read", fields)
	if warning != "" {
		s.options.Log(true, "the credentials can be read by others; restrict the file to the service's account", map[string]any{"warning": warning})
	}
	return nil
}

func indexed(all []*compiled) *accounts {
	ix := &accounts{
		tokens: make(map[[tokenKey]byte]*tokenAccount, len(all)), users: map[string]*compiled{}, subjects: map[string]*compiled{},
		count: len(all),
	}
	for _, c := range all {
		for _, secret := range c.secrets {
			ix.tokens[[tokenKey]byte(secret.digest[:tokenKey])] = &tokenAccount{c, secret}
		}
		if c.subject != "" {
			ix.subjects[c.subject] = c
		}
		if c.hash != nil {
			ix.users[c.key] = c
		}
	}
	return ix
}

// Authenticate implements [Authenticator].
func (s *Store) Authenticate(r *http.Request, client netip.Addr) (*Principal, error) {
	credential, err := s.options.Header.Read(r)
	if err != nil {
		return nil, err
	}
	if shut, err := s.State(); shut {
		return nil, unreadable(err)
	}
	if credential.Basic {
		return s.user(r.Context(), credential, client)
	}
	return s.token(credential.Token, client)
}

func (s *Store) token(token string, client netip.Addr) (*Principal, error) {
	sum, ok := digestOf(token)
	if !ok {
		return nil, s.badToken(client, "what was sent is not a token of this gateway: prefix, length or checksum is wrong")
	}
	found := s.accounts.Load().tokens[[tokenKey]byte(sum[:tokenKey])]
	if found == nil || subtle.ConstantTimeCompare(sum[tokenKey:], found.secret.digest[tokenKey:]) != 1 {
		return nil, s.badToken(client, "the token is unknown or revoked")
	}
	if until := found.secret.until; !until.IsZero() && !s.options.Now().Before(until) {
		return nil, s.badToken(client, fmt.Sprintf("the token of '%s' was replaced and ended at %s", found.Name, until.Format(time.RFC3339)))
	}
	return s.admit(found.compiled, client)
}

func (s *Store) badToken(client netip.Addr, reason string) *Refusal {
	if refused := s.guard.badToken(client); refused != nil {
		return refused
	}
	return unauthenticated(reason)
}

// admit lets a proved account in, unless its time or the caller's place is wrong.
func (s *Store) admit(c *compiled, client netip.Addr) (*Principal, error) {
	now := s.options.Now()
	switch {
	case c.expired(now):
		return nil, unauthenticated(fmt.Sprintf("the %s expired at %s", c.principal, c.Expires.Format(time.RFC3339)))
	case !c.allows(client):
		return nil, unauthenticated(fmt.Sprintf("the %s was used from %s, which is in none of its networks", c.principal, client))
	}
	c.principal.meter.lastUse.Store(now.Unix())
	return c.principal, nil
}

// BySubject finds the token that a client certificate stands for, by the
// subject as [crypto/x509/pkix.Name.String] writes it. The certificate must have
// been verified. The error is a [*Refusal].
func (s *Store) BySubject(subject string, client netip.Addr) (*Principal, error) {
	if shut, err := s.State(); shut {
		return nil, unreadable(err)
	}
	c := s.accounts.Load().subjects[foldSubject(subject)]
	if c == nil {
		return nil, unauthenticated(noSubject(subject))
	}
	return s.admit(c, client)
}

// user checks a name and a password.
func (s *Store) user(ctx context.Context, credential Credential, client netip.Addr) (*Principal, error) {
	name, err := nameKey(credential.User)
	if err != nil || len(credential.Password) > maxPassword {
		return nil, s.badToken(client, "what was sent is no name and password that a user can have")
	}
	if refused := s.guard.refuses(name, client); refused != nil {
		return nil, refused
	}
	c := s.accounts.Load().users[name]
	key := s.verifier.keyOf(name, credential.Password, client)
	if c == nil || !s.verifier.remembered(key, c.Password) {
		// Equal credentials at once are one attempt: a client that opens many
		// connections with the right password does not lock itself out.
		_, err, _ := s.verifier.group.Do(string(key[:]), func() (any, error) {
			return nil, s.verify(ctx, c, name, credential.Password, key, client)
		})
		if err != nil {
			return nil, err
		}
	}
	return s.admit(c, client)
}

// verify checks a password the slow way. The error is a [*Refusal].
func (s *Store) verify(ctx context.Context, c *compiled, name, password string, key digest, client netip.Addr) error {
	attempt, refused := s.guard.attempt(name, client)
	if refused != nil {
		return refused
	}
	var hash *passwordHash
	if c != nil {
		hash = c.hash
	}
	// Another request may wait for this one's result: it does not end with its client.
	right, err := s.verifier.verify(context.WithoutCancel(ctx), hash, password)
	switch {
	case err != nil:
		attempt.withdrawn()
		return err
	case !right:
		attempt.failed()
		return unauthenticated(wrongPassword)
	}
	attempt.succeeded()
	s.verifier.remember(key, c.Password)
	if c.hash.below(s.options.Cost) {
		s.rehash(ctx, c, password)
	}
	return nil
}

// rehash puts a hash of today's cost in place of one of an earlier cost. That it
// cannot be written is no reason to refuse the user.
func (s *Store) rehash(ctx context.Context, c *compiled, password string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := s.options.File.Edit(ctx, func(d *Document) error {
		for _, user := range d.Users {
			if user.ID == c.ID && user.Password == c.Password {
				user.Password = HashPassword(password, s.options.Cost)
			}
		}
		return nil
	})
	if err != nil {
		s.options.Log(true, "a password's hash could not be renewed", map[string]any{"cause": err.Error()})
	}
}

// unreadable is the answer to everybody while the file cannot be used. Why is
// for the log: it names the file.
func unreadable(why error) *Refusal {
	return &Refusal{
		Status: http.StatusServiceUnavailable, Unavailable: true, RetryAfter: 5 * time.Second,
		Message: "The gateway's credentials cannot be read, so that nobody can be let in. The administrator finds the reason in the gateway's log.",
		Reason:  why.Error(),
	}
}

// Source is where callers are known.
type Source interface {
	Authenticator
	// BySubject finds the caller whom a verified client certificate names. The
	// error is a [*Refusal].
	BySubject(subject string, client netip.Addr) (*Principal, error)
}

// Chain asks sources one after the other: the first that knows the caller wins.
// Only "unknown" (401) lets the next one try.
type Chain []Source

// Authenticate implements [Authenticator].
func (c Chain) Authenticate(r *http.Request, client netip.Addr) (*Principal, error) {
	return c.ask(func(s Source) (*Principal, error) { return s.Authenticate(r, client) })
}

// BySubject implements [Source].
func (c Chain) BySubject(subject string, client netip.Addr) (*Principal, error) {
	return c.ask(func(s Source) (*Principal, error) { return s.BySubject(subject, client) })
}

func (c Chain) ask(source func(Source) (*Principal, error)) (*Principal, error) {
	var last error = unauthenticated("nobody is known")
	for _, s := range c {
		p, err := source(s)
		if err == nil {
			return p, nil
		}
		last = err
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
			break
		}
	}
	return nil, last
}
