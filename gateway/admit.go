package gateway

import (
	"cmp"
	"context"
	"math"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ledger"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// spending is what a run has reserved from the caller's hourly limits.
type spending struct {
	reserved []*identity.Spending
	many     bool // the run may affect as many objects as held
	kept     *ledger.Reservation
}

// spent is a reservation of one kind.
type spent = identity.Spending

// unlimited is more than any run affects.
const unlimited = math.MaxInt32

// reserve reserves what a run can do from the caller's hourly limits: up to
// [Policy.BulkLimit] objects for a bulk removal, and all that is left where the extent is
// not known before the run. [Server.giveBack] must follow.
func (s *Server) reserve(r *request) error {
	r.spending = spending{}
	for _, impact := range r.bound.Impacts() {
		most := 1
		switch {
		case impact.Many:
			most, r.spending.many = min(r.policy.BulkLimit, cmp.Or(impact.Most, r.policy.BulkLimit)), true
		case r.bound.Op.Extent != "":
			most, r.spending.many = unlimited, true
		}
		if err := s.recall(r, impact.Kind); err != nil {
			s.giveBack(r)
			return ledgerUnavailable(err)
		}
		one, err := r.principal.Spend(impact.Kind, most)
		if err != nil {
			s.giveBack(r)
			return call.Exceeded(err)
		}
		r.spending.reserved = append(r.spending.reserved, one)
	}
	return nil
}

// giveBack gives back what the call has reserved and no run has spent.
func (s *Server) giveBack(r *request) {
	s.spend(r, func(identity.Impact) int { return 0 })
	r.spending = spending{}
}

// recall reads what the caller has spent before the gateway was started, or at all gateways.
func (s *Server) recall(r *request, kind identity.Impact) error {
	if s.ledger == nil {
		return nil
	}
	return r.principal.Recall(kind, s.clustered(), func() (map[time.Time]int, error) {
		before := map[time.Time]int{}
		spent, err := s.ledger.Spent(r.ctx, ledger.Budget{Account: accountOf(r.principal), Impact: kind.String()})
		for _, one := range spent {
			before[one.At] += one.N
		}
		return before, err
	})
}

// limitsOf returns the limits of the caller's budgets that all gateways share; none for a
// gateway alone, which counts them itself.
func (s *Server) limitsOf(r *request) map[ledger.Budget]int {
	limits := map[ledger.Budget]int{}
	if !s.clustered() {
		return limits
	}
	for _, one := range r.spending.reserved {
		if limit, has := one.Limit(); has {
			limits[budgetOf(r, one)] = limit
		}
	}
	return limits
}

// accountOf returns the name under which the ledger keeps what a caller has spent.
func accountOf(p *identity.Principal) string {
	return cmp.Or(p.ID, p.Identity().String())
}

func budgetOf(r *request, one *spent) ledger.Budget {
	return ledger.Budget{Account: accountOf(r.principal), Impact: one.Impact().String()}
}

// held is how much of a budget a run holds.
func held(one *spent) int { return one.Held() }

// overspent returns the refusal of a run whose budget others have spent since it began.
func (s *Server) overspent(r *request) error {
	for _, one := range r.spending.reserved {
		if _, has := one.Limit(); !has {
			continue
		}
		if err := s.recall(r, one.Impact()); err != nil {
			return ledgerUnavailable(err)
		}
		if err := one.Exceeded(); err != nil {
			return call.Exceeded(err)
		}
	}
	return ledgerUnavailable(ledger.ErrSpent) // it was given back meanwhile
}

// amounts returns a number for each budget of the caller that the call spends.
func (r *request) amounts(n func(*spent) int) map[ledger.Budget]int {
	all := map[ledger.Budget]int{}
	for _, one := range r.spending.reserved {
		if _, limited := one.Limit(); limited {
			all[budgetOf(r, one)] += n(one)
		}
	}
	return all
}

// ledgerUnavailable returns the refusal of a call whose spending cannot be kept.
func ledgerUnavailable(err error) error {
	return call.StoreFault(err, "What the credential has spent of its hourly limits cannot be kept at the moment, so that nothing was changed. Try again later.")
}

// spend counts what a run did. Only the first call has an effect. If the record of the
// change tells what was reserved, both are corrected together: else a gateway that dies in
// between would leave a record by which it is given back once more.
func (s *Server) spend(r *request, affected func(identity.Impact) int) {
	if kept := r.spending.kept; kept != nil {
		s.correct(r) // of an earlier run of the call
		r.spending.kept = nil
		r.correction = &correction{kept, r.amounts(func(one *spent) int { return affected(one.Impact()) })}
		if r.change == nil || !r.change.Running {
			s.correct(r)
		}
	}
	for _, one := range r.spending.reserved {
		one.Settle(affected(one.Impact()))
	}
}

// correct corrects what the call has spent, unless that is done.
func (s *Server) correct(r *request) {
	c := r.correction
	if c == nil {
		return
	}
	r.correction = nil
	if err := c.reserved.Settle(context.Background(), c.done); err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Error("what a call has spent of the hourly limits of its credential could not be corrected")
	}
}

// Most implements [call.Allowance].
func (s spending) Most() int {
	held := unlimited
	for _, one := range s.reserved {
		held = min(held, one.Held())
	}
	return held
}

// Many implements [call.Allowance].
func (s spending) Many() bool { return s.many }

// Exceeded implements [call.Allowance].
func (s spending) Exceeded() error {
	for _, one := range s.reserved {
		if err := one.Exceeded(); err != nil && one.Held() == s.Most() {
			return err
		}
	}
	return nil
}

// affected returns how many objects a run affected, or may have affected if that is
// not known.
func affected(kind identity.Impact, op *ops.Operation, result *ps.Result, err error) int {
	if err != nil {
		return destroyedBy(ps.AsError(err))
	}
	switch kind {
	case identity.PasswordReset:
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
