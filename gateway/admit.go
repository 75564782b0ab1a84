package gateway

import (
	"fmt"
	"strings"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// spend takes what a run can destroy from what the caller may destroy in an
// hour, of a removal of many at most bulk. The result is nil where nothing is
// counted.
func spend(p *auth.Principal, b *ops.Bound, bulk int) (*auth.Spending, *failure) {
	impact, many, counted := b.Impact()
	if !counted {
		return nil, nil
	}
	most := 1
	if many {
		most = bulk
	}
	spending, refused := p.Spend(impact, most)
	if refused != nil {
		return nil, refusedBy(refused)
	}
	return spending, nil
}

// spent counts what a run really destroyed. Where that is not known it counts
// as much as may have been.
func (a *answer) spent(result *ps.Result, err error) {
	if a.spending == nil {
		return
	}
	destroyed := 0
	switch impact, _, _ := a.bound.Impact(); {
	case err != nil:
		destroyed = destroyedBy(ps.AsError(err))
	case impact == auth.PasswordReset:
		destroyed = 1
	default:
		for _, change := range result.Changes {
			if len(change.After) == 0 {
				destroyed++
			}
		}
	}
	a.spending.Settle(destroyed)
}

func destroyedBy(e *ps.Error) int {
	cutOff := e.Kind == ps.KindTimeout || e.Kind == ps.KindDied || e.Kind == ps.KindInternal
	if e.Outcome == ps.OutcomeNone || e.Outcome == "" && !cutOff {
		return 0
	}
	return max(1, len(e.Steps))
}

// explain completes a failure by what only the caller's limits can tell.
func (a *answer) explain(f *failure) *failure {
	switch {
	case f.code == schema.Limit:
		a.explainLimit(f)
	case f.code == schema.TooMany && a.spending != nil && a.spending.Held() < note(a.c).policy.BulkLimit:
		// The script was told to remove at most what is left in this hour.
		if refused := a.spending.Exceeded(); refused != nil {
			f.code, f.retryAfter = schema.RateLimited, refused.RetryAfter
			f.message += " " + refused.Message
		}
	}
	return f
}

// explainLimit says what was refused, as the caller named it, and what the
// caller may use. It tells nothing of objects outside the limits.
func (a *answer) explainLimit(f *failure) {
	field := ""
	if len(f.details) > 0 {
		field = f.details[0].Field
	}
	if given := a.bound.Text(field); given != "" {
		f.message = fmt.Sprintf("%s '%s': %s", field, given, f.message)
	}
	limits := a.principal.Limits
	var allowed []string
	for _, limit := range []struct {
		argument, one, many string
		items               []string
	}{
		{"AllowedOU", "OU", "OUs", limits.OUs}, {"AllowedZone", "zone", "zones", limits.Zones}, {"AllowedGroup", "group", "groups", limits.Groups},
	} {
		if _, declared := a.server.scripts[a.op.Script].Param(limit.argument); declared && len(limit.items) > 0 {
			allowed = append(allowed, listed(limit.one, limit.many, limit.items))
		}
	}
	if len(allowed) > 0 {
		f.message += fmt.Sprintf(" The %s is limited to %s.", a.principal, strings.Join(allowed, " and "))
	}
}

// listed names the first items of a list.
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
