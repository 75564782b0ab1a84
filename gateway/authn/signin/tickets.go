package signin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"adgateway/gateway/authn"
)

// failures counts invalid tickets per address.
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
