package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/auditmirror"
	"adgateway/gateway/auth"
	"adgateway/gateway/credentials"
	"adgateway/gateway/filefault"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
	"adgateway/gateway/keyring"
	"adgateway/gateway/members"
)

// wrapper returns what protects the key ring: a file, or a group of the domain.
func wrapper(o Options) (keyring.Wrapper, error) {
	c := o.Settings.Cluster
	if c.KeyGroup != "" {
		if o.KeyGroup == nil {
			return nil, errors.New("cluster.keyGroup: this program cannot use groups of a domain here: set cluster.keyFile instead")
		}
		w, err := o.KeyGroup(c.KeyGroup)
		if err != nil {
			return nil, fmt.Errorf("cluster.keyGroup: %w", err)
		}
		return w, nil
	}
	w, err := keyring.KeyFile(c.KeyFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s; that of a new cluster is made by 'adgateway cluster init'", filefault.Explain("cluster.keyFile", err), keyring.Copy)
	}
	return w, filefault.Explain("cluster.keyFile", err)
}

// openRing reads the key ring of the shared store, and lets it write what all gateways read.
func openRing(ctx context.Context, o Options, shared keep.Store) (*keyring.Ring, error) {
	w, err := wrapper(o)
	if err != nil {
		return nil, err
	}
	ring, err := keyring.Open(ctx, shared, w, cmp.Or(o.Format, keep.Newest))
	if err == nil {
		err = members.Agree(ctx, ring.Sealed())
	}
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", o.Settings.Cluster.Name, err)
	}
	return ring, nil
}

// withRing opens the shared store for a command, beside a gateway that may run.
func withRing(ctx context.Context, o Options, do func(*keyring.Ring) error) error {
	if o.Identity != nil {
		return withRunning(ctx, o, do)
	}
	return withShared(ctx, o, func(shared *natsstore.Store) error {
		ring, err := openRing(ctx, o, shared)
		if err != nil {
			return err
		}
		return do(ring)
	})
}

// ringCheck is the readiness check of the key ring, and of the key file while the gateway
// can still do without it.
func (s *kept) ringCheck() gateway.Check {
	check := gateway.Check{Name: "keyRing", OK: true}
	var wrong []string
	if err := s.keyFile(); err != nil {
		wrong = append(wrong, "the gateway runs on, but does not start again: "+err.Error())
	}
	if warning := s.ring.Warning(); warning != "" {
		wrong = append(wrong, warning)
	}
	check.Degraded, check.Reason = len(wrong) > 0, strings.Join(wrong, "; ")
	return check
}

// checkKeyFile returns why the key file of the settings, if there is one, does not open a ring.
func checkKeyFile(ctx context.Context, o Options, ring *keyring.Ring) error {
	if o.Settings.Cluster.KeyGroup != "" {
		return nil
	}
	w, err := wrapper(o)
	if err != nil {
		return err
	}
	return ring.Opens(ctx, w)
}

// RotateKey adds a version to the key of the shared store. It waits until the gateways that
// live have it and it is used, unless none of them runs, and tells which lack it.
func RotateKey(ctx context.Context, o Options, lacking func([]string)) (number uint32, current bool, err error) {
	err = withRing(ctx, o, func(ring *keyring.Ring) (err error) {
		if number, err = ring.Rotate(ctx); err != nil {
			return err
		}
		if o.Identity != nil {
			current = true
			return ring.Await(ctx, number, nil, lacking)
		}
		if found, err := running(ctx, ring.Sealed()); err != nil || len(found) == 0 {
			return err
		}
		current = true
		live := func(ctx context.Context) ([]keyring.Gateway, error) {
			found, err := running(ctx, ring.Sealed())
			return keysOf(found), err
		}
		return ring.Await(ctx, number, live, lacking)
	})
	return number, current, err
}

// silent is how old the heartbeat of a gateway is that does not run, by the clocks of two hosts.
const silent = time.Minute

// running returns the gateways that seem to run.
func running(ctx context.Context, store *keep.Sealed) ([]members.Member, error) {
	all, left, err := members.Read(ctx, store)
	return slices.DeleteFunc(all, func(m members.Member) bool { return left[m.Name] || time.Since(m.Clock) > silent }), err
}

// VerifyCluster holds the audit logs of the gateways of a cluster against each other.
func VerifyCluster(ctx context.Context, o Options, chains []auditmirror.Chain, key []byte) (found *auditmirror.Result, err error) {
	err = withCluster(ctx, o, func(store *keep.Sealed) error {
		found, err = auditmirror.Verify(ctx, store, chains, key)
		return err
	})
	return found, err
}

// ReadCredentials returns the tokens and users that the gateways share.
func ReadCredentials(ctx context.Context, o Options) (found *auth.Document, err error) {
	err = withCluster(ctx, o, func(store *keep.Sealed) error {
		found, err = credentials.Read(ctx, store)
		return err
	})
	return found, err
}

// EditCredentials changes the tokens and users that the gateways share.
func EditCredentials(ctx context.Context, o Options, change func(*auth.Document) error) error {
	return withCluster(ctx, o, func(store *keep.Sealed) error { return credentials.Edit(ctx, store, change) })
}

// MoveCredentials adds tokens and users to those that the gateways share.
func MoveCredentials(ctx context.Context, o Options, from *auth.Document) (moved int, err error) {
	err = withCluster(ctx, o, func(store *keep.Sealed) error {
		moved, err = credentials.Move(ctx, store, from)
		return err
	})
	return moved, err
}

func clusterMember(m *members.Member, left bool) gateway.ClusterMember {
	one := gateway.ClusterMember{Name: m.Name, Site: m.Site, State: "lives", Version: m.Version, Started: m.Started.UTC(), Heartbeat: m.Clock.UTC(), Unreached: []string{}}
	switch {
	case left:
		one.State = "stopped"
	case time.Since(m.Clock) > members.Lapse:
		one.State = "silent"
	}
	for lane, reached := range m.Reach {
		if !reached {
			one.Unreached = append(one.Unreached, lane)
		}
	}
	slices.Sort(one.Unreached)
	return one
}
