package identity

import (
	"errors"
	"sync"
)

// Budget is a number of bytes, or of other units, that callers share. It is safe for concurrent
// use.
type Budget struct {
	most int64

	mu   sync.Mutex // guards the fields below
	held int64
	by   map[ID]int64
}

// NewBudget returns a budget of the given size. No caller holds any of it yet.
func NewBudget(most int64) *Budget { return &Budget{most: most, by: map[ID]int64{}} }

// Most returns the total size of the budget.
func (b *Budget) Most() int64 { return b.most }

// Held returns the amount that all callers hold together.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// The errors of [Budget.Take].
var (
	ErrShareSpent  = errors.New("the caller's share is spent")
	ErrBudgetSpent = errors.New("the budget is spent")
)

// Take adds n to the amount that a caller holds. It fails with [ErrShareSpent] if the sum would
// exceed share, and with [ErrBudgetSpent] if n is more than is left.
func (b *Budget) Take(by ID, n, share int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.by[by]+n > share:
		return ErrShareSpent
	case b.held+n > b.most:
		return ErrBudgetSpent
	}
	b.held += n
	b.by[by] += n
	return nil
}

// Free returns n units taken by [Budget.Take].
func (b *Budget) Free(by ID, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.by[by] -= n; b.by[by] <= 0 {
		delete(b.by, by)
	}
}
