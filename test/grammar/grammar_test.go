// Package grammar checks all PowerShell texts against an independent grammar, that of tree-sitter from npm.
// It is run by "make grammar".
package grammar

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/test/conformance"
)

// grammarVariable is set by "make grammar".
const grammarVariable = "GRAMMAR"

// texts returns all texts that are ever sent to PowerShell, and the client module, by file name.
func texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	described := scripts.Describe()
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		out["prelude."+string(lane)] = scripts.Prelude(lane).Text
		for _, script := range scripts.Sources(lane) {
			out[script.Name] = script.Text
		}
		out["boot."+string(lane)] = bootLine(t, lane)
	}
	modules, err := proxies.Modules(described)
	require.NoError(t, err)
	for _, m := range modules {
		out[m.Name+".psm1"], out[m.Name+".psd1"] = m.Script(), m.Manifest()
	}
	client, err := clients.Module(ops.Table(), "1.2.3", "https://gw.corp.example/manual")
	require.NoError(t, err)
	for name, text := range client {
		out[name] = string(text)
	}
	return out
}

// tap records the input of a process.
type tap struct {
	session.Starter
	mu   sync.Mutex
	text strings.Builder
}

func (p *tap) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	w, in, out, errs, err := p.Starter.StartProcess(command, args...)
	closer, _ := in.(io.Closer)
	return w, &tapped{p, in, closer}, out, errs, err
}

type tapped struct {
	tap *tap
	io.Writer
	io.Closer
}

func (w *tapped) Write(b []byte) (int, error) {
	w.tap.mu.Lock()
	w.tap.text.Write(b)
	w.tap.mu.Unlock()
	return w.Writer.Write(b)
}

// bootLine returns the first line that a session writes.
func bootLine(t *testing.T, lane ps.Lane) string {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	p := &tap{Starter: world.Starter()}
	s, err := session.Start(t.Context(), session.Config{Starter: p, Boot: session.Boot{
		Prelude: scripts.Prelude(lane), Scripts: scripts.Sources(lane), Module: scripts.Modules[lane],
	}})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	line, _, _ := strings.Cut(p.text.String(), "\n")
	require.Contains(t, line, "Start-GatewaySession")
	return line
}

// gaps maps parameters that the grammar cannot parse, because it allows no digits in their names, to
// replacements that it can parse. PowerShell accepts these parameters. The file test/conformance/binding.json
// has calls with both of them, recorded on PowerShell 7.6.5.
var gaps = map[string]string{" -IPv4Address ": " -IPvAddress ", " -IPv6Address ": " -IPvAddress "}

// TestPowerShellReadsTheGapsOfTheGrammar: PowerShell accepts the texts that the grammar cannot parse. The
// test also fails when a newer grammar can parse them.
func TestPowerShellReadsTheGapsOfTheGrammar(t *testing.T) {
	var recorded struct {
		Calls []struct {
			Call  string
			Bound []string
		}
	}
	require.NoError(t, conformance.Read("binding", &recorded))
	for parameter := range gaps {
		name := strings.Trim(parameter, " -")
		bound := false
		for _, c := range recorded.Calls {
			bound = bound || strings.Contains(c.Call, parameter) && slices.Contains(c.Bound, name)
		}
		require.True(t, bound, "no recorded call binds -%s", name)
		if os.Getenv(grammarVariable) != "" {
			path := filepath.Join(t.TempDir(), "gap.ps1")
			require.NoError(t, os.WriteFile(path, []byte("Add-It"+parameter+"$x\n"), 0o600))
			require.Error(t, exec.CommandContext(t.Context(), "node", "check.mjs", path).Run(),
				"the grammar reads%sby now: it is no gap any more", parameter)
		}
	}
}

// TestTreeSitterUnderstandsAllTexts: the grammar accepts every text.
func TestTreeSitterUnderstandsAllTexts(t *testing.T) {
	if os.Getenv(grammarVariable) == "" {
		t.Skip("the grammar comes from npm: run 'make grammar'")
	}
	dir := t.TempDir()
	args := []string{"check.mjs"}
	for name, text := range texts(t) {
		for gap, other := range gaps {
			text = strings.ReplaceAll(text, gap, other)
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		args = append(args, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, "node", args...).CombinedOutput()
	t.Logf("%s", strings.ReplaceAll(string(said), dir+string(filepath.Separator), ""))
	require.NoError(t, err)

	// The check detects an error.
	wrong := filepath.Join(dir, "wrong.ps1")
	require.NoError(t, os.WriteFile(wrong, []byte("function f { if ( }\n"), 0o600))
	require.Error(t, exec.CommandContext(ctx, "node", "check.mjs", wrong).Run())
}
