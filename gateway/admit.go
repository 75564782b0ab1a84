package gateway

import (
	"fmt"
	"strings"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// reserve reserves what a run can destroy from the caller's hourly limits, up to
// bulkLimit objects for a bulk removal. The result is nil if nothing is counted.
func reserve(p *auth.Principal, b *ops.Bound, bulkLimit int) (*auth.Spending, *failure) {
	impact, many, counted := b.Impact()
	if !counted {
		return nil, nil
	}
	most := 1
	if many {
		most = bulkLimit
	}
	spending, refused := p.Spend(impact, most)
	if refused != nil {
		return nil, refusedBy(refused)
	}
	return spending, nil
}

// destroyed returns how many objects a run destroyed, or may have destroyed if
// that is not known.
func destroyed(b *ops.Bound, result *ps.Result, err error) int {
	if err != nil {
		return destroyedBy(ps.AsError(err))
	}
	if impact, _, _ := b.Impact(); impact == auth.PasswordReset {
		return 1
	}
	n := 0
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

// explain completes a failure with what follows from the caller's limits.
func (s *Server) explain(r *request, f *failure) *failure {
	switch {
	case f.code == schema.Limit:
		s.explainLimit(r, f)
	case f.code == schema.TooMany && r.spending != nil && r.spending.Held() < r.policy.BulkLimit:
		// The script's limit was what the caller has left in this hour.
		if refused := r.spending.Exceeded(); refused != nil {
			f.code, f.retryAfter = schema.RateLimited, refused.RetryAfter
			f.message += " " + refused.Message
		}
	}
	return f
}

// explainLimit says what was refused, as the caller named it, and what the
// caller may use. It reveals nothing about objects outside the limits.
func (s *Server) explainLimit(r *request, f *failure) {
	field := ""
	if len(f.details) > 0 {
		field = f.details[0].Field
	}
	if given := r.bound.Text(field); given != "" {
		f.message = fmt.Sprintf("%s '%s': %s", field, given, f.message)
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
		f.message += fmt.Sprintf(" The %s is limited to %s.", r.principal, strings.Join(allowed, " and "))
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
