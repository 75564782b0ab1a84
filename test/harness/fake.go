// Package harness serves a gateway to tests, which speak HTTP to it and say what its scripts do.
package harness

import (
	"context"
	"encoding/json"
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

	"adgateway/gateway"
	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Runner calls run and records the requests.
type Runner struct {
	Do func(ctx context.Context, req ps.Request) (*ps.Result, error)

	mu       sync.Mutex
	requests []ps.Request
}

func (f *Runner) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	f.mu.Lock()
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	return f.Do(ctx, req)
}

// Last returns the latest request. The test fails if there was none.
func (f *Runner) Last(t *testing.T) ps.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.requests, "the runner was not called")
	return f.requests[len(f.requests)-1]
}

func (f *Runner) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// Announce announces a change of one object, as scripts do.
func Announce(req ps.Request) error {
	if req.Announced == nil {
		return nil
	}
	if err := req.Announced(ps.Intent{Objects: []ps.Intended{{GUID: "g", Changes: []ps.IntendedChange{{Name: "enabled", Before: "True", After: "False"}}}}}); err != nil {
		return &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	return nil
}

// Answering returns a runner that announces a change if the result has one, emits the
// batches and returns result.
func Answering(result ps.Result, batches ...string) *Runner {
	return &Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if result.Effect != ps.EffectNone {
			if err := Announce(req); err != nil {
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

// Failing returns a runner that fails with e, after an announcement if something may
// have been changed.
func Failing(e ps.Error) *Runner {
	return &Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if e.Outcome != "" && e.Outcome != ps.OutcomeNone {
			if err := Announce(req); err != nil {
				return nil, err
			}
		}
		copied := e
		return nil, &copied
	}}
}

// Scripts returns declarations of scripts that match the rows.
func Scripts(table []*ops.Operation) []ps.Script {
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
	AllToken     = "token-with-all-scopes"
	ReadToken    = "token-that-reads-users"
	WriteToken   = "token-that-writes-users"
	ClassicToken = "token-of-an-old-client"
	LimitedToken = "token-with-limits"
	OpsToken     = "token-for-operations"
)

func Auth(t testing.TB) *auth.Static {
	static := auth.NewStatic(auth.Header{})
	for token, p := range map[string]*auth.Principal{
		AllToken:     {Name: "all", Scopes: []auth.Scope{auth.All}},
		ReadToken:    {Name: "reader", Scopes: []auth.Scope{auth.UserRead}},
		WriteToken:   {Name: "writer", Scopes: []auth.Scope{auth.UserWrite}},
		ClassicToken: {Name: "old", Scopes: []auth.Scope{auth.All}, Dialect: auth.Classic},
		OpsToken:     {Name: "ops", Scopes: []auth.Scope{auth.OpsRead}},
		LimitedToken: {Name: "limited", Scopes: []auth.Scope{auth.UserRead, auth.UserDelete}, Limits: auth.Limits{OUs: []string{"OU=Sales,DC=corp,DC=example"}}},
	} {
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

// New returns a server over a runner; change may modify its options or be
// nil.
func New(t testing.TB, runner ps.Runner, change func(*gateway.Options)) *gateway.Server {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	options := gateway.Options{Runner: runner, Auth: Auth(t), Log: log, Engine: "sandbox", Scripts: Scripts(ops.Table())}
	if change != nil {
		change(&options)
	}
	s, err := gateway.New(options)
	require.NoError(t, err)
	return s
}

// PeerLine is a pseudo header that sets the TCP peer.
const PeerLine = "From-Peer"

// Call sends a request with the token that has all scopes. Header lines are
// "Name: value" and may replace it.
func Call(s *gateway.Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return Serve(s, httptest.NewRequest(method, target, strings.NewReader(body)), headers...)
}

// CallWith is call without a body for a client that leaves when ctx is done.
func CallWith(ctx context.Context, s *gateway.Server, method, target string) *httptest.ResponseRecorder {
	return Serve(s, httptest.NewRequestWithContext(ctx, method, target, nil))
}

func Serve(s *gateway.Server, r *http.Request, headers ...string) *httptest.ResponseRecorder {
	r.Header.Set("Auth-Token", "Bearer "+AllToken)
	r.Header.Set("X-Request-Id", "test-1")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == PeerLine {
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

// Reply is an envelope as a client decodes it.
type Reply struct {
	Output   string            `json:"output"`
	Result   []json.RawMessage `json:"result"`
	Warnings []ps.Warning      `json:"warnings"`
	Plan     json.RawMessage   `json:"plan"`
	Error    *Failure          `json:"error"`
}

// Failure is the error of an answer.
type Failure struct {
	Code          schema.Code      `json:"code"`
	Message       string           `json:"message"`
	Outcome       string           `json:"outcome"`
	DirectoryCode string           `json:"directoryCode"`
	Details       []problem.Detail `json:"details"`
	RequestID     string           `json:"requestId"`
}

func Read(t testing.TB, w *httptest.ResponseRecorder) Reply {
	t.Helper()
	require.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
	var got Reply
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

// Sample returns a record of a shape as a script emits it.
func Sample(shape *schema.Shape) string { return sampleOf(shape.Fields) }

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

var OK = ps.Result{Effect: ps.EffectNone, Server: "dc1.corp.example"}

func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
