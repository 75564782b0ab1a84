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

// answerFor is the time limit for another gateway to answer.
const answerFor = 3 * time.Second

// Alone turns a member of a cluster into a gateway on its own, which continues with its copy of the store.
// The gateway must not be running. Unless force is set, Alone refuses while another gateway answers, because
// two gateways that do not know of each other would change the same objects. It returns the path to which it
// moved the cluster's files. It can be repeated after an interruption.
func Alone(ctx context.Context, o Options, force bool) (old string, err error) {
	folder, err := o.folder()
	if err != nil {
		return "", err
	}
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this gateway is not in a cluster: it is alone already")
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
			return "", fmt.Errorf("gateway %s of the cluster %s runs: stop it, or remove this gateway with "+
				"'adgateway cluster leave', and run the command with --force. Two gateways that do not know of "+
				"each other may change the same objects at the same time", name, id.Cluster)
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

// setNodeAside renames the node's folder. The node must not be running.
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
		return errors.New("this gateway has not copied the store of the cluster yet, so it has no data: run " +
			"the command on another gateway, or remove the folder " + folder.Path + " to start with an empty store")
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

// Answering returns the name of another gateway in list that accepts connections, or "" if none does.
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

// answers reports whether a gateway listens at an address, even if it rejects this gateway's certificate.
func answers(ctx context.Context, address string) bool {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = raw.Close() }()
	shown := false
	conn := tls.Client(raw, &tls.Config{
		// nothing is sent, because this only checks whether something listens
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true,
		VerifyConnection: func(tls.ConnectionState) error { shown = true; return nil },
	})
	_ = conn.HandshakeContext(ctx)
	return shown
}
