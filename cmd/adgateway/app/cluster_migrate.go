package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"adgateway/gateway/cluster/migrate"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/keep"
)

// Migration says what [MigrateCluster] takes over.
type Migration struct {
	From     string            // mirror; empty: that of this gateway
	Journals []migrate.Journal // of other gateways, beside that of this one
	Hosts    map[string]string // names or addresses of the hosts, by gateway
	Restrict func(name string) error
}

// MigrateCluster makes the store of a cluster of what the gateways of the settings shared in
// an earlier version. None of them may run.
func MigrateCluster(ctx context.Context, o Options, m Migration) (migrate.Result, error) {
	s := o.Settings
	if s.Store.ClusterFolder() == "" {
		return migrate.Result{}, errors.New("store.file: a gateway of a cluster keeps its store in a file: set it")
	}
	w, err := wrapper(o)
	if err != nil {
		return migrate.Result{}, err
	}
	all, err := hostsOf(s, m.Hosts)
	if err != nil {
		return migrate.Result{}, err
	}
	own := migrate.Journal{File: clusterFile(o, "journal"), Key: s.Store.KeyFile()}
	keyFile := s.Cluster.KeyFile
	if s.Cluster.KeyGroup != "" {
		keyFile = ""
	}
	return migrate.Run(ctx, migrate.Options{
		Cluster: s.Cluster.Name, Gateway: s.Cluster.Gateway,
		Mirror: cmp.Or(m.From, clusterFile(o, "mirror")), Store: s.Store.File,
		Folder:  trust.Folder{Path: s.Store.ClusterFolder(), Restrict: m.Restrict},
		Wrapper: w, KeyFile: keyFile, Journals: append([]migrate.Journal{own}, m.Journals...),
		Life: s.Changes.Keep, Most: mostOfHistory(o), Now: time.Now,
		Create: func(ctx context.Context, store *keep.Sealed, folder trust.Folder) error {
			register := trust.NewRegister(store, store.Now)
			_, err := trust.Create(ctx, register, s.Cluster.Name, all[0], folder, all[1:]...)
			return err
		},
	})
}

// hostsOf returns the gateways of a cluster on their hosts, that of the settings first. Each
// host has a node, unless the cluster uses a NATS service of its own; all listen at the ports of
// the settings.
func hostsOf(s *config.Settings, hosts map[string]string) (all []trust.Member, err error) {
	self := s.Cluster.Gateway
	if hosts[self] == "" {
		return nil, fmt.Errorf("--host names no host of this gateway, '%s' (cluster.gateway)", self)
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		g := trust.Member{Name: name, Hosts: []string{hosts[name]}}
		if g.HopAddress, err = onHost(g.Hosts[0], s.Cluster.Listen); err != nil {
			return nil, err
		}
		if s.Cluster.CredsFile == "" && s.Cluster.NKeyFile == "" {
			var wrong error
			g.NodeAddress, err = onHost(g.Hosts[0], s.Engine.Cluster)
			g.ClientAddress, wrong = onHost(g.Hosts[0], s.Engine.Listen)
			if err = errors.Join(err, wrong); err != nil {
				return nil, err
			}
		}
		if name == self {
			all = slices.Insert(all, 0, g)
		} else {
			all = append(all, g)
		}
	}
	return all, nil
}

// onHost returns where another host finds what listens at an address.
func onHost(host, listen string) (string, error) {
	_, port, err := net.SplitHostPort(listen)
	return net.JoinHostPort(host, port), err
}
