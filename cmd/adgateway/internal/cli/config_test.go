package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/config"
)

func TestConfigInitWritesWhatCheckAccepts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "adgateway.yaml")
	code, _, stderr := runCommand(t, "config", "check", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, file, "a file given with --config must exist")
	code, stdout, stderr := runCommand(t, "config", "init", "--config", file)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, file)
	code, stdout, stderr = runCommand(t, "config", "check", "--config", file, "--set",
		"powershell.path="+executable(t))
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "no mistakes; 1 of ")

	require.NoError(t, os.WriteFile(file, []byte("log:\n  level: debug\n"), 0o600))
	code, _, stderr = runCommand(t, "config", "init", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "--force")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "log:\n  level: debug\n", string(text), "nothing is overwritten")
	code, _, stderr = runCommand(t, "config", "init", "--config", file, "--force")
	require.Zero(t, code, stderr)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Positive(t, info.Size())
}

func TestConfigCheckWarnsOfMoreSessionsThanConnections(t *testing.T) {
	file := filepath.Join(t.TempDir(), "adgateway.yaml")
	for _, tt := range []struct {
		sessions string
		warns    bool
	}{{"4", false}, {"5", false}, {"6", true}} {
		require.NoError(t, os.WriteFile(file, []byte("pool:\n  directorySessions: "+tt.sessions+"\n"), 0o600))
		code, stdout, stderr := runCommand(t, "config", "check", "--config", file, "--set",
			"powershell.path="+executable(t))
		require.Zero(t, code, stderr)
		assert.Contains(t, stdout, "no mistakes")
		if tt.warns {
			assert.Contains(t, stdout, "warning: pool.directorySessions is "+tt.sessions)
			assert.Contains(t, stdout, "MaxConnectionsPerUser")
		} else {
			assert.NotContains(t, stdout, "warning")
		}
	}
}

func TestConfigShowPrintsValuesAndSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "adgateway.yaml")
	require.NoError(t, os.WriteFile(file,
		[]byte("log:\n  format: json\nsandbox:\n  tokens:\n  - value: s3cret\n"), 0o600))
	t.Setenv("ADGATEWAY_HTTP_READ_TIMEOUT", "45s")
	args := []string{"config", "show", "--config", file, "--set", "limits.bulkDelete=7"}
	code, stdout, stderr := runCommand(t, args...)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^log\.format +file +"json"$`, stdout)
	assert.Regexp(t, `(?m)^http\.readTimeout +environment +"45s"$`, stdout)
	assert.Regexp(t, `(?m)^limits\.bulkDelete +flag +7$`, stdout)
	assert.Regexp(t, `(?m)^log\.level +default +"info"$`, stdout)
	assert.NotContains(t, stdout, "s3cret")

	code, stdout, stderr = runCommand(t, append(args, "--json")...)
	require.Zero(t, code, stderr)
	var rows []output.Setting
	require.NoError(t, json.Unmarshal([]byte(stdout), &rows))
	require.Len(t, rows, len(config.Rows()))
	assert.Equal(t, "http.listen", rows[0].Key)
	assert.Equal(t, "ADGATEWAY_HTTP_LISTEN", rows[0].Variable)
	assert.NotContains(t, stdout, "s3cret")
}

func TestMisspelledWordsGetSuggestions(t *testing.T) {
	t.Setenv("ADGATEWAY_HTTP_LISTN", "x")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"serv"}, 2, `unknown command "serv" for "adgateway"; did you mean serve?`},
		{[]string{"service", "instal"}, 2, `did you mean install?`},
		{[]string{"config", "chek"}, 2, `did you mean check?`},
		{[]string{"sandbox", "--lisen", "x"}, 2, `unknown flag: --lisen; did you mean --listen?`},
		{[]string{"token", "create", "a", "--max-resets", "1"}, 2, `unknown flag: --max-resets; did you mean --max-password-resets?`},
		{[]string{"config", "check"}, 1, `ADGATEWAY_HTTP_LISTN does not set any setting; did you mean ADGATEWAY_HTTP_LISTEN?`},
		{[]string{"service", "install", "--account", "gw$"}, 1, `DOMAIN\name$`},
		{[]string{"xyzzyplugh"}, 2, `unknown command "xyzzyplugh" for "adgateway"`},
	} {
		code, _, stderr := runCommand(t, c.args...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.says)
	}
}

// executable returns the path of a program that stands in for PowerShell.
func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// hook returns settings with a webhook.
func hook(name, secret, more string) string {
	return "events:\n  # told of changes\n  webhooks:\n    - {name: " + name +
		", url: 'https://a/', secretFile: " + secret + more + "}\n"
}

// TestConfigCheckFindsWhatServeRefuses: 'config check' also finds missing files and
// combinations of settings that serve refuses.
func TestConfigCheckFindsWhatServeRefuses(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "adgateway.yaml")
	for name, text := range map[string]string{"file": "", "short.db.key": "short",
		"hook.secret":   "whsec_c2hvcnQ=",
		"accounts.json": "{\n  \"version\": 1,\n  \"tokens\": [{\"name\": \"\"}]\n}\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for name, c := range map[string]struct{ text, want string }{
		"listens without TLS":   {"http:\n  listen: 0.0.0.0:8443\n", ":2: http.listen: other machines"},
		"no private key":        {"tls:\n  certificateFile: gw.pem\n", ":2: tls.certificateFile is set without"},
		"two certificates":      {"tls:\n  certificateFile: gw.pem\n  keyFile: gw.key\n  pfxFile: gw.pfx\n", "keep one of them"},
		"no such certificate":   {"tls:\n  certificateFile: gw.pem\n  keyFile: gw.key\n", "gw.pem"},
		"no such PowerShell":    {"powershell:\n  path: /nope/pwsh\n", ":2: powershell.path: /nope/pwsh cannot be run"},
		"pause and limit":       {"http:\n  settlePause: 9s\n", ":2: http.settlePause: http.settlePause (9s) is not shorter than http.settleTimeout (5s)"},
		"credentials' content":  {"auth:\n  store: accounts.json\n", "accounts.json:3: "},
		"no key of the store":   {"store:\n  file: short.db\n", ":2: store.file (its key): key file "},
		"secret of a webhook":   {hook("chat", "hook.secret", ""), ":3: events.webhooks (secretFile of chat): " + filepath.Join(folder, "hook.secret") + ": line 1: the secret has 5 bytes, not 24 to 64"},
		"authority of one":      {hook("chat", "hook.secret", ", caFile: hook.secret"), "events.webhooks (caFile of chat): " + filepath.Join(folder, "hook.secret") + ": it has no certificate"},
		"no file of one":        {hook("chat", "no.secret", ""), "no.secret does not exist"},
		"a webhook twice":       {hook("chat", "hook.secret", "") + "    - {name: chat, url: 'https://b/', secretFile: hook.secret}\n", ":3: events.webhooks: two webhooks have the name chat"},
		"webhooks, but no log":  {"store: {file: off}\n" + hook("chat", "hook.secret", ""), "webhooks need a store"},
		"address of others":     {"http:\n  listen: 192.0.2.1:8443\n  allowUnencrypted: true\n", ":2: http.listen: cannot listen on 192.0.2.1:8443"},
		"audit in no folder":    {"audit:\n  file: file/audit.jsonl\n", ":2: audit.file"},
		"log in no folder":      {"log:\n  level: info\n  file: file/gw.log\n", ":3: log.file"},
		"scope of a guard":      {"http:\n  requireGuard: [usr:write]\n", ":2: http.requireGuard: unknown scope"},
		"no such operation":     {"reason:\n  required: [user.remove]\n", ":2: reason.required: no operation"},
		"scope and certificate": {"signIn:\n  mode: form\n  roles:\n    - {group: CORP\\a, scopes: [usr:write]}\n", ":3: signIn.roles: the role of CORP\\a: unknown scope"},
		"several, each of them": {"http:\n  listen: 0.0.0.0:8443\nlog:\n  file: file/gw.log\n", ":4: log.file"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		args := []string{"--config", file}
		if name != "no such PowerShell" {
			args = append(args, "--set", "powershell.path="+executable(t))
		}
		code, stdout, checked := runCommand(t, append([]string{"config", "check"}, args...)...)
		assert.Equal(t, 1, code, name)
		assert.Empty(t, stdout, name)
		assert.Contains(t, checked, c.want, name)
		if strings.Contains(c.text, "listen:") {
			continue // serve listens elsewhere in this test
		}
		code, _, refused := runCommand(t, append([]string{"serve"}, args...)...)
		assert.Equal(t, 1, code, name)
		for line := range strings.Lines(refused) {
			if strings.HasPrefix(line, "See 'adgateway help ") {
				continue // concerns another command
			}
			assert.Contains(t, checked, strings.TrimPrefix(strings.TrimSpace(line), "adgateway: "), name)
		}
	}
}
