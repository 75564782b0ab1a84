package signin

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"adgateway/gateway/auth"
)

const (
	remembered    = 20000 // names and addresses, each
	addressTries  = 20
	standardTries = 3
	// StandardWindow is the time for which a wrong password counts when the policy of
	// the domain cannot be read.
	StandardWindow = 30 * time.Minute
)

// tries counts wrong passwords, by account and by address, before the directory is
// asked: for the domain each wrong one counts towards locking the account out.
type tries struct {
	now func() time.Time

	mu        sync.Mutex
	names     *simplelru.LRU[string, []time.Time]
	addresses *simplelru.LRU[netip.Prefix, []time.Time]
}

func newTries(now func() time.Time) *tries {
	t := &tries{now: now}
	// NewLRU fails only for size < 1.
	t.names, _ = simplelru.NewLRU[string, []time.Time](remembered, nil)
	t.addresses, _ = simplelru.NewLRU[netip.Prefix, []time.Time](remembered, nil)
	return t
}

// take counts a try as a wrong one, or reports that there were too many.
func (t *tries) take(name string, client netip.Addr, most int, window time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, host := t.now(), auth.Host(client)
	byName, _ := t.names.Get(name)
	byAddress, _ := t.addresses.Get(host)
	byName, byAddress = since(byName, now.Add(-window)), since(byAddress, now.Add(-StandardWindow))
	if len(byName) >= most || len(byAddress) >= addressTries {
		return false
	}
	t.names.Add(name, append(byName, now))
	t.addresses.Add(host, append(byAddress, now))
	return true
}

// full reports whether an address has no tries left.
func (t *tries) full(client netip.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	times, _ := t.addresses.Peek(auth.Host(client))
	return len(since(times, t.now().Add(-StandardWindow))) >= addressTries
}

// right takes back what [tries.take] counted, and forgets the wrong ones of the account.
func (t *tries) right(name string, client netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names.Remove(name)
	if host := auth.Host(client); t.addresses.Contains(host) {
		byAddress, _ := t.addresses.Get(host)
		t.addresses.Add(host, byAddress[:max(len(byAddress)-1, 0)])
	}
}

// withdrawn takes back a try for which the directory was not able to answer.
func (t *tries) withdrawn(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if byName, ok := t.names.Get(name); ok {
		t.names.Add(name, byName[:max(len(byName)-1, 0)])
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
