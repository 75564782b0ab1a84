package signin

import (
	"context"
	"encoding/hex"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"adgateway/gateway/authn"
	"adgateway/gateway/keep"
)

// Wrong passwords are counted before the directory is asked: for the domain each one counts
// towards locking the account out, whichever gateway passes it on. So those of an account
// are in the store, and all gateways count together. Those from an address are of each
// gateway: they only keep one host from trying many accounts.

const (
	remembered    = 20000 // addresses, and uses of sessions
	addressTries  = 20
	standardTries = 3
	// StandardWindow is the time for which a wrong password counts when the policy of
	// the domain cannot be read.
	StandardWindow = 30 * time.Minute
)

// addresses counts what strangers cause by address.
type addresses struct {
	now func() time.Time

	mu    sync.Mutex
	tries *simplelru.LRU[netip.Prefix, []time.Time]
}

func newAddresses(now func() time.Time) *addresses {
	a := &addresses{now: now}
	a.tries, _ = simplelru.NewLRU[netip.Prefix, []time.Time](remembered, nil) // fails only for size < 1
	return a
}

// take counts n tries as wrong ones, or reports that there were too many.
func (a *addresses) take(client netip.Addr, n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, host := a.now(), authn.Host(client)
	times, _ := a.tries.Get(host)
	if times = since(times, now.Add(-StandardWindow)); len(times)+n > addressTries {
		return false
	}
	a.tries.Add(host, append(times, slices.Repeat([]time.Time{now}, n)...))
	return true
}

// giveBack takes back n tries that [addresses.take] counted.
func (a *addresses) giveBack(client netip.Addr, n int) { a.replace(client, n) }

// shorten lets n tries count for a minute only, as it was not the client who failed.
func (a *addresses) shorten(client netip.Addr, n int) {
	a.replace(client, n, slices.Repeat([]time.Time{a.now().Add(time.Minute - StandardWindow)}, n)...)
}

// replace replaces the last n tries of an address.
func (a *addresses) replace(client netip.Addr, n int, by ...time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	host := authn.Host(client)
	if times, ok := a.tries.Get(host); ok {
		a.tries.Add(host, append(by, times[:max(len(times)-n, 0)]...))
	}
}

// tried are the wrong passwords of an account in the store.
type tried struct {
	keep.Formatted
	Times   []time.Time `json:"times"`
	Expires time.Time   `json:"expires"` // when none of them counts any more
}

// try is one of the account that a password is tried of, whose name is folded.
type try struct {
	gate    *Gate
	account string
	at      time.Time
}

func (t *try) key(in *keep.Sealed) string {
	return hex.EncodeToString(in.Sum([]byte("tries"), []byte(t.account)))
}

// take counts the try as a wrong one. It fails with ErrTooMany, or with [ErrStore].
func (t *try) take(ctx context.Context, most int, window time.Duration) error {
	return t.gate.decide(ctx, func(ctx context.Context, in *keep.Sealed) ([]keep.Change, error) {
		before, revision, err := read[tried](ctx, in, triesKind, t.key(in))
		if err != nil {
			return nil, err
		}
		times := since(before.Times, t.at.Add(-window))
		if len(times) >= most {
			return nil, ErrTooMany
		}
		return t.set(in, revision, tried{Times: append(times, t.at), Expires: t.at.Add(window)})
	})
}

// set returns the change that keeps the wrong passwords of the account.
func (t *try) set(in *keep.Sealed, at keep.Revision, left tried) ([]keep.Change, error) {
	change := keep.Change{Kind: triesKind, Key: t.key(in), Expect: at}
	switch {
	case len(left.Times) > 0:
		value, err := keep.Encode(in, left)
		change.Value, change.Expires = value, left.Expires
		return []keep.Change{change}, err
	case at == keep.Absent:
		return nil, nil
	}
	return []keep.Change{change}, nil
}

// forgiven returns the change that forgets the wrong passwords of the account, as the right
// one is known.
func (t *try) forgiven(ctx context.Context, in *keep.Sealed) ([]keep.Change, error) {
	_, at, err := read[tried](ctx, in, triesKind, t.key(in))
	if err != nil {
		return nil, err
	}
	return t.set(in, at, tried{})
}

// withdrawn returns the change that takes the try back, which the directory was not able to
// answer.
func (t *try) withdrawn(ctx context.Context, in *keep.Sealed) ([]keep.Change, error) {
	before, revision, err := read[tried](ctx, in, triesKind, t.key(in))
	i := slices.IndexFunc(before.Times, t.at.Equal)
	if err != nil || i < 0 {
		return nil, err
	}
	before.Times = slices.Delete(before.Times, i, i+1)
	return t.set(in, revision, before)
}

// change makes a change of the tries. One that cannot be made leaves the try as a wrong one.
func (t *try) change(ctx context.Context, of func(context.Context, *keep.Sealed) ([]keep.Change, error)) {
	if err := t.gate.decide(ctx, of); err != nil {
		t.gate.o.Problem(err)
	}
}

// since returns a copy of the times that are later than start.
func since(times []time.Time, start time.Time) []time.Time {
	var later []time.Time
	for _, at := range times {
		if at.After(start) {
			later = append(later, at)
		}
	}
	return later
}

// allowed returns how many wrong passwords are passed on to a domain that locks out at
// the threshold: two fewer, so that one try elsewhere does not lock the account. Zero is
// a domain that never does.
func allowed(tries, threshold int) int {
	if threshold <= 0 {
		return tries
	}
	return max(min(tries, threshold-2), 1)
}
