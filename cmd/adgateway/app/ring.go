package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"adgateway/gateway"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// clusterKey returns the wrapper of the cluster's key ring: the file in its folder, or a group of
// the domain.
func clusterKey(o Options) (keyring.Wrapper, error) {
	group := o.Settings.Cluster.KeyGroup
	w, err := keyring.OfCluster(group, o.Folder.SecretFile(), o.KeyGroup)
	switch {
	case err != nil && group == "":
		return nil, fmt.Errorf("the key of the cluster: %w: %s", err, keyring.Copy)
	case err != nil:
		return nil, err
	}
	return w, nil
}

// ringChecks returns the readiness checks of a cluster's key ring and of its key file. A gateway whose ring
// is open can still work without the file.
func (s *kept) ringChecks() []gateway.Check {
	j := s.cluster()
	if j == nil {
		return nil
	}
	check := gateway.Check{Name: "keyRing", OK: true}
	var wrong []string
	if err := s.keyFile(); err != nil {
		wrong = append(wrong, "the gateway runs on, but does not start again: "+err.Error())
	}
	if warning := j.Ring().Warning(); warning != "" {
		wrong = append(wrong, warning)
	}
	check.Degraded, check.Reason = len(wrong) > 0, strings.Join(wrong, "; ")
	return []gateway.Check{check}
}

// checkKeyFile returns an error if the cluster has a key file that does not open the ring.
func checkKeyFile(ctx context.Context, o Options, ring *keyring.Ring) error {
	if o.Settings.Cluster.KeyGroup != "" {
		return nil
	}
	w, err := clusterKey(o)
	if err != nil {
		return err
	}
	return ring.Opens(ctx, w)
}

// singleRing opens the key ring in the store of a gateway that is alone
// because it left its cluster, or because the creation of one was interrupted.
func singleRing(ctx context.Context, o Options, file *store.File) (*keyring.Ring, error) {
	var ways []func() (keyring.Wrapper, error)
	_, err := os.Stat(o.Folder.SecretFile())
	if o.Settings.Cluster.KeyGroup != "" || o.Folder.Path != "" && err == nil {
		ways = append(ways, func() (keyring.Wrapper, error) { return clusterKey(o) })
	}
	ways = append(ways, func() (keyring.Wrapper, error) { return keyring.StoreKey(o.Settings.Store.KeyFile()) })
	var faults []error
	for _, way := range ways {
		w, err := way()
		var ring *keyring.Ring
		if err == nil {
			ring, err = keyring.Open(ctx, file, w, cmp.Or(o.Format, store.Newest))
		}
		if err == nil {
			return ring, nil
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("%s: %w", storeKey, errors.Join(faults...))
}
