package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
)

// TestAGatewayIsAloneAgain: after a gateway has left its cluster, its history contains its
// changes from before, during and after its membership.
func TestAGatewayIsAloneAgain(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "adgateway.yaml")
	text := "cluster.listen: 127.0.0.1:0\nstore.file: state.db\naudit.file: audit.jsonl\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	config := "--config=" + file
	const bearer = "Bearer t"
	change := func(description string) {
		g := startSandbox(t, config, "--token", "t")
		defer g.stop()
		g.eventually("/readyz?lane=changes", bearer, http.StatusOK)
		body := strings.NewReader(`{"Description":"` + description + `"}`)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.url+"/api/ADUser/aschmidt", body)
		require.NoError(t, err)
		request.Header.Set("Auth-Token", bearer)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode, string(text))
	}
	change("alone")
	command(t, "cluster", "init", config, "--name", "corp", "--gateway", "gw1=localhost", "--gateway",
		"gw2=localhost", "--gateway", "gw3=localhost")
	change("of a cluster")
	code, _, stderr := runCommand(t, "changes", "rebuild", config)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "this gateway is of the cluster corp")
	backup := filepath.Join(t.TempDir(), "backup")
	command(t, "backup", "--to", backup, config)
	code, _, stderr = runCommand(t, "restore", "--from", backup, config)
	assert.EqualValues(t, codeFailed, code, stderr)
	assert.Contains(t, stderr, "cluster alone")
	assert.Contains(t, stderr, "a lost host is replaced with 'adgateway cluster leave'")
	restoredInCluster(t, folder, backup)
	command(t, "cluster", "alone", config)
	change("alone again")

	g := startSandbox(t, config, "--token", "t")
	defer g.stop()
	_, body := g.get("/api/Changes", bearer)
	var found struct{ Result []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &found), body)
	assert.Len(t, found.Result, 3, body)
}

// restoredInCluster restores the backup of a clustered gateway to another folder and checks
// that the cluster resumes there.
func restoredInCluster(t *testing.T, from, backup string) {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "fresh")
	config := "--config=" + filepath.Join(fresh, "adgateway.yaml")
	out := command(t, "restore", "--from", backup, config)
	assert.Contains(t, out, "all hosts of the cluster corp are lost")
	for _, name := range []string{"gateway.pem", "gateway.key", "ca.pem", "gateways.json", "cluster.key"} {
		want, err := os.ReadFile(filepath.Join(from, "cluster", name))
		require.NoError(t, err)
		path := filepath.Join(fresh, "cluster", name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Zero(t, info.Mode().Perm()&0o077, name)
		}
	}
	left, err := filepath.Glob(filepath.Join(fresh, "*restore*"))
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Contains(t, command(t, "cluster", "recover", config), "Run this with --first")
	assert.Contains(t, command(t, "cluster", "recover", "--first", config), "Start this gateway")
	g := startSandbox(t, config, "--token", "t")
	defer g.stop()
	g.eventually("/readyz?lane=changes", "Bearer t", http.StatusOK)
	_, body := g.get("/api/Changes", "Bearer t")
	assert.Contains(t, body, "of a cluster")
}

// TestAHostIsNotRestoredWhileAnotherGatewayRuns: restoring a host is refused and changes nothing while
// another gateway runs. The host must be replaced instead.
func TestAHostIsNotRestoredWhileAnotherGatewayRuns(t *testing.T) {
	folder, config := keeping(t)
	command(t, "token", "create", "portal", config, "--scope", "*")
	command(t, "cluster", "init", config, "--name", "corp", "--gateway", "gw1=localhost", "--gateway",
		"gw2=localhost", "--gateway", "gw3=localhost")
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	path := filepath.Join(folder, "cluster", "gateways.json")
	list, err := trust.LoadMembers(path)
	require.NoError(t, err)
	at := slices.IndexFunc(list.Gateways, func(m trust.Member) bool { return m.Name == "gw2" })
	list.Gateways[at].HopAddress = other.Listener.Addr().String()
	text, err := json.Marshal(list)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	backup := filepath.Join(t.TempDir(), "backup")
	command(t, "backup", "--to", backup, config)
	fresh := t.TempDir()
	code, _, stderr := runCommand(t, "restore", "--from", backup,
		"--config="+filepath.Join(fresh, "adgateway.yaml"))
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "gateway gw2 of the cluster corp runs")
	assert.Empty(t, everyFile(t, fresh))
}
