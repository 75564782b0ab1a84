package authn

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// StoreOptions configure a [Store]. Only File is required. The zero value of every other field is a
// sensible default.
type StoreOptions struct {
	File     File
	Shared   Shared // holds the accounts instead of the file; only their last uses are stored next to it
	Header   Header
	Failures int  // failed logins before a name is locked for an address; zero means 5
	Cost     Cost // cost of password hashes; zero means StandardCost
	Now      func() time.Time
	Poll     time.Duration // interval at which the file is checked for changes; zero means 250 ms
	// Log receives log entries about the file, without secrets. If nil, they are discarded.
	Log func(problem bool, message string, fields map[string]any)
}

// Shared are accounts that several gateways share.
type Shared interface {
	Holder
	// Follow calls changed whenever the accounts change, until ctx is done.
	Follow(ctx context.Context, changed func())
	// State returns an error if nobody can be authenticated. It is called for each request.
	State() error
}

// Holder stores accounts: a [File], or the shared store of a cluster. It is safe for concurrent
// use.
type Holder interface {
	// Read returns the accounts and a warning, which may be "". The caller must not modify the
	// accounts.
	Read() (document *Document, warning string, err error)
	// Edit passes the accounts to change, then checks and saves the result. If change returns an
	// error, Edit returns it and saves nothing.
	Edit(ctx context.Context, change func(*Document) error) error
}

// Store authenticates against a file of tokens and users, and reloads the file when it changes.
// While the file cannot be used, the previous accounts remain valid for [grace]. After that
// everyone is rejected until the file can be used again. A Store is safe for concurrent use.
type Store struct {
	options  StoreOptions
	guard    *guard
	verifier *verifier
	accounts atomic.Pointer[accounts]

	mu    sync.Mutex               // held while loading; guards the following fields
	used  map[string]*atomic.Int64 // time of the last use in Unix seconds, by account ID; zero for never
	names map[string]string        // kind and name by ID; nil until first read
	seen  os.FileInfo              // the file as it was last loaded
	state atomic.Pointer[storeState]
	clock atomic.Pointer[func() time.Time] // see ExpireBy; nil for StoreOptions.Now
	uses  uses
}

// grace is how long the file may be unusable before everyone is rejected. An editor that saves in several
// steps must not cause an outage, but the removal of an account must take effect soon, regardless of the
// state of the file.
const grace = 2 * time.Second

// storeState describes whether the file can be used.
type storeState struct {
	err   error     // reason why the file cannot be used; nil if it can
	since time.Time // when the first of several consecutive errors occurred
	shut  bool      // whether the rejection of everyone has been logged
}

// accounts are the accounts of one version of the file.
type accounts struct {
	tokens   map[[tokenKey]byte]*tokenAccount
	users    map[string]*compiled   // keyed by nameKey
	subjects map[string][]*compiled // keyed by certificateKey
	limited  []*compiled            // accounts that expire
	byID     map[string]*compiled
	count    int

	limitedGroups []string // groups named in limits
}

// tokenKey is the length of the part of a digest that is used for the look-up, whose duration may
// depend on it. The rest is compared in constant time.
const tokenKey = 16

type tokenAccount struct {
	*compiled
	secret compiledSecret
}

// OpenStore loads the file. The error names every mistake in the file with its line. The caller
// must call [Store.Run].
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
	s := &Store{
		options: o, guard: newGuard(o.Now, o.Failures), verifier: newVerifier(o.Now, o.Cost),
		used: map[string]*atomic.Int64{}, uses: uses{path: o.File.Path + usesSuffix},
	}
	s.state.Store(&storeState{})
	if err := s.read(); err != nil {
		return nil, err
	}
	for id, at := range s.uses.load() {
		if used := s.used[id]; used != nil {
			used.Store(at)
		}
	}
	return s, nil
}

// Run reloads the file when it changes, and saves the times of last use, until ctx is done.
func (s *Store) Run(ctx context.Context) {
	poll := time.NewTicker(s.options.Poll)
	defer poll.Stop()
	if shared := s.options.Shared; shared != nil {
		poll.Stop()
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			shared.Follow(ctx, s.follow)
		}()
		defer func() { <-followed }()
	}
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

// State returns an error if the current file cannot be used. shut reports whether it has been
// unusable for so long that everyone is rejected.
func (s *Store) State() (shut bool, err error) {
	if s.options.Shared != nil {
		err = s.options.Shared.State()
		return err != nil, err
	}
	state := s.state.Load()
	return state.shut || state.err != nil && s.options.Now().Sub(state.since) >= grace, state.err
}

// ExpireBy implements [Expiring]. Before the first call the clock is StoreOptions.Now.
func (s *Store) ExpireBy(now func() time.Time) { s.clock.Store(&now) }

// time returns the current time of the clock by which accounts and secrets expire.
func (s *Store) time() time.Time {
	if now := s.clock.Load(); now != nil {
		return (*now)()
	}
	return s.options.Now()
}

// Empty reports whether there are no accounts.
func (s *Store) Empty() bool { return s.accounts.Load().count == 0 }

// Expiring returns the accounts, with their ends, that expire within a time, or that expired less
// than that time ago.
func (s *Store) Expiring(within time.Duration) []string {
	var found []string
	now := s.time()
	for _, c := range s.accounts.Load().limited {
		if left := c.Expires.Sub(now); left.Abs() < within {
			found = append(found, fmt.Sprintf("%s (%s)", c.principal, c.Expires.UTC().Format(time.RFC3339)))
		}
	}
	return found
}

// follow reloads the file if it has changed or could not be used. A file can become readable
// without any change of its metadata.
func (s *Store) follow() {
	before := s.state.Load()
	if before.err == nil && s.options.Shared == nil && !s.changed() {
		return
	}
	err := s.read()
	if err == nil {
		return
	}
	fields := map[string]any{"cause": err.Error(), "event": "credentials_unusable"}
	switch {
	case before.err == nil:
		s.options.Log(true, fmt.Sprintf("the credentials cannot be used; the previous ones remain valid for %s",
			grace), fields)
	case before.err.Error() != err.Error():
		s.options.Log(true, "the credentials still cannot be used", fields)
	}
	if shut, _ := s.State(); shut && !before.shut {
		s.state.Store(&storeState{err, before.since, true})
		s.options.Log(true, "the credentials cannot be used: everyone is rejected until they can be used again",
			fields)
	}
}

// changed reports whether the file differs from the one that was loaded, or can no longer be
// opened.
func (s *Store) changed() bool {
	file, err := os.Open(s.options.File.Path)
	if err != nil {
		return true
	}
	defer func() { _ = file.Close() }() // nothing was written
	info, err := file.Stat()
	s.mu.Lock()
	defer s.mu.Unlock()
	return err != nil || s.seen == nil || !os.SameFile(info, s.seen) ||
		info.Size() != s.seen.Size() || info.Mode() != s.seen.Mode() || !info.ModTime().Equal(s.seen.ModTime())
}

// read loads the file and puts its accounts into effect.
func (s *Store) read() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.options.File.Path) // before reading, so a change in between is noticed next time
	if err != nil {
		info = nil
	}
	s.seen = info
	document, warning, err := s.holder().Read()
	if err != nil {
		failing := storeState{err: err, since: s.options.Now()}
		if before := s.state.Load(); before.err != nil {
			failing.since, failing.shut = before.since, before.shut
		}
		s.state.Store(&failing)
		return err
	}
	all, _ := document.compile() // Read has checked it
	used := map[string]*atomic.Int64{}
	for _, c := range all {
		c.used = cmp.Or(s.used[c.ID], new(atomic.Int64))
		used[c.ID] = c.used
	}
	s.used = used
	s.accounts.Store(indexed(all))
	s.state.Store(&storeState{})
	fields := map[string]any{"tokens": len(document.Tokens), "users": len(document.Users)}
	s.options.Log(false, "credentials read", fields)
	s.report(all)
	if warning != "" {
		s.options.Log(true, "the credentials can be read by others; restrict the file to the service's account",
			map[string]any{"warning": warning})
	}
	return nil
}

func (s *Store) holder() Holder {
	if s.options.Shared != nil {
		return s.options.Shared
	}
	return s.options.File
}

// report logs the tokens and users that were created or removed since the last call.
func (s *Store) report(all []*compiled) {
	before, now := s.names, map[string]string{}
	s.names = now
	for _, c := range all {
		now[c.ID] = string(c.Kind()) + " " + c.Name
	}
	if before == nil {
		return
	}
	for _, change := range []struct {
		message, event string
		from, to       map[string]string
	}{{"credentials were made", "credentials_made", now, before},
		{"credentials were removed", "credentials_revoked", before, now}} {
		var names []string
		for id, name := range change.from {
			if change.to[id] == "" {
				names = append(names, name)
			}
		}
		if slices.Sort(names); len(names) > 0 {
			s.options.Log(false, change.message,
				map[string]any{"event": change.event, "names": strings.Join(names, ", ")})
		}
	}
}

func indexed(all []*compiled) *accounts {
	ix := &accounts{
		tokens: make(map[[tokenKey]byte]*tokenAccount, len(all)), users: map[string]*compiled{},
		subjects: map[string][]*compiled{},
		byID:     make(map[string]*compiled, len(all)), count: len(all),
	}
	for _, c := range all {
		ix.byID[c.ID] = c
		for _, secret := range c.secrets {
			ix.tokens[[tokenKey]byte(secret.digest[:tokenKey])] = &tokenAccount{c, secret}
		}
		if c.subject != "" {
			ix.subjects[c.subject] = append(ix.subjects[c.subject], c)
		}
		if c.hash != nil {
			ix.users[c.key] = c
		}
		if c.Expires != nil {
			ix.limited = append(ix.limited, c)
		}
		ix.limitedGroups = append(ix.limitedGroups, c.principal.Limits.Groups...)
	}
	ix.limitedGroups = uniqueGroups(ix.limitedGroups)
	return ix
}

// Authenticate implements [Authenticator].
func (s *Store) Authenticate(ctx context.Context, c Credential) (*identity.Principal, error) {
	if c.certified() {
		return s.byCertificate(c.Chains, c.Client)
	}
	given, err := s.options.Header.read(c)
	if err != nil {
		return nil, err
	}
	if shut, err := s.State(); shut {
		return nil, unreadable(err)
	}
	if given.basic {
		return s.user(ctx, given, c.Client)
	}
	return s.token(given.token, c.Client)
}

func (s *Store) token(token string, client netip.Addr) (*identity.Principal, error) {
	sum, ok := digestOf(token)
	if !ok {
		return nil, s.wrong(s.guard.tokens, client,
			"what was sent is not a token of this gateway: prefix, length or checksum is wrong")
	}
	found := s.accounts.Load().tokens[[tokenKey]byte(sum[:tokenKey])]
	if found == nil || subtle.ConstantTimeCompare(sum[tokenKey:], found.secret.digest[tokenKey:]) != 1 {
		return nil, s.wrong(s.guard.tokens, client, "the token is unknown or revoked")
	}
	if until := found.secret.until; !until.IsZero() && !s.time().Before(until) {
		return nil, s.wrong(s.guard.tokens, client,
			fmt.Sprintf("the token of '%s' was replaced and ended at %s", found.Name, until.Format(time.RFC3339)))
	}
	return s.admit(found.compiled, client)
}

// wrong counts a wrong credential of a kind.
func (s *Store) wrong(kind addresses, client netip.Addr, reason string) *Refusal {
	if refused := s.guard.failure(kind, client); refused != nil {
		return refused
	}
	return unauthenticated(reason)
}

// admit accepts an authenticated account, unless it has expired or may not be used from the
// client's address.
func (s *Store) admit(c *compiled, client netip.Addr) (*identity.Principal, error) {
	now := s.options.Now()
	switch {
	case c.expired(s.time()):
		return nil, unauthenticated(fmt.Sprintf("the %s expired at %s", c.principal,
			c.Expires.Format(time.RFC3339)))
	case !c.allows(client):
		return nil, unauthenticated(fmt.Sprintf("the %s was used from %s, which is in none of its networks",
			c.principal, client))
	}
	c.used.Store(now.Unix())
	return c.principal, nil
}

// Now implements [Source].
func (s *Store) Now(id identity.ID) *identity.Principal {
	if shut, _ := s.State(); shut {
		return nil
	}
	c := s.accounts.Load().byID[id.ID]
	if c == nil || c.expired(s.time()) {
		return nil
	}
	return c.principal
}

// byCertificate returns the principal of the account for a client certificate, given its verified
// chains. A certificate that matches several accounts is refused. The error is a [*Refusal].
func (s *Store) byCertificate(chains [][]*x509.Certificate, client netip.Addr) (*identity.Principal, error) {
	if shut, err := s.State(); shut {
		return nil, unreadable(err)
	}
	valid := unexpired(chains, s.time())
	if len(valid) == 0 {
		return nil, unauthenticated(fmt.Sprintf("the certificate of %q, or an authority of it, has expired since "+
			"the client connected", chains[0][0].Subject))
	}
	var found *compiled
	for _, key := range certificateKeys(chains[0][0]) {
		for _, c := range s.accounts.Load().subjects[key] {
			switch {
			case c.issuer != "" && !issuedBy(c.issuer, valid):
			case found != nil && found != c:
				return nil, unauthenticated(fmt.Sprintf("the certificate of %q stands for both '%s' and '%s'",
					chains[0][0].Subject, found.Name, c.Name))
			default:
				found = c
			}
		}
	}
	if found == nil {
		return nil, unauthenticated(unknownCertificate(chains[0][0]))
	}
	return s.admit(found, client)
}

// user authenticates a name and a password.
func (s *Store) user(ctx context.Context, given proof, client netip.Addr) (*identity.Principal, error) {
	name, err := nameKey(given.user)
	if err != nil || len(given.password) > maxPassword {
		return nil, s.wrong(s.guard.passwords, client, "not a valid name and password")
	}
	if refused := s.guard.refuses(name, client); refused != nil {
		return nil, refused
	}
	c := s.accounts.Load().users[name]
	key := s.verifier.keyOf(name, given.password, client)
	if c == nil || !s.verifier.remembered(key, c.Password) {
		// Equal concurrent credentials are a single attempt, so a client that opens many connections with
		// the correct password does not lock itself out.
		_, err, _ := s.verifier.group.Do(string(key[:]), func() (any, error) {
			return nil, s.verify(ctx, c, name, given.password, key, client)
		})
		if err != nil {
			return nil, err
		}
	}
	return s.admit(c, client)
}

// verify checks a password against its hash. The error is a [*Refusal].
func (s *Store) verify(
	ctx context.Context, c *compiled, name, password string, key digest, client netip.Addr,
) error {
	attempt, refused := s.guard.attempt(name, client)
	if refused != nil {
		return refused
	}
	var hash *passwordHash
	if c != nil {
		hash = c.hash
	}
	// Other requests may share the result, so it must not be canceled with this request.
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

// rehash replaces a hash of an outdated cost by one of the current cost. If that cannot be saved,
// the user is accepted nevertheless.
func (s *Store) rehash(ctx context.Context, c *compiled, password string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := s.holder().Edit(ctx, func(d *Document) error {
		for _, user := range d.Users {
			if user.ID == c.ID && user.Password == c.Password {
				user.Password = HashPassword(password, s.options.Cost)
			}
		}
		return nil
	})
	if err != nil {
		s.options.Log(true, "a password hash could not be upgraded", map[string]any{"cause": err.Error()})
	}
}

// unreadable rejects everyone while the file cannot be used. The reason names the file, so it is
// only for the log.
func unreadable(why error) *Refusal {
	return &Refusal{
		Code: schema.Unavailable, RetryAfter: 5 * time.Second,
		Message: "The gateway's credentials cannot be read, so nobody can sign in. The administrator " +
			"finds the reason in the gateway's log.",
		Reason: why.Error(),
	}
}

// Source is an [Authenticator] that can look up callers again.
type Source interface {
	Authenticator
	// Now returns a caller with its current rights, or nil if it was revoked or has expired. Jobs call
	// it before each item.
	Now(id identity.ID) *identity.Principal
}

// Expiring is an [Authenticator] whose accounts may expire.
type Expiring interface {
	// ExpireBy sets the clock by which accounts and secrets expire from now on. It may be a clock that
	// does not jump when the wall clock is set.
	ExpireBy(now func() time.Time)
}

// Chain asks its sources in order. The first one that accepts or rejects the caller decides. Only
// [schema.Unauthenticated] passes the request on to the next source.
type Chain []Source

// Authenticate implements [Authenticator].
func (c Chain) Authenticate(ctx context.Context, credential Credential) (*identity.Principal, error) {
	var last error = unauthenticated("nobody is known")
	for _, s := range c {
		p, err := s.Authenticate(ctx, credential)
		if err == nil {
			return p, nil
		}
		last = err
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != schema.Unauthenticated {
			break
		}
	}
	return nil, last
}

// Now implements [Source].
func (c Chain) Now(id identity.ID) *identity.Principal {
	for _, s := range c {
		if p := s.Now(id); p != nil {
			return p
		}
	}
	return nil
}

// ExpireBy implements [Expiring].
func (c Chain) ExpireBy(now func() time.Time) {
	for _, s := range c {
		if expiring, ok := s.(Expiring); ok {
			expiring.ExpireBy(now)
		}
	}
}
