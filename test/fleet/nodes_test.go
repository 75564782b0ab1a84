package fleet

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal/jetstream"
)

// TestTheNodesMakeTheLog: before any gateway runs, the nodes of the hosts in the cluster create the log. Each
// gateway finds the log at its node.
func TestTheNodesMakeTheLog(t *testing.T) {
	t.Parallel()
	f := newHosts(t)
	for _, h := range f.hosts {
		h.node.start()
	}
	origin, made, err := f.hosts[0].trust().Origin()
	require.NoError(t, err)
	require.True(t, made)
	for _, h := range f.hosts {
		identity, err := h.trust().Identity()
		require.NoError(t, err)
		list, err := trust.LoadMembers(h.trust().MembersFile())
		require.NoError(t, err)
		members := func() trust.Members { return list }
		connect := func(options ...nats.Option) (*nats.Conn, error) {
			options = append(options, nats.Secure(identity.Client(members, h.name)),
				nats.CustomInboxPrefix(stock.InboxPrefix(cluster, h.name)))
			return nats.Connect("tls://"+h.clients, options...)
		}
		await(t, h.name+" finds no log", func() bool {
			s, err := jetstream.Open(t.Context(), jetstream.Options{Cluster: cluster, Connect: connect})
			if err != nil {
				return false
			}
			defer s.Close()
			assert.Equal(t, origin, s.Identity().Origin)
			return true
		})
	}
}
