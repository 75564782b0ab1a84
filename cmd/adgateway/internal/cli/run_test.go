package cli

import (
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/visible"
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const patience = 3 * time.Minute

// runCommand runs a command that ends by itself. Commands that serve listen on a
// free port, so that the tests do not depend on the default port.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if (args[0] == "serve" || args[0] == "sandbox") && !slices.Contains(args, "--listen") &&
		!slices.Contains(args, "order") {
		args = append(slices.Clone(args), "--listen", "127.0.0.1:0")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, err strings.Builder
	code = Run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

// TestCommandsPrintNothingHidden: neither the output of a command nor its log contains
// characters that control a terminal.
func TestCommandsPrintNothingHidden(t *testing.T) {
	const hostile = "a\x1b[2J\u009b1m\u202eb\rc"
	const shown = `\u202eb`
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && visible.Hidden(r) }
	file := filepath.Join(t.TempDir(), "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("log:\n  file: \"a\\u202eb\"\n"), 0o600))
	for _, args := range [][]string{
		{hostile}, {"config", "check", "--set", hostile},
		{"config", "show", "--config", file}, {"config", "show", "--config", file, "--json"}, {"help", hostile},
	} {
		_, stdout, stderr := runCommand(t, args...)
		all := stdout + stderr
		assert.Contains(t, all, shown, args)
		assert.False(t, strings.ContainsFunc(all, hidden), "%q", all)
	}
	for _, format := range []string{"text", "json"} {
		var out strings.Builder
		program.NewLog(config.Log{Level: "info", Format: format}, &out).WithField("name", hostile).Info(hostile)
		assert.Contains(t, out.String(), shown, format)
		assert.False(t, strings.ContainsFunc(out.String(), hidden), format)
	}
}

func TestCommandsThatEnd(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.ldif")
	require.NoError(t, os.WriteFile(broken,
		[]byte("version: 1\n\ndn: CN=a,DC=corp,DC=example\nobjectClass: user\nno colon here\n\n"+
			"dn: CN=b,OU=missing,DC=corp,DC=example\nchangetype: delete\n"), 0o600))
	zone := filepath.Join(t.TempDir(), "broken.zone")
	require.NoError(t, os.WriteFile(zone,
		[]byte("$ORIGIN own.example.\n@ 3600 IN SOA ns hostmaster 1 2 3 4 5\n@ IN NS ns\nwww IN CNAME a\n"+
			"www IN A 10.0.0.1\n"), 0o600))
	settings := filepath.Join(t.TempDir(), "adgateway.yaml")
	require.NoError(t, os.WriteFile(settings, []byte("http:\n  listen: nowhere\nlog:\n  color: red\n"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code int
		says []string // expected on either stream
	}{
		"version":              {[]string{"version"}, 0, []string{"adgateway "}},
		"help":                 {[]string{"--help"}, 0, []string{"sandbox", "service", "version"}},
		"unknown command":      {[]string{"serf"}, 2, []string{"unknown command", "--help"}},
		"unknown flag":         {[]string{"sandbox", "--lisen", "x"}, 2, []string{"--lisen"}},
		"version as a flag":    {[]string{"--version"}, 0, []string{"adgateway "}},
		"no name":              {[]string{"token", "create"}, 2, []string{"an argument is missing; usage: adgateway token create NAME --scope SCOPE,...", "See 'adgateway token create --help'."}},
		"extra argument":       {[]string{"serve", "now"}, 2, []string{`unexpected argument "now"; usage: adgateway serve [flags]`}},
		"not a number":         {[]string{"token", "create", "p", "--concurrency", "many"}, 2, []string{`--concurrency: "many" is not allowed here: it takes a whole number`}},
		"help of a setting":    {[]string{"sandbox", "--help"}, 0, []string{"--listen HOST:PORT ", " address to listen on (setting http.listen)", "--empty  "}},
		"address without port": {[]string{"sandbox", "--listen", "here"}, 1, []string{"--listen (http.listen): \"here\" is not allowed here", "HOST:PORT"}},
		"switch with a word":   {[]string{"sandbox", "--empty=maybe"}, 1, []string{"--empty (sandbox.empty): \"maybe\"", "true or false"}},
		"empty setting":        {[]string{"sandbox", "--set", "log.level="}, 1, []string{`--set log.level: "" is not allowed here: it takes one of`}},
		"foreign address":      {[]string{"sandbox", "--listen", "192.0.2.1:1", "--set", "http.allowUnencrypted=true"}, 1, []string{"http.listen: cannot listen on 192.0.2.1:1: use an address of this computer"}},
		"without TLS":          {[]string{"sandbox", "--listen", "0.0.0.0:0"}, 1, []string{"http.listen: other machines can reach 0.0.0.0:0,"}},
		"no PowerShell":        {[]string{"serve", "--set", "powershell.path=/no/such"}, 1, []string{"/no/such cannot be run; set the path of powershell.exe or pwsh: no such file or directory"}},
		"no settings file":     {[]string{"config", "check", "--config", "no-such.yaml"}, 1, []string{"the settings file no-such.yaml does not exist; create it with 'adgateway config init --config no-such.yaml'"}},
		"settings, blank":      {[]string{"config", "check", "--config", "no such.yaml"}, 1, []string{`create it with 'adgateway config init --config "no such.yaml"'`}},
		"unknown scope":        {[]string{"sandbox", "--token", "t=user:reed"}, 1, []string{"--token", "did you mean user:read?"}},
		"scope or value":       {[]string{"sandbox", "--token", "t=user-write"}, 1, []string{"--token", "did you mean user:write?", "VALUE=*"}},
		"password or scope":    {[]string{"sandbox", "--user", "anna:pa=ss"}, 1, []string{"--user", "VALUE=*"}},
		"user without colon":   {[]string{"sandbox", "--user", "anna"}, 1, []string{"NAME:PASSWORD"}},
		"unknown setting":      {[]string{"sandbox", "--set", "http.listn=x:1"}, 1, []string{"http.listn", "did you mean http.listen?"}},
		"settings file":        {[]string{"sandbox", "--config", settings}, 1, []string{settings + ":2: http.listen", settings + ":4: unknown setting log.color"}},
		"missing LDIF":         {[]string{"sandbox", "--ldif", "no-such.ldif", "--zone", "no.zone"}, 1, []string{"--ldif (sandbox.ldif): no-such.ldif does not exist", "--zone (sandbox.zones): no.zone does not exist"}},
		"missing certificate":  {[]string{"sandbox", "--set", "tls.certificateFile=no.pem", "--set", "tls.keyFile=no.key"}, 1, []string{"tls.certificateFile: no.pem does not exist (relative to "}},
		"certificate's folder": {[]string{"sandbox", "--set", "tls.pfxFile=/no/such.pfx"}, 1, []string{"tls.pfxFile: /no/such.pfx does not exist, nor does its folder"}},
		"folder for a log":     {[]string{"sandbox", "--set", "log.file=" + filepath.Dir(broken)}, 1, []string{"log.file: " + filepath.Dir(broken) + " is a folder"}},
		"log below a file":     {[]string{"sandbox", "--set", "log.file=" + broken + "/x"}, 1, []string{"log.file: " + broken + " is a file, not a folder"}},
		"audit below a file":   {[]string{"sandbox", "--set", "audit.file=" + broken + "/x"}, 1, []string{"audit.file: " + broken + " is a file"}},
		"missing audit key":    {[]string{"sandbox", "--set", "audit.file=" + filepath.Join(filepath.Dir(broken), "a"), "--set", "audit.keyFile=no.key"}, 1, []string{"audit.keyFile: no.key does not exist"}},
		"missing audit":        {[]string{"audit", "verify", "no.jsonl"}, 1, []string{"no.jsonl does not exist"}},
		"audit of no file":     {[]string{"audit", "show", "--file", "no.jsonl"}, 1, []string{"audit.file (--file): no.jsonl does not exist"}},
		"missing credentials":  {[]string{"token", "list", "--store", "no.json"}, 1, []string{"auth.store (--store): no.json does not exist", "'adgateway token create' creates the file"}},
		"store below a file":   {[]string{"token", "create", "x", "--scope", "*", "--store", broken + "/x"}, 1, []string{"auth.store (--store): " + broken + " is a file"}},
		"folder of settings":   {[]string{"sandbox", "--config", filepath.Dir(broken)}, 1, []string{"--config: " + filepath.Dir(broken) + " is a folder"}},
		"settings below file":  {[]string{"config", "init", "--config", broken + "/x"}, 1, []string{"--config: " + broken + " is a file"}},
		"report below a file":  {[]string{"doctor", "--live", "--ou", "OU=x,DC=y", "--zone", "z", "--out", broken + "/x"}, 2, []string{"--out: " + broken + " is a file"}},
		"faulty LDIF":          {[]string{"sandbox", "--ldif", broken}, 1, []string{broken + ":3:", broken + ":7:"}},
		"faulty zone":          {[]string{"sandbox", "--zone", zone}, 1, []string{zone + ":"}},
		"engine not there":     {[]string{"sandbox", "--engine", "/no/such/pwsh"}, 1, []string{"sandbox.engine", "/no/such/pwsh", "give the path of a PowerShell"}},
		"empty without domain": {[]string{"sandbox", "--empty"}, 1, []string{"domainDNS"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, c.args...)
			assert.Equal(t, c.code, code, "%s%s", stdout, stderr)
			for _, text := range c.says {
				assert.Contains(t, stdout+stderr, text)
			}
		})
	}
}

func TestServiceCommandsOutsideWindowsNameAnAlternative(t *testing.T) {
	if runtime.GOOS == "windows" {
		code, stdout, stderr := runCommand(t, "service", "status")
		require.Zero(t, code, stderr)
		assert.Contains(t, stdout, "service adgateway: ")
		return
	}
	for _, command := range []string{"install", "uninstall", "start", "stop", "restart", "status"} {
		code, _, stderr := runCommand(t, "service", command)
		assert.Equal(t, 1, code, command)
		assert.Equal(t, "adgateway: the service is only available on Windows. Here run 'adgateway serve' under "+
			"this system's own service manager, "+
			"such as a systemd unit with ExecStart=/usr/local/bin/adgateway serve --config "+
			"/etc/adgateway/adgateway.yaml\nSee 'adgateway help install'.\n", stderr, command)
	}
}

// runningSandbox is a running `adgateway sandbox`.
type runningSandbox struct {
	t    *testing.T
	url  string
	try  []string // the lines printed after the address
	log  *lockedBuilder
	stop func() int

	engine string // the PowerShell named on standard output
}

// unhurried are flags that keep requests from failing only because the machine is busy. The limits are
// shorter than patience, so that a request whose session hangs gets the gateway's own answer.
var unhurried = []string{"--set=pool.maxWait=2m", "--set=pool.startTimeout=2m", "--set=http.readTimeout=2m",
	"--set=http.writeTimeout=2m"}

func startSandbox(t *testing.T, args ...string) *runningSandbox {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	s := &runningSandbox{t: t, log: &lockedBuilder{}}
	ended := make(chan int, 1)
	go func() {
		code := Run(ctx, slices.Concat([]string{"sandbox", "--listen", "127.0.0.1:0"}, unhurried, args), writer,
			s.log)
		writer.Close()
		ended <- code
	}()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(reader); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	for len(s.try) == 0 || !strings.Contains(s.try[len(s.try)-1], "DnsCNameRecord") {
		select {
		case line, ok := <-lines:
			require.True(t, ok, "the sandbox stopped: %s", s.log)
			s.try = append(s.try, line)
		case <-time.After(patience):
			t.Fatal("the sandbox did not print its address")
		}
	}
	if engine, ok := strings.CutPrefix(s.try[0], "scripts run in "); ok {
		s.engine, s.try = engine, s.try[1:]
	}
	address, found := strings.CutPrefix(s.try[0], "listening on ")
	require.True(t, found, s.try[0])
	require.GreaterOrEqual(t, len(s.try), 4, "%q", s.try)
	assert.Equal(t, []string{"in a browser, with the API and the manual: " + address + "/", ""}, s.try[1:3])
	s.url, s.try = address, s.try[3:]
	var once sync.Once
	code := -1
	s.stop = func() int {
		once.Do(func() {
			cancel()
			select {
			case code = <-ended:
			case <-time.After(patience):
				t.Error("the sandbox did not stop")
			}
		})
		return code
	}
	t.Cleanup(func() { s.stop() })
	return s
}

// get sends a GET request with the given Auth-Token.
func (s *runningSandbox) get(path, credential string) (int, string) {
	s.t.Helper()
	return s.ask(http.MethodGet, path, credential)
}

func (s *runningSandbox) ask(method, path, credential string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	require.NoError(s.t, err)
	if credential != "" {
		request.Header.Set("Auth-Token", credential)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(body)
}

func TestSandboxPrintsCallsThatWork(t *testing.T) {
	s := startSandbox(t)
	for _, line := range s.try {
		var path, token string
		words := strings.Split(line, "'")
		require.Len(t, words, 5, "curl -s 'URL' -H 'Auth-Token: Bearer TOKEN': %s", line)
		path = strings.TrimPrefix(words[1], s.url)
		token = strings.TrimPrefix(words[3], "Auth-Token: ")
		status, body := s.get(path, token)
		assert.Equal(t, http.StatusOK, status, "%s: %s", line, body)
		assert.NotContains(t, s.log.String(), strings.TrimPrefix(token, "Bearer "), "the token is not in the log")
	}
	assert.Zero(t, s.stop(), "it stops cleanly: %s", s.log)
	assert.Contains(t, s.log.String(), "this is the sandbox")
}

// The printed calls use the credential with the most rights among those given.
func TestSandboxPrintsCallsOfTheGivenCredential(t *testing.T) {
	for name, c := range map[string]struct {
		args       []string
		credential string
		status     int
	}{
		"a token":                {[]string{"--token", "abc=="}, "Bearer abc==", 200},
		"the one with all":       {[]string{"--token", "few=user:read", "--token", "all=*"}, "Bearer all", 200},
		"the one with most":      {[]string{"--token", "few=user:read", "--token", "it's=user:read,ou:read", "--user", "x:y=ou:read"}, "Bearer it's", 200},
		"a user":                 {[]string{"--user", "anna:pass=*"}, "Basic YW5uYTpwYXNz", 200},
		"none that can be known": {[]string{"--set", "sandbox.tokens=[{value: secret}]"}, "Bearer <your token>", 401},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, c.args...)
			require.Len(t, s.try, 3)
			const path = "/api/ADUser/ListUsers/All?Limit=3"
			header := "Auth-Token: " + strings.ReplaceAll(c.credential, "'", `'\''`)
			assert.Equal(t, "curl -s '"+s.url+path+"' -H '"+header+"'", s.try[1])
			status, body := s.get(path, c.credential)
			assert.Equal(t, c.status, status, body)
		})
	}
}

// Even with a log file, the console shows the calls to try.
func TestSandboxWithALogFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "a.log")
	s := startSandbox(t, "--set", "log.file="+file)
	require.Len(t, s.try, 3)
	assert.Contains(t, s.try[0], "Auth-Token: Bearer adgw_")
	assert.Equal(t, "logging to "+file+"\n", s.log.String())
	require.Zero(t, s.stop())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "this is the sandbox")
	assert.NotContains(t, string(text), "adgw_")
}

func TestDebugLevelLogsEveryScriptRun(t *testing.T) {
	for level, want := range map[string]bool{"debug": true, "info": false} {
		s := startSandbox(t, "--log-level", level, "--token", "t")
		status, body := s.get("/api/OU/All", "Bearer t")
		require.Equal(t, http.StatusOK, status, body)
		require.Zero(t, s.stop())
		for _, text := range []string{"a script was run", "script=Get-GatewayOUList", " waited_ms=",
			"the domain controllers were discovered"} {
			assert.Equal(t, want, strings.Contains(s.log.String(), text), "%s: %s", text, s.log)
		}
	}
}

func TestSandboxAcceptsTokensAndUsers(t *testing.T) {
	s := startSandbox(t, "--token", "abc==", "--token", "reader=user:read,ou:read", "--user",
		"anna:pa:ss=ou:read")
	for _, c := range []struct {
		credential, path string
		status           int
	}{
		{"Bearer abc==", "/api/DnsReverseLookupZone/All", 200},
		{"Bearer reader", "/api/OU/All", 200},
		{"Bearer reader", "/api/DnsReverseLookupZone/All", 403},
		{"Basic YW5uYTpwYTpzcw==", "/api/OU/All", 200},
		{"Basic YW5uYTpwYTpzcw==", "/api/ADUser/ListUsers/All", 403},
		{"Basic YW5uYTpwYQ==", "/api/OU/All", 401},
		{"Bearer other", "/api/OU/All", 401},
	} {
		status, body := s.get(c.path, c.credential)
		assert.Equal(t, c.status, status, "%s %s: %s", c.credential, c.path, body)
	}
}

func TestSandboxLoadsTheUsersOwnFiles(t *testing.T) {
	s := startSandbox(t, "--empty", "--token", "t", "--users", "20",
		"--ldif", filepath.Join("testdata", "own.ldif"), "--zone", filepath.Join("testdata", "own.zone"))
	for path, text := range map[string]string{
		"/api/ADUser/kim/Details":                                  `"distinguishedName":"CN=Kim Näslund\\, Ops,OU=People,DC=own,DC=test"`,
		"/api/ADUser/0f8fad5b-d9cb-469f-a165-70867728950e/Details": `"username":"kim"`,
		"/api/OU/All":                  `"path":"OU=People,DC=own,DC=test"`,
		"/api/DnsCNameRecord/own.test": `"data":"web.own.test"`,
	} {
		status, body := s.get(path, "Bearer t")
		assert.Equal(t, http.StatusOK, status, "%s: %s", path, body)
		assert.Contains(t, body, text)
	}
	_, body := s.get("/api/ADUser/ListUsers?ShowFields=username", "Bearer t")
	assert.GreaterOrEqual(t, strings.Count(body, `"username"`), 21)
	for _, name := range []string{"aschmidt", "helpdesk", "operator", "norights"} {
		status, _ := s.get("/api/ADUser/"+name+"/Details", "Bearer t")
		assert.Equal(t, http.StatusNotFound, status, "%s is in none of the files", name)
	}
	status, _ := s.get("/api/ADGroups/GW-Operators/Details", "Bearer t")
	assert.Equal(t, http.StatusNotFound, status)
}

// TestSandboxCreatesItsCredentialFile: a sandbox creates a missing credential file as a
// gateway does, and accepts its own tokens without an account.
func TestSandboxCreatesItsCredentialFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials.json")
	s := startSandbox(t, "--set", "auth.store="+file, "--token", "own")
	require.FileExists(t, file)
	s.eventually("/readyz", "Bearer own", http.StatusOK)
	token := command(t, "token", "create", "portal", "--store="+file, "--scope", "*")
	s.eventually("/api/ADUser/aschmidt/Exists", "Bearer "+token, http.StatusOK)
}

// TestPeopleSignInToTheSandboxWithAForm: on this machine, people can sign in to the sandbox
// with the form, without a certificate or roles.
func TestPeopleSignInToTheSandboxWithAForm(t *testing.T) {
	s := startSandbox(t, "--set", "signIn.mode=form", "--token", "t")
	status, body := s.get("/ui/signin", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "People of the sandbox")
}

func TestSecondSandboxOnTheSamePort(t *testing.T) {
	s := startSandbox(t)
	code, _, stderr := runCommand(t, "sandbox", "--listen", strings.TrimPrefix(s.url, "http://"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "address already in use")
}

// lockedBuilder is a strings.Builder for concurrent use.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprint(b.text.String())
}
