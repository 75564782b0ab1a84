package peer

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/every"
	"adgateway/gateway/journal"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Members returns the member list of the cluster as known to the gateway.
func (g *Gateway) Members() trust.Members { return g.list.Members() }

// File returns the copy of the store. It changes when the copy is replaced.
func (g *Gateway) File() *store.File {
	if r := g.replica.Load(); r != nil {
		return r.File()
	}
	return g.first
}

// Clock returns the log time clock.
func (g *Gateway) Clock() *store.Clock { return g.clock }

// Ring returns the key ring of the store.
func (g *Gateway) Ring() *keyring.Ring { return g.ring }

// Store returns the copy of the store. It can only be changed while the gateway leads.
func (g *Gateway) Store() *store.Sealed { return g.ring.Sealed() }

// Relay returns the store for values that every gateway may change.
func (g *Gateway) Relay() *store.Sealed {
	if g.relay == nil {
		return g.Store()
	}
	return g.relay
}

// Member returns the member of the cluster. It returns nil if the log has not begun, in which case the
// gateway makes all changes itself. It is safe on a nil Gateway.
func (g *Gateway) Member() *cluster.Member {
	if g == nil {
		return nil
	}
	if r := g.replica.Load(); r != nil {
		return r.Member()
	}
	return nil
}

// Log returns the status of the log, which is zero if the log has not begun.
func (g *Gateway) Log() (s journal.Status) {
	if r := g.replica.Load(); r != nil {
		s = r.Log()
	}
	return s
}

// Refused returns the number of messages between gateways that were refused.
func (g *Gateway) Refused() uint64 {
	if g.peers == nil {
		return 0
	}
	return g.peers.Refused()
}

// Hop returns the options for forwarding calls to the leader, or nil if the log has not begun.
func (g *Gateway) Hop() *hop.Options {
	m := g.Member()
	if m == nil {
		return nil
	}
	return &hop.Options{Gateway: g.self.Gateway, Leader: hop.Of(m, g.self.Gateway), TLS: g.client,
		Waiting: g.o.Waiting}
}

// Run takes part in the cluster until ctx ends. It may only be called once.
func (g *Gateway) Run(ctx context.Context, attempts cluster.Attempts) {
	r := g.replica.Load()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		g.list.FollowStore(ctx, trust.NewRegister(g.Store(), g.clock.Now), func(list trust.Members) {
			if r != nil {
				r.Member().SetGateways(list.Joined())
			}
		}, func(err error) { g.o.Note("the list of the gateways cannot be followed", err) })
	})
	if r == nil {
		return
	}
	all.Go(func() { g.ring.Follow(ctx, g.o.Note) })
	r.Run(ctx, attempts)
}

// RunKeys does the leader's work for the keys of the store, until its term ends. A version becomes current
// when all live gateways have it. Values of the given kinds are then sealed again with that version.
func (g *Gateway) RunKeys(ctx context.Context, kinds []store.Kind) {
	g.ring.Run(ctx, keyring.RunOptions{
		Gateway: g.self.Gateway, Kinds: kinds, Problem: g.o.Note,
		Live: func() (all []keyring.Gateway) {
			for _, other := range g.Member().Status().Gateways {
				if other.Alive {
					all = append(all, keyring.Gateway{Name: other.Name, Version: other.Beat.Key})
				}
			}
			return all
		},
	})
}

// fileEvery is the interval at which AnswerCopies checks whether the copy of the store was
// replaced.
const fileEvery = time.Second

// AnswerCopies makes the copies of the store that backups request, from the current file, until ctx ends. It
// calls problem with each error.
func (g *Gateway) AnswerCopies(ctx context.Context, problem func(error)) {
	for ctx.Err() == nil {
		file := g.File()
		of, end := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			every.Do(of, fileEvery, func() {
				if g.File() != file {
					end()
				}
			})
		})
		file.AnswerCopies(of, problem)
		end()
		watching.Wait()
	}
}

// A gateway that stops waits until another gateway leads, then until the others know the new leader and have
// closed their connections, and finally for the calls that it is still answering.
const (
	handOverFor = 5 * time.Second
	drainFor    = 500 * time.Millisecond
	answerFor   = 2 * time.Second
)

// HandOver lets another gateway lead if this one leads and another one can. It then gives the others a moment
// to send their calls to the new leader.
func (g *Gateway) HandOver(ctx context.Context) {
	m := g.Member()
	if m == nil || m.Status().Role != cluster.Leader {
		return
	}
	handing, cancel := context.WithTimeout(ctx, handOverFor)
	defer cancel()
	switch err := m.HandOver(handing); {
	case errors.Is(err, cluster.ErrNoSuccessor):
		return
	case err != nil:
		g.o.Note("no other gateway has taken over", err)
	}
	if g.server != nil {
		draining, cancel := context.WithTimeout(ctx, drainFor)
		defer cancel()
		g.server.Drain(draining)
	}
}

// Close closes everything. It must be called after Run has returned. Calls that other gateways have sent to
// this gateway are still answered if they end soon.
func (g *Gateway) Close() (err error) {
	if g.server != nil {
		answering, cancel := context.WithTimeout(context.Background(), answerFor)
		defer cancel()
		if g.server.Shutdown(answering) != nil {
			err = g.server.Close()
		}
	}
	g.stop()
	g.running.Wait()
	if g.relay != nil {
		err = errors.Join(err, g.relay.Close())
	}
	if g.peers != nil {
		g.peers.Close()
	}
	if g.stream != nil {
		g.stream.Close()
	}
	if file := g.File(); file != nil {
		err = errors.Join(err, file.Close())
	}
	return err
}
