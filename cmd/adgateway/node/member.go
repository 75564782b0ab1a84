package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/engine"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/every"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/store"
)

// member is a gateway of a cluster whose host has a node.
type member struct {
	folder trust.Folder
	id     *trust.Identity
	list   *trust.List
}

// readMember returns the gateway of the settings, or nil if it has not joined a cluster.
func readMember(s *config.Settings) (*member, error) {
	if len(s.Cluster.Servers) > 0 {
		return nil, nil
	}
	folder, id, err := program.Joined(s)
	if err != nil || id == nil {
		return nil, err
	}
	m := &member{folder: folder, id: id}
	if m.list, err = folder.List(); err != nil {
		return nil, err
	}
	if !m.list.Members().HasNode(m.id.Gateway) {
		return nil, fmt.Errorf("the host of gateway %s has no node: the nodes of the cluster %s are on the "+
			"hosts of %v, and this gateway needs no node of its own",
			m.id.Gateway, m.id.Cluster, m.list.Members().Nodes)
	}
	return m, nil
}

// permitted returns the gateways that may connect to the node.
func permitted(list trust.Members) (all []stock.Member) {
	for _, g := range list.Gateways {
		all = append(all, stock.Member{Gateway: g.Name, User: trust.DNSName(list.Cluster, g.Name)})
	}
	return all
}

// options returns the options of the node. s are the settings that readNode returned.
func (m *member) options(s *config.Settings) engine.Options {
	e, list := s.Engine, m.list.Members()
	o := stock.Options{
		Node: m.id.Gateway, Cluster: m.id.Cluster, Listen: e.Listen, ClusterListen: e.Cluster,
		Peers: list.Routes(m.id.Gateway), Store: e.Store, MaxStore: e.MaxStore, Monitor: e.Monitor,
		Members: permitted(list),
	}
	o.Certificate, o.Key, o.CA = m.folder.Certificate()
	return engine.Options{Options: o, TLS: m.id.Server(m.list.Members)}
}

// attend makes a node follow the cluster's member list until ctx ends, and creates the log of a new cluster,
// limited to space bytes. ended is closed when attend has ended.
func (m *member) attend(
	ctx context.Context, node *engine.Node, log logrus.FieldLogger, most int64,
) (ended <-chan struct{}) {
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		changed := func(list trust.Members) {
			err := node.SetMembers(permitted(list), list.Routes(m.id.Gateway))
			if err != nil {
				log.WithError(err).Error("the list of the cluster has changed, and the node does not follow it; " +
					"restart it")
				return
			}
			log.WithField("gateways", list.Joined()).Info("the node lets other gateways connect")
		}
		m.list.FollowFile(ctx, changed, func(err error) { log.Error(err) })
	})
	all.Go(func() { m.makeLog(ctx, node, log, most) })
	all.Go(func() {
		every.Do(ctx, expelEvery, func() {
			if err := node.Expel(); err != nil {
				log.WithError(err).Error("a node that has left may still be connected")
			}
		})
	})
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// expelEvery is the interval at which connected nodes are checked against the list.
const expelEvery = time.Second

// originEvery is the interval at which the node checks whether the gateway has recorded where the log begins.
const originEvery = time.Second

// awaitOrigin waits until the gateway of this host has recorded where the log begins, if
// that gateway created the cluster. It returns false when ctx has ended.
func (m *member) awaitOrigin(ctx context.Context, log logrus.FieldLogger) (store.Hash, bool) {
	for said := false; ctx.Err() == nil; {
		origin, begun, err := m.folder.Origin()
		if begun {
			return origin, true
		}
		if err != nil && !said {
			log.Error(err)
			said = true
		}
		select {
		case <-time.After(originEvery):
		case <-ctx.Done():
		}
	}
	return store.Hash{}, false
}

// makeLog creates the log as soon as the nodes allow it, but only on the host where the cluster was created.
func (m *member) makeLog(ctx context.Context, node *engine.Node, log logrus.FieldLogger, most int64) {
	origin, begun := m.awaitOrigin(ctx, log)
	if !begun {
		return
	}
	replicas := 1
	if len(m.list.Members().Nodes) > 1 {
		replicas = 3
	}
	s := jetstream.Settings{Replicas: replicas, MaxBytes: most, Origin: origin}
	for ctx.Err() == nil {
		err := node.Ready(ctx)
		if err == nil {
			err = jetstream.Create(ctx, jetstream.Options{Cluster: m.id.Cluster, Connect: node.Administrator}, s)
		}
		switch {
		case err == nil:
			log.WithField("replicas", replicas).Info("the log of the cluster is there")
			return
		case ctx.Err() != nil:
			return
		case errors.Is(err, jetstream.ErrExists):
			log.WithError(err).Warn("the log of the cluster was made anew since the cluster was; it stays")
			return
		}
		log.WithError(err).Error("the log of the cluster cannot be made; it is tried again")
		select {
		case <-time.After(progressEvery):
		case <-ctx.Done():
		}
	}
}
