package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adgateway/gateway/cluster/migrate"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Migration is the input of [Migrate].
type Migration struct {
	From     string            // path of a mirror; empty means this gateway's mirror
	Journals []migrate.Journal // journals of the other gateways, in addition to this gateway's own
	Hosts    []Host            // of all gateways, this one first
}

// Migrated is the result of a migration. Made is nil if an earlier run created it. Log is nil if the
// cluster's own nodes create the log, or if it exists already.
type Migrated struct {
	migrate.Result
	Made *Made
	Log  *OwnLog
}

// Migrate creates a cluster from the store that gateways of an earlier version shared. The settings belong
// to one of these gateways, and none of the gateways may run. It can be repeated after an interruption.
func Migrate(ctx context.Context, o Options, m Migration) (*Migrated, error) {
	folder, err := o.folder()
	if err != nil {
		return nil, err
	}
	self, others, err := members(o, m.Hosts, ofOthers(o.Settings))
	if err != nil {
		return nil, err
	}
	s := o.Settings
	if self.Name != s.Former.Gateway {
		return nil, fmt.Errorf("this gateway is %s (cluster.gateway), and %s is named first: name this gateway "+
			"first, and use the earlier name of each gateway", s.Former.Gateway, self.Name)
	}
	n := o.own(s.Former.Name, self.Name, append(names(others), self.Name)...)
	_, begun, err := folder.Origin()
	if err == nil && ofOthers(s) && !begun {
		err = n.vacant(ctx)
	}
	if err != nil {
		return nil, err
	}
	w, err := o.oldWrapper()
	if err != nil {
		return nil, err
	}
	keyFile := s.Former.KeyFile
	if s.Cluster.KeyGroup != "" {
		keyFile = ""
	}
	done := &Migrated{}
	done.Result, err = migrate.Run(ctx, migrate.Options{
		Cluster: s.Former.Name, Gateway: self.Name,
		Mirror: cmp.Or(m.From, ownFile(s, "mirror")), Store: s.Store.File, Folder: folder,
		Wrapper: w, KeyFile: keyFile,
		Journals: append([]migrate.Journal{{File: ownFile(s, "journal"), Key: s.Store.KeyFile()}}, m.Journals...),
		Life:     s.Changes.Keep, Most: int64(s.Changes.MaxSize) << 20, Now: time.Now,
		Create: func(ctx context.Context, db *store.Sealed, folder trust.Folder) (err error) {
			if !s.Former.Shared {
				if err := o.takeAccounts(ctx, db); err != nil {
					return err
				}
			}
			register := trust.NewRegister(db, db.Now)
			done.Made, err = found(ctx, register, folder, s.Former.Name, self, others)
			return err
		},
	})
	if err == nil && ofOthers(s) {
		done.Log, err = o.beginLater(ctx, n, folder)
	}
	return done, err
}

// ofOthers reports whether the log is in an external NATS.
func ofOthers(s *config.Settings) bool {
	return s.Cluster.CredsFile != "" || s.Cluster.NKeyFile != "" && s.Former.Certificate == ""
}

// ownFile returns the path of a file in which a gateway of an earlier version stored its own
// part of the cluster.
func ownFile(s *config.Settings, name string) string {
	return filepath.Join(filepath.Dir(s.Store.File), "cluster-"+s.Former.Name+"-"+s.Former.Gateway+"."+name)
}

// oldWrapper returns the wrapper of the key ring of a cluster of an earlier version.
func (o Options) oldWrapper() (keyring.Wrapper, error) {
	if o.Settings.Cluster.KeyGroup != "" {
		return o.wrapper(trust.Folder{})
	}
	w, err := keyring.KeyFile(o.Settings.Former.KeyFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", filefault.Explain("cluster.keyFile", err), keyring.Copy)
	}
	return w, filefault.Explain("cluster.keyFile", err)
}
