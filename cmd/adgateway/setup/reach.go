package setup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// reached is a running cluster.
type reached struct {
	self     trust.Member
	register *trust.Register
}

// reach calls do with the cluster of the settings. One of the cluster's gateways must be running and lead.
func reach(ctx context.Context, o Options, do func(reached) error) (err error) {
	folder, err := o.folder()
	if err != nil {
		return err
	}
	id, err := folder.Identity()
	if err != nil {
		return err
	}
	list, err := folder.List()
	if err != nil {
		return err
	}
	w, err := o.wrapper(folder)
	if err != nil {
		return err
	}
	client, err := relay.NewClient(ctx, relay.ClientOptions{
		Gateways: inOrder(list.Members(), id.Gateway),
		TLS:      func(gateway string) *tls.Config { return id.Client(list.Members, gateway) },
	})
	if err != nil {
		return fmt.Errorf("no leading gateway of the cluster %s answers: start the gateways, and run the "+
			"command again: %w", id.Cluster, err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ring, err := keyring.Open(ctx, client, w, store.Newest)
	if err != nil {
		return err
	}
	self, _ := list.Members().Find(id.Gateway)
	return do(reached{self, trust.NewRegister(ring.Sealed(), client.Now)})
}

// inOrder returns the addresses of the gateways in a list, starting with first.
func inOrder(list trust.Members, first string) (all []relay.Gateway) {
	for _, g := range list.Gateways {
		if !g.HasJoined() || g.HopAddress == "" {
			continue
		}
		at := len(all)
		if g.Name == first {
			at = 0
		}
		all = slices.Insert(all, at, relay.Gateway{Name: g.Name, Address: g.HopAddress})
	}
	return all
}

// Invite invites a gateway to the running cluster of the settings.
func Invite(ctx context.Context, o Options, h Host) (i trust.Invitation, err error) {
	err = reach(ctx, o, func(c reached) error {
		if i, err = c.register.Invite(ctx, h.Name); err != nil {
			return err
		}
		i.Address, i.Host = c.self.HopAddress, h.Address
		return nil
	})
	return i, err
}

// Leave removes a gateway from the member list of the running cluster. An empty name means
// the gateway of the settings. It returns the name of the gateway and the list without it.
func Leave(ctx context.Context, o Options, gateway string) (name string, list trust.Members, err error) {
	err = reach(ctx, o, func(c reached) error {
		if name = gateway; name == "" {
			name = c.self.Name
		}
		before, err := c.register.Members(ctx)
		if err != nil {
			return err
		}
		if _, there := before.Find(name); !there {
			return fmt.Errorf("the cluster %s has no gateway %s", before.Cluster, name)
		}
		if err := c.register.Remove(ctx, name); err != nil {
			return err
		}
		list, err = c.register.Members(ctx)
		if name == c.self.Name && err != nil {
			list, err = before, nil // this gateway can no longer read the list
		}
		return err
	})
	return name, list, err
}
