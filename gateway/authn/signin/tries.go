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
	"adgateway/gateway/store"
)

// Wrong passwords are counted before the directory is asked, because the domain counts each one towards a
// lockout, no matter which gateway passes it on. The tries of an account are therefore in the store, and all
// gateways share the count. Each gateway counts the tries from an address by itself, because this count only
// keeps a single host from trying many accounts.

const (
	remembered    = 20000 // number of addresses, and of uses of sessions
	addressTries  = 20
	standardTries = 3
	// StandardWindow is how long a wrong password counts if the domain's policy cannot be read.
	StandardWindow = 30 * time.Minute
)

// addresses counts tries of strangers per address.
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

// take counts n tries as wrong. It fails with a [*TooMany] that says when n tries are available.
func (a *addresses) take(client netip.Addr, n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, host := a.now(), authn.Host(client)
	times, _ := a.tries.Get(host)
	times = since(times, now.Add(-StandardWindow))
	if surplus := len(times) + n - addressTries; surplus > 0 {
		slices.SortFunc(times, time.Time.Compare)
		return &TooMany{Wait: times[surplus-1].Add(StandardWindow).Sub(now)}
	}
	a.tries.Add(host, append(times, slices.Repeat([]time.Time{now}, n)...))
	return nil
}

// giveBack uncounts n tries that [addresses.take] counted.
func (a *addresses) giveBack(client netip.Addr, n int) { a.replace(client, n) }

// shorten makes n tries count for only a minute, because the failure was not the client's.
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

// tried are the stored wrong passwords of an account, and the addresses from which it signed in.
type tried struct {
	store.Formatted
	Times   []time.Time `json:"times"`
	Expires time.Time   `json:"expires"` // when the last of these times stops counting
	Places  []place     `json:"places,omitempty"`
}

// place is an address from which the account signed in. The account has spare tries there, which
// strangers elsewhere cannot use up.
type place struct {
	Host netip.Prefix `json:"host"`
	At   time.Time    `json:"at"` // time of the last sign-in
}

const (
	trustPlace = 7 * 24 * time.Hour // after the last sign-in from there
	placesEach = 8                  // addresses of an account; beyond that the oldest is dropped
)

// trusted reports whether the account signed in from an address recently.
func (t *tried) trusted(host netip.Prefix, now time.Time) bool {
	return slices.ContainsFunc(t.Places,
		func(p place) bool { return p.Host == host && now.Sub(p.At) < trustPlace })
}

// counting returns the wrong passwords that count. As in the domain, each new one makes all earlier
// ones count for another window.
func (t *tried) counting(now time.Time, window time.Duration) []time.Time {
	if len(t.Times) == 0 || !slices.MaxFunc(t.Times, time.Time.Compare).Add(window).After(now) {
		return nil
	}
	return t.Times
}

// holder is the account or name for which wrong passwords are counted.
type holder struct {
	sid  string // of the account; empty if no account has the name
	name string // folded name; if there is a SID, only for counts of earlier versions
}

// keys returns the key in the store, and the key used by earlier versions, or "" if that is the
// same.
func (h holder) keys(in *store.Sealed) (key, former string) {
	key = hex.EncodeToString(in.Sum([]byte("tries"), []byte(h.name)))
	if h.sid == "" {
		return key, ""
	}
	return hex.EncodeToString(in.Sum([]byte("tries of a SID"), []byte(h.sid))), key
}

// try is an attempt with a password.
type try struct {
	gate   *Gate
	holder holder
	host   netip.Prefix
	at     time.Time
}

// kept is the stored count of a holder's tries, with its key and revision.
type kept struct {
	tried
	key      string
	revision store.Revision
	former   []store.Change // removes the value of an earlier version, which is included in tried
}

func (t *try) read(ctx context.Context, in *store.Sealed) (k kept, err error) {
	key, former := t.holder.keys(in)
	k.key = key
	k.tried, k.revision, err = read[tried](ctx, in, triesKind, key)
	if err != nil || former == "" || k.revision != store.Absent {
		return k, err
	}
	before, at, err := read[tried](ctx, in, triesKind, former)
	if err == nil && at != store.Absent {
		k.tried, k.former = before, []store.Change{{Kind: triesKind, Key: former, Expect: at}}
	}
	return k, err
}

// take counts the try as a wrong password. It fails with a [*TooMany], or with [ErrStore].
func (t *try) take(ctx context.Context, allowed allowance) error {
	return t.gate.decide(ctx, func(ctx context.Context, in *store.Sealed) ([]store.Change, error) {
		before, err := t.read(ctx, in)
		if err != nil {
			return nil, err
		}
		most, times := allowed.most, before.counting(t.at, allowed.window)
		if before.trusted(t.host, t.at) {
			most = allowed.trusted
		}
		if len(times) >= most {
			return nil, tooMany(times, t.at, allowed.window)
		}
		before.Times, before.Expires = append(slices.Clone(times), t.at), t.at.Add(allowed.window)
		return before.set(in, before.tried)
	})
}

// set returns the changes that store the remaining wrong passwords of the account.
func (k *kept) set(in *store.Sealed, left tried) ([]store.Change, error) {
	change := store.Change{Kind: triesKind, Key: k.key, Expect: k.revision}
	switch {
	case len(left.Times)+len(left.Places) > 0:
		value, err := store.Encode(in, left)
		change.Value, change.Expires = value, left.Expires
		for _, p := range left.Places {
			if until := p.At.Add(trustPlace); until.After(change.Expires) {
				change.Expires = until
			}
		}
		return append(k.former, change), err
	case k.revision == store.Absent:
		return k.former, nil
	}
	return []store.Change{change}, nil
}

// forgiven returns the changes that remove the wrong passwords of the account, because the correct
// one was typed, and that store the address.
func (t *try) forgiven(ctx context.Context, in *store.Sealed) ([]store.Change, error) {
	before, err := t.read(ctx, in)
	if err != nil {
		return nil, err
	}
	places := slices.DeleteFunc(before.Places,
		func(p place) bool { return p.Host == t.host || t.at.Sub(p.At) >= trustPlace })
	places = append(places, place{Host: t.host, At: t.at})
	return before.set(in, tried{Places: places[max(len(places)-placesEach, 0):]})
}

// withdrawn returns the changes that uncount a try that the directory could not decide.
func (t *try) withdrawn(ctx context.Context, in *store.Sealed) ([]store.Change, error) {
	before, err := t.read(ctx, in)
	i := slices.IndexFunc(before.Times, t.at.Equal)
	if err != nil || i < 0 {
		return nil, err
	}
	before.Times = slices.Delete(before.Times, i, i+1)
	return before.set(in, before.tried)
}

// change changes the stored tries. If it fails, the try remains counted as wrong.
func (t *try) change(ctx context.Context, of func(context.Context, *store.Sealed) ([]store.Change, error)) {
	if err := t.gate.decide(ctx, of); err != nil {
		t.gate.o.Problem(err)
	}
}

// since returns a copy of the times after start.
func since(times []time.Time, start time.Time) []time.Time {
	var later []time.Time
	for _, at := range times {
		if at.After(start) {
			later = append(later, at)
		}
	}
	return later
}

// allowance is the number of wrong passwords of an account that are passed on to the domain within
// the window.
type allowance struct {
	most    int // from any address
	trusted int // the number from an address where the account signed in recently
	window  time.Duration
}

// allowed returns the number of wrong passwords to pass on to a domain that locks out at the threshold. It
// stays two below the threshold where possible, so one try elsewhere does not lock the account. An address
// where the account signed in recently gets the same number in addition, but the sum always stays below the
// threshold. A threshold of zero means that the domain never locks out.
func allowed(tries, threshold int) (most, trusted int) {
	if threshold <= 0 {
		return tries, 2 * tries
	}
	below := threshold - 1
	most = min(tries, max(threshold-2, 1), below)
	return most, min(2*tries, below)
}

// TooMany is the error after too many wrong passwords for a name, whether or not an account has the name. It
// wraps [ErrTooMany].
type TooMany struct {
	Wait time.Duration // until the next try is allowed
}

func (e *TooMany) Error() string { return ErrTooMany.Error() }

// Is reports whether target is ErrTooMany.
func (e *TooMany) Is(target error) bool { return target == ErrTooMany }

// tooMany returns the error for an account with these wrong passwords. times is empty if the domain
// locks out at the first wrong password, because then no password is passed on.
func tooMany(times []time.Time, now time.Time, window time.Duration) error {
	wait := window
	if len(times) > 0 {
		wait = slices.MaxFunc(times, time.Time.Compare).Add(window).Sub(now)
	}
	return &TooMany{Wait: wait}
}
