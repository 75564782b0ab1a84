package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"

	"adgateway/gateway/cluster/copies"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/trust"
)

// listen opens the listener for the other gateways, which [Gateway.Serve] serves.
func (g *Gateway) listen(ctx context.Context) (err error) {
	if g.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", g.o.Listen); err != nil {
		return fmt.Errorf("cluster.listen: other gateways could not reach this one at %s: %w", g.o.Listen, err)
	}
	return nil
}

// StatePath is the path at which a gateway shows the state of its cluster.
const StatePath = "/cluster/state"

// Serve serves the other gateways until [Gateway.Close]. It sends copies of the store, makes their changes,
// and admits gateways that join. state serves this gateway's view of the cluster, and calls the calls that
// clients sent to the other gateways. It may only be called once.
func (g *Gateway) Serve(calls, state http.Handler) error {
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	leader := g.leader()
	server, err := hop.NewServer(&hop.Receiver{
		Gateway: g.self.Gateway, Leader: leader, Next: calls,
		Peer: func(s tls.ConnectionState) (string, bool) {
			name, err := trust.Listed(s, g.Members())
			return name, err == nil
		},
		Beside: map[string]http.Handler{
			copies.Path: &copies.Handler{File: g.File},
			StatePath:   state,
			relay.Path:  &relay.Handler{File: g.File, Leader: leader, Leads: g.leads},
		},
	}, g.o.Identity.AllowJoins(g.o.Identity.Server(g.Members)))
	if err != nil {
		return err
	}
	server.ErrorLog = log.New(noted{g.o.Note}, "", 0)
	secret, err := g.o.Folder.Secret()
	if err != nil {
		return err
	}
	admission := trust.Admission{Register: trust.NewRegister(g.Relay(), g.clock.Now), Secret: secret}
	admission.Admit(ctx, server.Server, func(gateway string, err error) {
		if err != nil {
			g.o.Note("a gateway could not join the cluster", err)
			return
		}
		g.o.Note("gateway "+gateway+" has joined the cluster", nil)
	})
	g.server = server
	g.running.Go(func() {
		if err := server.ServeTLS(g.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			g.o.Note("other gateways cannot reach this one any more", err)
		}
	})
	return nil
}

// leader returns the information that this gateway has about the leader.
func (g *Gateway) leader() hop.Leader {
	if m := g.Member(); m != nil {
		return hop.Of(m, g.self.Gateway)
	}
	return nobody{}
}

// leads reports whether this gateway is certain to lead or works alone.
func (g *Gateway) leads() bool {
	m := g.Member()
	if m == nil {
		return g.alone
	}
	_, ok := m.Leads()
	return ok
}

// nobody is the leader in a cluster whose log has not begun, because its first gateway is alone.
type nobody struct{}

func (nobody) Leader() (string, string, uint64, bool) { return "", "", 0, false }
func (nobody) Changed() <-chan struct{}               { return nil }

// noted passes errors of the listener's server on to the administrator.
type noted struct{ note func(string, error) }

func (n noted) Write(p []byte) (int, error) {
	n.note("a connection of another gateway failed", errors.New(string(p)))
	return len(p), nil
}
