package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
	"adgateway/gateway/config/configtest"
)

// TestClusterSettingsFitTogether: contradictory cluster settings are refused with the place where one of them
// is set.
func TestClusterSettingsFitTogether(t *testing.T) {
	const gateway = "cluster:\n  listen: :7443\n"
	for name, c := range map[string]struct{ text, want string }{
		"all":            {gateway + "  servers: nats://127.0.0.1:4222\n", ""},
		"in clear":       {gateway + "  servers: nats://n1.corp.example:4222\n", "x.yaml:3: cluster.servers: nats://n1.corp.example:4222 is another computer"},
		"no authority":   {gateway + "  servers: tls://n1.corp.example:4222\n", "x.yaml:3: cluster.servers: tls:// needs cluster.ca"},
		"an authority":   {gateway + "  servers: tls://n1.corp.example:4222\n  ca: ca.pem\n", ""},
		"two identities": {gateway + "  servers: nats://localhost:4222\n  nkeyFile: a\n  credsFile: b\n", "set only one of them"},
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
	for text, want := range map[string]int64{"64MiB": 64 << 20, "20GiB": 20 << 30, "2TiB": 2 << 40,
		"1024TiB": 1 << 50} {
		s, err := configtest.Load("x.yaml", nil, []string{"engine.maxStore=" + text})
		require.NoError(t, err, text)
		assert.Equal(t, want, s.Engine.MaxStore)
		for _, row := range config.Rows() {
			if row.Key == "engine.maxStore" {
				assert.Equal(t, text, row.Value(s))
			}
		}
	}
	for _, text := range []string{"", "0", "20", "20GB", "63MiB", "0GiB", "-1GiB", "1025TiB",
		"9223372036854775807TiB", "1.5GiB"} {
		_, err := configtest.Load("x.yaml", nil, []string{"engine.maxStore=" + text})
		assert.ErrorContains(t, err, "it takes a size from 64MiB to 1024TiB", text)
	}
}

// TestSettingsOfAnEarlierVersion: each source may still contain settings of an earlier version, which cause a
// message about their replacement. The migration reads the former cluster from them.
func TestSettingsOfAnEarlierVersion(t *testing.T) {
	src := config.Sources{
		Name: "x.yaml", Text: []byte(
			"cluster:\n  name: corp\n  site: Berlin\n  keyFile: ring.key\n  loss: ~\nauth:\n  shared: true\n" +
				"engine:\n  node: n1\n  peers: [n2:6222]\n  ca: ca.pem\n"),
		Environment: []string{"ADGATEWAY_CLUSTER_GATEWAY=gw1"},
		Flags: []string{"cluster.certificate=c.pem", "cluster.clockWarn=", "cluster.name=lab",
			"engine.gateways=[gw1]"},
	}
	s, from, err := src.Load()
	require.NoError(t, err)
	assert.Equal(t, config.Former{
		Name: "lab", Gateway: "gw1", KeyFile: "ring.key", Certificate: "c.pem", Shared: true,
		Keys: []string{"cluster.name", "cluster.site", "cluster.keyFile", "cluster.loss", "auth.shared",
			"engine.node", "engine.peers", "engine.ca",
			"cluster.gateway", "cluster.certificate", "cluster.clockWarn", "engine.gateways"},
	}, s.Former)
	assert.Equal(t, config.FromFile, from["cluster.keyFile"])
	advice := s.Advice(from)
	require.Len(t, advice, len(s.Former.Keys))
	for _, key := range s.Former.Keys {
		assert.Contains(t, strings.Join(advice, "\n"), key+" is a setting of an earlier version: ")
	}
	for _, row := range config.Rows() {
		assert.NotContains(t, s.Former.Keys, row.Key)
	}
	assert.Empty(t, config.Default().Former)
}

func TestAFaultInASettingOfAnEarlierVersion(t *testing.T) {
	_, _, err := config.Sources{
		Name: "x.yaml", Text: []byte("cluster:\n  name: [corp]\n"), Flags: []string{"cluster.gateway=[gw1]"},
		Environment: []string{"ADGATEWAY_CLUSTER_KEY_FILE={a: b}"},
	}.Load()
	for _, want := range []string{"x.yaml:2: cluster.name: takes a string",
		"--set cluster.gateway: takes a string",
		"environment: ADGATEWAY_CLUSTER_KEY_FILE: takes a string"} {
		assert.ErrorContains(t, err, want)
	}
}
