package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leaves returns the commands without subcommands, by their names after "adgateway".
func leaves() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if (!c.HasSubCommands() || c.Name() == "sandbox") && !c.Hidden {
			all[strings.TrimPrefix(c.CommandPath(), "adgateway ")] = c
		}
	}
	root, _ := rootCommand()
	walk(root)
	return all
}

// silent lists the commands without --json. They print no result, or their result is always JSON or a file.
var silent = []string{
	"help", "serve", "sandbox", "sandbox domain", "sandbox order", "service install", "service uninstall", "service start", "service stop", "service restart", "service run",
	"config init", "token revoke", "user remove", "user passwd", "acme account add", "job result",
	"cluster init", "cluster invite", "cluster join", "cluster alone", "cluster leave", "cluster pin", "cluster recover", "cluster rotate-key", "token move",
}

func TestEveryCommandThatAnswersPrintsJSON(t *testing.T) {
	for name, c := range leaves() {
		assert.NotEqual(t, slices.Contains(silent, name), c.Flags().Lookup("json") != nil, name)
	}
}

// TestJSON: every other command prints one JSON value with --json. The doctor, bench and
// commands that list or show have their own tests.
func TestJSON(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("http:\n  maxConnections: 100\n"), 0o600))
	ask := func(code int, args ...string) map[string]any {
		t.Helper()
		got, stdout, stderr := runCommand(t, append(args, "--json")...)
		assert.Equal(t, code, got, stderr)
		assert.Empty(t, stderr, "what is said is in the answer")
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &answer), stdout)
		return answer
	}
	at := []string{"--config", file}
	program := []string{"--set", "powershell.path=" + executable(t)}
	assert.NotEmpty(t, ask(0, "version")["version"])

	good := ask(0, slices.Concat([]string{"config", "check"}, at, program)...)
	assert.Equal(t, []any{file, true, true, []any{}, 2.0},
		[]any{good["file"], good["exists"], good["ok"], good["faults"], good["set"]})
	assert.Len(t, good["warnings"], 1)
	bad := ask(1, slices.Concat([]string{"config", "check", "--set", "http.settlePause=9s"}, at, program)...)
	assert.Equal(t, []any{"http.settlePause: http.settlePause (9s) is not shorter than http.settleTimeout " +
		"(5s): no time would remain for the second check after the pause"}, bad["faults"])
	bad = ask(1, slices.Concat([]string{"config", "check", "--set", "powershell.path=/nope", "--set",
		"log.file=" + file + "/x"}, at)...)
	assert.Equal(t, []any{false, 2}, []any{bad["ok"], len(bad["faults"].([]any))}, bad)

	token := ask(0, append([]string{"token", "create", "portal", "--scope", "user:read"}, at...)...)
	assert.Contains(t, token["token"], "adgw_")
	assert.Equal(t, "portal", token["name"])
	rotated := ask(0, append([]string{"token", "rotate", "portal"}, at...)...)
	assert.Contains(t, rotated["token"], "adgw_")
	assert.NotEqual(t, token["token"], rotated["token"])
	changed := ask(0, append([]string{"token", "set", "portal", "--scope", "ou:read"}, at...)...)
	assert.Equal(t, []any{"ou:read"}, changed["scopes"])
	assert.NotContains(t, changed, "token")

	log := filepath.Join(folder, "audit.jsonl")
	s := startSandbox(t, "--set", "audit.file="+log)
	require.Zero(t, s.stop())
	verified := ask(0, "audit", "verify", "--file", log)
	assert.Equal(t, []any{true, []any{}, []any{}, 2.0, []any{log}},
		[]any{verified["ok"], verified["faults"], verified["interrupted"], verified["lines"], verified["files"]})
	assert.Regexp(t, `^2:[0-9a-f]{64}$`, verified["end"])
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, []byte(strings.Replace(string(text), `"process":`, `"process":1`, 1)), 0o600))
	altered := ask(1, "audit", "verify", "--file", log)
	assert.Equal(t, false, altered["ok"])
	require.NotEmpty(t, altered["faults"])
	assert.Equal(t, 1.0, altered["faults"].([]any)[0].(map[string]any)["line"])

	code, stdout, _ := runCommand(t, "doctor", "--list", "--json")
	assert.Zero(t, code)
	var checks []struct {
		Check, How string
		Faults     []struct{ Fault, Severity, Text, Advice string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &checks))
	require.NotEmpty(t, checks)
	assert.NotEmpty(t, checks[0].Faults)
}

// The table of exit codes names only commands that exist, and these end with the codes of the table.
func TestExitCodes(t *testing.T) {
	all := leaves()
	for _, row := range exitTable() {
		for _, name := range row.commands {
			assert.Contains(t, all, name)
		}
	}
	for name := range all {
		code, _, stderr := runCommand(t, append(strings.Fields(name), "--no-such-flag")...)
		assert.Equal(t, int(codeMisuse), code, "%s: %s", name, stderr)
	}

	folder := t.TempDir()
	file, log, accounts := filepath.Join(folder, "adgateway.yaml"), filepath.Join(folder,
		"audit.jsonl"), filepath.Join(folder, "accounts.json")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	s := startSandbox(t, "--set", "audit.file="+log)
	assert.Equal(t, int(codeDone), s.stop(), "sandbox")
	self := "powershell.path=" + executable(t)
	for _, c := range []struct {
		code exitCode
		args []string
	}{
		{codeFailed, []string{"sandbox", "--set", "log.level=none"}},
		{codeFailed, []string{"serve", "--config", file, "--set", "powershell.path=/nope"}},
		{codeDone, []string{"config", "check", "--config", file, "--set", self}},
		{codeFailed, []string{"config", "check", "--config", file, "--set", "powershell.path=/nope"}},
		{codeDone, []string{"audit", "verify", "--file", log}},
		{codeFailed, []string{"audit", "verify", "--file", log, "--last", "99"}},
		{codeFailed, []string{"audit", "verify", "--file", log + ".gone"}},
		{codeDone, []string{"doctor", "--list"}},
		{codeMisuse, []string{"doctor", "--config", filepath.Join(folder, "gone.yaml"), "--live", "--ou", "OU=a", "--zone", "z"}},
		{codeDone, []string{"token", "create", "a", "--scope", "*", "--store", accounts}},
		{codeFailed, []string{"token", "create", "a", "--scope", "*", "--store", accounts}},
		{codeMisuse, []string{"token", "create", "--scope", "*", "--store", accounts}},
	} {
		code, stdout, stderr := runCommand(t, c.args...)
		assert.Equal(t, int(c.code), code, "%q: %s%s", c.args, stdout, stderr)
	}
}
