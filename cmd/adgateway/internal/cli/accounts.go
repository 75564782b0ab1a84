package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/gateway/nearest"
)

// storeLocation locates the accounts: in the file of --store, in auth.store, or in the cluster's store.
type storeLocation struct {
	Config, Store string

	// Cluster returns the options to reach the cluster.
	Cluster func(*config.Settings) (app.Options, error)
}

// AddTo declares the flags of the location.
func (l *storeLocation) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&l.Config, "config", "",
		"settings `FILE` that names the credential file (default "+program.DefaultFile()+")")
	flags.StringVar(&l.Store, "store", "", "the credential `FILE` itself")
}

// Open returns the accounts at the location. A file is read again by every operation.
func (l *storeLocation) Open() (accountStore, error) {
	if l.Store != "" {
		return accountStore{program.CredentialFile(config.Auth{Store: l.Store}, "")}, nil
	}
	flags := program.Flags{File: l.Config, Fallback: program.DefaultFile(), Beside: true}
	live, err := flags.Load()
	if err != nil {
		return accountStore{}, fmt.Errorf(
			"the settings do not name the credential file; correct them, or name the file with --store:\n%w", err)
	}
	file := program.CredentialFile(live.Now().Auth, flags.Path())
	cluster, err := l.Cluster(live.Now())
	if err != nil {
		return accountStore{}, err
	}
	if cluster.Identity != nil {
		return accountStore{sharedStore{cluster, file}}, nil
	}
	return accountStore{file}, nil
}

// OpenBoth returns the credential file, which the settings or --store name, and the options
// to reach the cluster.
func (l *storeLocation) OpenBoth() (file authn.File, cluster app.Options, err error) {
	flags := program.Flags{File: l.Config, Fallback: program.DefaultFile(), Beside: true}
	live, err := flags.Load()
	if err != nil {
		return file, cluster, err
	}
	cluster, err = l.Cluster(live.Now())
	if err != nil {
		return file, cluster, err
	}
	if cluster.Identity == nil {
		return file, cluster, errors.New(
			"this gateway is not in a cluster: create one with 'adgateway cluster init', or join one with " +
				"'adgateway cluster join'")
	}
	file = program.CredentialFile(live.Now().Auth, flags.Path())
	if l.Store != "" {
		file = program.CredentialFile(config.Auth{Store: l.Store}, "")
	}
	return file, cluster, nil
}

// sharedStore holds the accounts that the gateways of a cluster share. Its times of last use are only those
// at this gateway.
type sharedStore struct {
	cluster app.Options
	file    authn.File
}

// Place implements [accountPlace].
func (sharedStore) Place() string { return "the store of the cluster" }

// sharedWait is the time limit for reading or editing the accounts of a cluster.
const sharedWait = 30 * time.Second

func (s sharedStore) Read() (*authn.Document, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedWait)
	defer cancel()
	document, err := app.ReadCredentials(ctx, s.cluster)
	return document, "", err
}

func (s sharedStore) Edit(ctx context.Context, change func(*authn.Document) error) error {
	return app.EditCredentials(ctx, s.cluster, change)
}

func (s sharedStore) LastUses() map[string]time.Time { return s.file.LastUses() }

// accountKind is one of the two kinds of accounts. Each kind has its own list.
type accountKind struct {
	Name string // in messages and commands
	list func(*authn.Document) *[]*authn.Account
}

// The kinds of accounts.
var (
	tokenKind = accountKind{identity.KindToken, func(d *authn.Document) *[]*authn.Account { return &d.Tokens }}
	userKind  = accountKind{identity.KindUser, func(d *authn.Document) *[]*authn.Account { return &d.Users }}
)

// accountStore is a credential file, or the shared accounts of gateways. Several processes may use
// it at once.
type accountStore struct{ in accountPlace }

// accountPlace holds accounts and reports when they were last used.
type accountPlace interface {
	authn.Holder
	LastUses() map[string]time.Time
	Place() string // name of the place in messages
}

// List returns all accounts of a kind, and a map from account IDs to the times of last use.
func (s accountStore) List(k accountKind) (all []*authn.Account, lastUse map[string]time.Time, err error) {
	document, _, err := s.in.Read()
	if err != nil {
		return nil, nil, err
	}
	return *k.list(document), s.in.LastUses(), nil
}

// Find returns the account with the given name, regardless of case. The error suggests the nearest name.
func (k accountKind) Find(all []*authn.Account, name string) (*authn.Account, error) {
	var names []string
	for _, a := range all {
		if strings.EqualFold(a.Name, name) {
			return a, nil
		}
		names = append(names, a.Name)
	}
	if near := nearest.Of(name, names); near != "" {
		return nil, fmt.Errorf("there is no %s '%s'; did you mean '%s'?", k.Name, name, near)
	}
	return nil, fmt.Errorf("there is no %s '%s'; 'adgateway %s list' shows all", k.Name, name, k.Name)
}

// Add adds an account.
func (s accountStore) Add(ctx context.Context, k accountKind, a *authn.Account) error {
	return s.in.Edit(ctx, func(d *authn.Document) error {
		list := k.list(d)
		*list = append(*list, a)
		return nil
	})
}

// Edit changes the account with the given name and returns it as saved.
func (s accountStore) Edit(
	ctx context.Context, k accountKind, name string, change func(*authn.Account) error,
) (edited *authn.Account, err error) {
	err = s.in.Edit(ctx, func(d *authn.Document) error {
		a, err := k.Find(*k.list(d), name)
		if err != nil {
			return err
		}
		edited = a
		return change(a)
	})
	if err != nil {
		return nil, err
	}
	return edited, nil
}

// Remove removes the accounts with these names, either all or none.
func (s accountStore) Remove(ctx context.Context, k accountKind, names []string) error {
	return s.in.Edit(ctx, func(d *authn.Document) error {
		list := k.list(d)
		removed := map[*authn.Account]bool{}
		var faults []error
		for _, name := range names {
			a, err := k.Find(*list, name)
			faults = append(faults, err)
			removed[a] = true
		}
		var remaining []*authn.Account
		for _, a := range *list {
			if !removed[a] {
				remaining = append(remaining, a)
			}
		}
		*list = remaining
		return errors.Join(faults...)
	})
}
