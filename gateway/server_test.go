package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway"
	"adgateway/gateway/accesslog"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

const patience = 3 * time.Minute

func TestNewReportsEveryFault(t *testing.T) {
	_, err := gateway.New(gateway.Options{})
	for _, missing := range []string{"Runner", "Auth", "Log"} {
		assert.ErrorContains(t, err, "option "+missing+" is missing")
	}
	o := harness.Options(t, harness.Answering(harness.OK))
	o.Scripts = nil
	_, err = gateway.New(o)
	require.Error(t, err)
	for _, op := range ops.Table() {
		if op.Script != "" {
			assert.ErrorContains(t, err, "operation "+op.ID+": has no script")
		}
	}
	o = harness.Options(t, harness.Answering(harness.OK))
	o.Policy.TrustedProxies = []string{"nobody"}
	_, err = gateway.New(o)
	assert.ErrorContains(t, err, "trusted proxies")
}

// TestThePolicyIsUsedAsGiven: the server does not modify the settings that it gets.
func TestThePolicyIsUsedAsGiven(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	policy := harness.Policy()
	assert.Equal(t, policy.Policy, s.PolicyInUse())
	policy.ReadLimit = 0
	require.ErrorContains(t, s.Apply(policy), "option Policy.ReadLimit")
	assert.Equal(t, harness.Policy().Policy, s.PolicyInUse(), "the one before")
	policy.ReadLimit, policy.SettlePause = time.Minute, policy.SettleLimit
	require.NoError(t, s.Apply(policy))
	assert.Equal(t, policy.Policy, s.PolicyInUse())
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "[]"), nil)
	for _, path := range []string{"/api/OU/All", "/api/nothing", "/healthz", "/api//x"} {
		w := harness.Call(s, "GET", path, "")
		for name, want := range map[string]string{
			"X-Request-Id": "test-1", "X-Engine": "sandbox", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
			"Referrer-Policy": "no-referrer", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Content-Type": "application/json; charset=utf-8",
			"Content-Length": fmt.Sprint(w.Body.Len()),
		} {
			assert.Equal(t, want, w.Header().Get(name), "%s %s", path, name)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	runner := harness.Answering(harness.OK, "[]")
	s := harness.New(t, runner, nil)
	for _, id := range []string{"", "a b", "<x>", strings.Repeat("x", 65), "a\tb", "ä"} {
		got := harness.Call(s, "GET", "/api/OU/All", "", "X-Request-Id: "+id).Header().Get("X-Request-Id")
		generated, err := uuid.Parse(got)
		require.NoError(t, err, "%q", id)
		assert.Equal(t, uuid.Version(7), generated.Version())
		assert.Equal(t, got, runner.Last(t).ID)
	}
	assert.Equal(t, "A-1_b.2", harness.Call(s, "GET", "/api/OU/All", "",
		"X-Request-Id: A-1_b.2").Header().Get("X-Request-Id"))
}

func TestOtherSites(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Policy.Origins = []string{"https://portal.corp.example"} })
	for _, c := range []struct {
		origin, site string
		status       int
	}{
		{"", "", 200}, {"", "none", 200}, {"", "same-origin", 200}, {"", "same-site", 200}, {"", "cross-site", 403},
		{"https://portal.corp.example", "cross-site", 200}, {"https://portal.corp.example", "", 200},
		{"https://evil.example", "", 403}, {"https://evil.example", "same-origin", 403}, {"null", "", 403}, {"https://portal.corp.example.evil.example", "", 403},
	} {
		w := harness.Call(s, "GET", "/api/OU/All", "", "Origin: "+c.origin, "Sec-Fetch-Site: "+c.site)
		assert.Equal(t, c.status, w.Code, "%+v", c)
	}
}

// logged runs a request on a server that logs JSON, and returns the only line.
func logged(t *testing.T, runner ps.Runner, change func(*gateway.Options), method, target, body string,
	headers ...string) (map[string]any, string) {
	t.Helper()
	var lines bytes.Buffer
	s := harness.New(t, runner, func(o *gateway.Options) {
		o.Log.SetOutput(&lines)
		o.Log.SetFormatter(accesslog.JSON())
		if change != nil {
			change(o)
		}
	})
	harness.Call(s, method, target, body, headers...)
	require.Equal(t, 1, strings.Count(lines.String(), "\n"), lines.String())
	var fields map[string]any
	require.NoError(t, json.Unmarshal(lines.Bytes(), &fields))
	return fields, lines.String()
}

func TestAccessLog(t *testing.T) {
	fields, line := logged(t, harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"), nil, "GET",
		"/api/aduser/jdoe/details?ShowFields=*", "")
	for name, want := range map[string]any{
		"level": "info", "msg": "request", "request_id": "test-1", "method": "GET", "route": "/api/ADUser/{UserName}/Details", "operation": "user.get",
		"status": 200.0, "principal": "all", "client": "192.0.2.1", "records": 1.0, "server": "dc1.corp.example",
	} {
		assert.Equal(t, want, fields[name], name)
	}
	assert.NotContains(t, line, "ShowFields")
	assert.Contains(t, fields, "duration_ms")
	assert.NotZero(t, fields["bytes"])

	fields, line = logged(t, harness.Failing(ps.Error{Kind: ps.KindScript, Type: "x.Bad", ID: "Odd",
		Message: "what went wrong"}), nil, "DELETE", "/api/ADUser/jdoe", "")
	assert.Equal(t, "error", fields["level"])
	assert.Equal(t, "internal", fields["code"])
	assert.Equal(t, "none", fields["outcome"])
	assert.Contains(t, line, "what went wrong", "the log has the details that the answer hides")

	fields, _ = logged(t, harness.Answering(harness.OK), nil, "GET", "/api/OU/All", "",
		"Auth-Token: Digest secret")
	assert.Equal(t, 401.0, fields["status"])
	assert.Equal(t, "the credential's scheme is neither Bearer nor Basic", fields["cause"])

	fields, _ = logged(t, harness.Answering(harness.OK), nil, "GET", "/api/nothing?Password=geheim", "")
	assert.Equal(t, 404.0, fields["status"])
	assert.Equal(t, "", fields["route"])
}

func TestAClientThatLeavesIsNotLoggedAsAnError(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	runner := &harness.Runner{Do: func(context.Context, ps.Request) (*ps.Result, error) {
		leave()
		return nil, &ps.Error{Kind: ps.KindCancelled}
	}}
	var lines bytes.Buffer
	s := harness.New(t, runner, func(o *gateway.Options) { o.Log.SetOutput(&lines) })
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/OU/All", nil)
	r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	s.Handler().ServeHTTP(httptest.NewRecorder(), r)
	assert.Contains(t, lines.String(), "level=info")
	assert.Contains(t, lines.String(), "client_left=true")
}

func TestLogsHoldNoSecrets(t *testing.T) {
	allow := func(o *gateway.Options) { o.Policy.AllowSecretsInQuery = true }
	for _, c := range []struct{ target, body string }{
		{"/api/ADUser/jdoe?Password=geheim-1", ""},
		{"/api/ADUser/jdoe", `{"Password":"geheim-1"}`},
		{"/api/ADUser/jdoe", `{"Password":"geheim-1","password":"geheim-2"}`},
		{"/api/ADUser/jdoe", `{"Password":"geheim-1\u0001"}`},
		{"/api/ADUser/jdoe", `{"Password":"geheim-1"`},
	} {
		for _, runner := range []ps.Runner{harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"),
			harness.Failing(ps.Error{Kind: ps.KindDied})} {
			_, line := logged(t, runner, allow, "POST", c.target, c.body, "Content-Type: application/json",
				"Authorization: Bearer geheim-token")
			assert.NotContains(t, line, "geheim", c)
			assert.NotContains(t, line, harness.AllToken)
		}
	}
}

func TestPanicsAreLoggedButNotRevealed(t *testing.T) {
	runner := &harness.Runner{Do: func(context.Context, ps.Request) (*ps.Result, error) { panic("deep inside") }}
	fields, line := logged(t, runner, nil, "GET", "/api/OU/All", "")
	assert.Equal(t, 500.0, fields["status"])
	assert.Contains(t, line, "panic: deep inside")
	assert.Contains(t, line, "server_test.go")
}

func TestTrustedProxies(t *testing.T) {
	forwarded := "X-Forwarded-For: 203.0.113.9"
	fields, _ := logged(t, harness.Answering(harness.OK, "[]"), nil, "GET", "/api/OU/All", "", forwarded)
	assert.Equal(t, "192.0.2.1", fields["client"], "no proxy is trusted by default")
	fields, _ = logged(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Policy.TrustedProxies = []string{"192.0.2.0/24"} }, "GET", "/api/OU/All", "",
		forwarded)
	assert.Equal(t, "203.0.113.9", fields["client"])
	fields, _ = logged(t, harness.Answering(harness.OK, "[]"),
		func(o *gateway.Options) { o.Policy.TrustedProxies = []string{"198.51.100.1"} }, "GET", "/api/OU/All", "",
		forwarded)
	assert.Equal(t, "192.0.2.1", fields["client"])
}

func TestRequestsOfTheRunner(t *testing.T) {
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
	s := harness.New(t, runner, func(o *gateway.Options) {
		o.Policy.ReadLimit, o.Policy.ListLimit, o.Policy.WriteLimit = time.Second, 2*time.Second, 3*time.Second
	})
	harness.Call(s, "GET", "/api/ADUser/jdoe/Details", "", "Auth-Token: Bearer "+harness.LimitedToken)
	req := runner.Last(t)
	assert.Equal(t, "Get-GatewayUser", req.Script)
	assert.Equal(t, ps.Directory, req.Lane)
	assert.Equal(t, time.Second, req.Limit)
	assert.False(t, req.Write || req.List)
	assert.Equal(t, ps.List([]string{"OU=Sales,DC=corp,DC=example"}), req.Args["AllowedOU"])
	assert.Equal(t, ps.Null(), req.Args["AllowedZone"])
	assert.NotContains(t, req.Args, "Privileged", "the script does not declare it")

	harness.Call(s, "DELETE", "/api/ADUser/jdoe", "", "Auth-Token: Bearer "+harness.LimitedToken)
	req = runner.Last(t)
	assert.True(t, req.Write)
	assert.Equal(t, 3*time.Second, req.Limit)
	assert.Equal(t, ps.Bool(false), req.Args["Privileged"])
	harness.Call(s, "DELETE", "/api/ADUser/jdoe", "")
	assert.Equal(t, ps.Bool(true), runner.Last(t).Args["Privileged"], "* includes it")

	harness.Call(s, "GET", "/api/ADUser/ListUsers", "")
	req = runner.Last(t)
	assert.True(t, req.List)
	assert.Equal(t, 2*time.Second, req.Limit)
	assert.Equal(t, ps.Bool(true), req.Args["Recursive"])
	assert.NotContains(t, req.Args, "OUPath")
}

func TestRefusalsOfTheAuthenticator(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   schema.Code
		header string
	}{
		{&authn.Refusal{Code: schema.RateLimited, Message: "Too many.", RetryAfter: 90 * time.Second}, schema.RateLimited, "90"},
		{&authn.Refusal{Code: schema.RateLimited, Message: "Too many."}, schema.RateLimited, "1"},
		{&authn.Refusal{Code: schema.InvalidRequest, Message: "Twice."}, schema.InvalidRequest, ""},
		{&authn.Refusal{Code: schema.Overloaded, Message: "Too many.", RetryAfter: 2 * time.Second}, schema.Overloaded, "2"},
		{&authn.Refusal{Code: schema.Unavailable, Message: "No store.", RetryAfter: 5 * time.Second, Reason: "it is broken"}, schema.Unavailable, "5"},
		{errors.New("the store is broken"), schema.Internal, ""},
	} {
		s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) {
			o.Auth = authFunc(func() (*identity.Principal, error) { return nil, c.err })
		})
		w := harness.Call(s, "GET", "/api/OU/All", "")
		assert.Equal(t, c.header, w.Header().Get("Retry-After"))
		assert.Empty(t, w.Header().Get("WWW-Authenticate"))
		assert.NotContains(t, w.Body.String(), "broken")
		assert.Equal(t, c.code, harness.Read(t, w).Error.Code)
	}
}

type authFunc func() (*identity.Principal, error)

func (f authFunc) Authenticate(context.Context, authn.Credential) (*identity.Principal, error) {
	return f()
}

func TestAReadEndsWhenTheClientLeaves(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	s := harness.New(t, &harness.Runner{Do: func(ctx context.Context, _ ps.Request) (*ps.Result, error) {
		close(started)
		select {
		case <-ctx.Done():
			ended <- nil
		case <-time.After(patience):
			ended <- errors.New("the context was not done")
		}
		return nil, &ps.Error{Kind: ps.KindCancelled, Cause: ctx.Err()}
	}}, nil)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/OU/All", nil)
	require.NoError(t, err)
	r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	go func() {
		<-started
		leave()
	}()
	_, err = server.Client().Do(r)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-ended)
}

// TestRunLetsRequestsFinish: when the server is stopped or its listener fails, running requests are
// answered, new ones are refused, and no connection stays open.
func TestRunLetsRequestsFinish(t *testing.T) {
	for name, fails := range map[string]bool{"told to stop": false, "the listener fails": true} {
		t.Run(name, func(t *testing.T) { runLetsRequestsFinish(t, fails) })
	}
}

func runLetsRequestsFinish(t *testing.T, fails bool) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, release, stopping := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := harness.New(t, &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		close(started)
		<-release
		return &harness.OK, req.Records(json.RawMessage("[]"))
	}}, func(o *gateway.Options) { o.Stopping = func() { close(stopping) } })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answered := make(chan string, 1)
	go func() {
		r, _ := http.NewRequest("GET", "http://"+listener.Addr().String()+"/api/OU/All", nil)
		r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
		answer, err := (&http.Client{Transport: transport, Timeout: patience}).Do(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		answered <- string(body)
	}()
	<-started
	if fails {
		require.NoError(t, listener.Close())
	} else {
		stop()
	}
	defer stop()
	require.Eventually(t, func() bool {
		connection, err := net.DialTimeout("tcp", listener.Addr().String(), time.Second)
		if err == nil {
			connection.Close()
		}
		return err != nil
	}, patience, time.Millisecond, "no new requests are taken")
	select {
	case <-stopping:
	case <-time.After(patience):
		t.Error("nobody is told while a request runs")
	}
	close(release)
	assert.JSONEq(t, `{"output":"0 records found","result":[]}`, <-answered)
	if err := <-ended; fails {
		require.ErrorContains(t, err, "gateway: serve")
	} else {
		require.NoError(t, err)
	}
}

func TestRunCutsOffRequestsAfterTheGrace(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, release := make(chan struct{}), make(chan struct{})
	s := harness.New(t, &harness.Runner{Do: func(context.Context, ps.Request) (*ps.Result, error) {
		close(started)
		<-release
		return nil, &ps.Error{Kind: ps.KindDied}
	}}, func(o *gateway.Options) { o.Policy.Grace = 20 * time.Millisecond })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	connection, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\n\r\n",
		harness.AllToken)
	require.NoError(t, err)
	<-started
	stop()
	require.ErrorContains(t, <-ended, "http.shutdownTimeout) were cut off")
	close(release)
}

func TestRunReportsWhyItCannotServe(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorContains(t, s.Run(t.Context(), listener), "serve")
}

func TestVersion(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) {
		o.Version = gateway.Version{Version: "1.2.3", Commit: "abc", Built: "2026-01-02"}
	})
	got := harness.Read(t, harness.Call(s, "GET", "/version", "", "Auth-Token: "))
	assert.Equal(t, "This is adgateway 1.2.3.", got.Output)
	assert.JSONEq(t, `{"version":"1.2.3","engine":"sandbox","features":["dryRun","etag","bin"]}`, string(got.Result[0]), "strangers")
	assert.Equal(t, 401, harness.Call(s, "GET", "/version", "", "Auth-Token: Bearer wrong").Code)
	got = harness.Read(t, harness.Call(s, "GET", "/version", ""))
	assert.Equal(t, "This is adgateway 1.2.3.", got.Output)
	assert.Contains(t, string(got.Result[0]), `"version":"1.2.3","commit":"abc","built":"2026-01-02","go":"go`)
	assert.Contains(t, string(got.Result[0]), `"engine":"sandbox"`)
}

func TestPlacesOfCredentials(t *testing.T) {
	bearer := "Bearer " + harness.AllToken
	for name, c := range map[string]struct {
		headers    []string
		query      string
		allowQuery bool
		status     int
	}{
		"Auth-Token":             {[]string{"Auth-Token: " + bearer}, "", false, 200},
		"Authorization":          {[]string{"Auth-Token: ", "Authorization: " + bearer}, "", false, 200},
		"both alike":             {[]string{"Auth-Token: " + bearer, "Authorization: " + bearer}, "", false, 200},
		"both, different":        {[]string{"Auth-Token: " + bearer, "Authorization: Bearer x"}, "", false, 400},
		"Basic":                  {[]string{"Auth-Token: Basic YmFzaWM6cGFzcw=="}, "", false, 200},
		"Basic, wrong password":  {[]string{"Auth-Token: Basic YmFzaWM6cGFzeA=="}, "", false, 401},
		"query":                  {[]string{"Auth-Token: "}, "?auth-token=Bearer+" + harness.AllToken, false, 400},
		"query, allowed":         {[]string{"Auth-Token: "}, "?auth-token=Bearer+" + harness.AllToken, true, 200},
		"query, allowed, wrong":  {[]string{"Auth-Token: "}, "?Auth-Token=Bearer+x", true, 401},
		"query, twice alike":     {[]string{"Auth-Token: "}, "?Auth-Token=Bearer+" + harness.AllToken + "&auth-token=Bearer+" + harness.AllToken, true, 400},
		"query and header alike": {[]string{"Auth-Token: " + bearer}, "?Auth-Token=Bearer+" + harness.AllToken, true, 200},
		"none":                   {[]string{"Auth-Token: "}, "", true, 401},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.New(t, harness.Answering(harness.OK, "[]"), func(o *gateway.Options) {
				static := harness.Auth(t)
				static.Header.AllowQuery = c.allowQuery
				require.NoError(t, static.AddUser("pass",
					&identity.Principal{Name: "basic", Scopes: []identity.Scope{identity.All}}))
				o.Auth = static
			})
			w := harness.Call(s, "GET", "/api/OU/All"+c.query, "", c.headers...)
			assert.Equal(t, c.status, w.Code, w.Body)
		})
	}
}

func TestOtherMethodsOfOperationalEndpoints(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	for path, allowed := range map[string]string{"/healthz": "GET, HEAD", "/readyz": "GET, HEAD",
		"/version": "GET, HEAD", "/openapi.json": "GET, HEAD", "/docs/": "GET, HEAD"} {
		w := harness.Call(s, "POST", path, "")
		assert.Equal(t, 405, w.Code, path)
		assert.Equal(t, allowed, w.Header().Get("Allow"), path)
		assert.Equal(t, schema.MethodNotAllowed, harness.Read(t, w).Error.Code, path)
	}
	for _, path := range []string{"/healthz", "/readyz", "/version", "/metrics", "/openapi.json",
		"/openapi-3.0.json", "/docs", "/docs/", "/docs/page.js", "/docs/samples.json", "/manual", "/manual/"} {
		got, head := harness.Call(s, "GET", path, ""), harness.Call(s, "HEAD", path, "")
		assert.Equal(t, got.Code, head.Code, path)
		assert.Equal(t, got.Header().Get("Content-Type"), head.Header().Get("Content-Type"), path)
		assert.NotEqual(t, 405, head.Code, path)
	}
	assert.Equal(t, 404, harness.Call(s, "POST", "/nothing", "").Code)
	assert.Equal(t, 404, harness.Call(s, "POST", "/", "").Code)
}
