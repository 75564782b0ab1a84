package signin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/store"
)

// A program that has seen a ticket can send it again, with the authenticator that was sent with it. So each
// use is recorded in the store, where all gateways find it, even after a restart.

// used is the use of a ticket as stored.
type used struct{ store.Formatted }

// useLife is how long a use is stored. The client's clock may be ahead of the gateway's, and the
// clock of the gateway that receives the ticket again may be behind.
const useLife = 2*negotiate.Skew + time.Minute

// useTicket stores the use of a ticket. It fails with a [*negotiate.Refusal] if it was stored before,
// or with [ErrStore].
func useTicket(ctx context.Context, g *Gate, use []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	expires := g.o.Now().Add(useLife)
	err := useIn(ctx, g.own, use, expires) // a use that the store fails to keep is still refused here
	if err != nil || g.o.Store == g.own {
		return err
	}
	var refused *negotiate.Refusal
	switch err = useIn(ctx, g.o.Store, use, expires); {
	case err == nil, errors.As(err, &refused):
		return err
	case g.o.Store.Remote():
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	g.o.Problem(fmt.Errorf("the uses of tickets cannot be stored, so they end with the gateway: %w", err))
	return nil
}

func useIn(ctx context.Context, in *store.Sealed, use []byte, expires time.Time) error {
	value, err := store.Encode(in, used{})
	if err != nil {
		return err
	}
	_, err = in.Apply(ctx, store.Change{
		Kind: useKind, Key: hex.EncodeToString(use), Expect: store.Absent, Value: value, Expires: expires,
	})
	if errors.Is(err, store.ErrConflict) {
		const cause = "the same authenticator was used before, here or at another gateway"
		return negotiate.Refuse(negotiate.Replayed, cause)
	}
	return err
}

// failures counts invalid tickets by address.
type failures struct {
	now func() time.Time

	mu       sync.Mutex
	limiters *simplelru.LRU[netip.Prefix, *rate.Limiter]
}

const failuresAtOnce = 60

var failureRate = rate.Every(5 * time.Second)

func newFailures(now func() time.Time) *failures {
	f := &failures{now: now}
	f.limiters, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](remembered, nil) // fails only for size < 1
	return f
}

// wait returns the time that an address must wait, or zero.
func (f *failures) wait(client netip.Addr) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	limiter, known := f.limiters.Get(authn.Host(client))
	if !known {
		return 0
	}
	if missing := 1 - limiter.TokensAt(f.now()); missing > 0 {
		return max(time.Duration(missing/float64(failureRate)*float64(time.Second)), time.Second)
	}
	return 0
}

// note counts an invalid ticket.
func (f *failures) note(client netip.Addr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host := authn.Host(client)
	limiter, known := f.limiters.Get(host)
	if !known {
		limiter = rate.NewLimiter(failureRate, failuresAtOnce)
		f.limiters.Add(host, limiter)
	}
	limiter.AllowN(f.now(), 1)
}
