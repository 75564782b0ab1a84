package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/cluster/peer"
	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/jobs"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// join opens the cluster's store for a gateway that is a member.
func (s *kept) join(ctx context.Context, o Options) error {
	wrapper, err := clusterKey(o)
	if err != nil {
		return err
	}
	c := o.Settings.Cluster
	s.joined, err = peer.Open(ctx, peer.Options{
		Erase:  jobs.SecretKinds,
		Folder: o.Folder, Identity: o.Identity, File: o.Settings.Store.File, Listen: c.Listen,
		Wrapper: wrapper, Format: cmp.Or(o.Format, store.Newest), Waiting: o.Settings.Pool.MaxQueue,
		Nodes:       peer.Nodes{Servers: c.Servers, CA: c.CA, NKeyFile: c.NKeyFile, CredsFile: c.CredsFile},
		SettleDelay: c.SettleDelay, Clock: o.Clock, Lanes: s.lanes,
		Note: func(message string, err error) {
			if err == nil {
				o.Log.Info("cluster: " + message)
			} else {
				o.Log.WithError(err).Warn("cluster: " + message)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("cluster %s: %w", o.Identity.Cluster, err)
	}
	s.lasts, s.clock, s.store = true, s.joined.Clock(), s.joined.Store()
	s.keyFile = func() error { return checkKeyFile(context.WithoutCancel(ctx), o, s.joined.Ring()) }
	return nil
}

// lanes returns the lanes whose servers this gateway reaches.
func (s *kept) lanes() []string {
	if s.choices == nil {
		return nil
	}
	return s.choices.Lanes()
}

// GatewayName returns the name of the gateway in its cluster, or "" if it is in none.
func GatewayName(o Options) string {
	if o.Identity != nil {
		return o.Identity.Gateway
	}
	return ""
}

// withRunning opens the store of the cluster through a running gateway.
func withRunning(ctx context.Context, o Options, do func(*keyring.Ring) error) error {
	if o.Identity == nil {
		return errors.New("this gateway is in no cluster")
	}
	w, err := clusterKey(o)
	if err != nil {
		return err
	}
	list, err := o.Folder.List()
	if err != nil {
		return err
	}
	client, err := relay.NewClient(ctx, relay.ClientOptions{
		Gateways: reached(list.Members(), o.Identity.Gateway),
		TLS:      func(gateway string) *tls.Config { return o.Identity.Client(list.Members, gateway) },
	})
	if err != nil {
		return fmt.Errorf("cluster %s: no gateway that leads can be reached: %w; start most of the gateways, "+
			"and run this on a host whose gateway has joined", o.Identity.Cluster, err)
	}
	ring, err := keyring.Open(ctx, client, w, cmp.Or(o.Format, store.Newest))
	if err != nil {
		return errors.Join(fmt.Errorf("cluster %s: %w", o.Identity.Cluster, err), client.Close())
	}
	return errors.Join(do(ring), client.Close())
}

// reached returns the addresses of the gateways that have joined the cluster, with this host's first.
func reached(list trust.Members, self string) (all []relay.Gateway) {
	for _, m := range list.Gateways {
		if m.HopAddress == "" || !m.HasJoined() {
			continue
		}
		at := len(all)
		if m.Name == self {
			at = 0
		}
		all = slices.Insert(all, at, relay.Gateway{Name: m.Name, Address: m.HopAddress})
	}
	return all
}

// clusterName returns the name of the gateway's cluster, or "" if it is in none.
func clusterName(o Options) string {
	if o.Identity == nil {
		return ""
	}
	return o.Identity.Cluster
}

// stateFor is the time limit for a gateway to report the state of its cluster.
const stateFor = 5 * time.Second

// ReadCluster returns the state of the cluster as one of its gateways knows it. It asks the gateway of this
// host if that gateway is running, and otherwise another one.
func ReadCluster(ctx context.Context, o Options) (state standing.State, err error) {
	list, err := o.Folder.List()
	if err != nil {
		return state, err
	}
	var failures []error
	for _, g := range reached(list.Members(), o.Identity.Gateway) {
		if state, err = askState(ctx, g.Address, o.Identity.Client(list.Members, g.Name)); err == nil {
			return state, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", g.Name, err))
	}
	return state, fmt.Errorf("no gateway of the cluster %s answers: start this one by 'adgateway service "+
		"start': %w",
		o.Identity.Cluster, errors.Join(failures...))
}

// Asked is the answer of one of a cluster's gateways. Err is the reason if it did not answer.
type Asked struct {
	Name  string
	State standing.State
	Err   error
}

// AskCluster asks all gateways of the cluster for its state. It also returns the addresses of the nodes, with
// this host's first.
func AskCluster(ctx context.Context, o Options) (all []Asked, nodes []string, err error) {
	list, err := o.Folder.List()
	if err != nil {
		return nil, nil, err
	}
	for _, g := range reached(list.Members(), o.Identity.Gateway) {
		asked := Asked{Name: g.Name}
		asked.State, asked.Err = askState(ctx, g.Address, o.Identity.Client(list.Members, g.Name))
		all = append(all, asked)
	}
	servers := o.Settings.Cluster.Servers
	if len(servers) == 0 {
		servers = list.Members().Servers(o.Identity.Gateway)
	}
	for _, server := range servers {
		_, address, _ := strings.Cut(server, "://")
		nodes = append(nodes, address)
	}
	return all, nodes, nil
}

func askState(ctx context.Context, address string, settings *tls.Config) (state standing.State, err error) {
	ctx, cancel := context.WithTimeout(ctx, stateFor)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+peer.StatePath, nil)
	if err != nil {
		return state, err
	}
	transport := &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return state, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return state, errors.New("it answers " + response.Status)
	}
	return state, json.NewDecoder(response.Body).Decode(&state)
}
