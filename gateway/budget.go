package gateway

import (
	"errors"
	"sync"

	"adgateway/gateway/identity"
)

// caller identifies a principal: accounts of the sandbox have no id.
type caller struct{ id, kind, name string }

func callerOf(p *identity.Principal) caller { return caller{p.ID, p.Kind, p.Name} }

// budget is a number of bytes that callers share. It is safe for concurrent use.
type budget struct {
	most int64

	mu   sync.Mutex // guards the fields below
	held int64
	by   map[caller]int64
}

func newBudget(most int64) *budget { return &budget{most: most, by: map[caller]int64{}} }

var (
	errShareSpent  = errors.New("the caller's share is spent")
	errBudgetSpent = errors.New("the budget is spent")
)

// take adds n bytes to what a caller holds, unless that is more than its share or than
// is left.
func (b *budget) take(by caller, n, share int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.by[by]+n > share:
		return errShareSpent
	case b.held+n > b.most:
		return errBudgetSpent
	}
	b.held += n
	b.by[by] += n
	return nil
}

// free gives back what take added.
func (b *budget) free(by caller, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.by[by] -= n; b.by[by] <= 0 {
		delete(b.by, by)
	}
}
