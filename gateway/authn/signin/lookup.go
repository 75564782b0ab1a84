package signin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
	"golang.org/x/text/unicode/norm"
)

// Policy describes an account whose password is tried, and the domain's lockout rules for it.
type Policy struct {
	SID       string        // SID of the account; empty if the domain has no account of this name
	Account   string        // sAMAccountName of the account; empty if there is none
	Threshold int           // wrong passwords before a lockout, even of a missing account; 0 for never
	Window    time.Duration // how long a wrong password counts
}

// Errors for passwords that cannot be tried now.
var (
	ErrUnread = errors.New("signin: the account and its policy cannot be read")
	ErrBusy   = errors.New("signin: too many sign in at once")
)

const (
	lookupRuns = 2           // maximum number of scripts that run to find an account and its policy
	lookupLife = time.Minute // how long a result is used, whether or not the name has an account
)

// lookups finds the accounts for names that strangers type. It remembers results for a while, and looks up
// only a limited number of names for each address. Names with and without an account take the same time, so
// the response time does not show which accounts exist.
type lookups struct {
	now    func() time.Time
	find   func(context.Context, string) (Policy, error) // nil if nothing is known of any account
	runs   *addresses                                    // scripts run on behalf of each address
	flight singleflight.Group

	mu    sync.Mutex
	known *simplelru.LRU[string, looked] // keyed by folded name
}

type looked struct {
	Policy
	until time.Time
}

func newLookups(o Options) *lookups {
	l := &lookups{now: o.Now, find: o.Policy, runs: newAddresses(o.Now)}
	l.known, _ = simplelru.NewLRU[string, looked](remembered, nil) // fails only for size < 1
	return l
}

// of returns the policy of the account with the given name. Scripts for a marked attempt do not count
// against its address. It fails with ErrTooMany or ErrUnread.
func (l *lookups) of(ctx context.Context, name string, client netip.Addr, marked bool) (Policy, error) {
	if l.find == nil {
		return Policy{}, nil
	}
	if found, ok := l.remembered(name); ok {
		return found, nil
	}
	if !marked {
		if err := l.runs.take(client, lookupRuns); err != nil {
			return Policy{}, err
		}
	}
	ran := false
	value, err, _ := l.flight.Do(fold(name), func() (any, error) {
		ran = true
		found, err := l.find(context.WithoutCancel(ctx), name) // others may wait for the same result
		if err == nil {
			l.remember(name, found)
		}
		return found, err
	})
	found, _ := value.(Policy)
	switch {
	case marked:
	case !ran:
		l.runs.giveBack(client, lookupRuns)
	case err != nil:
		l.runs.shorten(client, lookupRuns)
	}
	if err != nil {
		return Policy{}, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return found, nil
}

func (l *lookups) remembered(name string) (Policy, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.known.Get(fold(name))
	return found.Policy, ok && l.now().Before(found.until)
}

func (l *lookups) remember(name string, found Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known.Add(fold(name), looked{found, l.now().Add(lookupLife)})
}

// counted returns the holder for which wrong passwords are counted, and its allowance. An account is counted
// by its SID, no matter which name was typed. Names that the domain does not know count as one name if they
// differ only in case, width, diacritics or the text after an @, because a directory may not distinguish
// them.
func (p Policy) counted(typed string, tries int) (h holder, a allowance) {
	a.most, a.trusted = allowed(tries, p.Threshold)
	a.window = max(p.Window, StandardWindow)
	if p.Account != "" {
		return holder{sid: p.SID, name: fold(p.Account)}, a
	}
	before, _, _ := strings.Cut(typed, "@")
	return holder{name: plain(before)}, a
}

// plain returns a name folded by case, width and diacritics.
func plain(name string) string {
	return fold(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(name)))
}

// Each sign-in occupies a PowerShell session that others need.
const (
	signInsAtOnce = 4
	mostSignIns   = 32 + signInsAtOnce // number of sign-ins that run or wait
	turnWait      = 2 * time.Second
)
