package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
)

// rightsFlags are the flags for the rights of an account.
type rightsFlags struct {
	scopes, networks, ous, zones, groups, names      []string
	requireGuard                                     []string
	expires, dialect, rate                           string
	concurrency, deletions, resets, changes, reveals int
	secretsInQuery                                   bool

	given func(flag string) bool
}

// AddTo declares the flags. expires is the default of --expires.
func (r *rightsFlags) AddTo(flags *pflag.FlagSet, expires string) {
	flags.StringSliceVar(&r.scopes, "scope", nil,
		"`SCOPE,...` it has: what it may do, such as user:read,user:write; * means everything (repeatable)")
	flags.StringVar(&r.expires, "expires", expires, "when it expires: 90d, 12h, 2027-01-31 or never")
	flags.StringSliceVar(&r.networks, "network", nil,
		"`ADDRESS` or network from which it may be used (repeatable; default: any)")
	flags.StringArrayVar(&r.ous, "ou", nil,
		"`DN` of an OU that it is limited to, with everything below (repeatable)")
	flags.StringSliceVar(&r.zones, "zone", nil, "DNS `ZONE` that it is limited to (repeatable)")
	flags.StringArrayVar(&r.groups, "group", nil, "`GROUP` that it is limited to: name, DN, GUID or SID "+
		"(repeatable)")
	flags.StringSliceVar(&r.names, "name", nil,
		"DNS `NAME` that it is limited to when it changes records, with all names below (repeatable)")
	flags.StringVar(&r.dialect, "dialect", "",
		"format of its responses: standard or classic (default: the server's)")
	flags.BoolVar(&r.secretsInQuery, "secrets-in-query", false,
		"accept passwords in the query string, for older clients")
	flags.StringSliceVar(&r.requireGuard, "require-guard", nil,
		"`SCOPE,...` whose changes need If-Match, If-None-Match or a plan; * means every change (repeatable)")
	flags.StringVar(&r.rate, "rate", "", "request rate, such as 10/s, 600/m or 5000/h")
	flags.IntVar(&r.concurrency, "concurrency", 0, "number of concurrent requests")
	flags.IntVar(&r.deletions, "max-deletions", 0, "number of objects that it may delete per hour")
	flags.IntVar(&r.resets, "max-password-resets", 0, "number of passwords that it may reset per hour")
	flags.IntVar(&r.changes, "max-changes", 0,
		"number of objects that it may disable, rename, move or remove from groups per hour")
	flags.IntVar(&r.reveals, "max-reveals", 0, "number of secrets of computers that it may see per hour")
	r.given = flags.Changed
}

// Parse returns the rights that the flags describe. It reports only a wrong expiry;
// [authn.Account.Check] finds all other mistakes.
func (r *rightsFlags) Parse(now time.Time) (authn.Rights, error) {
	optional := func(flag string, n int) *int {
		if !r.given(flag) {
			return nil
		}
		return &n
	}
	parsed := authn.Rights{Scopes: r.scopes, Networks: r.networks, Dialect: identity.Dialect(r.dialect),
		InQuery: r.secretsInQuery, Guarded: r.requireGuard}
	parsed.Limits = limitsOrNil(identity.Limits{OUs: r.ous, Zones: r.zones, Groups: r.groups, Names: r.names})
	parsed.Quota = quotaOrNil(identity.Quota{
		Rate: identity.Rate(r.rate), Concurrency: optional("concurrency", r.concurrency),
		DeletionsPerHour:      optional("max-deletions", r.deletions),
		PasswordResetsPerHour: optional("max-password-resets", r.resets),
		ChangesPerHour:        optional("max-changes", r.changes),
		RevealsPerHour:        optional("max-reveals", r.reveals),
	})
	var err error
	parsed.Expires, err = program.ParseExpiry(r.expires, now)
	return parsed, err
}

// Change replaces the rights whose flags were given and removes those whose flags clear
// names. The others are unchanged.
func (r *rightsFlags) Change(rights *authn.Rights, clear []string, now time.Time) error {
	parsed, err := r.Parse(now)
	if err != nil {
		return err
	}
	limits, quota := valueOf(rights.Limits), valueOf(rights.Quota)
	setters := map[string]func(){
		"scope":               func() { rights.Scopes = parsed.Scopes },
		"expires":             func() { rights.Expires = parsed.Expires },
		"network":             func() { rights.Networks = parsed.Networks },
		"dialect":             func() { rights.Dialect = parsed.Dialect },
		"secrets-in-query":    func() { rights.InQuery = parsed.InQuery },
		"require-guard":       func() { rights.Guarded = parsed.Guarded },
		"ou":                  func() { limits.OUs = valueOf(parsed.Limits).OUs },
		"zone":                func() { limits.Zones = valueOf(parsed.Limits).Zones },
		"group":               func() { limits.Groups = valueOf(parsed.Limits).Groups },
		"name":                func() { limits.Names = valueOf(parsed.Limits).Names },
		"rate":                func() { quota.Rate = valueOf(parsed.Quota).Rate },
		"concurrency":         func() { quota.Concurrency = valueOf(parsed.Quota).Concurrency },
		"max-deletions":       func() { quota.DeletionsPerHour = valueOf(parsed.Quota).DeletionsPerHour },
		"max-password-resets": func() { quota.PasswordResetsPerHour = valueOf(parsed.Quota).PasswordResetsPerHour },
		"max-changes":         func() { quota.ChangesPerHour = valueOf(parsed.Quota).ChangesPerHour },
		"max-reveals":         func() { quota.RevealsPerHour = valueOf(parsed.Quota).RevealsPerHour },
	}
	var faults []error
	for _, name := range clear {
		switch {
		case setters[name] == nil:
			names := slices.Sorted(maps.Keys(setters))
			faults = append(faults, fmt.Errorf("--clear %s: it takes %s%s", name, strings.Join(names, ", "),
				program.DidYouMean(name, "", names)))
		case r.given(name):
			faults = append(faults, fmt.Errorf("--%s and --clear %s contradict each other", name, name))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	changed := false
	for name, set := range setters {
		if r.given(name) || slices.Contains(clear, name) {
			set()
			changed = true
		}
	}
	if !changed {
		return errors.New("nothing to change: use a flag such as --scope, or --clear ou")
	}
	rights.Limits, rights.Quota = limitsOrNil(limits), quotaOrNil(quota)
	return nil
}

func limitsOrNil(l identity.Limits) *identity.Limits {
	if len(l.OUs)+len(l.Zones)+len(l.Groups)+len(l.Names) == 0 {
		return nil
	}
	return &l
}

func quotaOrNil(q identity.Quota) *identity.Quota {
	if q == (identity.Quota{}) {
		return nil
	}
	return &q
}

// valueOf returns what p points to, or the zero value.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
