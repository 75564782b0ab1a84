// Package ledger keeps what credentials have spent of their hourly limits, so that the end
// of the gateway does not give it back. An amount is reserved in the store before the
// first write of a call (many W14), and corrected when it is known what the call did: of
// a call that is cut off, the reservation stays.
package ledger

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/keep"
)

// kind is the kind of budgets in the store.
const kind keep.Kind = "budget"

// life is how long a budget is kept after its last change: what is older than an hour
// does not count.
const life = 2 * time.Hour

// Ledger is safe for concurrent use.
type Ledger struct {
	store *keep.Sealed
	now   func() time.Time
}

// New returns the ledger in a store. Nil is [time.Now].
func New(store *keep.Sealed, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{store, now}
}

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
	Version int      `json:"v"`
	Minutes []minute `json:"minutes"`
}

type minute struct {
	Last int64 `json:"last"` // Unix seconds; the minute is the one that it lies in
	N    int   `json:"n"`
}

const version = 1

// Spent returns what was spent of a budget in the last hour, the oldest first.
func (l *Ledger) Spent(ctx context.Context, of Budget) (spent []Spent, err error) {
	found, _, err := l.read(ctx, of)
	for _, m := range found.Minutes {
		if at := time.Unix(m.Last, 0); m.N > 0 && l.now().Sub(at) < time.Hour {
			spent = append(spent, Spent{at, m.N})
		}
	}
	return spent, err
}

func (l *Ledger) key(of Budget) string {
	return hex.EncodeToString(l.store.Sum([]byte("budget"), []byte(of.Account), []byte(of.Impact)))
}

// read returns the record of a budget and its revision.
func (l *Ledger) read(ctx context.Context, of Budget) (found record, revision keep.Revision, err error) {
	e, err := l.store.Get(ctx, kind, l.key(of))
	if errors.Is(err, keep.ErrAbsent) {
		return record{Version: version}, keep.Absent, nil
	}
	if err == nil {
		err = json.Unmarshal(e.Value, &found)
	}
	if err == nil && found.Version != version {
		err = fmt.Errorf("a budget has the format %d", found.Version)
	}
	return found, e.Revision, err
}

// Reservation is an amount of several budgets, all of one account.
type Reservation struct {
	ledger  *Ledger
	at      time.Time
	amounts map[Budget]int
}

// Reserve adds amounts to what was spent, in one decision. It does not compare them with
// a limit. Amounts of 0 are left out.
func (l *Ledger) Reserve(ctx context.Context, amounts map[Budget]int) (*Reservation, error) {
	r := &Reservation{ledger: l, at: l.now(), amounts: map[Budget]int{}}
	return r, r.Settle(ctx, amounts)
}

// Settle sets the amounts to what was done. If they are as they were reserved, it does
// not use the store. It must not be called again before it has returned.
func (r *Reservation) Settle(ctx context.Context, amounts map[Budget]int) error {
	more := map[Budget]int{}
	for of, n := range amounts {
		if n != r.amounts[of] {
			more[of] = n - r.amounts[of]
		}
	}
	if len(more) == 0 {
		return nil
	}
	err := r.ledger.add(ctx, r.at, more)
	if err == nil {
		for of, n := range more {
			r.amounts[of] += n
		}
	}
	return err
}

// add adds amounts to a minute. It is repeated if another call is faster.
func (l *Ledger) add(ctx context.Context, at time.Time, amounts map[Budget]int) error {
	for {
		var all []keep.Change
		for of, n := range amounts {
			found, revision, err := l.read(ctx, of)
			if err != nil {
				return err
			}
			found.add(at, n, l.now())
			value, err := json.Marshal(found)
			if err != nil {
				return err
			}
			all = append(all, keep.Change{Kind: kind, Key: l.key(of), Expect: revision, Value: value, Expires: l.now().Add(life)})
		}
		if _, err := l.store.Apply(ctx, all...); !errors.Is(err, keep.ErrConflict) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
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
