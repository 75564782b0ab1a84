package commands

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAGatewayGoesOnWithoutTheEngine: with cluster.loss degraded a gateway makes changes of
// single accounts while no node runs, and sends them to the history of all when one does,
// even if it was restarted meanwhile.
func TestAGatewayGoesOnWithoutTheEngine(t *testing.T) {
	engine := enginetest.Start(t, 1)
	_, files := clusterSettings(t, engine, "gw1", "gw2")
	for _, file := range files {
		settings, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append([]byte("cluster.loss: degraded\n"), settings...), 0o600))
	}
	one, two := "--config="+files[0], "--config="+files[1]
	command(t, "cluster", "init", one)
	token := command(t, "token", "create", "helpdesk", one, "--scope", "user:read,user:write,change:read,ops:read")
	type answer struct {
		Degraded bool
		Result   []map[string]any
		Error    struct{ Code, Message string }
		status   int
		change   string
	}
	ask := func(g *runningSandbox, method, path string, header ...string) (got answer) {
		request, err := http.NewRequestWithContext(t.Context(), method, g.url+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		require.NoError(t, json.NewDecoder(response.Body).Decode(&got))
		got.status, got.change = response.StatusCode, response.Header.Get("X-Change-Id")
		return got
	}
	// changes waits until a gateway makes changes, with the store or without it.
	changes := func(g *runningSandbox, degraded bool) {
		t.Helper()
		var ready answer
		require.Eventually(t, func() bool {
			ready = ask(g, http.MethodGet, "/readyz?lane=changes")
			return ready.status == http.StatusOK && degradedStore(ready.Result) == degraded
		}, patience, 10*time.Millisecond, "%+v", &ready)
	}
	const read, change = "/api/ADUser/lweber/Details", "/api/ADUser/lweber?City="
	g := startSandbox(t, one)
	require.Eventually(t, func() bool { return ask(g, http.MethodPut, change+"Rome").status == http.StatusOK }, patience, 10*time.Millisecond)
	require.Zero(t, g.stop())

	engine.Stop(0)
	g = startSandbox(t, one)
	changes(g, true)
	require.Equal(t, http.StatusOK, ask(g, http.MethodGet, read).status)
	made := ask(g, http.MethodPut, change+"Oslo")
	require.Equal(t, http.StatusOK, made.status, "%+v", made)
	assert.True(t, made.Degraded)
	assert.NotEmpty(t, made.change)
	refused := ask(g, http.MethodPut, change+"Bern", "Idempotency-Key", "key-of-bern")
	assert.Equal(t, http.StatusServiceUnavailable, refused.status)
	assert.Equal(t, "store_lost", refused.Error.Code)
	assert.Contains(t, refused.Error.Message, "an Idempotency-Key")
	ready := ask(g, http.MethodGet, "/readyz?lane=changes")
	assert.Equal(t, http.StatusOK, ready.status)
	assert.Contains(t, ready.Result, map[string]any{"name": "store", "ok": true, "degraded": true, "reason": reasonOf(ready.Result, "store")})
	assert.Contains(t, reasonOf(ready.Result, "store"), "cluster.loss")
	require.Zero(t, g.stop())
	g = startSandbox(t, one)
	changes(g, true)

	engine.Start(0)
	other := startSandbox(t, two)
	require.Eventually(t, func() bool { return ask(other, http.MethodGet, "/api/Changes/"+made.change).status == http.StatusOK }, patience, 50*time.Millisecond)
	found := ask(other, http.MethodGet, "/api/Changes/"+made.change)
	require.Len(t, found.Result, 1)
	assert.Equal(t, true, found.Result[0]["degraded"])
	assert.Equal(t, "full", found.Result[0]["undo"])
	changes(g, false)
	again := ask(g, http.MethodPut, change+"Bern", "Idempotency-Key", "key-of-bern")
	assert.Equal(t, http.StatusOK, again.status, "%+v", again)
	assert.False(t, again.Degraded)
}

// degradedStore reports whether /readyz says that changes are made without the store.
func degradedStore(checks []map[string]any) bool {
	return slices.ContainsFunc(checks, func(check map[string]any) bool {
		return check["name"] == "store" && check["degraded"] == true
	})
}

// reasonOf returns the reason of a check of /readyz.
func reasonOf(checks []map[string]any, name string) string {
	for _, check := range checks {
		if check["name"] == name {
			reason, _ := check["reason"].(string)
			return reason
		}
	}
	return ""
}
