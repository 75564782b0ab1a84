package auth

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// guard slows down those who guess. It looks at three things, so that nobody
// can lock another out:
//
//   - a name from one address: after some failures it is locked, longer each time;
//   - an address: it has so many failures, whatever the names;
//   - a name from everywhere: attempts are let through ever more slowly, except
//     from addresses where its password was right lately.
//
// It knows names and addresses only as they are given, so that it behaves alike
// for users that exist and for those that do not. Its memory is bounded; what is
// forgotten first was longest without an attempt.
type guard struct {
	now      func() time.Time
	failures int // until a lock
	seed     maphash.Seed

	mu        sync.Mutex
	pairs     *simplelru.LRU[pairKey, *pair]
	addresses *simplelru.LRU[netip.Prefix, *rate.Limiter]
	names     *simplelru.LRU[uint64, *rate.Limiter]
}

type pairKey struct {
	name    uint64
	address netip.Prefix
}

// pair is what happened to a name from an address.
type pair struct {
	failures int
	last     time.Time // of the failures
	locked   time.Time // until then
	right    time.Time // when the password was right
}

const (
	guarded = 20000 // names, addresses and pairs that are remembered

	standardFailures = 5
	firstLock        = 30 * time.Second
	longestLock      = 15 * time.Minute
	forgetFailures   = time.Hour      // after the last one
	trustPair        = 24 * time.Hour // after the password was right

	addressBurst = 60 // failures of an address
	nameBurst    = 30 // failures of a name, from everywhere
)

var (
	addressRate = rate.Every(5 * time.Second)
	nameRate    = rate.Every(10 * time.Second)
)

func newGuard(now func() time.Time, failures int) *guard {
	g := &guard{now: now, failures: cmp.Or(failures, standardFailures), seed: maphash.MakeSeed()}
	// They fail for sizes below 1 only.
	g.pairs, _ = simplelru.NewLRU[pairKey, *pair](guarded, nil)
	g.addresses, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](guarded, nil)
	g.names, _ = simplelru.NewLRU[uint64, *rate.Limiter](guarded, nil)
	return g
}

// network is what counts as one address: of IPv6 the network of a host, which
// has all of its addresses.
func network(client netip.Addr) netip.Prefix {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	prefix, _ := client.WithZone("").Prefix(bits) // of no address: the zero prefix
	return prefix
}

// attempt lets a name from an address try a password, or says when it may. An
// attempt counts as a failure until succeeded is called: attempts beside each
// other are no way around the lock.
func (g *guard) attempt(name string, client netip.Addr) (*attempt, *Refusal) {
	now := g.now()
	key := g.key(name, client)
	g.mu.Lock()
	defer g.mu.Unlock()
	p := entry(g.pairs, key, func() *pair { return &pair{} })
	if wait := p.locked.Sub(now); wait > 0 {
		return nil, locked(wait)
	}
	if wait := untilToken(g.address(key.address), now); wait > 0 {
		return nil, locked(wait)
	}
	trusted := !p.right.IsZero() && now.Sub(p.right) < trustPair
	byName := entry(g.names, key.name, func() *rate.Limiter { return rate.NewLimiter(nameRate, nameBurst) })
	if wait := untilToken(byName, now); wait > 0 && !trusted {
		return nil, locked(wait)
	}
	if now.Sub(p.last) >= forgetFailures {
		p.failures = 0
	}
	before := *p
	p.failures++
	p.last = now
	if over := p.failures - g.failures; over >= 0 {
		p.locked = now.Add(min(firstLock<<min(over, 10), longestLock))
	}
	return &attempt{guard: g, key: key, before: before}, nil
}

// refuses tells whether a name is locked from an address, for passwords that
// need no checking: while it is, no guess must learn that it is right.
func (g *guard) refuses(name string, client netip.Addr) *Refusal {
	key := g.key(name, client)
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, ok := g.pairs.Get(key); ok {
		if wait := p.locked.Sub(g.now()); wait > 0 {
			return locked(wait)
		}
	}
	return nil
}

func (g *guard) key(name string, client netip.Addr) pairKey {
	return pairKey{maphash.String(g.seed, name), network(client)}
}

// attempt is one that was let through.
type attempt struct {
	guard  *guard
	key    pairKey
	before pair
}

// succeeded forgives the pair what it has failed at.
func (a *attempt) succeeded() {
	a.guard.mu.Lock()
	defer a.guard.mu.Unlock()
	a.guard.pairs.Add(a.key, &pair{right: a.guard.now()})
}

// failed makes the attempt count for the address and the name, too.
func (a *attempt) failed() {
	g, now := a.guard, a.guard.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.address(a.key.address).AllowN(now, 1)
	if byName, ok := g.names.Get(a.key.name); ok {
		byName.AllowN(now, 1)
	}
}

// withdrawn takes the attempt back: the password was not checked.
func (a *attempt) withdrawn() {
	a.guard.mu.Lock()
	defer a.guard.mu.Unlock()
	if p, ok := a.guard.pairs.Get(a.key); ok {
		p.failures, p.locked = max(p.failures-1, 0), a.before.locked
	}
}

// badToken counts a token that nobody has; the refusal comes when the address
// has had too many. Tokens that are right are never asked about here.
func (g *guard) badToken(client netip.Addr) *Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	limiter := g.address(network(client))
	if wait := untilToken(limiter, now); wait > 0 {
		return locked(wait)
	}
	limiter.AllowN(now, 1)
	return nil
}

func (g *guard) address(key netip.Prefix) *rate.Limiter {
	return entry(g.addresses, key, func() *rate.Limiter { return rate.NewLimiter(addressRate, addressBurst) })
}

// entry is what an LRU has for a key, made anew where it has nothing.
func entry[K comparable, V any](lru *simplelru.LRU[K, V], key K, make func() V) V {
	if found, ok := lru.Get(key); ok {
		return found
	}
	made := make()
	lru.Add(key, made)
	return made
}

// untilToken is how long until the limiter has one more; zero: it has.
func untilToken(limiter *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(limiter.Limit()) * float64(time.Second))
}

// locked says the same whether the user exists or not, and whether the password
// would have been right.
func locked(wait time.Duration) *Refusal {
	wait = min(max(wait.Round(time.Second), time.Second), longestLock) // a clock may have been put back
	return &Refusal{
		Status: http.StatusTooManyRequests, RetryAfter: wait,
		Message: fmt.Sprintf("Too many attempts have failed. Try again in %s.", wait),
	}
}
