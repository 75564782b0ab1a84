package app

import (
	"context"
	"fmt"

	"adgateway/gateway/auditmirror"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keyring"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
	"adgateway/ps/servers"
)

// choice returns the record of the servers that the gateways of the cluster have agreed to use, or nil if
// this gateway is in no cluster.
func (s *kept) choice(log func(string, map[string]any)) servers.Shared {
	if s.cluster().Member() == nil {
		return nil
	}
	s.choices = choice.New(choice.Options{Store: s.store, Log: log})
	return s.choices
}

// withCluster opens the store of the cluster for a command, through a running gateway.
func withCluster(ctx context.Context, o Options, do func(*store.Sealed) error) error {
	return withRunning(ctx, o, func(ring *keyring.Ring) error { return do(ring.Sealed()) })
}

// RotateKey adds a version to the key of the cluster's store. It waits until all live gateways have received
// the version and use it. It calls lacking with the names of the gateways that have not received it yet.
func RotateKey(ctx context.Context, o Options, lacking func([]string)) (number uint32, err error) {
	err = withRunning(ctx, o, func(ring *keyring.Ring) (err error) {
		if number, err = ring.Rotate(ctx); err != nil {
			return err
		}
		return ring.Await(ctx, number, nil, lacking)
	})
	return number, err
}

// VerifyCluster compares the audit logs of the gateways of a cluster with each other.
func VerifyCluster(
	ctx context.Context, o Options, chains []auditmirror.Chain, key []byte,
) (found *auditmirror.Result, err error) {
	err = withCluster(ctx, o, func(db *store.Sealed) error {
		found, err = auditmirror.Verify(ctx, db, chains, key)
		return err
	})
	return found, err
}

// ReadCredentials returns the tokens and users that the gateways of a cluster share.
func ReadCredentials(ctx context.Context, o Options) (found *authn.Document, err error) {
	err = withCluster(ctx, o, func(db *store.Sealed) error {
		found, err = credentials.Read(ctx, db)
		return err
	})
	return found, err
}

// EditCredentials changes the tokens and users that the gateways of a cluster share.
func EditCredentials(ctx context.Context, o Options, change func(*authn.Document) error) error {
	return withCluster(ctx, o, func(db *store.Sealed) error { return credentials.Edit(ctx, db, change) })
}

// MoveCredentials adds tokens and users to those that the gateways of a cluster share.
func MoveCredentials(ctx context.Context, o Options, from *authn.Document) (moved int, err error) {
	err = withCluster(ctx, o, func(db *store.Sealed) error {
		moved, err = credentials.Move(ctx, db, from)
		return err
	})
	return moved, err
}

// MoveChoice makes the gateways of the cluster use another server of a lane.
func MoveChoice(ctx context.Context, o Options, lane, server string) error {
	if lane != string(ps.Directory) && lane != string(ps.DNS) {
		return fmt.Errorf("--lane: %q is neither %s nor %s", lane, ps.Directory, ps.DNS)
	}
	if _, problem := schema.NewTarget.Decode(server); problem != nil {
		return fmt.Errorf("--server: %q %s", server, problem.Message)
	}
	return withCluster(ctx, o, func(db *store.Sealed) error {
		return choice.Move(ctx, db, ps.Lane(lane), server)
	})
}
