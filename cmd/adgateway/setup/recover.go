package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"adgateway/gateway/store"
)

// Recover lets the cluster of a gateway continue with another log, after the nodes have lost theirs
// or it was rolled back. No gateway of the cluster and no node runs meanwhile. It is run on every
// host, and with first on the one whose copy of the store is the most recent: that gateway works
// alone until the nodes serve, and the others copy its store. It returns the position of this
// gateway's copy. It can be repeated if it was interrupted. A store that was rolled back is
// accepted with first. With an external NATS, first makes the log there; log is nil otherwise.
func Recover(ctx context.Context, o Options, first bool) (at store.Point, log *OwnLog, err error) {
	if at, err = recoverStore(ctx, o, first); err != nil || !first {
		return at, nil, err
	}
	if err := store.Accept(o.Settings.Store.File); err != nil || len(o.Settings.Cluster.Servers) == 0 {
		return at, nil, err
	}
	folder, err := o.folder()
	if err != nil {
		return at, nil, err
	}
	n, err := o.ownOf(folder)
	if err == nil {
		log, err = o.beginLater(ctx, n, folder)
	}
	return at, log, err
}

func recoverStore(ctx context.Context, o Options, first bool) (at store.Point, err error) {
	folder, err := o.folder()
	if err != nil {
		return at, err
	}
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return at, errors.New("this gateway is of no cluster: there is no log to recover")
	}
	if err != nil {
		return at, err
	}
	list, err := folder.List()
	if err != nil {
		return at, err
	}
	if name := Answering(ctx, id, list.Members()); name != "" {
		return at, fmt.Errorf("gateway %s of the cluster %s runs: stop all gateways and nodes first", name, id.Cluster)
	}
	if first && len(o.Settings.Cluster.Servers) > 0 {
		n := o.own(id.Cluster, id.Gateway, list.Members().Names()...)
		if err := n.vacant(ctx); err != nil {
			return at, err
		}
	}
	file, done, err := open(o.Settings.Store.File)
	if err != nil {
		return at, err
	}
	defer done(&err)
	if at, err = file.Point(); err != nil {
		return at, err
	}
	if first {
		if err := file.Renew(); err != nil {
			return at, err
		}
	}
	if err := setNodeAside(o, folder, marked()); err != nil {
		return at, err
	}
	if err := folder.ForgetLog(); err != nil || !first {
		return at, err
	}
	return at, folder.MarkFirst()
}
