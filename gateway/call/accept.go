package call

import (
	"context"
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Accept reads the parameters of a call, and refuses what its caller must not do. With an error the
// call is what was known of it until then, for the audit.
func (s *Service) Accept(ctx context.Context, c Call, p *Policy) (a Accepted, err error) {
	a = Accepted{Call: c, Limits: Limits{Read: p.ReadLimit, Settle: p.SettleLimit}}
	if a.Given, err = read(ctx, &c); err != nil {
		return a, err
	}
	if a.Bound, err = bind(c.Op, a.Given.Values, a.Given.Problems); err != nil {
		if c.Undoes.Change != "" { // the values are those that were recorded
			problem.Of(err).Code = schema.NotUndoable
		}
		return a, err
	}
	if err = readDocument(&a); err != nil {
		return a, err
	}
	if c.Classic {
		a.Bound.Classic()
	}
	if err = Authorise(c.Principal, a.Bound.Scopes...); err != nil {
		return a, err
	}
	if a.Readable, a.Unread, err = readableTypes(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if err = checkCursor(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if a.Conditions, err = conditionsOf(&c); err != nil {
		return a, err
	}
	if err = complete(a, p); err != nil {
		return a, err
	}
	if err = s.checkLimits(c.Principal, a.Bound); err != nil {
		return a, err
	}
	if err = s.recordable(a); err != nil {
		return a, err
	}
	if err = requireGuard(a, p.RequireGuard); err != nil {
		return a, err
	}
	a.Tagged, a.Fields = a.Conditions.tagged(a.Bound), a.Bound.Fields
	if a.Tagged && !a.Fields.Whole() {
		a.Fields = a.Fields.ReadingAll()
	}
	if c.Op.Effect.Writes() && (a.Conditions != Conditions{}) {
		own := &condition{Conditions: a.Conditions, bound: a.Bound, reader: ops.Find(s.Rows, c.Op.Guard.Reader)}
		a.Guards = slices.Insert(slices.Clone(c.Guards), 0, Guard(own))
	}
	return a, nil
}

// read reads the parameters of a call, whose caller must have the right to its row.
func read(ctx context.Context, c *Call) (given Given, err error) {
	if c.For != nil { // they are at hand, and the audit has them also if the caller lacks the right
		if given, err = c.Input.Read(ctx); err != nil {
			return given, err
		}
		return given, AuthoriseRow(c.Principal, c.Op)
	}
	if err = AuthoriseRow(c.Principal, c.Op); err != nil {
		return given, err
	}
	return c.Input.Read(ctx)
}

// bind checks the values of a call, after the problems met while they were read.
func bind(op *ops.Operation, given ops.Given, problems []schema.FieldError) (*ops.Bound, error) {
	bound, problems := op.Bind(given, problems...)
	if len(problems) > 0 {
		return nil, problem.Invalid(problems)
	}
	return bound, nil
}

// Audited reports whether the audit has lines about calls of a row.
func (s *Service) Audited(op *ops.Operation) bool {
	return s.Audit != nil && op != nil && (op.Effect.Writes() || s.Audit.Reads())
}

// recordable returns the error of a call that could not be recorded, so that it is not run. It is
// nil if the row is not audited.
func (s *Service) recordable(a Accepted) error {
	if err := s.Kept.Writable(); err != nil && a.Op.Effect.Writes() && !a.DryRun() {
		failed := problem.New(schema.Unavailable, "The key of the store is another one, and nothing is changed "+
			"without the store. An administrator must restore the key file; GET /readyz tells which one.")
		failed.RetryAfter, failed.Cause = problem.StoreRetry, err
		return failed
	}
	if !s.Audited(a.Op) {
		return nil
	}
	if err := s.Audit.Check(); err != nil {
		return Unrecorded(err)
	}
	return nil
}
