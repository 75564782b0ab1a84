package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/nearest"
	"adgateway/winsvc"
	"adgateway/winsvc/host"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

// storeFile is the file of tokens and users: auth.store, seen from the folder of
// the settings file.
func storeFile(settings config.Auth, settingsFile string) auth.File {
	path := settings.Store
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(settingsFile), path)
	}
	return auth.File{Path: path, Guardian: host.Files{Service: winsvc.Name}}
}

// openStore opens the store of a gateway; the caller runs it.
func openStore(file auth.File, settings config.Auth, log *logrus.Logger) (*auth.Store, error) {
	store, err := auth.OpenStore(auth.StoreOptions{
		File: file, Header: auth.Header{AllowQuery: settings.AllowQueryToken}, Failures: settings.Failures,
		Defaults: auth.Quota{
			Rate: auth.Rate(settings.Rate), Concurrency: settings.Concurrency,
			DeletionsPerHour: settings.DeletionsPerHour, PasswordResetsPerHour: settings.PasswordResetsPerHour,
		},
		Log: func(problem bool, message string, fields map[string]any) {
			level := logrus.InfoLevel
			if problem {
				level = logrus.ErrorLevel
			}
			log.WithFields(fields).Log(level, message)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("credentials:\n%w", err)
	}
	return store, nil
}

// addStore makes the sandbox know the tokens and users of auth.store besides its own.
func (b *backend) addStore(own *auth.Static, file auth.File, settings config.Auth, log *logrus.Logger) error {
	b.auth = own
	if settings.Store == "" {
		return nil
	}
	store, err := openStore(file, settings, log)
	if err != nil {
		return err
	}
	b.auth, b.follow = auth.Chain{own, store}, store.Run
	b.checks = func() []gateway.Check { return storeChecks(store) }
	return nil
}

// noCredentials is what a store without accounts means.
const noCredentials = "There are no credentials: nobody can call the API. 'adgateway token create' makes a token."

// storeChecks is a store's line of /readyz.
func storeChecks(store *auth.Store) []gateway.Check {
	check := gateway.Check{Name: "credentials", OK: true}
	switch shut, err := store.State(); {
	case shut:
		check.OK, check.Reason = false, "The credentials cannot be used: nobody is let in until they can. "+oneLine(err)
	case err != nil:
		check.OK, check.Reason = false, "The credentials cannot be used; those from before stay in force for a moment. "+oneLine(err)
	case store.Empty():
		check.OK, check.Reason = false, noCredentials
	}
	return []gateway.Check{check}
}

// storeFlags are the flags of every command that works on the store.
type storeFlags struct{ config, store string }

func (f *storeFlags) addTo(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&f.config, "config", "", "settings `FILE` that says where the credentials are (default "+defaultSettingsFile()+")")
	flags.StringVar(&f.store, "store", "", "the credentials' `FILE` itself")
}

// file finds the store.
func (f *storeFlags) file() (auth.File, error) {
	if f.store != "" {
		return storeFile(config.Auth{Store: f.store}, ""), nil
	}
	settings := settingFlags{file: f.config, fallback: defaultSettingsFile()}
	settings.amend = settings.places
	live, err := settings.load()
	if err != nil {
		return auth.File{}, err
	}
	return storeFile(live.Now().Auth, settings.path()), nil
}

// edit changes the store.
func (f *storeFlags) edit(ctx context.Context, change func(*auth.Document) error) error {
	file, err := f.file()
	if err != nil {
		return err
	}
	return file.Edit(ctx, change)
}

// rightsFlags are the flags that say what an account may do.
type rightsFlags struct {
	scopes, networks, ous, zones, groups    []string
	expires, dialect, rate                  string
	concurrency, deletions, resets          int
	hasConcurrency, hasDeletions, hasResets func() bool
}

func (f *rightsFlags) addTo(c *cobra.Command, expires string) {
	flags := c.Flags()
	flags.StringSliceVar(&f.scopes, "scope", nil, "what it may do, such as `user:read,user:write`; * is everything (repeatable)")
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
	changed := func(name string) func() bool { return func() bool { return flags.Changed(name) } }
	f.hasConcurrency, f.hasDeletions, f.hasResets = changed("concurrency"), changed("max-deletions"), changed("max-password-resets")
}

// rights are what the flags say. The account's own check finds what is wrong
// with all but the time.
func (f *rightsFlags) rights(now time.Time) (auth.Rights, error) {
	given := func(has func() bool, n int) *int {
		if !has() {
			return nil
		}
		return &n
	}
	r := auth.Rights{Scopes: f.scopes, Networks: f.networks, Dialect: auth.Dialect(f.dialect)}
	if len(f.ous)+len(f.zones)+len(f.groups) > 0 {
		r.Limits = &auth.Limits{OUs: f.ous, Zones: f.zones, Groups: f.groups}
	}
	quota := auth.Quota{
		Rate: auth.Rate(f.rate), Concurrency: given(f.hasConcurrency, f.concurrency),
		DeletionsPerHour: given(f.hasDeletions, f.deletions), PasswordResetsPerHour: given(f.hasResets, f.resets),
	}
	if quota != (auth.Quota{}) {
		r.Quota = &quota
	}
	var err error
	r.Expires, err = parseExpiry(f.expires, now)
	return r, err
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

// find looks an account up by its name.
func find(all []*auth.Account, kind, name string) (*auth.Account, error) {
	var names []string
	for _, a := range all {
		if strings.EqualFold(a.Name, name) {
			return a, nil
		}
		names = append(names, a.Name)
	}
	if near := nearest.Of(name, names, len(name)/2+1); near != "" {
		return nil, fmt.Errorf("there is no %s '%s'; did you mean '%s'?", kind, name, near)
	}
	return nil, fmt.Errorf("there is no %s '%s'; 'adgateway %s list' shows all", kind, name, kind)
}

// remove takes accounts out of a list, all of them or none.
func remove(all []*auth.Account, kind string, names []string) ([]*auth.Account, error) {
	gone := map[*auth.Account]bool{}
	var faults []error
	for _, name := range names {
		a, err := find(all, kind, name)
		faults = append(faults, err)
		gone[a] = true
	}
	var kept []*auth.Account
	for _, a := range all {
		if !gone[a] {
			kept = append(kept, a)
		}
	}
	return kept, errors.Join(faults...)
}
