// Package secrets plants secrets wherever the gateway accepts one, and searches all of the gateway's output
// for them.
package secrets

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/canary"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// guarded is a system with a secret in every place that accepts one. It keeps all output, and logs at the
// level trace.
type guarded struct {
	*systemtest.System
	folder string // of all files, including temporary ones

	token, classic, reader string      // static tokens
	stored, user           string      // credentials in the store, as header values
	panics                 atomic.Bool // in authentication
	own                    []string    // generated secrets, in clear text

	text    systemtest.LogBuffer // the log as text
	wire    systemtest.LogBuffer // output of the server's connections
	streams systemtest.LogBuffer // output of the processes
	made    []string             // generated passwords in answers
	change  string               // id of the last change
}

// inputs are the files in which the administrator stores secrets.
var inputs = []string{"audit.key", "server.pfx", "pfx.password"}

func (g *guarded) path(name string) string { return filepath.Join(g.folder, name) }

func (g *guarded) write(name string, text []byte) {
	require.NoError(g.T, os.WriteFile(g.path(name), text, 0o600))
}

// newGuarded starts the system on processes.
func newGuarded(t *testing.T, folder string) (*guarded, *systemtest.Processes) {
	g := &guarded{System: &systemtest.System{T: t}, folder: folder, token: canary.Plain("token"),
		classic: canary.Plain("classic"), reader: canary.Plain("reader")}
	t.Setenv("TMPDIR", g.folder)
	t.Setenv("ADGATEWAY_SECRET", canary.Plain("environment"))
	g.write("audit.key", []byte(canary.Secret("audit")))
	g.write("pfx.password", []byte(canary.Plain("pfx")))
	pfx, err := canary.PFX(canary.Plain("pfx"))
	require.NoError(t, err)
	g.write("server.pfx", pfx)
	p := &systemtest.Processes{Faults: func() string {
		return "echo@ECHO,noise@NOISE,die-after@AFTER,die-at-step@STEP,hang-at-step@HANG,stderr-flood@FLOOD"
	}}
	p.Options = func(o *app.Options) {
		o.Auth = g.credentials()
		o.Log.SetLevel(logrus.TraceLevel)
		o.Log.AddHook(asText{&g.text})
		sessions := o.Session
		o.Session = func(lane ps.Lane) session.Config {
			c := sessions(lane)
			c.Starter = heard{c.Starter, &g.streams}
			return c
		}
	}
	g.System = p.NewSystem(t, "audit.file="+g.path("audit.jsonl"), "audit.keyFile="+g.path("audit.key"),
		"audit.reads=true",
		"tls.pfxFile="+g.path("server.pfx"), "tls.pfxPasswordFile="+g.path("pfx.password"))
	server := httptest.NewUnstartedServer(g.Stack.Gateway.Handler())
	server.Listener = taped{server.Listener, &g.wire}
	server.Start()
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g, p
}

// credentials returns an authenticator with static tokens and, as in the sandbox, a store. Authentication
// panics while g.panics is set.
func (g *guarded) credentials() authn.Authenticator {
	static := authn.NewStatic(authn.Header{AllowQuery: true})
	all := identity.Everything()
	require.NoError(g.T, static.AddToken(g.token, &identity.Principal{Name: "all", Scopes: all}))
	require.NoError(g.T, static.AddToken(g.classic,
		&identity.Principal{Name: "classic", Scopes: all, Dialect: identity.Classic}))
	require.NoError(g.T, static.AddToken(g.reader,
		&identity.Principal{Name: "reader", Scopes: []identity.Scope{identity.OpsRead}}))
	file, now := authn.File{Path: g.path("credentials.json")}, time.Now()
	require.NoError(g.T, file.Edit(g.T.Context(), func(d *authn.Document) error {
		portal := authn.NewAccount("portal", now, authn.Rights{Scopes: []string{"*"}})
		token := portal.AddToken(now, now)
		g.own, g.stored = append(g.own, token), "Bearer "+token
		anna := authn.NewAccount("anna", now, authn.Rights{Scopes: []string{"*"}})
		anna.Password = authn.HashPassword(canary.Secret("anna"), authn.Cost{Memory: 8, Time: 1, Threads: 1})
		g.user = basicOf("anna", canary.Secret("anna"))
		d.Tokens, d.Users = append(d.Tokens, portal), append(d.Users, anna)
		return nil
	}))
	store, err := authn.OpenStore(authn.StoreOptions{File: file, Header: authn.Header{AllowQuery: true},
		Failures: 1000})
	require.NoError(g.T, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.Run(ctx)
	}()
	g.T.Cleanup(func() {
		stop()
		<-ended
	})
	return panicking{authn.Chain{static, store}, &g.panics}
}

func basicOf(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// panicking panics on request while it holds the credential.
type panicking struct {
	authn.Authenticator
	panics *atomic.Bool
}

func (p panicking) Authenticate(ctx context.Context, c authn.Credential) (*identity.Principal, error) {
	principal, err := p.Authenticator.Authenticate(ctx, c)
	if p.panics.Load() {
		var nobody *identity.Principal
		return nobody, fmt.Errorf("%s", nobody.Name)
	}
	return principal, err
}

// asText also writes every log entry as text.
type asText struct{ to io.Writer }

func (asText) Levels() []logrus.Level { return logrus.AllLevels }

func (a asText) Fire(entry *logrus.Entry) error {
	text, err := accesslog.Text().Format(entry)
	_, _ = a.to.Write(text)
	return err
}

// taped records the data written to the connections of a listener.
type taped struct {
	net.Listener
	tape io.Writer
}

func (l taped) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return tapedConn{conn, l.tape}, err
}

type tapedConn struct {
	net.Conn
	tape io.Writer
}

func (c tapedConn) Write(b []byte) (int, error) {
	_, _ = c.tape.Write(b)
	return c.Conn.Write(b)
}

// heard records the output of processes.
type heard struct {
	session.Starter
	tape io.Writer
}

func (h heard) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	process, stdin, stdout, stderr, err := h.Starter.StartProcess(command, args...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	return process, stdin, io.TeeReader(stdout, h.tape), io.TeeReader(stderr, h.tape), nil
}

// madeForm matches a password in an answer of either dialect.
var madeForm = regexp.MustCompile(`"password":("(?:[^"\\]|\\.)*")`)

// send sends the request and returns the status. The header Content-Type has the media type of a raw body.
func (g *guarded) send(c systemtest.Call, credential string) int {
	g.T.Helper()
	query, body, contentType := c.Encode(g.T)
	target := g.URL + c.Path + query
	headers := maps.Clone(c.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	if contentType != "" {
		headers["Content-Type"] = contentType
	}
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.Method, target, body)
	require.NoError(g.T, err)
	if credential != "" {
		headers["Auth-Token"] = credential
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer := g.Send(request)
	if found := madeForm.FindSubmatch(answer.Body); found != nil && !strings.HasSuffix(c.Path, "/Reveal") {
		var password string
		require.NoError(g.T, json.Unmarshal(found[1], &password))
		g.made = append(g.made, password)
	}
	if change := answer.Header.Get(ops.ChangeHeader); change != "" {
		g.change = change
	}
	return answer.Status
}

// filled returns the sample of an operation with a canary in each of its secrets.
func filled(op *ops.Operation) systemtest.Call {
	params := maps.Clone(op.Sample)
	for _, name := range op.Secrets() {
		params[name] = canary.Secret(name)
	}
	return systemtest.CallFor(op, params)
}

// with returns the request with an additional parameter.
func with(c systemtest.Call, name string, value any) systemtest.Call {
	c.Params = maps.Clone(c.Params)
	if c.Params == nil {
		c.Params = map[string]any{}
	}
	c.Params[name] = value
	return c
}

// typed returns the request with another body.
func typed(c systemtest.Call, contentType, body string) systemtest.Call {
	c.Raw, c.Params, c.Headers = strings.NewReader(body), nil, map[string]string{"Content-Type": contentType}
	return c
}

// everyOperation calls an operation successfully, in the other dialect, and in all ways that are rejected.
func (g *guarded) everyOperation(op *ops.Operation) {
	bearer := "Bearer " + g.token
	if first, needed := systemtest.Needed(op); needed {
		require.Less(g.T, g.send(first, bearer), 300)
	}
	good := filled(op)
	assert.Less(g.T, g.send(good, bearer), 300, op.ID)
	// A change that replaced a password cannot be undone, but it can be repeated.
	undoable := op.Effect.Writes() && op.Undo.Never == "" && (op.Effect.Creates() || len(op.Secrets()) == 0)
	if undoable {
		assert.Less(g.T, g.send(systemtest.UndoOf(g.change), bearer), 300, op.ID)
	}
	g.send(good, "Bearer "+g.classic)
	if undoable {
		g.send(systemtest.UndoOf(g.change), bearer)
	}
	refused := func(c systemtest.Call, credential string) {
		g.T.Helper()
		status := g.send(c, credential)
		assert.True(g.T, status >= 400 && status < 500, "%s: %d", op.ID, status)
	}
	refused(good, "Bearer "+g.reader)
	refused(good, "Bearer "+canary.Plain("wrong"))
	refused(with(good, "Passwort", canary.Secret("mistyped")), bearer)
	for _, name := range op.Secrets() {
		spoilt := good
		spoilt.Path += "?" + url.Values{name: {canary.Secret("query")}}.Encode()
		refused(spoilt, bearer)
		for _, wrong := range []any{[]string{canary.Secret("list")},
			map[string]string{"a": canary.Secret("object")}, canary.Secret("long") + strings.Repeat("x", 5000),
			canary.Secret("control\x00")} {
			refused(with(good, name, wrong), bearer)
		}
		form := url.Values{name: {canary.Secret("one"), canary.Secret("two")}}.Encode()
		refused(typed(good, "application/x-www-form-urlencoded", form), bearer)
		refused(typed(good, "application/x-www-form-urlencoded", name+"="+canary.Plain("escape")+"%zz"), bearer)
		refused(typed(good, "application/json", `{"`+name+`": "`+canary.Plain("broken")), bearer)
		refused(typed(good, "application/json",
			`{"`+name+`": "`+canary.Plain("twice")+`", "`+strings.ToLower(name)+`": "`+canary.Plain("again")+`"}`),
			bearer)
		refused(typed(good, "application/json", `{"`+name+`": "`+canary.Plain("utf-8")+"\xff\"}"), bearer)
		refused(typed(good, "text/plain", name+"="+canary.Plain("type")), bearer)
		refused(typed(good, "application/json", `{"`+name+`": "`+canary.Plain("big")+strings.Repeat("x", 1<<20)+`"}`), bearer)
	}
}

// badCredentials sends valid and invalid credentials in all places that accept one.
func (g *guarded) badCredentials() {
	c := systemtest.Call{Method: http.MethodGet, Path: "/api/OU/All"}
	for credential, want := range map[string]int{
		g.stored: 200, g.user: 200, basicOf("anna", canary.Secret("guess")): 401, basicOf(canary.Secret("name"), "x"): 401,
		g.token: 401, "Bearer" + g.token: 401, "Digest " + g.token: 401, "Basic " + g.token: 401, "Basic " + base64.StdEncoding.EncodeToString([]byte(g.token)): 401,
		"Bearer " + strings.TrimPrefix(g.stored, "Bearer ") + canary.Mark: 401,
	} {
		assert.Equal(g.T, want, g.send(c, credential))
	}
	query := "?Auth-Token=" + url.QueryEscape("Bearer "+g.token)
	assert.Equal(g.T, http.StatusOK, g.send(systemtest.Call{Method: http.MethodGet, Path: c.Path + query}, ""))
	assert.Equal(g.T, http.StatusBadRequest,
		g.send(systemtest.Call{Method: http.MethodGet, Path: c.Path + query}, g.stored))
	c.Headers = map[string]string{"Authorization": g.user}
	assert.Equal(g.T, http.StatusOK, g.send(c, ""))
	assert.Equal(g.T, http.StatusBadRequest, g.send(c, g.stored))
	c.Headers = nil
	g.panics.Store(true)
	assert.Equal(g.T, http.StatusInternalServerError, g.send(c, g.stored))
	g.panics.Store(false)
	c.Headers = map[string]string{"Origin": "https://" + canary.Plain("origin") + ".example",
		"Cookie": "session=" + canary.Plain("cookie")}
	assert.Equal(g.T, http.StatusForbidden, g.send(c, g.stored))
}

// badProcesses changes a password in processes that fail. The text of the request selects the kind of
// failure.
func (g *guarded) badProcesses() {
	changed := func(mark string) int {
		return g.send(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
			Params: map[string]any{"Description": mark, "Password": canary.Secret("fault")}}, g.stored)
	}
	patient := []string{"http.settlePause=100ms", "http.settleTimeout=2m"}
	g.apply(patient...)
	for _, mark := range []string{"ECHO", "NOISE", "FLOOD", "AFTER"} {
		assert.Equal(g.T, http.StatusOK, changed(mark), mark)
	}
	// The time to settle is short only while changes cannot be settled, and the time limit is short only while
	// processes hang.
	g.apply("http.settlePause=100ms", "http.settleTimeout=2s")
	assert.Equal(g.T, http.StatusGatewayTimeout, changed("STEP"))
	g.apply(patient...)
	require.Equal(g.T, http.StatusOK, changed("a session is idle afterwards"))
	g.apply("http.settlePause=100ms", "http.settleTimeout=2s", "http.writeTimeout=1s")
	assert.Equal(g.T, http.StatusGatewayTimeout, changed("HANG"))
	g.apply()
}

// apply changes settings while the gateway runs.
func (g *guarded) apply(overrides ...string) {
	g.T.Helper()
	require.NoError(g.T, g.Stack.Apply(systemtest.Settings(g.T, overrides...)))
}

// rest calls all other routes.
func (g *guarded) rest() {
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/version", "/openapi.json", "/docs/",
		"/nowhere", "/api//x"} {
		g.send(systemtest.Call{Method: http.MethodGet, Path: path}, "Bearer "+g.token)
	}
	g.send(systemtest.Call{Method: http.MethodGet, Path: "/readyz"}, "Bearer "+canary.Plain("nobody"))
	g.send(systemtest.Call{Method: http.MethodPatch, Path: "/api/OU/All",
		Params: map[string]any{"Password": canary.Secret("method")}}, g.stored)
	// The password policy fails, and an object is missing.
	for _, user := range []string{systemtest.SampleUser, "nobody"} {
		g.send(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + user + "/ResetPassword",
			Params: map[string]any{"newPassword": canary.Mark}}, g.stored)
	}
	for range 3 {
		assert.Equal(g.T, http.StatusOK,
			g.send(systemtest.Call{Method: http.MethodPut,
				Path: "/api/ADUser/" + systemtest.SampleUser + "/ResetPassword"}, g.stored))
	}
	assert.Equal(g.T, http.StatusOK,
		g.send(systemtest.Call{Method: http.MethodPut,
			Path: "/api/ADUser/" + systemtest.SampleUser + "/ResetPassword"}, "Bearer "+g.classic))
	g.apply("http.allowSecretsInQuery=true")
	for _, op := range opstest.Own() {
		if len(op.Secrets()) > 0 {
			c := systemtest.Sample(op)
			for _, name := range op.Secrets() {
				delete(c.Params, name)
				c.Path += "?" + url.Values{name: {canary.Secret("allowed")}}.Encode()
			}
			assert.Less(g.T, g.send(c, g.stored), 300, op.ID)
			c.Path += "&" + url.Values{"Nonsense": {"1"}}.Encode()
			assert.Equal(g.T, http.StatusBadRequest, g.send(c, g.stored), op.ID)
			if op.Effect.Creates() {
				g.send(systemtest.UndoOf(g.change), g.stored)
			}
		}
	}
	g.apply()
}

// TestNoSecretComesOut: no output of the gateway contains a secret. The test searches answers, logs, the
// audit, metrics, files and processes. A plain run calls every operation that accepts or shows a secret, and
// a share of the others.
func TestNoSecretComesOut(t *testing.T) {
	var g *guarded
	folder := t.TempDir()
	found := map[string][]byte{}
	t.Run("calls", func(t *testing.T) {
		var p *systemtest.Processes
		g, p = newGuarded(t, folder)
		g.badCredentials() // before the address is blocked
		for _, op := range opstest.Own() {
			if len(op.Secrets()) > 0 || op.Reveals || thorough.OneOf(3, op.ID) {
				g.everyOperation(op)
			}
		}
		g.badProcesses()
		g.rest()
		maps.Copy(found, g.ofProcesses(p))
	})
	found["log (JSON)"], found["log (text)"] = []byte(g.Log.String()), []byte(g.text.String())
	found["replies"], found["streams of processes"] = []byte(g.wire.String()), []byte(g.streams.String())
	g.T = t
	g.files(found)

	hunt := canary.New(append(g.own, g.made...)...)
	for _, where := range []string{"log (JSON)", "log (text)", "replies", "streams of processes",
		"file audit.jsonl", "file credentials.json"} {
		require.NotEmpty(t, found[where], where)
	}
	require.Len(t, g.made, 4)
	for _, password := range g.made { // shown once
		require.Equal(t, 1, bytes.Count(found["replies"], []byte(password)))
		found["replies"] = bytes.Replace(found["replies"], []byte(password), []byte("***"), 1)
	}
	streams := found["streams of processes"]
	assert.NotEmpty(t, hunt.Find("echoed", streams), "the process that echoes its input has done so")
	delete(found, "streams of processes")
	for _, stream := range []string{"noise on standard output", "text on standard error"} {
		assert.Regexp(t, regexp.QuoteMeta(`"msg":"`+stream)+`.*"text":"#\w+.*\*\*\*`, string(found["log (JSON)"]), "it was kept for the log, masked")
	}
	for where, text := range found {
		for _, hit := range hunt.Find(where, text) {
			t.Error(hit)
		}
		for _, revealed := range []string{"Sandbox-Local-PC01", "111111-222222-333333"} {
			only := where == "replies" // shown to the caller that requested them
			assert.Equal(t, only, bytes.Contains(text, []byte(revealed)), "%s: %s", where, revealed)
		}
	}
}

// ofProcesses returns the command lines and environments of all processes, without the variables for the
// connection keys.
func (g *guarded) ofProcesses(p *systemtest.Processes) map[string][]byte {
	found := map[string][]byte{}
	for _, pid := range p.Running() {
		for _, name := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", pid, name))
			if err != nil {
				continue // the process has ended
			}
			for variable := range strings.SplitSeq(string(text), "\x00") {
				if key, is := strings.CutPrefix(variable, remote.KeyVariable+"="); is && name == "environ" {
					g.own = append(g.own, key)
					text = bytes.ReplaceAll(text, []byte(key), []byte("***"))
				}
			}
			found[name+" of "+pid] = text
		}
	}
	return found
}

// files adds all written files.
func (g *guarded) files(found map[string][]byte) {
	require.NoError(g.T, filepath.WalkDir(g.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found["file "+filepath.Base(path)] = text
		return err
	}))
	for _, name := range inputs {
		delete(found, "file "+name)
	}
}
