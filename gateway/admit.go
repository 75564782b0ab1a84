package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// uncorrected logs that what a call has spent could not be corrected.
func (s *Server) uncorrected(r *request, err error) {
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).
			Error("what a call has spent of the hourly limits of its credential could not be corrected")
	}
}

// runs reports whether the record of the change of a call is open.
func (r *request) runs() bool { return r.change != nil && r.change.Running }

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
	case f.Code == schema.TooMany && (r.op.Extent != "" || r.spending.Many() && r.spending.Most() < r.policy.BulkLimit):
		// The script's limit was what the caller has left in this hour.
		var exceeded *identity.Exceeded
		if errors.As(r.spending.Exceeded(), &exceeded) {
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
