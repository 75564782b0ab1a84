// Package grammar checks all texts for PowerShell against an independent grammar,
// that of tree-sitter from npm: "make grammar".
package grammar

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/session"
	"adgateway/scripts"

	"github.com/stretchr/testify/require"
)

// grammarVariable is set by "make grammar".
const grammarVariable = "GRAMMAR"

// texts returns all texts that are ever sent to a PowerShell, and the module for clients,
// by file name.
func texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	described, err := scripts.Describe()
	require.NoError(t, err)
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
	client, err := clients.Module(ops.Table(), "1.2.3")
	require.NoError(t, err)
	for name, text := range client {
		out[name] = string(text)
	}
	return out
}

// tap records what is written to a process.
type tap struct {
	session.Starter
	mu   sync.Mutex
	text strings.Builder
}

func (p *tap) StartProcess(command string, args ...string) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
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

// TestTreeSitterUnderstandsAllTexts: the grammar accepts every text.
func TestTreeSitterUnderstandsAllTexts(t *testing.T) {
	if os.Getenv(grammarVariable) == "" {
		t.Skip("the grammar comes from npm: run 'make grammar'")
	}
	dir := t.TempDir()
	args := []string{"check.mjs"}
	for name, text := range texts(t) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		args = append(args, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, "node", args...).CombinedOutput()
	t.Logf("%s", strings.ReplaceAll(string(said), dir+string(filepath.Separator), ""))
	require.NoError(t, err)

	// The check can fail.
	wrong := filepath.Join(dir, "wrong.ps1")
	require.NoError(t, os.WriteFile(wrong, []byte("function f { if ( }\n"), 0o600))
	require.Error(t, exec.CommandContext(ctx, "node", "check.mjs", wrong).Run())
}
