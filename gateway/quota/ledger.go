package quota

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

// life is how long a budget is stored after its last change. Only the spending of the last hour counts.
const life = 2 * time.Hour

// Ledger stores the spending of accounts. At the end of a change, it corrects the reservation made
// for the change. A nil Ledger stores nothing. It is safe for concurrent use.
type Ledger struct {
	store  *store.Sealed
	shared bool // the gateways of a cluster share the counts
}

// NewLedger returns the ledger in a store. It uses the store's clock. If the ledger is shared, all
// gateways together count an account's spending.
func NewLedger(db *store.Sealed, shared bool) *Ledger { return &Ledger{db, shared} }

// Budget is an hourly limit of an account.
type Budget struct {
	Account string // id of the credential
	Impact  string
}

// Spent is an amount that was spent in the minute before a time.
type Spent struct {
	At time.Time
	N  int
}

// record is the stored value of a budget: an amount for each minute of the last hour.
type record struct {
	store.Formatted
	Minutes []minute `json:"minutes"`
}

type minute struct {
	Last int64 `json:"last"` // Unix seconds, within the last minute
	N    int   `json:"n"`
}

// Spent returns the amounts that were spent of a budget in the last hour, oldest first.
func (l *Ledger) Spent(ctx context.Context, of Budget) (spent []Spent, err error) {
	e, err := l.store.Get(ctx, kind, l.key(of))
	if errors.Is(err, store.ErrAbsent) {
		return nil, nil
	}
	var found record
	if err == nil {
		err = store.Decode(l.store, e.Value, &found)
	}
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

// reservation is a set of amounts of several budgets of one account.
type reservation struct {
	ledger  *Ledger
	at      time.Time
	amounts map[Budget]int
}

// ErrSpent means that an amount exceeds the rest of a budget.
var ErrSpent = errors.New("no more is left of what may be spent in an hour")

// prepare returns a reservation of amounts. The amounts do not count until make is called.
func (l *Ledger) prepare(amounts map[Budget]int) *reservation {
	return l.reserved(l.store.Now(), amounts)
}

// reserved returns a reservation that was made at a given time, for example by a call that was cut
// off.
func (l *Ledger) reserved(at time.Time, amounts map[Budget]int) *reservation {
	return &reservation{ledger: l, at: at, amounts: amounts}
}

// make adds the amounts to the spending, as part of an update. For budgets with a limit, all
// gateways together never reserve more than the limit in an hour; make then fails with [ErrSpent].
// Other amounts are not checked.
func (r *reservation) make(tx *store.Tx, limits map[Budget]int) error {
	return r.ledger.add(tx, r.at, r.amounts, limits)
}

// correct replaces the reserved amounts with those in done, as part of an update. Budgets that are missing in
// done keep the reserved amounts.
func (r *reservation) correct(tx *store.Tx, done map[Budget]int) error {
	return r.ledger.add(tx, r.at, r.missing(done), nil)
}

// settle replaces the reserved amounts with those in done. If both are equal, it does not access the store.
// It must not be called concurrently.
func (r *reservation) settle(ctx context.Context, done map[Budget]int) error {
	if len(r.missing(done)) == 0 {
		return nil
	}
	err := r.ledger.store.Update(ctx, func(tx *store.Tx) error { return r.correct(tx, done) })
	if err == nil {
		settled := maps.Clone(r.amounts)
		maps.Copy(settled, done)
		r.amounts = settled
	}
	return err
}

// missing returns the differences between amounts and the reservation.
func (r *reservation) missing(amounts map[Budget]int) map[Budget]int {
	added := map[Budget]int{}
	for of, n := range amounts {
		if n != r.amounts[of] {
			added[of] = n - r.amounts[of]
		}
	}
	return added
}

// add adds amounts to a minute.
func (l *Ledger) add(tx *store.Tx, at time.Time, amounts, limits map[Budget]int) error {
	for of, n := range amounts {
		if n == 0 {
			continue
		}
		found, err := store.Load[record](tx, kind, l.key(of))
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			return err
		}
		found.add(at, n, tx.Now())
		if limit, has := limits[of]; has && found.sum() > limit {
			return ErrSpent
		}
		if err := store.Save(tx, kind, l.key(of), found, tx.Now().Add(life)); err != nil {
			return err
		}
	}
	return nil
}

// sum returns the total of a record to which an amount was just added.
func (r *record) sum() (n int) {
	for _, m := range r.Minutes {
		n += m.N
	}
	return n
}

// add adds an amount to the minute of a time, and removes minutes that no longer count.
func (r *record) add(at time.Time, n int, now time.Time) {
	second := at.Unix()
	var recent []minute
	for _, m := range r.Minutes {
		switch {
		case m.Last/60 == at.Unix()/60:
			n, second = n+m.N, max(second, m.Last)
		case now.Sub(time.Unix(m.Last, 0)) < time.Hour:
			recent = append(recent, m)
		}
	}
	if n > 0 {
		recent = append(recent, minute{second, n})
	}
	r.Minutes = recent
}
