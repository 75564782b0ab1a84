package gateway

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fakeRunner calls run and records the requests.
type fakeRunner struct {
	run func(ctx context.Context, req ps.Request) (*ps.Result, error)

	mu       sync.Mutex
	requests []ps.Request
}

func (f *fakeRunner) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	f.mu.Lock()
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	return f.run(ctx, req)
}

// last returns the latest request. The test fails if there was none.
func (f *fakeRunner) last(t *testing.T) ps.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.requests, "the runner was not called")
	return f.requests[len(f.requests)-1]
}

func (f *fakeRunner) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// announce announces a change of one object, as scripts do.
func announce(req ps.Request) error {
	if req.Announced == nil {
		return nil
	}
	if err := req.Announced(ps.Intent{Objects: []ps.Intended{{GUID: "g", Changes: []ps.IntendedChange{{Name: "enabled", Before: "True", After: "False"}}}}}); err != nil {
		return &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	return nil
}

// answering returns a runner that announces a change if the result has one, emits the
// batches and returns result.
func answering(result ps.Result, batches ...string) *fakeRunner {
	return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if result.Effect != ps.EffectNone {
			if err := announce(req); err != nil {
				return nil, err
			}
		}
		for _, batch := range batches {
			if err := req.Records(json.RawMessage(batch)); err != nil {
				return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
			}
		}
		copied := result
		return &copied, nil
	}}
}

// failing returns a runner that fails with e, after an announcement if something may
// have been changed.
func failing(e ps.Error) *fakeRunner {
	return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if e.Outcome != "" && e.Outcome != ps.OutcomeNone {
			if err := announce(req); err != nil {
				return nil, err
			}
		}
		copied := e
		return nil, &copied
	}}
}

// scriptsFor returns declarations of scripts that match the rows.
func scriptsFor(table []*ops.Operation) []ps.Script {
	byName := map[string]*ps.Script{}
	var order []string
	for _, op := range table {
		if op.Script == "" {
			continue
		}
		script := byName[op.Script]
		if script == nil {
			script = &ps.Script{Name: op.Script, Lane: op.Lane, Writes: op.Effect.Writes()}
			byName[op.Script] = script
			order = append(order, op.Script)
			for _, name := range []string{"AllowedOU", "AllowedZone"} {
				script.Params = append(script.Params, ps.Param{Name: name, Type: "string[]"})
			}
			if script.Writes {
				script.Params = append(script.Params, ps.Param{Name: "Privileged", Type: "bool"})
			}
		}
		for name, value := range op.Fixed {
			if _, has := script.Param(name); !has {
				script.Params = append(script.Params, ps.Param{Name: name, Type: value.Type()})
			}
		}
		if op.Protocol != nil {
			for name, typ := range op.Protocol.Supplies {
				if _, has := script.Param(name); !has {
					script.Params = append(script.Params, ps.Param{Name: name, Type: typ})
				}
			}
		}
		for _, p := range op.Params {
			for _, part := range p.Parts() {
				name := p.Arg + part.Suffix
				if p.Arg == "" {
					name = p.Name + part.Suffix
				}
				if _, has := script.Param(name); !has {
					script.Params = append(script.Params, ps.Param{Name: name, Type: part.Type})
				}
			}
		}
	}
	for _, op := range table {
		for name, writes := range map[string]bool{op.Settle.Script: false, op.Settle.CleanUp: true} {
			if name == "" || byName[name] != nil {
				continue
			}
			byName[name] = &ps.Script{Name: name, Lane: op.Lane, Writes: writes, Params: settleParams}
			order = append(order, name)
		}
	}
	var scripts []ps.Script
	for _, name := range order {
		scripts = append(scripts, *byName[name])
	}
	return scripts
}

// settleParams are the parameters of the scripts that settle.
var settleParams = []ps.Param{
	{Name: "Set", Type: "bool"}, {Name: "Class", Type: "string"}, {Name: "Form", Type: "string"}, {Name: ops.SettleGuid, Type: "string"}, {Name: ops.SettleGuids, Type: "string[]"},
	{Name: ops.SettleMaxAge, Type: "int"}, {Name: "Server", Type: "string", Mandatory: true},
}

const (
	allToken     = "token-with-all-scopes"
	readToken    = "token-that-reads-users"
	writeToken   = "token-that-writes-users"
	classicToken = "token-of-an-old-client"
	limitedToken = "token-with-limits"
	opsToken     = "token-for-operations"
)

func testAuth(t testing.TB) *auth.Static {
	static := auth.NewStatic(auth.Header{})
	for token, p := range map[string]*auth.Principal{
		allToken:     {Name: "all", Scopes: []auth.Scope{auth.All}},
		readToken:    {Name: "reader", Scopes: []auth.Scope{auth.UserRead}},
		writeToken:   {Name: "writer", Scopes: []auth.Scope{auth.UserWrite}},
		classicToken: {Name: "old", Scopes: []auth.Scope{auth.All}, Dialect: auth.Classic},
		opsToken:     {Name: "ops", Scopes: []auth.Scope{auth.OpsRead}},
		limitedToken: {Name: "limited", Scopes: []auth.Scope{auth.UserRead, auth.UserDelete}, Limits: auth.Limits{OUs: []string{"OU=Sales,DC=corp,DC=example"}}},
	} {
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

// newTestServer returns a server over a runner; change may modify its options or be
// nil.
func newTestServer(t testing.TB, runner ps.Runner, change func(*Options)) *Server {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	options := Options{Runner: runner, Auth: testAuth(t), Log: log, Engine: "sandbox", Scripts: scriptsFor(ops.Table())}
	if change != nil {
		change(&options)
	}
	s, err := New(options)
	require.NoError(t, err)
	return s
}

// peerLine is a pseudo header that sets the TCP peer.
const peerLine = "From-Peer"

// call sends a request with the token that has all scopes. Header lines are
// "Name: value" and may replace it.
func call(s *Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return serve(s, httptest.NewRequest(method, target, strings.NewReader(body)), headers...)
}

// callWith is call without a body for a client that leaves when ctx is done.
func callWith(ctx context.Context, s *Server, method, target string) *httptest.ResponseRecorder {
	return serve(s, httptest.NewRequestWithContext(ctx, method, target, nil))
}

func serve(s *Server, r *http.Request, headers ...string) *httptest.ResponseRecorder {
	r.Header.Set("Auth-Token", "Bearer "+allToken)
	r.Header.Set("X-Request-Id", "test-1")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == peerLine {
			r.RemoteAddr = value
			continue
		}
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// reply is an envelope as a client decodes it.
type reply struct {
	Output   string            `json:"output"`
	Result   []json.RawMessage `json:"result"`
	Warnings []ps.Warning      `json:"warnings"`
	Plan     json.RawMessage   `json:"plan"`
	Error    *struct {
		Code          schema.Code      `json:"code"`
		Message       string           `json:"message"`
		Outcome       string           `json:"outcome"`
		DirectoryCode string           `json:"directoryCode"`
		Details       []problem.Detail `json:"details"`
		RequestID     string           `json:"requestId"`
	} `json:"error"`
}

func read(t testing.TB, w *httptest.ResponseRecorder) reply {
	t.Helper()
	require.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
	var got reply
	decoder := json.NewDecoder(w.Body)
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	require.NotEmpty(t, got.Output)
	if w.Code >= http.StatusBadRequest {
		require.NotNil(t, got.Error)
		require.Equal(t, w.Code, got.Error.Code.Status())
	}
	return got
}

// sample returns a record of a shape as a script emits it.
func sample(shape *schema.Shape) string { return sampleOf(shape.Fields) }

func sampleOf(fields []schema.Field) string {
	var b strings.Builder
	packed := ""
	for i, field := range fields {
		if field.Packed != nil {
			packed = `,"` + field.Packed.Member + `":""`
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + field.Name + `":` + map[schema.FieldType]string{
			schema.TextField:     `"text"`,
			schema.BoolField:     `true`,
			schema.GUIDField:     `"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"`,
			schema.TimeField:     `"2026-02-03T04:05:06Z"`,
			schema.CountryField:  `"GR"`,
			schema.TextListField: `["dc2"]`,
			schema.NumberField:   `7`,
			schema.ObjectField:   sampleOf(field.Of),

			schema.ObjectListField: "[" + sampleOf(field.Of) + "]",
		}[field.Type])
	}
	return "{" + b.String() + packed + "}"
}

var okResult = ps.Result{Effect: ps.EffectNone, Server: "dc1.corp.example"}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
