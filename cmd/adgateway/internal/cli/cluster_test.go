package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAGatewayIsAloneAgain: what it has changed before it was of a cluster, in it and after it is
// all in its history.
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
	command(t, "cluster", "init", config, "--name", "corp", "--gateway", "gw1=localhost", "--gateway", "gw2=localhost", "--gateway", "gw3=localhost")
	change("of a cluster")
	code, _, stderr := runCommand(t, "changes", "rebuild", config)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "this gateway is of the cluster corp")
	backup := filepath.Join(t.TempDir(), "backup")
	command(t, "backup", "--to", backup, config)
	code, _, stderr = runCommand(t, "restore", "--from", backup, config)
	assert.EqualValues(t, codeFailed, code, stderr)
	assert.Contains(t, stderr, "cluster alone")
	command(t, "cluster", "alone", config)
	change("alone again")

	g := startSandbox(t, config, "--token", "t")
	defer g.stop()
	_, body := g.get("/api/Changes", bearer)
	var found struct{ Result []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &found), body)
	assert.Len(t, found.Result, 3, body)
}
