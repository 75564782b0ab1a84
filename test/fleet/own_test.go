package fleet

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
)

// TestANATSOfTheUsersOwn: the customer's NATS server stores the log of three gateways. Its users have the
// printed permissions and no others. A follower forwards a change, all gateways know the change, and another
// gateway takes over.
func TestANATSOfTheUsersOwn(t *testing.T) {
	f := newDomain(t, quick...)
	f.makeUsers()
	var names []string
	for _, h := range f.hosts {
		names = append(names, h.name)
	}
	n := enginetest.Keys(t, cluster, names...)
	n.Start(t, "", stock.CreateSubject(cluster))
	for _, h := range f.hosts {
		file, err := os.OpenFile(h.gateway.plan.Settings, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = fmt.Fprintf(file, "cluster.servers: [%q]\ncluster.nkeyFile: %q\n", n.URL, n.Seed(h.name))
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	first := f.hosts[0]
	o := f.options(first)
	o.Settings.Engine.MaxStore = 512 << 20
	made, err := setup.Init(t.Context(), o, cluster, f.named())
	require.NoError(t, err)
	require.Empty(t, made.Log.Command)
	first.gateway.start()
	f.ready(first)
	for i, invitation := range made.Invitations {
		_, _, err := setup.Join(t.Context(), f.options(f.hosts[i+1]), invitation, false)
		require.NoError(t, err)
		f.hosts[i+1].gateway.start()
	}
	f.whole()
	for _, h := range f.hosts {
		require.NotContains(t, h.gateway.log.String(), "ermissions", "nothing is denied")
	}
	leader := f.awaitLeader()
	for i, h := range f.hosts {
		body := fmt.Sprintf(`{"City":"of %s"}`, h.name)
		a := f.must(h, http.MethodPut, fmt.Sprintf("/api/ADUser/shared%02d", i), body, "fleet-key-"+h.name, nil)
		id := a.header.Get("X-Change-Id")
		require.NotEmpty(t, id)
		for _, other := range f.hosts {
			f.must(other, http.MethodGet, "/api/Changes/"+id, "", "", nil)
		}
	}
	leader.gateway.kill()
	f.awaitOther(leader)
}
