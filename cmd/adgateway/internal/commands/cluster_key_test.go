package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keyring"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALostKeyFile: a gateway whose key file is gone, or is not that of the cluster, says so
// while it runs, and does not start; no command makes another key in its place. With a copy
// of the file all is as before.
func TestALostKeyFile(t *testing.T) {
	const bearer = "key-file-admin"
	folder, files := clusterSettings(t, enginetest.Start(t, 1), "gw1")
	config, path := "--config="+files[0], filepath.Join(folder, "cluster.key")
	command(t, "cluster", "init", config)
	assert.NotContains(t, command(t, "cluster", "init", config), "Its key is new", "what is there stays")
	backup, err := os.ReadFile(path)
	require.NoError(t, err)
	other := filepath.Join(folder, "other.key")
	require.NoError(t, keyring.CreateKeyFile(other))
	alien, err := os.ReadFile(other)
	require.NoError(t, err)

	const says = "copy it from another gateway of the cluster, or from the backup"
	for name, lose := range map[string]func() error{
		"gone":             func() error { return os.Remove(path) },
		"of another":       func() error { return os.WriteFile(path, alien, 0o600) },
		"not a key at all": func() error { return os.WriteFile(path, []byte("x\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			g := startSandbox(t, config, "--token", bearer)
			ready := func() string {
				_, body := g.get("/readyz", "Bearer "+bearer)
				_, line, _ := strings.Cut(body, `"name":"keyRing"`)
				line, _, _ = strings.Cut(line, "}")
				return line
			}
			require.Contains(t, ready(), `"ok":true`)
			require.NotContains(t, ready(), "degraded")
			require.NoError(t, lose())
			assert.Contains(t, ready(), `"degraded":true`)
			assert.Contains(t, ready(), says)
			lost, _ := os.ReadFile(path) // nil: it is gone
			for _, args := range [][]string{{"cluster", "init", config}, {"cluster", "status", config}, {"cluster", "rotate-key", config}} {
				code, _, stderr := runCommand(t, args...)
				assert.EqualValues(t, codeFailed, code, args)
				assert.Contains(t, stderr, says, args)
				found, _ := os.ReadFile(path)
				assert.Equal(t, lost, found, "%v: it makes no other key", args)
			}
			g.stop()
			code, _, stderr := runCommand(t, "sandbox", config, "--listen", "127.0.0.1:0")
			assert.EqualValues(t, codeFailed, code)
			assert.Contains(t, stderr, says)

			require.NoError(t, os.WriteFile(path, backup, 0o600))
			g = startSandbox(t, config, "--token", bearer)
			assert.NotContains(t, ready(), "degraded")
			g.stop()
		})
	}
}
