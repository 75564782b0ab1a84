package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Host is the host of a gateway in a new cluster.
type Host struct {
	Name    string
	Address string // name or address of the host, optionally with a port; without a port for the first host
}

// Made is a new cluster with the invitations of the gateways that have not joined yet.
type Made struct {
	Self        trust.Member
	Invitations []trust.Invitation
	Log         *OwnLog // nil if the cluster's own nodes create the log
}

// Init turns the gateway of the settings into the first gateway of a new cluster. The gateway keeps its store
// and must not be running. Init invites the other hosts, which can join when this gateway runs again. The
// gateway works alone until their nodes serve. Until then Init can be repeated, for example after an
// interruption, and then invites the hosts that have not joined. With external NATS servers, Init creates the
// log there, and can be repeated until the log exists.
func Init(ctx context.Context, o Options, cluster string, hosts []Host) (made *Made, err error) {
	folder, err := o.folder()
	if err != nil {
		return nil, err
	}
	if former := o.Settings.Former.Name; former != "" {
		return nil, fmt.Errorf("this gateway was in the cluster %s of an earlier version (cluster.name): "+
			"'adgateway cluster migrate' creates a cluster from what its gateways shared", former)
	}
	self, others, err := members(o, hosts, len(o.Settings.Cluster.Servers) > 0)
	if err != nil {
		return nil, err
	}
	if made, err := o.resume(ctx, folder); err != nil || made != nil {
		return made, err
	}
	if _, finished, err := folder.Origin(); err != nil || finished {
		return nil, errors.Join(err, errors.New("the cluster already exists: start the gateway, and run "+
			"'adgateway cluster invite' for each host that should join"))
	}
	if err := notJoined(folder); err != nil {
		return nil, err
	}
	n := o.own(cluster, self.Name, append(names(others), self.Name)...)
	if len(n.nodes.Servers) > 0 {
		if err := n.vacant(ctx); err != nil {
			return nil, err
		}
	}
	file, done, err := open(o.Settings.Store.File)
	if err != nil {
		return nil, err
	}
	defer done(&err)
	if rewound := file.State().Rewound; rewound != nil {
		return nil, fmt.Errorf("%w. %s", rewound, store.AfterRewind)
	}
	db, err := ringed(ctx, o, file, folder)
	if err != nil {
		return nil, err
	}
	if err := o.takeAccounts(ctx, db); err != nil {
		return nil, err
	}
	made, err = found(ctx, trust.NewRegister(db, file.Now), folder, cluster, self, others)
	if err == nil && len(n.nodes.Servers) > 0 {
		made.Log, err = n.begin(ctx, folder, file)
	}
	return made, err
}

func names(members []trust.Member) (all []string) {
	for _, m := range members {
		all = append(all, m.Name)
	}
	return all
}

// found creates a cluster in a store and the files of its first gateway in a folder, and invites the others.
func found(
	ctx context.Context, register *trust.Register, folder trust.Folder, cluster string,
	self trust.Member, others []trust.Member,
) (*Made, error) {
	if err := errors.Join(os.MkdirAll(folder.Path, 0o700), folder.MarkFirst()); err != nil {
		return nil, err
	}
	if _, err := trust.Create(ctx, register, cluster, self, folder, others...); err != nil {
		return nil, err
	}
	return invite(ctx, register, self, others)
}

// invite invites the gateways of a new cluster that have not joined yet.
func invite(ctx context.Context, r *trust.Register, self trust.Member, others []trust.Member) (*Made, error) {
	list, err := r.Members(ctx)
	if err != nil {
		return nil, err
	}
	created := &Made{Self: self}
	for _, g := range others {
		if found, _ := list.Find(g.Name); found.HasJoined() {
			continue
		}
		i, err := r.Invite(ctx, g.Name)
		if err != nil {
			return nil, err
		}
		i.Address, i.Host = self.HopAddress, g.Hosts[0]
		created.Invitations = append(created.Invitations, i)
	}
	return created, nil
}

// members returns the gateways of a new cluster. Their hosts have no nodes if the cluster uses
// external NATS servers.
func members(o Options, hosts []Host, external bool) (self trust.Member, others []trust.Member, err error) {
	switch n := len(hosts); {
	case external && n < 2:
		return self, nil, errors.New(
			"name at least two gateways, with --gateway NAME=HOST for each, this one first")
	case !external && n != 3 && n != 5:
		return self, nil, fmt.Errorf(
			"%d gateways are named: name three or five, with --gateway NAME=HOST for each, this one first. "+
				"With fewer, there is no majority when one host is lost. More gateways can join later", n)
	}
	for i, h := range hosts {
		host, port := h.Address, ""
		if name, given, err := net.SplitHostPort(h.Address); err == nil {
			host, port = name, given
		}
		m, err := addresses(o.Settings, h.Name, host)
		if err != nil {
			return self, nil, err
		}
		switch {
		case external:
			m.NodeAddress, m.ClientAddress = "", ""
		case port != "":
			m.NodeAddress = net.JoinHostPort(host, port)
		}
		if i == 0 {
			self = m
			continue
		}
		m.HopAddress, m.ClientAddress = "", "" // the gateway reports these when it joins
		others = append(others, m)
	}
	return self, others, nil
}

// ringed creates a key ring in the store, unless the store has one, and returns the store sealed with the
// ring.
func ringed(ctx context.Context, o Options, file *store.File, folder trust.Folder) (*store.Sealed, error) {
	if o.Settings.Cluster.KeyGroup == "" {
		if err := folder.MakeSecret(); err != nil {
			return nil, err
		}
	}
	w, err := o.wrapper(folder)
	if err != nil {
		return nil, err
	}
	there, err := keyring.Exists(ctx, file)
	if err != nil {
		return nil, err
	}
	switch {
	case there: // created by an interrupted run, or left by an earlier cluster
		storeKey, err := keyring.StoreKey(o.Settings.Store.KeyFile())
		if err == nil {
			err = keyring.Rewrap(ctx, file, storeKey, w)
		}
		if err != nil {
			return nil, err
		}
	default:
		path := o.Settings.Store.KeyFile()
		if _, err := store.ReadKey(path); err != nil {
			return nil, filefault.Explain("store.file (its key)", err)
		}
		secret, err := os.ReadFile(path)
		if err == nil {
			err = keyring.Adopt(ctx, file, w, secret, o.Kinds...)
		}
		if err != nil {
			return nil, fmt.Errorf("the key of the store, %s: %w: restore the file from a backup first", path, err)
		}
	}
	ring, err := keyring.Open(ctx, file, w, store.Newest)
	if err != nil {
		return nil, err
	}
	return ring.Sealed(), nil
}

// notJoined returns an error if the gateway has already joined a cluster.
func notJoined(folder trust.Folder) error {
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if first, err := folder.Alone(); err != nil || first {
		return err
	}
	return fmt.Errorf("this gateway has joined the cluster %s as %s: to make it the first of another cluster, "+
		"remove it with 'adgateway cluster leave', and move the folder %s away", id.Cluster, id.Gateway,
		folder.Path)
}
