package gateway

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// TestRequestsAreCounted also checks that nothing a client sends becomes a label.
func TestRequestsAreCounted(t *testing.T) {
	s := newTestServer(t, answering(okResult, "["+sample(schema.User)+"]"), nil)
	for _, c := range []struct{ method, path, header string }{
		{"GET", "/api/aduser/jdoe/details", ""},
		{"GET", "/api/ADUser/other/Details", ""},
		{"GET", "/api/ADUser/jdoe/Details?No=1", ""},
		{"GET", "/api/secret-path", ""},
		{"TRACE", "/api/ADUser/jdoe/Details", ""},
		{"GET", "/healthz", ""},
		{"GET", "/api/ADUser/jdoe/Details", "Auth-Token: Bearer made-up"},
		{"GET", "/api/ADUser/jdoe/Details", "Auth-Token: Bearer " + opsToken},
		{"GET", "/api/ADUser/jdoe/Details?Auth-Token=x", ""},
		{"GET", "/api/ADUser/jdoe/Details", "Origin: https://evil.example"},
	} {
		call(s, c.method, c.path, "", c.header)
	}
	for _, c := range []struct {
		want   float64
		labels []string
	}{
		{2, []string{"user.get", ownProtocol, "2xx", "ok"}},
		{2, []string{"user.get", ownProtocol, "4xx", "invalid_request"}},
		{1, []string{"user.get", ownProtocol, "4xx", "unauthenticated"}},
		{1, []string{"user.get", ownProtocol, "4xx", "forbidden"}},
		{1, []string{"none", ownProtocol, "4xx", "not_found"}},
		{1, []string{"none", ownProtocol, "4xx", "method_not_allowed"}},
		{1, []string{"healthz", ownProtocol, "2xx", "ok"}},
	} {
		assert.Equal(t, c.want, testutil.ToFloat64(s.meters.requests.WithLabelValues(c.labels...)), c.labels)
	}
	for _, reason := range []problem.Reason{problem.ReasonUnauthenticated, problem.ReasonScope, problem.ReasonMalformed, problem.ReasonOtherSites} {
		assert.EqualValues(t, 1, testutil.ToFloat64(s.meters.refused.WithLabelValues(string(reason))), reason)
	}
	assert.Zero(t, testutil.ToFloat64(s.meters.running))
	text := call(s, "GET", "/metrics", "").Body.String()
	for _, sent := range []string{"jdoe", "secret-path", "made-up", "evil", "TRACE"} {
		assert.NotContains(t, text, sent)
	}
}

func TestAFailedRunIsCountedByItsCode(t *testing.T) {
	s := newTestServer(t, failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown}), nil)
	call(s, "DELETE", "/api/ADUser/jdoe", "")
	assert.EqualValues(t, 1, testutil.ToFloat64(s.meters.requests.WithLabelValues("user.delete", ownProtocol, "5xx", "timeout")))
	assert.Equal(t, 1, testutil.CollectAndCount(s.meters.duration))
	assert.EqualValues(t, 1, testutil.ToFloat64(s.meters.incomplete.WithLabelValues("unknown")))
	assert.EqualValues(t, 0, testutil.ToFloat64(s.meters.incomplete.WithLabelValues("partial")))
}

func TestWhoMayReadTheMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		open          bool
		peer, headers []string
		status        int
	}{
		"ops:read":                   {false, []string{"192.0.2.1:5"}, []string{"Auth-Token: Bearer " + opsToken}, 200},
		"without credential":         {true, []string{"192.0.2.1:5"}, nil, 401},
		"without the scope":          {true, []string{"192.0.2.1:5"}, []string{"Auth-Token: Bearer " + readToken}, 403},
		"this machine":               {true, []string{"127.0.0.1:5", "[::1]:5", "[::ffff:127.0.0.1]:5"}, nil, 200},
		"this machine, closed":       {false, []string{"127.0.0.1:5", "[::1]:5"}, nil, 401},
		"this machine, unknown":      {true, []string{"127.0.0.1:5"}, []string{"Auth-Token: Bearer made-up"}, 401},
		"this machine, other scopes": {true, []string{"127.0.0.1:5"}, []string{"Auth-Token: Bearer " + readToken}, 403},
		"a proxy on this machine":    {true, []string{"127.0.0.1:5"}, []string{"X-Forwarded-For: 192.0.2.1"}, 401},
		"a proxy of another kind":    {true, []string{"127.0.0.1:5"}, []string{"Forwarded: for=127.0.0.1"}, 401},
		"this machine, by address":   {true, []string{"127.0.0.1:5", "[::1]:5"}, []string{"Host: 127.0.0.1:8080"}, 200},
		"this machine, by IPv6":      {true, []string{"[::1]:5"}, []string{"Host: [::1]"}, 200},
		"a listed host":              {true, []string{"127.0.0.1:5"}, []string{"Host: portal.corp.example"}, 200},
		"a name made to resolve":     {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example"}, 401},
		"its own page":               {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example", "Origin: http://evil.example"}, 401},
		"its own page, credential":   {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example", "Auth-Token: Bearer " + opsToken}, 200},
		"another web site":           {true, []string{"127.0.0.1:5"}, []string{"Origin: https://evil.example"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, answering(okResult), func(o *Options) {
				o.OpenMetrics = c.open
				o.Policy.TrustedProxies = []string{"127.0.0.1"}
				o.Policy.Origins = []string{"https://portal.corp.example"}
			})
			for _, peer := range c.peer {
				w := call(s, "GET", "/metrics", "", append([]string{"Auth-Token: ", "Host: localhost:8080", "From-Peer: " + peer}, c.headers...)...)
				assert.Equal(t, c.status, w.Code, "%s: %s", peer, w.Body)
				if c.status == http.StatusOK {
					assert.Contains(t, w.Body.String(), "adgateway_http_requests_in_flight 1\n")
					assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
				} else {
					assert.NotContains(t, w.Body.String(), "adgateway_http")
				}
			}
		})
	}
}

func TestARegistryServesOneServer(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "of_another_package", Help: "x"}, func() float64 { return 7 }))
	s := newTestServer(t, answering(okResult), func(o *Options) { o.Metrics = registry })
	assert.Contains(t, call(s, "GET", "/metrics", "").Body.String(), "of_another_package 7\n")
	_, err := New(Options{Runner: s.Runner, Auth: s.Auth, Log: s.Log, Scripts: s.Options.Scripts, Metrics: registry})
	require.ErrorContains(t, err, "metrics")
}
