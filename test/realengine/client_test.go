package realengine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/test/modulecases"
	"adgateway/test/systemtest"
)

// clientCases runs all cases of the client module on a real PowerShell, including those that no other engine
// can run. It uses the module unchanged, with its real transport.
func clientCases(t *testing.T, path string) {
	files, err := clients.Module(ops.Table(), "1.2.3", "https://gw.corp.example/manual")
	require.NoError(t, err)
	folder := t.TempDir()
	for name, content := range files {
		file := filepath.Join(folder, clients.ModuleName, "1.2.3", filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	all, err := modulecases.All()
	require.NoError(t, err)
	var text strings.Builder
	text.WriteString("Import-Module -Name (Join-Path $env:ADGATEWAY_MODULE 'AdGateway/1.2.3/AdGateway.psd1')\n" +
		"$secret = [System.Net.NetworkCredential]::new('', $env:ADGATEWAY_TOKEN).SecurePassword\n" +
		"$null = Connect-AdGateway -Uri $env:ADGATEWAY_URI -Token $secret\n")
	for _, one := range all {
		text.WriteString("'=== " + strings.ReplaceAll(one.Name, "'", "''") + "'\n" +
			"try {\n" + one.Script + "} catch { \"thrown: $_\" }\n")
	}
	script := filepath.Join(folder, "cases.ps1")
	require.NoError(t, os.WriteFile(script, []byte(text.String()), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), systemtest.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, path,
		"-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script)
	command.Env = append(os.Environ(), "ADGATEWAY_MODULE="+folder, "ADGATEWAY_URI="+s.URL,
		"ADGATEWAY_TOKEN="+systemtest.AllToken, "TERM=dumb", "NO_COLOR=1")
	printed, err := command.Output()
	require.NoError(t, err)
	parts := map[string]string{}
	for part := range strings.SplitSeq("\n"+strings.ReplaceAll(string(printed), "\r\n", "\n"), "\n=== ") {
		name, said, _ := strings.Cut(part, "\n")
		parts[name] = strings.TrimSpace(said)
	}
	for _, one := range all {
		t.Run(one.Name, func(t *testing.T) { assert.Equal(t, one.Want, parts[one.Name]) })
	}
}
