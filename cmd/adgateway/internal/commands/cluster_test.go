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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGatewaysOfACluster runs two gateways over one engine: they have the same tokens and
// refuse a revoked one, use a new version of the key, and are evidence for each other.
func TestGatewaysOfACluster(t *testing.T) {
	engine := enginetest.Start(t, 1)
	folder := t.TempDir()
	settings := func(name string) string {
		own := filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(own, 0o700))
		path := filepath.Join(own, "adgateway.yaml")
		text := fmt.Sprintf("cluster:\n  name: test\n  gateway: %s\n  servers: [%q]\n  keyFile: %q\nstore:\n  file: %q\naudit:\n  file: %q\n  witness: 1s\nauth:\n  store: %q\n  shared: true\n",
			name, engine.URLs()[0], filepath.Join(folder, "cluster.key"), filepath.Join(own, "state.db"), filepath.Join(own, "audit.jsonl"), filepath.Join(own, "credentials.json"))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	files := []string{settings("gw1"), settings("gw2")}
	one, two := "--config="+files[0], "--config="+files[1]
	command(t, "cluster", "init", one)

	old := filepath.Join(folder, "old.json")
	moved := command(t, "token", "create", "moved", "--store="+old, "--scope", "user:read")
	assert.Contains(t, command(t, "token", "move", "--to", "cluster", one, "--store="+old), "moved: 1 of 1")
	command(t, "token", "create", "clashing", one, "--scope", "user:read")
	command(t, "token", "create", "clashing", "--store="+old, "--scope", "user:read")
	code, _, stderr := runCommand(t, "token", "move", "--to", "cluster", one, "--store="+old)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, `token "clashing": there is another token of this name`)

	var gateways []*runningSandbox
	for _, config := range []string{one, two} {
		gateways = append(gateways, startSandbox(t, config))
	}
	status := func(g *runningSandbox) int {
		status, _ := g.get("/api/ADUser/Administrator/Details", "Bearer "+moved)
		return status
	}
	for _, g := range gateways {
		require.Eventually(t, func() bool { return status(g) == http.StatusOK }, patience, 10*time.Millisecond)
	}
	assert.Contains(t, command(t, "cluster", "rotate-key", two), "Version 2 is used by all gateways that run.")
	assert.Contains(t, command(t, "cluster", "status", one), "Key: version 2")
	assert.Contains(t, command(t, "token", "list", two), "moved")
	command(t, "token", "revoke", "moved", two)
	for _, g := range gateways {
		require.Eventually(t, func() bool { return status(g) == http.StatusUnauthorized }, patience, 10*time.Millisecond)
	}

	// gw2 records the end of gw1's log that has the revoked call.
	audits := []string{filepath.Join(folder, "gw1", "audit.jsonl"), filepath.Join(folder, "gw2", "audit.jsonl")}
	lines := func(path string) []string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return strings.SplitAfter(string(text), "\n")
	}
	end := len(lines(audits[0])) - 1
	require.Eventually(t, func() bool {
		for _, line := range lines(audits[1]) {
			var seq int
			if _, after, found := strings.Cut(line, `"witness":{"gateway":"gw1","seq":`); found {
				if _, err := fmt.Sscanf(after, "%d", &seq); err == nil && seq >= end {
					return true
				}
			}
		}
		return false
	}, patience, 10*time.Millisecond)
	assert.Contains(t, command(t, "cluster", "verify", one), "OK: the logs agree with each other")

	for _, g := range gateways {
		g.stop()
	}
	kept := lines(audits[0])[:1]
	require.NoError(t, os.WriteFile(audits[0], []byte(strings.Join(kept, "")), 0o600))
	code, out, _ := runCommand(t, "cluster", "verify", one)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, out, "FAULT gw1 "+audits[0]+":1: lines 2 to ")
	assert.Contains(t, out, "gw2 (line ")
	assert.Contains(t, out, "witness: the shared store")
	code, out, _ = runCommand(t, "cluster", "verify", "--no-store", "gw1="+audits[0], "gw2="+audits[1])
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, out, "gw2 ("+audits[1]+":")
}
