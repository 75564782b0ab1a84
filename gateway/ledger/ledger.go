// Package ledger keeps what credentials have spent of their hourly limits, so that the end
// of the gateway does not give it back. An amount is reserved in the store before the
// first write of a call, and corrected when it is known what the call did: of
// a call that is cut off, once another one has settled it ([Ledger.Reserved]).
package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"time"

	"adgateway/gateway/store"
)

// kind is the kind of budgets in the store.
const kind store.Kind = "budget"

// life is how long a budget is kept after its last change: what is older than an hour
// does not count.
const life = 2 * time.Hour

// Ledger is safe for concurrent use.
type Ledger struct {
	store *store.Sealed
}

// New returns the ledger in a store, whose time is that of the store.
func New(db *store.Sealed) *Ledger { return &Ledger{db} }

// Budget is what an account may do so often in an hour.
type Budget struct {
	Account string // identity of the credential
	Impact  string
}

// Spent is a number that was spent until a time, and at most a minute before.
type Spent struct {
	At time.Time
	N  int
}

// record is what is kept of a budget: a number for each minute of the last hour.
type record struct {
	store.Formatted
	Minutes []minute `json:"minutes"`
}

type minute struct {
	Last int64 `json:"last"` // Unix seconds; the minute is the one that it lies in
	N    int   `json:"n"`
}

// Spent returns what was spent of a budget in the last hour, the oldest first.
func (l *Ledger) Spent(ctx context.Context, of Budget) (spent []Spent, err error) {
	found, _, err := l.read(ctx, of)
	for _, m := range found.Minutes {
		if at := time.Unix(m.Last, 0); m.N > 0 && l.store.Now().Sub(at) < time.Hour {
			spent = append(spent, Spent{at, m.N})
		}
	}
	return spent, err
}

func (l *Ledger) key(of Budget) string {
	return hex.EncodeToString(l.store.Sum([]byte("budget"), []byte(of.Account), []byte(of.Impact)))
}

// read returns the record of a budget and its revision.
func (l *Ledger) read(ctx context.Context, of Budget) (found record, revision store.Revision, err error) {
	e, err := l.store.Get(ctx, kind, l.key(of))
	if errors.Is(err, store.ErrAbsent) {
		return record{}, store.Absent, nil
	}
	if err == nil {
		err = store.Decode(l.store, e.Value, &found)
	}
	return found, e.Revision, err
}

// Reservation is an amount of several budgets, all of one account.
type Reservation struct {
	ledger  *Ledger
	at      time.Time
	wanted  map[Budget]int // to be reserved
	limits  map[Budget]int
	amounts map[Budget]int // reserved
}

// ErrSpent means that an amount is more than is left of a budget.
var ErrSpent = errors.New("no more is left of what may be spent in an hour")

// Prepare returns a reservation that adds amounts to what was spent once the changes of
// [Reservation.Changes] are made. Amounts of 0 are left out. Of a budget that has a limit,
// no more than that is ever reserved in an hour, by all gateways together; other amounts
// are compared with nothing.
func (l *Ledger) Prepare(amounts, limits map[Budget]int) *Reservation {
	return &Reservation{ledger: l, at: l.store.Now(), wanted: amounts, limits: limits, amounts: map[Budget]int{}}
}

// Reserved returns a reservation that a call has made at a time, such as one that was cut
// off.
func (l *Ledger) Reserved(at time.Time, amounts map[Budget]int) *Reservation {
	return &Reservation{ledger: l, at: at, amounts: amounts}
}

// At returns when the amounts count as spent.
func (r *Reservation) At() time.Time { return r.at }

// Amounts returns what is to be reserved, or is.
func (r *Reservation) Amounts() map[Budget]int {
	if len(r.amounts) == 0 {
		return r.wanted
	}
	return r.amounts
}

// Changes returns what the store must change, from what is spent now. It fails with
// [ErrSpent]. After a conflict it is called again.
func (r *Reservation) Changes(ctx context.Context) ([]store.Change, error) {
	return r.ledger.adding(ctx, r.at, r.wanted, r.limits)
}

// Made notes that the changes were made.
func (r *Reservation) Made() { r.amounts = r.wanted }

// Settle sets the amounts to what was done. If they are as they were reserved, it does
// not use the store. It must not be called again before it has returned.
func (r *Reservation) Settle(ctx context.Context, amounts map[Budget]int) error {
	more := r.missing(amounts)
	if len(more) == 0 {
		return nil
	}
	err := r.ledger.add(ctx, r.at, more)
	if err == nil {
		settled := maps.Clone(r.amounts)
		for of, n := range more {
			settled[of] += n
		}
		r.amounts = settled
	}
	return err
}

// Settling returns the changes of the store that [Reservation.Settle] makes, for a decision
// with others; none if the amounts are as they were reserved. After a conflict it is called
// again.
func (r *Reservation) Settling(ctx context.Context, amounts map[Budget]int) ([]store.Change, error) {
	return r.ledger.adding(ctx, r.at, r.missing(amounts), nil)
}

// missing returns how much more than reserved some amounts are.
func (r *Reservation) missing(amounts map[Budget]int) map[Budget]int {
	more := map[Budget]int{}
	for of, n := range amounts {
		if n != r.amounts[of] {
			more[of] = n - r.amounts[of]
		}
	}
	return more
}

// add adds amounts to a minute.
func (l *Ledger) add(ctx context.Context, at time.Time, amounts map[Budget]int) error {
	return l.store.Update(ctx, func(tx *store.Tx) error {
		for of, n := range amounts {
			found, err := store.Load[record](tx, kind, l.key(of))
			if err != nil && !errors.Is(err, store.ErrAbsent) {
				return err
			}
			found.add(at, n, tx.Now())
			if err := store.Save(tx, kind, l.key(of), found, tx.Now().Add(life)); err != nil {
				return err
			}
		}
		return nil
	})
}

// adding returns the changes that add amounts to a minute.
func (l *Ledger) adding(ctx context.Context, at time.Time, amounts, limits map[Budget]int) (all []store.Change, err error) {
	for of, n := range amounts {
		if n == 0 {
			continue
		}
		found, revision, err := l.read(ctx, of)
		if err != nil {
			return nil, err
		}
		found.add(at, n, l.store.Now())
		if limit, has := limits[of]; has && found.sum() > limit {
			return nil, ErrSpent
		}
		value, err := store.Encode(l.store, found)
		if err != nil {
			return nil, err
		}
		all = append(all, store.Change{Kind: kind, Key: l.key(of), Expect: revision, Value: value, Expires: l.store.Now().Add(life)})
	}
	return all, nil
}

// sum returns what counts of a record to which something was just added.
func (r *record) sum() (n int) {
	for _, m := range r.Minutes {
		n += m.N
	}
	return n
}

// add adds to the minute that a time lies in, and forgets those that do not count any
// more.
func (r *record) add(at time.Time, n int, now time.Time) {
	own := at.Unix()
	var kept []minute
	for _, m := range r.Minutes {
		switch {
		case m.Last/60 == at.Unix()/60:
			n, own = n+m.N, max(own, m.Last)
		case now.Sub(time.Unix(m.Last, 0)) < time.Hour:
			kept = append(kept, m)
		}
	}
	if n > 0 {
		kept = append(kept, minute{own, n})
	}
	r.Minutes = kept
}
