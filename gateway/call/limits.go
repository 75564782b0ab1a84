package call

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// outsideOUs is the sentence about an object outside the caller's OUs.
const outsideOUs = "The object lies outside the OUs that the caller is limited to."

// checkLimits refuses distinguished names outside the caller's OUs, by their text alone, and record names
// outside the caller's limits. It runs before anything is looked up, so callers do not learn whether objects
// outside their limits exist.
func (t Table) checkLimits(p *identity.Principal, b *ops.Bound) error {
	if err := checkNames(p, b); err != nil {
		return err
	}
	if len(p.Limits.OUs) == 0 || !t.takes(b.Op.Script, "AllowedOU") {
		return nil
	}
	var bases []schema.Path
	for _, ou := range p.Limits.OUs {
		if base, ok := schema.ParsePath(ou); ok {
			bases = append(bases, base)
		}
	}
	var f *problem.Error
	for i := range b.Op.Params {
		param := &b.Op.Params[i]
		outside := func(path schema.Path) bool { return !slices.ContainsFunc(bases, path.Within) }
		paths := schema.NamesPaths(param.Kind, b.Text(param.Name))
		if param.Group && len(p.Limits.Groups) > 0 || !slices.ContainsFunc(paths, outside) {
			continue
		}
		if f == nil {
			f = problem.New(schema.Limit, outsideOUs)
		}
		f.Details = append(f.Details, problem.Detail{Field: param.Name, Message: outsideOUs})
	}
	if f == nil {
		return nil
	}
	t.explainLimit(p, b, f)
	return f
}

// checkNames refuses changes of records with names outside the caller's limits.
func checkNames(p *identity.Principal, b *ops.Bound) error {
	allowed := p.Limits.Names
	if len(allowed) == 0 {
		return nil
	}
	for _, name := range b.NamesChanged() {
		if !ops.NameWithin(name, allowed) {
			return problem.New(schema.Limit,
				"The name '%s' is outside the names whose records the caller may change. The %s is limited to %s.",
				problem.Printable(name, schema.DomainLimit), p, listed("name", "names", allowed))
		}
	}
	return nil
}

// explain completes an error of a run if the caller's limits have caused it. left is the amount of the
// caller's hourly limits that the run could spend. It is nil if the run does not count.
func (t Table) explain(a Accepted, bulk int, left *quota.Spending, f *problem.Error) {
	switch {
	case f.Code == schema.Limit:
		t.explainLimit(a.Principal, a.Bound, f)
	case f.Code == schema.TooMany && (a.Op.Extent != "" || left.Many() && left.Most() < bulk):
		// The script had to stay within the remainder of the caller's hourly limit.
		var exceeded *identity.Exceeded
		if errors.As(left.Exceeded(), &exceeded) {
			f.Code, f.RetryAfter = schema.RateLimited, exceeded.RetryAfter
			f.Message += " " + exceeded.Message
		}
	}
}

// explainLimit explains which value was refused and which values the caller may use, in the terms of the
// caller's limits. It reveals nothing about objects outside of the limits.
func (t Table) explainLimit(p *identity.Principal, b *ops.Bound, f *problem.Error) {
	field := ""
	if len(f.Details) > 0 {
		field = f.Details[0].Field
	}
	if given := b.Text(field); given != "" {
		f.Message = fmt.Sprintf("%s '%s': %s", field, given, f.Message)
	}
	var allowed []string
	for _, limit := range []struct {
		argument, one, many string
		items               []string
	}{
		{"AllowedOU", "OU", "OUs", p.Limits.OUs},
		{"AllowedZone", "zone", "zones", p.Limits.Zones},
		{"AllowedGroup", "group", "groups", p.Limits.Groups},
	} {
		if len(limit.items) > 0 && t.takes(b.Op.Script, limit.argument) {
			allowed = append(allowed, listed(limit.one, limit.many, limit.items))
		}
	}
	if len(allowed) > 0 {
		f.Message += fmt.Sprintf(" The %s is limited to %s.", p, strings.Join(allowed, " and "))
	}
}

// listed enumerates up to ten items.
func listed(singular, plural string, items []string) string {
	const shown = 10
	if len(items) == 1 {
		return fmt.Sprintf("the %s '%s'", singular, items[0])
	}
	more := ""
	if len(items) > shown {
		more = fmt.Sprintf(" and %d more", len(items)-shown)
		items = items[:shown]
	}
	return fmt.Sprintf("the %s '%s'%s", plural, strings.Join(items, "', '"), more)
}

// listOrNull returns a limit of a caller as an argument of a script; null means no limit.
func listOrNull(allowed []string) ps.Value {
	if len(allowed) == 0 {
		return ps.Null()
	}
	return ps.List(allowed)
}
