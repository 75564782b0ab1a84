package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"adgateway/gateway/store"
)

// Recover lets the cluster continue with a new log after its nodes have lost the old one or it was rolled
// back. No gateway and no node of the cluster may run. Recover must be run on every host, with first on the
// host whose copy of the store is the most recent. That gateway works alone until the nodes serve. The other
// gateways then copy its store. Recover returns the position of this gateway's copy, and can be repeated
// after an interruption. A store that was rolled back is accepted if first is set. With external NATS
// servers, first also creates the log there; otherwise log is nil.
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
		return at, errors.New("this gateway is not in a cluster: there is no log to recover")
	}
	if err != nil {
		return at, err
	}
	list, err := folder.List()
	if err != nil {
		return at, err
	}
	if name := Answering(ctx, id, list.Members()); name != "" {
		return at, fmt.Errorf("gateway %s of the cluster %s runs: stop all gateways and nodes first", name,
			id.Cluster)
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
