package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAGatewayThatMustNotJoin: each is refused at its start, with the reason and what to do.
func TestAGatewayThatMustNotJoin(t *testing.T) {
	engine := enginetest.Start(t, 1)
	folder, files := clusterSettings(t, engine, "gw1", "gw2")
	refused := func(what, file string) {
		t.Helper()
		code, _, stderr := runCommand(t, "sandbox", "--listen=127.0.0.1:0", "--config="+file)
		assert.EqualValues(t, codeFailed, code)
		assert.Contains(t, stderr, what)
	}
	changed := func(replace ...string) string {
		t.Helper()
		text, err := os.ReadFile(files[1])
		require.NoError(t, err)
		path := filepath.Join(folder, "gw2", "changed.yaml")
		require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o600))
		return path
	}
	refused("adgateway cluster init", files[0]) // there is no store
	command(t, "cluster", "init", "--config="+files[0])
	startSandbox(t, "--config="+files[0])
	refused("another gateway has the name 'gw1'", changed("gateway: gw2", "gateway: gw1"))
	refused("cluster.keyFile", changed("cluster.key", "another.key"))

	foreign := &server.Options{}
	require.NoError(t, foreign.ProcessConfigString(stock.Configuration(stock.Options{
		Node: "n1", Listen: "127.0.0.1:-1", Store: filepath.Join(t.TempDir(), "store"), MaxStore: 1 << 30,
	})))
	foreign.NoSigs, foreign.NoLog, foreign.SyncAlways, foreign.SyncInterval = true, true, false, time.Minute
	node, err := server.NewServer(foreign)
	require.NoError(t, err)
	node.Start()
	t.Cleanup(func() { node.Shutdown(); node.WaitForShutdown() })
	require.True(t, node.ReadyForConnections(patience))
	refused("sync_interval", changed(engine.URLs()[0], node.ClientURL()))
}
