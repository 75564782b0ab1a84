package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/nearest"

	"github.com/spf13/cobra"
)

// rightsFlags are the flags that say what an account may do.
type rightsFlags struct {
	scopes, networks, ous, zones, groups []string
	expires, dialect, rate               string
	concurrency, deletions, resets       int

	given func(flag string) bool
}

func (f *rightsFlags) addTo(c *cobra.Command, expires string) {
	flags := c.Flags()
	flags.StringSliceVar(&f.scopes, "scope", nil, "`SCOPE,...` it has: what it may do, such as user:read,user:write; * is everything (repeatable)")
	flags.StringVar(&f.expires, "expires", expires, "when it ends: 90d, 12h, 2027-01-31 or never")
	flags.StringSliceVar(&f.networks, "network", nil, "`ADDRESS` or network it may be used from (repeatable; default: any)")
	flags.StringArrayVar(&f.ous, "ou", nil, "`DN` of an OU it is limited to, with all below (repeatable)")
	flags.StringSliceVar(&f.zones, "zone", nil, "DNS `ZONE` it is limited to (repeatable)")
	flags.StringArrayVar(&f.groups, "group", nil, "`GROUP` it is limited to: name, DN or GUID (repeatable)")
	flags.StringVar(&f.dialect, "dialect", "", "shape of its answers: standard or classic (default: the server's)")
	flags.StringVar(&f.rate, "rate", "", "requests it may send, such as 10/s, 600/m or 5000/h")
	flags.IntVar(&f.concurrency, "concurrency", 0, "requests it may run at once")
	flags.IntVar(&f.deletions, "max-deletions", 0, "objects it may remove in an hour")
	flags.IntVar(&f.resets, "max-password-resets", 0, "passwords it may reset in an hour")
	f.given = flags.Changed
}

// rights are what the flags say. The account's own check finds what is wrong
// with all but the time.
func (f *rightsFlags) rights(now time.Time) (auth.Rights, error) {
	given := func(flag string, n int) *int {
		if !f.given(flag) {
			return nil
		}
		return &n
	}
	r := auth.Rights{Scopes: f.scopes, Networks: f.networks, Dialect: auth.Dialect(f.dialect)}
	if len(f.ous)+len(f.zones)+len(f.groups) > 0 {
		r.Limits = &auth.Limits{OUs: f.ous, Zones: f.zones, Groups: f.groups}
	}
	quota := auth.Quota{
		Rate: auth.Rate(f.rate), Concurrency: given("concurrency", f.concurrency),
		DeletionsPerHour: given("max-deletions", f.deletions), PasswordResetsPerHour: given("max-password-resets", f.resets),
	}
	if quota != (auth.Quota{}) {
		r.Quota = &quota
	}
	var err error
	r.Expires, err = parseExpiry(f.expires, now)
	return r, err
}

// change puts what the flags say in place of what an account may do; what
// neither they nor clear name stays.
func (f *rightsFlags) change(r *auth.Rights, clear []string, now time.Time) error {
	said, err := f.rights(now)
	if err != nil {
		return err
	}
	limits, quota := value(r.Limits), value(r.Quota)
	parts := map[string]func(){
		"scope":               func() { r.Scopes = said.Scopes },
		"expires":             func() { r.Expires = said.Expires },
		"network":             func() { r.Networks = said.Networks },
		"dialect":             func() { r.Dialect = said.Dialect },
		"ou":                  func() { limits.OUs = value(said.Limits).OUs },
		"zone":                func() { limits.Zones = value(said.Limits).Zones },
		"group":               func() { limits.Groups = value(said.Limits).Groups },
		"rate":                func() { quota.Rate = value(said.Quota).Rate },
		"concurrency":         func() { quota.Concurrency = value(said.Quota).Concurrency },
		"max-deletions":       func() { quota.DeletionsPerHour = value(said.Quota).DeletionsPerHour },
		"max-password-resets": func() { quota.PasswordResetsPerHour = value(said.Quota).PasswordResetsPerHour },
	}
	var faults []error
	for _, name := range clear {
		switch {
		case parts[name] == nil:
			names := slices.Sorted(maps.Keys(parts))
			faults = append(faults, fmt.Errorf("--clear %s: it takes %s%s", name, strings.Join(names, ", "), didYouMean(name, names)))
		case f.given(name):
			faults = append(faults, fmt.Errorf("--%s and --clear %s contradict each other", name, name))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	changed := false
	for name, take := range parts {
		if f.given(name) || slices.Contains(clear, name) {
			take()
			changed = true
		}
	}
	if !changed {
		return errors.New("say what is to change, such as --scope or --clear ou")
	}
	r.Limits, r.Quota = nil, nil
	if len(limits.OUs)+len(limits.Zones)+len(limits.Groups) > 0 {
		r.Limits = &limits
	}
	if quota != (auth.Quota{}) {
		r.Quota = &quota
	}
	return nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func didYouMean(name string, names []string) string {
	if near := nearest.Of(name, names, len(name)/2+1); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// setCommand changes what an account may do.
func setCommand(f *storeFlags, kind string, of func(*auth.Document) []*auth.Account) *cobra.Command {
	var rights rightsFlags
	var clear []string
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "Change what a " + kind + " may do; what proves it stays",
		Long: "Changes what a " + kind + " may do. Each flag takes the place of what was there, and\n" +
			"what no flag names stays. --clear takes a limit away.",
		Example: "  adgateway " + kind + " set portal --scope user:read --max-deletions 5 --clear network,ou",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			var a *auth.Account
			err := f.edit(c.Context(), func(d *auth.Document) (err error) {
				if a, err = find(of(d), kind, args[0]); err != nil {
					return err
				}
				return errors.Join(rights.change(&a.Rights, clear, now), a.Check())
			})
			if err != nil {
				return fmt.Errorf("nothing was changed:\n%w", err)
			}
			return writeAccount(c.OutOrStdout(), show(a, nil), now)
		},
	}
	rights.addTo(c, "never")
	c.Flags().Lookup("expires").DefValue = ""
	c.Flags().StringSliceVar(&clear, "clear", nil, "`LIMIT,...` to take away, by the names of their flags, such as ou,rate")
	return c
}

// parseExpiry reads a time from now, a day, a moment or never.
func parseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "never" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation(time.DateOnly, text, time.Local)
	}
	if err != nil {
		var d time.Duration
		if d, err = parseSpan(text); err == nil {
			at = now.Add(d)
		}
	}
	at = at.UTC().Truncate(time.Second)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no end: write 90d, 12h, 2027-01-31 or never", text)
	case !at.After(now):
		return nil, fmt.Errorf("%s is past already", at.Format(time.RFC3339))
	}
	return &at, nil
}

// parseSpan reads a time such as 12h or 90d.
func parseSpan(text string) (time.Duration, error) {
	const longest = 100 * 365
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err != nil || n < 0 || n > longest || fmt.Sprint(n) != days {
			return 0, fmt.Errorf("%q is no time: write 90d, 12h or 30m", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time: write 90d, 12h or 30m", text)
	}
	return d, nil
}
