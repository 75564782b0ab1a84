package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
)

// Settings of the cluster and of the engine's node that contradict each other are
// refused where one of them is set.
func TestClusterSettingsFitTogether(t *testing.T) {
	const gateway = "cluster:\n  name: corp\n  gateway: gw1\n"
	const node = "engine:\n  node: n1\n  store: d\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"cluster:\n  site: Berlin\n", ""},
		"no gateway":           {"cluster:\n  name: corp\n  servers: nats://localhost:4222\n", "x.yaml:2: cluster.name: a gateway of a cluster has a name of its own"},
		"no servers":           {gateway, "x.yaml:2: cluster.name: the gateways of a cluster share"},
		"all":                  {gateway + "  servers: nats://127.0.0.1:4222\n", ""},
		"in clear":             {gateway + "  servers: nats://n1.corp.example:4222\n", "x.yaml:4: cluster.servers: nats://n1.corp.example:4222 is another machine"},
		"no authority":         {gateway + "  servers: tls://n1.corp.example:4222\n", "x.yaml:4: cluster.servers: tls:// needs cluster.ca"},
		"an authority":         {gateway + "  servers: tls://n1.corp.example:4222\n  ca: ca.pem\n", ""},
		"no key":               {gateway + "  servers: tls://n1:4222\n  ca: ca.pem\n  certificate: c.pem\n", "cluster.certificate needs cluster.key"},
		"a thumbprint":         {gateway + "  servers: tls://n1:4222\n  ca: ca.pem\n  certificate: 0123456789012345678901234567890123456789\n", ""},
		"a thumbprint's key":   {gateway + "  servers: tls://n1:4222\n  ca: ca.pem\n  key: k\n  certificate: 0123456789012345678901234567890123456789\n", "leave cluster.key empty"},
		"two identities":       {gateway + "  servers: nats://localhost:4222\n  nkeyFile: a\n  credsFile: b\n", "set one of them"},
		"a file twice":         {gateway + "  servers: nats://localhost:4222\n  keyFile: a\nlog:\n  file: a\n", "cluster.keyFile and log.file are the same file"},
		"a node in clear":      {node, "x.yaml:2: engine.node: :4222 can be reached by other machines"},
		"a node on loopback":   {node + "  listen: 127.0.0.1:4222\n", ""},
		"a node of three":      {"cluster:\n  name: corp\n" + node + "  peers: [n2:6222, n3:6222]\n  certificate: c\n  key: k\n  ca: a\n  gateways: gw1\n", ""},
		"a node for everybody": {"cluster:\n  name: corp\n" + node + "  peers: [n2:6222, n3:6222]\n  certificate: c\n  key: k\n  ca: a\n", "engine.gateways is empty, so that whoever has a certificate"},
		"a node of two":        {"cluster:\n  name: corp\n" + node + "  peers: [n2:6222]\n  certificate: c\n  key: k\n  ca: a\n  gateways: [gw1]\n", "x.yaml:6: engine.peers: 1 other nodes are listed"},
		"a cluster's name":     {node + "  peers: [n2:6222, n3:6222]\n  certificate: c\n  key: k\n  ca: a\n  gateways: [gw1]\n", "x.yaml:2: engine.node: \"\" is not a cluster's name"},
		"a node and a gateway": {gateway + node + "  listen: 127.0.0.1:4222\n", "cluster.servers"},
		"no folder":            {"engine:\n  node: n1\n  listen: 127.0.0.1:1\n", "x.yaml:2: engine.node: no folder is set"},
	} {
		_, err := configtest.Load("x.yaml", []byte(c.text), nil)
		if c.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, c.want, name)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"64MiB": 64 << 20, "20GiB": 20 << 30, "2TiB": 2 << 40, "1024TiB": 1 << 50} {
		s, err := configtest.Load("x.yaml", nil, []string{"engine.maxStore=" + text})
		require.NoError(t, err, text)
		assert.Equal(t, want, s.Engine.MaxStore)
		for _, row := range config.Rows() {
			if row.Key == "engine.maxStore" {
				assert.Equal(t, text, row.Value(s))
			}
		}
	}
	for _, text := range []string{"", "0", "20", "20GB", "63MiB", "0GiB", "-1GiB", "1025TiB", "9223372036854775807TiB", "1.5GiB"} {
		_, err := configtest.Load("x.yaml", nil, []string{"engine.maxStore=" + text})
		assert.ErrorContains(t, err, "it takes a size from 64MiB to 1024TiB", text)
	}
}

func TestAdviceOnClusters(t *testing.T) {
	for text, want := range map[string]string{
		"cluster:\n  site: Berlin\n": "cluster.site has no effect, because cluster.name is empty",
		"engine:\n  node: n1\n  store: d\n  certificate: c\n  key: k\n  ca: a\n": "engine.gateways is empty: whoever has a certificate",
	} {
		s, from, err := config.Sources{Name: "x.yaml", Text: []byte(text)}.Load()
		require.NoError(t, err, text)
		advice := s.Advice(from)
		require.Len(t, advice, 1, text)
		assert.Contains(t, advice[0], want)
	}
}
