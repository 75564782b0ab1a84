// Package harness starts gateways for tests. The tests call a gateway over HTTP and determine the results of
// its scripts.
package harness

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	AllToken     = "token-with-all-scopes"
	ReadToken    = "token-that-reads-users"
	WriteToken   = "token-that-writes-users"
	ClassicToken = "token-of-an-old-client"
	LimitedToken = "token-with-limits"
	OpsToken     = "token-for-operations"
)

// Auth returns the callers of the tokens above.
func Auth(t testing.TB) *authn.Static {
	static := authn.NewStatic(authn.Header{})
	for token, p := range map[string]*identity.Principal{
		AllToken:     {Name: "all", Scopes: identity.Everything()},
		ReadToken:    {Name: "reader", Scopes: []identity.Scope{identity.UserRead}},
		WriteToken:   {Name: "writer", Scopes: []identity.Scope{identity.UserWrite}},
		ClassicToken: {Name: "old", Scopes: identity.Everything(), Dialect: identity.Classic},
		OpsToken:     {Name: "ops", Scopes: []identity.Scope{identity.OpsRead}},
		LimitedToken: {Name: "limited", Scopes: []identity.Scope{identity.UserRead, identity.UserDelete}, Limits: identity.Limits{OUs: []string{"OU=Sales,DC=corp,DC=example"}}},
	} {
		reveals := 1_000_000
		p.Quota = &identity.Quota{RevealsPerHour: &reveals}
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

// Options returns the options of a server with a runner. They are the defaults of the
// settings, except for one session per lane and metrics that need a credential.
func Options(t testing.TB, runner ps.Runner) gateway.Options {
	settings := config.Default()
	settings.Pool.DirectorySessions, settings.Pool.DNSSessions = 1, 1
	settings.Metrics.OpenOnLoopback = false
	log := logrus.New()
	log.SetOutput(io.Discard)
	log.SetFormatter(accesslog.Text())
	o := options.Gateway(settings)
	o.Runner, o.Auth, o.Log, o.Engine, o.Scripts = runner, Auth(t), log, "sandbox", slices.Clone(ownScripts())
	return o
}

// Policy returns the policy of the default settings.
func Policy() gateway.Policy { return options.Policy(config.Default()) }

// New returns a server with a runner. change may modify its options, or be nil.
func New(t testing.TB, runner ps.Runner, change func(*gateway.Options)) *gateway.Server {
	t.Helper()
	o := Options(t, runner)
	if change != nil {
		change(&o)
	}
	s, err := gateway.New(o)
	require.NoError(t, err)
	return s
}

// PeerLine is a pseudo header that sets the address of the TCP peer.
const PeerLine = "From-Peer"

// Call sends a request with the token that has all scopes. The headers, in the form "Name:
// value", may replace the token.
func Call(s *gateway.Server, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return Serve(s, httptest.NewRequest(method, target, strings.NewReader(body)), headers...)
}

// CallWith is like [Call], for a client that sends no body and disconnects when ctx is done.
func CallWith(ctx context.Context, s *gateway.Server, method, target string) *httptest.ResponseRecorder {
	return Serve(s, httptest.NewRequestWithContext(ctx, method, target, nil))
}

// Serve is [Call] for any request.
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

// Read decodes an envelope. The test fails if the body is not an envelope.
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

var OK = ps.Result{Effect: ps.EffectNone, Server: "dc1.corp.example"}
