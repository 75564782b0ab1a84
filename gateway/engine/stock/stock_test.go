package stock_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/stock"
)

func good() stock.Options {
	return stock.Options{Node: "n1", Cluster: "corp", Listen: ":4222", ClusterListen: ":6222",
		Peers: []string{"n2:6222", "n3:6222"},
		Store: "d", MaxStore: 1, Certificate: "c", Key: "k", CA: "a",
		Members: []stock.Member{{Gateway: "gw1", User: "gw1.corp.example"},
			{Gateway: "gw2", User: "U" + strings.Repeat("A", 55)}}}
}

func TestFaults(t *testing.T) {
	assert.NoError(t, good().Check())
	for name, c := range map[string]struct {
		change func(*stock.Options)
		key    string
	}{
		"no name":             {func(o *stock.Options) { o.Node = "" }, "node"},
		"a name in capitals":  {func(o *stock.Options) { o.Node = "N1" }, "node"},
		"no folder":           {func(o *stock.Options) { o.Store = "" }, "engine.store"},
		"a line in a path":    {func(o *stock.Options) { o.Store = "a\nb" }, "engine.store"},
		"no room":             {func(o *stock.Options) { o.MaxStore = 0 }, "engine.maxStore"},
		"no address":          {func(o *stock.Options) { o.Listen = "" }, "engine.listen"},
		"no port":             {func(o *stock.Options) { o.Listen = "localhost" }, "engine.listen"},
		"a port too high":     {func(o *stock.Options) { o.Listen = "localhost:65536" }, "engine.listen"},
		"a quote in a host":   {func(o *stock.Options) { o.Listen = `a":1` }, "engine.listen"},
		"no cluster address":  {func(o *stock.Options) { o.ClusterListen = "" }, "engine.cluster"},
		"a page for everyone": {func(o *stock.Options) { o.Monitor = ":8222" }, "engine.monitor"},
		"too many peers":      {func(o *stock.Options) { o.Peers = []string{"b:1", "c:1", "d:1", "e:1", "f:1"} }, "peers"},
		"a peer twice":        {func(o *stock.Options) { o.Peers[1] = o.Peers[0] }, "peers"},
		"a peer without port": {func(o *stock.Options) { o.Peers[1] = "n3" }, "peers"},
		"no cluster":          {func(o *stock.Options) { o.Cluster = "" }, "cluster"},
		"no authority":        {func(o *stock.Options) { o.CA = "" }, "certificate"},
		"no key":              {func(o *stock.Options) { o.Key = "" }, "certificate"},
		"a key too many":      {func(o *stock.Options) { o.Certificate = strings.Repeat("a1", 20) }, "key"},
		"no gateway":          {func(o *stock.Options) { o.Members = nil }, "gateways"},
		"no gateway's name":   {func(o *stock.Options) { o.Members = []stock.Member{{Gateway: "GW1", User: "gw1"}} }, "gateways"},
		"no user's name":      {func(o *stock.Options) { o.Members = []stock.Member{{Gateway: "gw1", User: "gw 1"}} }, "gateways"},
	} {
		o := good()
		c.change(&o)
		faults := o.Faults()
		if assert.Len(t, faults, 1, name) {
			assert.Equal(t, c.key, faults[0].Key, name)
			assert.NotEmpty(t, faults[0].Text)
		}
		assert.ErrorContains(t, o.Check(), c.key+": ", name)
	}
}

// TestANodeThatIsAloneMayHaveNoList: a node without peers needs no list, because it stores no shared data
// that must be protected from other clients.
func TestANodeThatIsAloneMayHaveNoList(t *testing.T) {
	o := good()
	o.Peers, o.Members = nil, nil
	require.NoError(t, o.Check())
	o.Cluster, o.Members = "", []stock.Member{{Gateway: "gw1"}}
	require.ErrorContains(t, o.Check(), "cluster: ")
}

func TestWithoutACertificate(t *testing.T) {
	o := good()
	o.Certificate, o.Key, o.CA, o.Members = "", "", "", nil
	var keys []string
	for _, f := range o.Faults() {
		keys = append(keys, f.Key)
	}
	assert.Equal(t, []string{"engine.listen", "engine.cluster"}, keys, "not beyond this machine")
	o.Listen, o.ClusterListen = "[::1]:4222", "localhost:6222"
	require.NoError(t, o.Check())
	o.Members = []stock.Member{{Gateway: "gw1"}}
	require.ErrorContains(t, o.Check(), "gateways")
	o.Members, o.Key = nil, "k"
	require.ErrorContains(t, o.Check(), "key: ")
	o.Key, o.CA = "", "a"
	require.ErrorContains(t, o.Check(), "ca: ")
}

// TestTheManualHasTheAccount: the manual shows the account that external NATS servers need.
func TestTheManualHasTheAccount(t *testing.T) {
	manual, err := os.ReadFile("../../manual/cluster-nats.md")
	require.NoError(t, err)
	assert.Contains(t, string(manual), stock.OwnAccount("corp", []stock.Member{{Gateway: "gw1"}}))
}
