package cli

import (
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/canary"
)

// outputs collects the output of commands and the files that they write.
type outputs struct {
	t      *testing.T
	byName map[string]string
}

// run runs a command and returns its standard output.
func (s *outputs) run(want int, args ...string) string {
	s.t.Helper()
	code, stdout, stderr := runCommand(s.t, args...)
	assert.Equal(s.t, want, code, "%s: %s", args, stderr)
	s.byName[strings.Join(args, " ")] += stdout + "\n" + stderr
	return stdout
}

// hunt fails the test for every secret found in the outputs.
func (s *outputs) hunt(secrets ...string) {
	s.t.Helper()
	hunt := canary.New(secrets...)
	for command, text := range s.byName {
		for _, hit := range hunt.Find(command, []byte(text)) {
			s.t.Error(hit)
		}
	}
}

// Commands print no secrets, neither the settings' own nor those of files that the settings
// name. A new token is printed exactly once.
func TestCommandsPrintNoSecrets(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) { require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600)) }
	write("audit.key", canary.Secret("audit"))
	write("adgateway.yaml", strings.Join([]string{
		"http:", "  listen: 127.0.0.1:0", "auth:", "  store: credentials.json",
		"audit:", "  file: " + path("audit.jsonl"), "  keyFile: " + path("audit.key"),
		"log:", "  level: debug", "  format: json", "  file: " + path("adgateway.log"),
		"sandbox:", "  tokens: [{value: " + canary.Plain("static") + "}]",
		"  users: [{name: anna, password: " + strconv.Quote(canary.Secret("anna")) + "}]",
	}, "\n"))
	config := "--config=" + path("adgateway.yaml")
	s := &outputs{t, map[string]string{}}

	var tokens []string
	for _, args := range [][]string{{"token", "create", "portal", "--scope", "*", config},
		{"token", "rotate", "portal", "--grace", "1h", config}} {
		token, command := strings.TrimSpace(s.run(0, args...)), strings.Join(args, " ")
		tokens = append(tokens, token)
		s.byName[command] = strings.Replace(s.byName[command], token, "", 1) // the one permitted occurrence
	}
	require.NoError(t, typed(t, canary.Secret("berta"), "add", "berta", config, "--scope", "*"))
	sandbox := startSandbox(t, config)
	generated := ""
	for _, credential := range append(tokens, canary.Plain("static"), canary.Plain("wrong")) {
		_, body := sandbox.ask(http.MethodPut, "/api/ADUser/aschmidt/ResetPassword", "Bearer "+credential)
		if _, after, found := strings.Cut(body, `"password":"`); found && generated == "" {
			generated, _, _ = strings.Cut(after, `"`)
		}
	}
	require.NotEmpty(t, generated)
	for _, user := range []string{"anna", "berta"} {
		status, body := sandbox.get("/api/OU/All",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+canary.Secret(user))))
		require.Equal(t, http.StatusOK, status, body)
	}
	assert.Zero(t, sandbox.stop())
	s.byName["sandbox"] = sandbox.log.String() + strings.Join(sandbox.try, "\n")

	for _, args := range []string{
		"config check --set powershell.path=" + executable(t), "config show", "config show --json", "token list", "token list --json", "token show portal", "token show portal --json",
		"user list --json", "user show berta --json", "audit verify", "audit show", "audit show --json",
	} {
		s.run(0, append(strings.Fields(args), config)...)
	}
	_, stdout, stderr := runCommand(t, "doctor", "--sandbox", config)
	s.byName["doctor"] = stdout + stderr
	require.NoError(t, typed(t, canary.Secret("berta2"), "passwd", "berta", config))
	s.run(0, "token", "revoke", "portal", config)
	require.NoError(t, filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "audit.key" || entry.Name() == "adgateway.yaml" {
			return err
		}
		text, err := os.ReadFile(file)
		s.byName[entry.Name()] = string(text)
		return err
	}))
	for _, name := range []string{"adgateway.log", "audit.jsonl", "credentials.json", "doctor", "config show"} {
		if name == "config show" {
			name += " " + config
		}
		assert.NotEmpty(t, s.byName[name], name)
	}
	s.hunt(append(tokens, generated)...)
}

// A mistake next to a secret is reported without the secret.
func TestMistakesAreReportedWithoutSecrets(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	secret, quoted := canary.Plain("x"), strconv.Quote(canary.Secret("x"))
	s := &outputs{t, map[string]string{}}
	settings := map[string]string{
		"a token alone":      "sandbox:\n  tokens: " + secret,
		"a list of tokens":   "sandbox:\n  tokens: [" + secret + "]",
		"a mistyped value":   "sandbox:\n  tokens: [{valu: " + secret + "}]",
		"a value of a kind":  "sandbox:\n  tokens: [{value: {a: " + secret + "}}]",
		"a wrong scope":      "sandbox:\n  tokens: [{value: " + secret + ", scopes: [nope]}]",
		"white space":        "sandbox:\n  tokens: [{value: " + quoted + "}]",
		"given twice":        "sandbox:\n  tokens: [{value: " + secret + "}, {value: " + secret + "}]",
		"users alone":        "sandbox:\n  users: " + secret,
		"a password's list":  "sandbox:\n  users: [{name: a, password: [" + secret + "]}]",
		"a user twice":       "sandbox:\n  users: [{name: a, password: " + secret + "}, {name: a, password: " + secret + "}]",
		"no name":            "sandbox:\n  users: [{password: " + secret + "}]",
		"not ended":          "sandbox:\n  users: [{name: a, password: \"" + secret,
		"a broken list":      "sandbox:\n  users: [{name: a, password: " + secret + "]",
		"a broken line":      "sandbox:\n  users:\n   - name: a\n  password: " + secret + "\n   x: y",
		"no such setting":    "tls:\n  pfxPassword: " + secret,
		"a setting of a key": "audit:\n  key: " + secret,
	}
	for name, text := range settings {
		require.NoError(t, os.WriteFile(path("s.yaml"), []byte(text), 0o600))
		s.run(1, "sandbox", "--config", path("s.yaml"), "--listen", "127.0.0.1:0")
		// some mistakes are found only at the start
		_, stdout, stderr := runCommand(t, "config", "show", "--config", path("s.yaml"))
		s.byName["config show: "+name] = stdout + stderr
	}
	_, stdout, stderr := runCommand(t, "doctor", "--sandbox", "--config", path("s.yaml")) // reports each of them
	s.byName["doctor"] = stdout + stderr
	for _, flags := range [][]string{
		{"--token", canary.Secret("white space")}, {"--token", secret + "=nope:x"}, {"--token", secret, "--token", secret},
		{"--user", secret}, {"--user", "a:" + secret + "=nope:x"}, {"--user", "a:" + secret, "--user", "a:" + secret},
		{"--set", "sandbox.tokens=" + secret}, {"--set", "sandbox.users=[{name: a, password: [" + secret + "]}]"}, {"--set", "sandbox.tokens=[{value: " + secret},
	} {
		code, stdout, stderr := runCommand(t,
			append([]string{"sandbox", "--set", "audit.keyFile=" + path("none")}, flags...)...)
		assert.Equal(t, 1, code)
		s.byName["flags "+flags[0]+strconv.Itoa(len(s.byName))] = stdout + stderr
	}
	pfx, err := canary.PFX(secret)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path("a.pfx"), pfx, 0o600))
	for name, text := range map[string]string{
		"wrong.password": canary.Plain("wrong"), "short.key": canary.Mark,
		"unknown.json": `{"version": 1, "tokens": [{"token": "` + secret + `"}]}`,
		"digest.json":  `{"version": 1, "tokens": [{"id": "a", "name": "a", "scopes": ["*"], "secrets": [{"sha256": "` + secret + `"}]}]}`,
		"clear.json":   `{"version": 1, "users": [{"id": "a", "name": "a", "scopes": ["*"], "password": "` + secret + `"}]}`,
		"number.json":  `{"version": 1, "users": [{"name": "a", "password": ["` + secret + `"]}]}`,
		"broken.json":  `{"version": 1, "users": [{"name": "a", "password": "` + secret,
	} {
		require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600))
		if strings.HasSuffix(name, ".json") {
			s.run(1, "token", "list", "--store", path(name))
			s.run(1, "sandbox", "--set", "auth.store="+path(name))
		}
	}
	s.run(1, "sandbox", "--set", "tls.pfxFile="+path("a.pfx"), "--set",
		"tls.pfxPasswordFile="+path("wrong.password"))
	s.run(1, "sandbox", "--set", "audit.file="+path("a.jsonl"), "--set", "audit.keyFile="+path("short.key"))
	require.Error(t, typed(t, canary.Mark, "add", "a", "--store", path("new.json"), "--scope", "*"))
	s.hunt()
}
