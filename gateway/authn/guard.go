package authn

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"adgateway/gateway/schema"
)

// guard slows down guessing. It counts failures in three ways, so nobody can lock out someone else:
//
//   - by name and address: after a number of failures the pair is locked, for longer each time;
//   - by address: the number of wrong passwords is limited, regardless of the names, and
//     separately the number of wrong tokens;
//   - by name: attempts from anywhere are admitted ever more slowly.
//
// If the password for a name was correct recently at an address, further attempts there are admitted in spite
// of all three limits, as long as the pair has spare attempts. The failures may have been made by other
// callers behind the same address.
//
// It behaves the same for users that exist and for those that do not. Its memory is bounded:
// entries are evicted least recently used first.
type guard struct {
	now      func() time.Time
	failures int // failures before a lock
	seed     maphash.Seed

	mu        sync.Mutex
	pairs     *simplelru.LRU[pairKey, *pair]
	passwords addresses // wrong passwords
	tokens    addresses // wrong tokens
	names     *simplelru.LRU[uint64, *rate.Limiter]
}

// addresses holds a rate limiter per address.
type addresses struct {
	*simplelru.LRU[netip.Prefix, *rate.Limiter]
}

type pairKey struct {
	name    uint64
	address netip.Prefix
}

// pair is the history of a name at an address.
type pair struct {
	failures int
	last     time.Time // last failure
	locked   time.Time // end of the lock
	right    time.Time // when the password was last correct
	// limits the attempts in spite of a lock; nil until the password has been correct once
	spare *rate.Limiter
}

const (
	guarded = 20000 // limit for each of remembered names, addresses and pairs

	standardFailures = 5
	firstLock        = 30 * time.Second
	longestLock      = 15 * time.Minute
	forgetFailures   = time.Hour      // after the last failure
	trustPair        = 24 * time.Hour // after the password was last correct

	addressBurst = 60 // failures per address
	nameBurst    = 30 // failures per name, from any address
	spareBurst   = 20 // spare attempts per pair
)

var (
	addressRate = rate.Every(5 * time.Second)
	nameRate    = rate.Every(10 * time.Second)
	spareRate   = rate.Every(30 * time.Second)
)

func newGuard(now func() time.Time, failures int) *guard {
	g := &guard{now: now, failures: cmp.Or(failures, standardFailures), seed: maphash.MakeSeed()}
	// NewLRU fails only for size < 1.
	g.pairs, _ = simplelru.NewLRU[pairKey, *pair](guarded, nil)
	g.passwords.LRU, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](guarded, nil)
	g.tokens.LRU, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](guarded, nil)
	g.names, _ = simplelru.NewLRU[uint64, *rate.Limiter](guarded, nil)
	return g
}

// Host returns the network that counts as one address: for IPv6 the /64, because a host can use all
// of its addresses.
func Host(client netip.Addr) netip.Prefix {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	prefix, _ := client.WithZone("").Prefix(bits) // an invalid address yields the zero Prefix
	return prefix
}

// attempt admits an attempt at a name's password from an address, or refuses it with the time to
// try again. The attempt counts as a failure until succeeded is called, so concurrent attempts
// cannot get around the lock.
func (g *guard) attempt(name string, client netip.Addr) (*attempt, *Refusal) {
	now := g.now()
	key := g.key(name, client)
	g.mu.Lock()
	defer g.mu.Unlock()
	p := entry(g.pairs, key, func() *pair { return &pair{} })
	byName := entry(g.names, key.name, func() *rate.Limiter { return rate.NewLimiter(nameRate, nameBurst) })
	a := &attempt{guard: g, key: key, before: *p}
	if wait := max(p.locked.Sub(now), untilToken(g.passwords.of(key.address), now),
		untilToken(byName, now)); wait > 0 {
		if !p.trusted(now) || untilToken(p.spare, now) > 0 {
			return nil, locked(wait)
		}
		a.spare, a.at = p.spare.ReserveN(now, 1), now
	}
	if now.Sub(p.last) >= forgetFailures {
		p.failures = 0
	}
	p.failures++
	p.last = now
	if over := p.failures - g.failures; over >= 0 {
		p.locked = now.Add(min(firstLock<<min(over, 10), longestLock))
	}
	return a, nil
}

// trusted reports whether the password was correct recently.
func (p *pair) trusted(now time.Time) bool {
	return p.spare != nil && now.Sub(p.right) < trustPair
}

// refuses returns a refusal if a name is locked for an address, and nil otherwise. It is called before the
// cache of correct passwords is read, because a guess must not reveal whether it is correct while the name is
// locked.
func (g *guard) refuses(name string, client netip.Addr) *Refusal {
	key, now := g.key(name, client), g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.pairs.Get(key)
	if !ok || p.trusted(now) && untilToken(p.spare, now) == 0 {
		return nil
	}
	if wait := p.locked.Sub(now); wait > 0 {
		return locked(wait)
	}
	return nil
}

func (g *guard) key(name string, client netip.Addr) pairKey {
	return pairKey{maphash.String(g.seed, name), Host(client)}
}

// attempt is an admitted attempt.
type attempt struct {
	guard  *guard
	key    pairKey
	before pair
	spare  *rate.Reservation // nil unless it is a spare attempt
	at     time.Time         // of the reservation
}

// release returns a spare attempt.
func (a *attempt) release() {
	if a.spare != nil {
		a.spare.CancelAt(a.at)
	}
}

// succeeded clears the failures of the pair.
func (a *attempt) succeeded() {
	a.guard.mu.Lock()
	defer a.guard.mu.Unlock()
	a.release()
	spare := a.before.spare
	if spare == nil {
		spare = rate.NewLimiter(spareRate, spareBurst)
	}
	a.guard.pairs.Add(a.key, &pair{right: a.guard.now(), spare: spare})
}

// failed also counts the attempt as a failure of the address and of the name.
func (a *attempt) failed() {
	g, now := a.guard, a.guard.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passwords.of(a.key.address).AllowN(now, 1)
	if byName, ok := g.names.Get(a.key.name); ok {
		byName.AllowN(now, 1)
	}
}

// withdrawn uncounts the attempt because the password was not checked.
func (a *attempt) withdrawn() {
	a.guard.mu.Lock()
	defer a.guard.mu.Unlock()
	a.release()
	if p, ok := a.guard.pairs.Get(a.key); ok {
		p.failures, p.locked = max(p.failures-1, 0), a.before.locked
	}
}

// failure counts a credential that is wrong in itself, and returns a refusal if the address has
// sent too many. It is never called for valid credentials.
func (g *guard) failure(of addresses, client netip.Addr) *Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	limiter := of.of(Host(client))
	if wait := untilToken(limiter, now); wait > 0 {
		return locked(wait)
	}
	limiter.AllowN(now, 1)
	return nil
}

// of returns the limiter of an address.
func (a addresses) of(host netip.Prefix) *rate.Limiter {
	return entry(a.LRU, host, func() *rate.Limiter { return rate.NewLimiter(addressRate, addressBurst) })
}

// entry returns the LRU's entry for a key. It creates one if there is none.
func entry[K comparable, V any](lru *simplelru.LRU[K, V], key K, create func() V) V {
	if found, ok := lru.Get(key); ok {
		return found
	}
	value := create()
	lru.Add(key, value)
	return value
}

// untilToken returns the time until the limiter has a token, or zero if it has one.
func untilToken(limiter *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(limiter.Limit()) * float64(time.Second))
}

// locked returns the refusal for a locked name. It is the same whether or not the user exists or the password
// is right.
func locked(wait time.Duration) *Refusal {
	wait = min(max(wait.Round(time.Second), time.Second), longestLock) // the clock may have been set back
	return &Refusal{
		Code: schema.RateLimited, RetryAfter: wait,
		Message: fmt.Sprintf("Too many attempts have failed. Try again in %s.", wait),
	}
}
