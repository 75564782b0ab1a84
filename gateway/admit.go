package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ledger"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
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
		if !r.run.Running() {
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

// held returns how many objects the run may affect.
func (s spending) held() int {
	held := unlimited
	for _, one := range s.reserved {
		held = min(held, one.Held())
	}
	return held
}

// exceeded returns the [*identity.Exceeded] of a run that would have spent more than was
// left, or nil.
func (s spending) exceeded() error {
	for _, one := range s.reserved {
		if err := one.Exceeded(); err != nil && one.Held() == s.held() {
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

// outsideOUs is the sentence about what lies outside the caller's OUs.
const outsideOUs = "The object lies outside the OUs that the caller is limited to."

// checkLimits refuses distinguished names that lie outside the caller's OUs by their
// own text, whether or not they exist. It is done before anything is looked up, so
// that nothing can be learned about what lies outside.
func (s *Server) checkLimits(r *request) error {
	limits := r.principal.Limits
	if failed := checkNames(r); failed != nil {
		return failed
	}
	if _, declared := s.scripts[r.op.Script].Param("AllowedOU"); !declared || len(limits.OUs) == 0 {
		return nil
	}
	var bases []schema.Path
	for _, ou := range limits.OUs {
		if base, ok := schema.ParsePath(ou); ok {
			bases = append(bases, base)
		}
	}
	var f *problem.Error
	for i := range r.op.Params {
		p := &r.op.Params[i]
		path, ok := schema.NamesPath(p.Kind, r.bound.Text(p.Name))
		if !ok || p.Group && len(limits.Groups) > 0 || slices.ContainsFunc(bases, path.Within) {
			continue
		}
		if f == nil {
			f = problem.New(schema.Limit, outsideOUs)
		}
		f.Details = append(f.Details, problem.Detail{Field: p.Name, Message: outsideOUs})
	}
	if f != nil {
		s.explain(r, f)
		return f
	}
	return nil
}

// checkNames refuses a change of records whose names lie outside the caller's.
func checkNames(r *request) error {
	allowed := r.principal.Limits.Names
	if len(allowed) == 0 {
		return nil
	}
	for _, name := range r.bound.NamesChanged() {
		if !ops.NameWithin(name, allowed) {
			return problem.New(schema.Limit, "The name '%s' is outside the names whose records the caller may change. The %s is limited to %s.",
				problem.Printable(name, schema.DomainLimit), r.principal, listed("name", "names", allowed))
		}
	}
	return nil
}

// explain completes an error with what follows from the caller's limits.
func (s *Server) explain(r *request, f *problem.Error) {
	switch {
	case f.Code == schema.Limit:
		s.explainLimit(r, f)
	case f.Code == schema.TooMany && (r.op.Extent != "" || r.spending.many && r.spending.held() < r.policy.BulkLimit):
		// The script's limit was what the caller has left in this hour.
		var exceeded *identity.Exceeded
		if errors.As(r.spending.exceeded(), &exceeded) {
			f.Code, f.RetryAfter = schema.RateLimited, exceeded.RetryAfter
			f.Message += " " + exceeded.Message
		}
	}
}

// explainLimit says what was refused, as the caller named it, and what the
// caller may use. It reveals nothing about objects outside the limits.
func (s *Server) explainLimit(r *request, f *problem.Error) {
	field := ""
	if len(f.Details) > 0 {
		field = f.Details[0].Field
	}
	if given := r.bound.Text(field); given != "" {
		f.Message = fmt.Sprintf("%s '%s': %s", field, given, f.Message)
	}
	limits := r.principal.Limits
	var allowed []string
	for _, limit := range []struct {
		argument, one, many string
		items               []string
	}{
		{"AllowedOU", "OU", "OUs", limits.OUs}, {"AllowedZone", "zone", "zones", limits.Zones}, {"AllowedGroup", "group", "groups", limits.Groups},
	} {
		if _, declared := s.scripts[r.op.Script].Param(limit.argument); declared && len(limit.items) > 0 {
			allowed = append(allowed, listed(limit.one, limit.many, limit.items))
		}
	}
	if len(allowed) > 0 {
		f.Message += fmt.Sprintf(" The %s is limited to %s.", r.principal, strings.Join(allowed, " and "))
	}
}

// listed enumerates up to ten items.
func listed(one, many string, items []string) string {
	const shown = 10
	if len(items) == 1 {
		return fmt.Sprintf("the %s '%s'", one, items[0])
	}
	more := ""
	if len(items) > shown {
		more = fmt.Sprintf(" and %d more", len(items)-shown)
		items = items[:shown]
	}
	return fmt.Sprintf("the %s '%s'%s", many, strings.Join(items, "', '"), more)
}
