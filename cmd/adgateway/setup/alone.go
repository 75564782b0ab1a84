package setup

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// answerFor is how long to wait for the answer of another gateway.
const answerFor = 3 * time.Second

// Alone makes a gateway of a cluster a single one again, which continues with its copy of the
// store. It does not run meanwhile. It refuses while another gateway answers, unless it is forced:
// two gateways that do not know of each other would change the same objects. It returns the new
// place of the cluster's files. It can be repeated if it was interrupted.
func Alone(ctx context.Context, o Options, force bool) (old string, err error) {
	folder, err := o.folder()
	if err != nil {
		return "", err
	}
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this gateway is of no cluster: it is alone already")
	}
	if err != nil {
		return "", err
	}
	list, err := folder.List()
	if err != nil {
		return "", err
	}
	if !force {
		if name := Answering(ctx, id, list.Members()); name != "" {
			return "", fmt.Errorf("gateway %s of the cluster %s runs: stop it, or take this one off the list by "+
				"'adgateway cluster leave', and run this with --force. Two gateways that do not know of each other "+
				"may change the same objects at the same time", name, id.Cluster)
		}
	}
	if err := separate(ctx, o, folder); err != nil {
		return "", err
	}
	mark := marked()
	if err := setNodeAside(o, folder, mark); err != nil {
		return "", err
	}
	old = folder.Path + mark
	return old, os.Rename(folder.Path, old)
}

// marked returns the suffix for a folder that is set aside now.
func marked() string { return ".old-" + time.Now().UTC().Format("20060102T150405Z") }

// setNodeAside renames the folder of the node, which does not run.
func setNodeAside(o Options, folder trust.Folder, mark string) error {
	node := cmp.Or(o.Settings.Engine.Store, filepath.Join(filepath.Dir(folder.Path), "node"))
	if err := os.Rename(node, node+mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the node cannot be renamed; stop the node: %w", err)
	}
	return nil
}

// separate detaches the store of a gateway from its cluster.
func separate(ctx context.Context, o Options, folder trust.Folder) (err error) {
	file, done, err := open(o.Settings.Store.File)
	if err != nil {
		return err
	}
	defer done(&err)
	w, err := o.wrapper(folder)
	if err != nil {
		return err
	}
	storeKey, err := keyring.StoreKey(o.Settings.Store.KeyFile())
	if err != nil {
		return err
	}
	switch err := keyring.Rewrap(ctx, file, w, storeKey); {
	case errors.Is(err, keyring.ErrNone):
		return errors.New("this gateway has not copied the store of the cluster yet, so that it has nothing to go on with: " +
			"run this on another one, or remove the folder " + folder.Path + " to begin anew")
	case err != nil:
		return err
	}
	ring, err := keyring.Open(ctx, file, storeKey, store.Newest)
	if err != nil {
		return err
	}
	if err := o.leaveAccounts(ctx, ring.Sealed()); err != nil {
		return err
	}
	if err := file.Renew(); err != nil {
		return err
	}
	return trust.NewRegister(ring.Sealed(), file.Now).Forget(ctx)
}

// Answering returns another gateway of a cluster that runs; empty: none answers.
func Answering(ctx context.Context, id *trust.Identity, list trust.Members) string {
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	names := make(chan string, len(list.Gateways))
	asked := 0
	for _, g := range list.Gateways {
		if g.Name == id.Gateway || g.HopAddress == "" {
			continue
		}
		asked++
		go func() {
			if !answers(ctx, g.HopAddress) {
				g.Name = ""
			}
			names <- g.Name
		}()
	}
	for range asked {
		if name := <-names; name != "" {
			return name
		}
	}
	return ""
}

// answers reports whether a gateway listens at an address, even if it rejects the certificate of
// this one.
func answers(ctx context.Context, address string) bool {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = raw.Close() }()
	shown := false
	conn := tls.Client(raw, &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, // nothing is sent; this only checks whether somebody listens
		VerifyConnection: func(tls.ConnectionState) error { shown = true; return nil },
	})
	_ = conn.HandshakeContext(ctx)
	return shown
}
