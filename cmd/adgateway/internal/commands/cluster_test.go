package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clusterSettings returns a folder with the settings of gateways of a cluster, each in one of
// its own, and their files.
func clusterSettings(t *testing.T, engine *enginetest.Cluster, gateways ...string) (folder string, files []string) {
	folder = t.TempDir()
	for _, name := range gateways {
		own := filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(own, 0o700))
		path := filepath.Join(own, "adgateway.yaml")
		text := fmt.Sprintf("cluster:\n  name: test\n  gateway: %s\n  servers: [%q]\n  keyFile: %q\nstore:\n  file: %q\naudit:\n  file: %q\n  witness: 1s\nauth:\n  store: %q\n  shared: true\njobs:\n  secrets: sealed\n",
			name, engine.URLs()[0], filepath.Join(folder, "cluster.key"), filepath.Join(own, "state.db"), filepath.Join(own, "audit.jsonl"), filepath.Join(own, "credentials.json"))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		files = append(files, path)
	}
	return folder, files
}

// TestGatewaysOfACluster runs two gateways over one engine: they have the same tokens and
// refuse a revoked one, use a new version of the key, and are evidence for each other.
func TestGatewaysOfACluster(t *testing.T) {
	folder, files := clusterSettings(t, enginetest.Start(t, 1), "gw1", "gw2")
	one, two := "--config="+files[0], "--config="+files[1]
	command(t, "cluster", "init", one)

	old := filepath.Join(folder, "old.json")
	moved := command(t, "token", "create", "moved", "--store="+old, "--scope", "user:read,ops:read")
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
		g.eventually("/readyz?lane=changes", "Bearer "+moved, http.StatusOK)
	}
	assert.Contains(t, command(t, "cluster", "rotate-key", two), "Version 2 is used by all gateways that run.")
	shown := command(t, "cluster", "status", one)
	assert.Contains(t, shown, "Key: version 2")
	assert.Regexp(t, `(?m)^gw1 .* lives$[^$]*^gw2 .* lives$`, shown)
	assert.Regexp(t, `(?m)^n1 +current +0 +leads$[^$]*^Store: \d+\.\d MiB .* messages$`, shown)
	assert.Equal(t, map[string]string{"engine": "ok nodes: n1", "cluster": "ok 2 gateways live"}, doctorOnCluster(t, one))
	assert.Regexp(t, `(?m)^n1: \d+ messages as most have them$[^$]*^OK: all nodes have the same$`, command(t, "cluster", "verify-nodes", one))
	usesOneServer(t, one, gateways, moved)
	assert.Contains(t, command(t, "token", "list", two), "moved")
	command(t, "token", "revoke", "moved", two)
	for _, g := range gateways {
		require.Eventually(t, func() bool { return status(g) == http.StatusUnauthorized }, patience, 10*time.Millisecond)
	}

	// gw2 records the end of gw1's log.
	audits := []string{filepath.Join(folder, "gw1", "audit.jsonl"), filepath.Join(folder, "gw2", "audit.jsonl")}
	lines := func(path string) []string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return strings.SplitAfter(string(text), "\n")
	}
	require.Eventually(t, func() bool { return len(lines(audits[0])) > 2 }, patience, 10*time.Millisecond)
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
	assert.Regexp(t, "FAULT gw1 "+regexp.QuoteMeta(audits[0])+`:1: (line 2 is|lines 2 to \d+ are) missing at the end`, out)
	assert.Contains(t, out, "gw2 (line ")
	assert.Contains(t, out, "witness: the shared store")
	code, out, _ = runCommand(t, "cluster", "verify", "--no-store", "gw1="+audits[0], "gw2="+audits[1])
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, out, "gw2 ("+audits[1]+":")
}

// doctorOnCluster returns what the doctor finds of the engine, and of the other gateways.
func doctorOnCluster(t *testing.T, config string) map[string]string {
	_, stdout, stderr := runCommand(t, "doctor", "--sandbox", "--json", config)
	var report struct {
		Results []struct {
			Check, Status, Found string
			Problems             []struct{ Fault string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), stderr)
	found := map[string]string{}
	for _, r := range report.Results {
		if r.Check == "engine" || r.Check == "cluster" {
			found[r.Check] = r.Status + " " + r.Found
			for _, p := range r.Problems {
				found[r.Check] += p.Fault
			}
		}
	}
	return found
}

// usesOneServer checks that the gateways use one domain controller, and another one when an
// administrator says so.
func usesOneServer(t *testing.T, config string, gateways []*runningSandbox, token string) {
	var shown struct {
		Result []struct {
			Members []struct{ Name, State string }
			Pins    []struct{ Lane, Server, Reason string }
			Nodes   []struct{ Name, State string }
			Stream  struct{ Messages int }
		}
	}
	server := func(g *runningSandbox) (servers []string) {
		_, body := g.get("/api/Cluster", "Bearer "+token)
		require.NoError(t, json.Unmarshal([]byte(body), &shown), body)
		require.Len(t, shown.Result, 1, body)
		assert.Len(t, shown.Result[0].Members, 2, body)
		require.Len(t, shown.Result[0].Nodes, 1, body)
		assert.Equal(t, "current", shown.Result[0].Nodes[0].State, body)
		assert.NotZero(t, shown.Result[0].Stream.Messages, body)
		for _, pin := range shown.Result[0].Pins {
			if pin.Lane == "directory" {
				servers = append(servers, pin.Server)
			}
		}
		return servers
	}
	assert.Equal(t, []string{"dc1.corp.example"}, server(gateways[0]))
	code, _, stderr := runCommand(t, "cluster", "pin", "--server", "dc 2", config)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, `--server: "dc 2" must be a DNS host name`)
	code, _, stderr = runCommand(t, "cluster", "pin", "--server", "dc2.corp.example", "--site", "Rome", config)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "no pinned server")
	assert.Contains(t, command(t, "cluster", "pin", "--server", "dc2.corp.example", config), "use dc2.corp.example")
	for _, g := range gateways {
		require.Eventually(t, func() bool { return slices.Contains(server(g), "dc2.corp.example") }, patience, 10*time.Millisecond)
	}
	assert.Regexp(t, `directory  dc2\.corp\.example .* an administrator has chosen it`, command(t, "cluster", "status", config))
}
