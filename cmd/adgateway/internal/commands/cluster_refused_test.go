package commands

import (
	"fmt"
	"net/http"
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

// TestAGatewayStartsWithoutTheEngine: a gateway that has a mirror answers reads while no node
// of the engine runs, and joins when one does; one without a mirror does not start.
func TestAGatewayStartsWithoutTheEngine(t *testing.T) {
	engine := enginetest.Start(t, 1)
	_, files := clusterSettings(t, engine, "gw1", "gw2")
	one, two := "--config="+files[0], "--config="+files[1]
	settings, err := os.ReadFile(files[0])
	require.NoError(t, err)
	secret := filepath.Join(t.TempDir(), "chat.secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_c3Rvcnktc2VjcmV0LW9mLXRoZS1yZWNlaXZlcg==\n"), 0o600))
	require.NoError(t, os.WriteFile(files[0], append(settings, fmt.Appendf(nil, "events:\n  webhooks:\n    - {name: chat, url: 'http://127.0.0.1:1', secretFile: %q}\n", secret)...), 0o600))
	command(t, "cluster", "init", one)
	token := command(t, "token", "create", "helpdesk", one, "--scope", "user:read,user:write")
	g := startSandbox(t, one)
	status := func(method, path string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, g.url+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	const read, change = "/api/ADUser/lweber/Details", "/api/ADUser/lweber?City=Rome"
	require.Eventually(t, func() bool { return status(http.MethodPut, change) == http.StatusOK }, patience, 10*time.Millisecond)
	require.Zero(t, g.stop())

	engine.Stop(0)
	code, _, stderr := runCommand(t, "sandbox", "--listen=127.0.0.1:0", two)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "engine")
	away := doctorOnCluster(t, one)
	assert.Equal(t, "failure unreachable", away["engine"])
	assert.Contains(t, away["cluster"], "skipped")
	g = startSandbox(t, one)
	require.Eventually(t, func() bool { return status(http.MethodGet, read) == http.StatusOK }, patience, 10*time.Millisecond)
	assert.Equal(t, http.StatusServiceUnavailable, status(http.MethodPut, change))
	assert.Equal(t, http.StatusServiceUnavailable, status(http.MethodGet, "/readyz?lane=changes"))
	assert.Equal(t, http.StatusOK, status(http.MethodGet, "/readyz?lane=directory"))

	engine.Start(0)
	require.Eventually(t, func() bool { return status(http.MethodPut, change) == http.StatusOK }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return status(http.MethodGet, "/readyz?lane=changes") == http.StatusOK }, patience, 10*time.Millisecond)
	assert.Regexp(t, `(?m)^gw1 .* lives$`, command(t, "cluster", "status", one))
}
