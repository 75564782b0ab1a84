package engine_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine"
	"adgateway/test/freeport"
)

// TestANodeThatConnectsByItself: a node that connects by itself is disconnected when its gateway is
// removed from the list, although the other node has never reached it.
func TestANodeThatConnectsByItself(t *testing.T) {
	c := newTrusted(t)
	ports := freeport.Addresses(t, 6)
	nobody := ports[5]
	node := func(i int, listen, monitor string, peers ...string) *engine.Node {
		o := alone(t)
		o.Cluster, o.ClusterListen, o.Monitor, o.Peers = "test", listen, monitor, peers
		o.Node = c.ids[i].Gateway
		c.node(&o, i)
		n, err := start(t, o)
		require.NoError(t, err)
		return n
	}
	first := node(0, ports[0], ports[1], nobody)
	node(1, ports[2], ports[3], ports[0])
	routes := func() int {
		response, err := http.Get("http://" + ports[1] + "/routez")
		require.NoError(t, err)
		defer response.Body.Close()
		var page struct {
			Number int `json:"num_routes"`
		}
		require.NoError(t, json.NewDecoder(response.Body).Decode(&page))
		return page.Number
	}
	await := func(is func() bool) { t.Helper(); require.Eventually(t, is, limit, 10*time.Millisecond) }
	await(func() bool { return routes() > 0 })
	require.NoError(t, first.SetMembers(c.members(), []string{nobody}))
	require.Positive(t, routes(), "it is on the list")
	require.NoError(t, c.register.Remove(t.Context(), "gw2"))
	require.NoError(t, first.SetMembers(c.members(), []string{nobody}))
	await(func() bool { return routes() == 0 })
	require.Error(t, first.SetMembers(c.members(), nil), "it was one of several")
}
