// Package quota counts the callers' actions against their hourly limits. The amounts that a call can spend
// are reserved in memory before its run. The amounts that the call is about to spend are stored with the
// beginning of its change, so they stay spent if the gateway ends. They are corrected when the outcome of the
// call is known. The outcome of a call that is cut off becomes known when another call settles it.
package quota

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Spending is the amount that a call has reserved of its caller's hourly limits. Nil means nothing. It is not
// safe for concurrent use.
type Spending struct {
	ledger   *Ledger
	caller   *identity.Principal
	op       *ops.Operation
	reserved []*identity.Spending
	many     bool         // whether the run may affect several objects, up to [Spending.Most]
	kept     *reservation // reservation in the ledger; nil if none
	due      *correction  // correction of the ledger; nil if none is due
}

// correction is a pending correction of the ledger.
type correction struct {
	reserved *reservation
	done     map[Budget]int
}

// unlimited is more than any run can affect.
const unlimited = math.MaxInt32

// Reserve reserves the maximum that a call can spend of its caller's hourly limits. That is up to bulk
// objects if the call may remove several, and everything that is left if the extent is unknown before the
// run. It refuses a call that would exceed the limits. It returns nil if nothing of the call counts. The
// caller must call [Spending.Release].
func (l *Ledger) Reserve(
	ctx context.Context, caller *identity.Principal, bound *ops.Bound, bulk int,
) (*Spending, error) {
	impacts := bound.Impacts()
	if len(impacts) == 0 {
		return nil, nil
	}
	s := &Spending{ledger: l, caller: caller, op: bound.Op}
	for _, impact := range impacts {
		most := 1
		switch {
		case impact.Many:
			most, s.many = min(bulk, cmp.Or(impact.Most, bulk)), true
		case bound.Op.Extent != "":
			most, s.many = unlimited, true
		}
		if err := l.recall(ctx, caller, impact.Kind); err != nil {
			s.settle(none)
			return nil, Unavailable(err)
		}
		reserved, err := caller.Spend(impact.Kind, most)
		if err != nil {
			s.settle(none)
			return nil, problem.Exceeded(err)
		}
		s.reserved = append(s.reserved, reserved)
	}
	return s, nil
}

// none is the impact of a call that did nothing.
func none(identity.Impact) int { return 0 }

// recall reads the amounts that the caller spent before the gateway started, or at other gateways.
func (l *Ledger) recall(ctx context.Context, caller *identity.Principal, kind identity.Impact) error {
	if l == nil {
		return nil
	}
	return caller.Recall(kind, l.shared, func() (map[time.Time]int, error) {
		before := map[time.Time]int{}
		spent, err := l.Spent(ctx, Budget{Account: accountOf(caller), Impact: kind.String()})
		for _, reserved := range spent {
			before[reserved.At] += reserved.N
		}
		return before, err
	})
}

// accountOf returns the name under which the ledger stores a caller's spending.
func accountOf(p *identity.Principal) string {
	return cmp.Or(p.ID, p.Identity().String())
}

// Unavailable returns the refusal of a call whose spending cannot be stored.
func Unavailable(err error) error {
	return problem.StoreFault(err, "What the credential has spent of its hourly limits cannot be kept at the "+
		"moment, so nothing was changed. Try again later.")
}

// Most returns the maximum number of objects that the run may affect.
func (s *Spending) Most() int {
	most := unlimited
	if s == nil {
		return most
	}
	for _, part := range s.reserved {
		most = min(most, part.Held())
	}
	return most
}

// Many reports whether the run may affect more than one object, up to [Spending.Most].
func (s *Spending) Many() bool { return s != nil && s.many }

// Exceeded returns the [*identity.Exceeded] of a run that would have spent more than the rest, or
// nil if there is none.
func (s *Spending) Exceeded() error {
	if s == nil {
		return nil
	}
	for _, part := range s.reserved {
		if err := part.Exceeded(); err != nil && part.Held() == s.Most() {
			return err
		}
	}
	return nil
}

// Overspent returns the refusal of a change that failed with [ErrSpent] because other calls spent
// the rest of a budget after the run began.
func (s *Spending) Overspent(ctx context.Context) error {
	for _, part := range s.reserved {
		if _, has := part.Limit(); !has {
			continue
		}
		if err := s.ledger.recall(ctx, s.caller, part.Impact()); err != nil {
			return Unavailable(err)
		}
		if err := part.Exceeded(); err != nil {
			return problem.Exceeded(err)
		}
	}
	return Unavailable(ErrSpent) // the amount was returned meanwhile
}

// Kept reports whether the change of the call needs the ledger.
func (s *Spending) Kept() bool {
	return s != nil && s.ledger != nil && len(s.amounts((*identity.Spending).Held)) > 0
}

func (s *Spending) budgetOf(part *identity.Spending) Budget {
	return Budget{Account: accountOf(s.caller), Impact: part.Impact().String()}
}

// amounts returns an amount for each budget of the caller that the call spends.
func (s *Spending) amounts(n func(*identity.Spending) int) map[Budget]int {
	all := map[Budget]int{}
	for _, part := range s.reserved {
		if _, limited := part.Limit(); limited {
			all[s.budgetOf(part)] += n(part)
		}
	}
	return all
}

// limits returns the caller's limits that all gateways share. They are empty for a single gateway,
// because it counts in memory.
func (s *Spending) limits() map[Budget]int {
	limits := map[Budget]int{}
	if !s.ledger.shared {
		return limits
	}
	for _, part := range s.reserved {
		if limit, has := part.Limit(); has {
			limits[s.budgetOf(part)] = limit
		}
	}
	return limits
}

// Part is the amount that a change is about to spend. It implements [write.Participant], and fails
// with [ErrSpent] if others have spent too much.
type Part struct {
	of   *Spending
	kept *reservation
}

// Part returns the amount that a change is about to spend according to its script's announcement. It returns
// nil if there is nothing to spend, or if the ledger already has the amount.
func (s *Spending) Part(i *ps.Intent) *Part {
	if s == nil || s.ledger == nil || s.kept != nil {
		return nil
	}
	amounts := s.amounts(func(part *identity.Spending) int {
		if s.op.Extent != "" {
			return part.Held() // corrected once the actual amount is known
		}
		return min(part.Held(), max(1, len(i.Objects)))
	})
	if len(amounts) == 0 {
		return nil
	}
	return &Part{s, s.ledger.prepare(amounts)}
}

// Spent returns the amounts for the record of the change.
func (p *Part) Spent() *changes.Spent {
	spent := &changes.Spent{At: p.kept.at, Impacts: map[string]int{}}
	for of, n := range p.kept.amounts {
		spent.Account, spent.Impacts[of.Impact] = of.Account, n
	}
	return spent
}

// Begin implements [write.Participant].
func (p *Part) Begin(tx *store.Tx, _ *write.Attempt) error { return p.kept.make(tx, p.of.limits()) }

// Begun implements [write.Participant].
func (p *Part) Begun() { p.of.kept = p.kept }

// Keep stores the reservation of a run that is not a change. [Spending.Settle] or
// [Spending.Release] corrects it.
func (s *Spending) Keep(ctx context.Context) error {
	if !s.Kept() {
		return nil
	}
	kept := s.ledger.prepare(s.amounts((*identity.Spending).Held))
	err := s.ledger.store.Update(ctx, func(tx *store.Tx) error { return kept.make(tx, s.limits()) })
	switch {
	case err == nil:
		s.kept = kept
		return nil
	case errors.Is(err, ErrSpent):
		return s.Overspent(ctx)
	}
	return Unavailable(err)
}

// Used returns the amount of an impact that the caller has spent or reserved in the last hour, and
// its limit, which is 0 if the call does not spend any.
func (s *Spending) Used(kind identity.Impact) (used, limit int) {
	if s == nil {
		return 0, 0
	}
	for _, part := range s.reserved {
		if part.Impact() == kind {
			return part.Used()
		}
	}
	return 0, 0
}

// Settle counts the objects that a run has actually affected, given its result or error. Only the first call
// has an effect. If open is set, the record of the change contains the reservation, and [Spending.Done] must
// correct the record and the ledger together. Otherwise a gateway that dies in between would leave a record
// from which the amount is returned a second time. Settle fails if the correction could not be stored.
func (s *Spending) Settle(result *ps.Result, err error, open bool) error {
	if s == nil {
		return nil
	}
	return s.end(func(kind identity.Impact) int { return affected(kind, s.op, result, err) }, open)
}

// Release returns the part of the reservation that no run has spent. It fails if the correction
// could not be stored.
func (s *Spending) Release(open bool) error {
	if s == nil {
		return nil
	}
	err := s.end(none, open)
	s.reserved, s.many = nil, false
	return err
}

// end counts the affected objects, both in the ledger and in memory.
func (s *Spending) end(affected func(identity.Impact) int, open bool) (err error) {
	if kept := s.kept; kept != nil {
		err = s.Correct() // of an earlier run of the call
		s.kept = nil
		s.due = &correction{kept, s.amounts(func(part *identity.Spending) int { return affected(part.Impact()) })}
		if !open {
			err = errors.Join(err, s.Correct())
		}
	}
	s.settle(affected)
	return err
}

// settle replaces each reservation, in memory, with the amount that was used.
func (s *Spending) settle(affected func(identity.Impact) int) {
	for _, part := range s.reserved {
		part.Settle(affected(part.Impact()))
	}
}

// Correct corrects the ledger for the call, unless that was done before.
func (s *Spending) Correct() error {
	if s == nil || s.due == nil {
		return nil
	}
	c := s.due
	s.due = nil
	return c.reserved.settle(context.Background(), c.done)
}

// Done returns the spent amounts, by impact, for the end of the change, which corrects the ledger
// unless the change stays open. It returns nil if there is nothing to correct.
func (s *Spending) Done() map[string]int {
	if s == nil || s.due == nil {
		return nil
	}
	by := map[string]int{}
	for of, n := range s.due.done {
		by[of.Impact] = n
	}
	s.due = nil
	return by
}

// End implements [write.Kind]. It corrects the reservation of a change if the outcome of the change
// is known.
func (l *Ledger) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if c.Spent == nil || e.Spent == nil {
		return nil
	}
	reserved, spent := map[Budget]int{}, map[Budget]int{}
	for name, n := range c.Spent.Impacts {
		budget := Budget{Account: c.Spent.Account, Impact: name}
		reserved[budget], spent[budget] = n, e.Spent[name]
	}
	return l.reserved(c.Spent.At, reserved).correct(tx, spent)
}

// SpentOf returns the amounts that an interrupted change has spent of its reservation, by impact, or nil if
// they are unknown. If op is nil or the result is missing, they are only known if nothing was done.
func SpentOf(c *changes.Record, op *ops.Operation, outcome ps.Outcome, result *ps.Result) map[string]int {
	if c.Spent == nil || outcome != ps.OutcomeNone && (result == nil || op == nil) {
		return nil
	}
	spent := map[string]int{}
	for name := range c.Spent.Impacts {
		if kind, known := identity.ImpactNamed(name); known && outcome != ps.OutcomeNone {
			spent[name] = affected(kind, op, result, nil)
		}
	}
	return spent
}

// affected returns the number of objects that a run has affected or, if that is unknown, may have affected.
func affected(kind identity.Impact, op *ops.Operation, result *ps.Result, err error) int {
	if err != nil {
		return destroyedBy(ps.AsError(err))
	}
	switch kind {
	case identity.PasswordReset, identity.Reveal:
		return 1
	case identity.Change:
		if result.Effect == ps.EffectNone {
			return 0
		}
		return 1 + result.Counts[op.Extent]
	}
	n := result.Counts[op.Extent]
	for _, change := range result.Changes {
		if len(change.After) == 0 {
			n++
		}
	}
	return n
}

func destroyedBy(e *ps.Error) int {
	cutOff := e.Kind == ps.KindTimeout || e.Kind == ps.KindDied || e.Kind == ps.KindInternal
	if e.Outcome == ps.OutcomeNone || e.Outcome == "" && !cutOff {
		return 0
	}
	return max(1, len(e.Steps))
}
