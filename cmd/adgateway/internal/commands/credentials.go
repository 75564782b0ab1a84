package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
		return auth.File{}, fmt.Errorf("the settings do not say where the credentials are; put them right, or name the file by --store:\n%w", err)
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
