// Package setup turns gateways into members of a cluster, and members into gateways on their own.
//
//	setup.go   code that the steps share
//	init.go    makes a cluster of a gateway with its store, and invites other hosts
//	join.go    makes a gateway join
//	reach.go   changes a running cluster
//	alone.go   makes a member a gateway on its own
//	recover.go lets a cluster continue with another log
//	accounts.go moves tokens and users from the file of a gateway to the store, and back
//	migrate.go takes over a cluster of an earlier version
package setup

import (
	"errors"
	"fmt"
	"net"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Options are the options of all steps.
type Options struct {
	Settings *config.Settings

	// KeyGroup returns a wrapper that protects the key ring for a group of the domain
	// (cluster.keyGroup). It is nil if this computer cannot do that.
	KeyGroup func(group string) (keyring.Wrapper, error)

	// Kinds are the kinds of values that CheckKey reads to verify that a key belongs to the store.
	Kinds []store.Kind

	// Accounts is the file with the tokens and users of a gateway that is alone. In a cluster, the store
	// contains them. If the path is empty, there are no accounts.
	Accounts authn.File

	restrict func(name string) error // nil means settings.Files.Restrict
}

// folder returns the folder of the gateway's cluster.
func (o Options) folder() (trust.Folder, error) {
	f := program.ClusterFolder(o.Settings)
	if f.Path == "" {
		return f, errors.New("a gateway of a cluster needs a store in a file: set store.file")
	}
	if o.restrict != nil {
		f.Restrict = o.restrict
	}
	return f, nil
}

// HasNode reports whether a node runs next to the gateway of the settings. That is so if the gateway is in a
// cluster and its host has a node.
func HasNode(s *config.Settings) (bool, error) {
	folder, id, err := program.Joined(s)
	if err != nil || id == nil || len(s.Cluster.Servers) > 0 {
		return false, err
	}
	list, err := trust.LoadMembers(folder.MembersFile())
	return list.HasNode(id.Gateway), err
}

// wrapper returns the wrapper of the key ring of a cluster.
func (o Options) wrapper(f trust.Folder) (keyring.Wrapper, error) {
	return keyring.OfCluster(o.Settings.Cluster.KeyGroup, f.SecretFile(), o.KeyGroup)
}

// open opens the store of a gateway that is not running. done closes it.
func open(path string) (file *store.File, done func(*error), err error) {
	file, aside, err := store.Open(store.Options{Path: path})
	switch {
	case errors.Is(err, store.ErrInUse):
		return nil, nil, errors.New(
			"the gateway runs and has its store open: stop it, run the command again, and start it")
	case err != nil:
		return nil, nil, filefault.Explain("store.file", err)
	case aside != "":
		return nil, nil, errors.Join(
			fmt.Errorf("the store was damaged and is now %s: restore it from a backup first, "+
				"or run the command again to continue with an empty store", aside), file.Close())
	}
	return file, func(err *error) { *err = errors.Join(*err, file.Close()) }, nil
}

// addresses returns a gateway with the addresses at which others reach it, from its settings
// and its host's name.
func addresses(s *config.Settings, name, host string) (trust.Member, error) {
	m := trust.Member{Name: name, Hosts: []string{host}}
	for _, a := range []struct {
		key, listen string
		to          *string
	}{
		{"cluster.listen", s.Cluster.Listen, &m.HopAddress}, {"engine.cluster", s.Engine.Cluster, &m.NodeAddress},
		{"engine.listen", s.Engine.Listen, &m.ClientAddress},
	} {
		_, port, err := net.SplitHostPort(a.listen)
		if err != nil {
			return m, fmt.Errorf("%s: %w", a.key, err)
		}
		*a.to = net.JoinHostPort(host, port)
	}
	return m, nil
}
