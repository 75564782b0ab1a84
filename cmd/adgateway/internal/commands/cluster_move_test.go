package commands

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAHistoryMovesIntoACluster: what a gateway has changed as long as it was alone is known
// in the cluster that it joins, and what was changed there is known when it is alone again.
func TestAHistoryMovesIntoACluster(t *testing.T) {
	engine := enginetest.Start(t, 1)
	folder, files := clusterSettings(t, engine, "gw1")
	shared := "--config=" + files[0]
	settings, err := os.ReadFile(files[0])
	require.NoError(t, err)
	own := filepath.Join(folder, "gw1", "alone.yaml")
	text := regexp.MustCompile(`(?m)^cluster:\n(  .*\n)+`).ReplaceAll(settings, nil)
	require.NoError(t, os.WriteFile(own, regexp.MustCompile(`  shared: true\n`).ReplaceAll(text, nil), 0o600))
	alone := "--config=" + own
	token := command(t, "token", "create", "helpdesk", alone, "--scope", "user:read,user:write,change:read")

	change := func(g *runningSandbox, city string) (id string) {
		require.Eventually(t, func() bool {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.url+"/api/ADUser/lweber?City="+city, nil)
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			id = answer.Header.Get("X-Change-Id")
			return answer.StatusCode == http.StatusOK
		}, patience, 10*time.Millisecond)
		return id
	}
	knows := func(g *runningSandbox, id string) bool {
		status, _ := g.get("/api/Changes/"+id, "Bearer "+token)
		return status == http.StatusOK
	}
	g := startSandbox(t, alone)
	first := change(g, "Rome")
	require.Zero(t, g.stop())

	command(t, "cluster", "init", shared)
	command(t, "token", "move", "--to", "cluster", shared)
	code, _, stderr := runCommand(t, "changes", "move", "--to", "elsewhere", shared)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "--to takes cluster or embedded")
	assert.Contains(t, command(t, "changes", "move", "--to", "cluster", shared), "changes added: 1, there already: 0")
	assert.Contains(t, command(t, "changes", "move", "--to", "cluster", shared), "changes added: 0, there already: 1")
	g = startSandbox(t, shared)
	second := change(g, "Oslo")
	assert.True(t, knows(g, first))
	code, _, stderr = runCommand(t, "cluster", "leave", shared)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "the gateway lives: 'gw1'")
	require.Zero(t, g.stop())

	assert.Contains(t, command(t, "changes", "move", "--to", "embedded", shared), "changes added: 1, there already: 1")
	assert.Contains(t, command(t, "cluster", "leave", shared), "gw1 is no gateway of the cluster any more")
	assert.NotContains(t, command(t, "cluster", "status", shared), "gw1")
	g = startSandbox(t, alone)
	assert.Eventually(t, func() bool { return knows(g, first) && knows(g, second) }, patience, 10*time.Millisecond)
}
