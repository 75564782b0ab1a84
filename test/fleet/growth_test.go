package fleet

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
	"adgateway/test/thorough"
)

// settings returns the settings of a host.
func (f *fleet) settings(h *host) *config.Settings {
	f.t.Helper()
	text, err := os.ReadFile(h.gateway.plan.Settings)
	require.NoError(f.t, err)
	s, err := configtest.Load(h.gateway.plan.Settings, text, nil)
	require.NoError(f.t, err)
	return s
}

// options returns the options that the commands use to set up the gateway of a host.
func (f *fleet) options(h *host) setup.Options {
	f.t.Helper()
	return setup.Options{Settings: f.settings(h), Kinds: app.LastingKinds()}
}

// named returns the hosts in the form that the commands use.
func (f *fleet) named() (all []setup.Host) {
	f.t.Helper()
	for _, h := range f.hosts {
		_, port, err := net.SplitHostPort(f.settings(h).Engine.Cluster)
		require.NoError(f.t, err)
		all = append(all, setup.Host{Name: h.name, Address: net.JoinHostPort("127.0.0.1", port)})
	}
	return all
}

// TestASingleGatewayGrows: a single gateway with a history, keys, tokens, a plan and a running job grows into
// a cluster, and all gateways know this data. The gateway is killed at each step. Only a thorough run kills
// it at the steps that follow the creation of the log.
func TestASingleGatewayGrows(t *testing.T) {
	t.Parallel()
	items := 16 // at four items a second
	if thorough.All() {
		items = 40
	}
	f := newDomain(t, append(quick, "jobs.rate: 4")...)
	f.makeUsers()
	accounts := f.useAccounts()
	first := f.hosts[0]
	first.gateway.start()
	f.ready(first)
	p := f.live(first, items)

	first.gateway.stop()
	o := f.options(first)
	o.Accounts = accounts
	made, err := setup.Init(t.Context(), o, cluster, f.named())
	require.NoError(t, err)
	require.Len(t, made.Invitations, size-1)
	for range 2 { // the log has no origin yet
		first.gateway.start()
		f.ready(first)
		f.known(first, p)
		first.gateway.kill()
	}
	first.gateway.start()
	f.ready(first)
	for i, invitation := range made.Invitations {
		_, _, err := setup.Join(t.Context(), f.options(f.hosts[i+1]), invitation, false)
		require.NoError(t, err, f.hosts[i+1].name)
	}
	again := f.options(f.hosts[1])
	again.Settings.Store.File = filepath.Join(t.TempDir(), "state.db") // the store of another host
	var refused *trust.Refusal
	_, _, err = setup.Join(t.Context(), again, made.Invitations[0], false)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, trust.Used, refused.Reason)

	// Most of the nodes serve. The node of the first host, which creates the log, does not serve.
	for _, h := range f.hosts[1:] {
		h.node.start()
		h.gateway.start()
	}
	begun := func() bool {
		_, begun, err := first.trust().Origin()
		return err == nil && begun
	}
	await(t, "the log has no origin", begun)
	first.gateway.kill()
	first.gateway.start()
	first.gateway.kill()
	first.node.start()
	first.gateway.start()
	f.whole()
	for _, h := range f.hosts {
		f.known(h, p)
	}
	if thorough.All() {
		leader := f.awaitLeader()
		leader.gateway.kill()
		leader.gateway.start()
		first.gateway.kill()
		first.node.kill()
		first.node.start()
		first.gateway.start()
		f.whole()
		for _, h := range f.hosts {
			f.known(h, p)
		}
	}
	f.fulfill(f.hosts[size-1], p)
}
