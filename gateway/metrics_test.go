package gateway_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestRequestsAreCounted: requests appear in the metrics, and nothing that a client sends becomes a
// label.
func TestRequestsAreCounted(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"), nil)
	for _, c := range []struct{ method, path, header string }{
		{"GET", "/api/aduser/jdoe/details", ""},
		{"GET", "/api/ADUser/other/Details", ""},
		{"GET", "/api/ADUser/jdoe/Details?No=1", ""},
		{"GET", "/api/secret-path", ""},
		{"TRACE", "/api/ADUser/jdoe/Details", ""},
		{"GET", "/healthz", ""},
		{"GET", "/api/ADUser/jdoe/Details", "Auth-Token: Bearer made-up"},
		{"GET", "/api/ADUser/jdoe/Details", "Auth-Token: Bearer " + harness.OpsToken},
		{"GET", "/api/ADUser/jdoe/Details?Auth-Token=x", ""},
		{"GET", "/api/ADUser/jdoe/Details", "Origin: https://evil.example"},
	} {
		harness.Call(s, c.method, c.path, "", c.header)
	}
	for _, c := range []struct {
		want   float64
		labels [4]string
	}{
		{2, [4]string{"user.get", "adgateway", "2xx", "ok"}},
		{2, [4]string{"user.get", "adgateway", "4xx", "invalid_request"}},
		{1, [4]string{"user.get", "adgateway", "4xx", "unauthenticated"}},
		{1, [4]string{"user.get", "adgateway", "4xx", "forbidden"}},
		{1, [4]string{"none", "adgateway", "4xx", "not_found"}},
		{1, [4]string{"none", "adgateway", "4xx", "method_not_allowed"}},
		{1, [4]string{"healthz", "adgateway", "2xx", "ok"}},
	} {
		assert.Equal(t, c.want, harness.Metric(t, s, requests(c.labels[0], c.labels[1], c.labels[2], c.labels[3])),
			c.labels)
	}
	for _, reason := range []string{"unauthenticated", "scope", "malformed", "cross_site"} {
		assert.EqualValues(t, 1, harness.Metric(t, s, `adgateway_http_refusals_total{reason="`+reason+`"}`), reason)
	}
	assert.EqualValues(t, 1, harness.Metric(t, s, "adgateway_http_requests_in_flight"), "that of the metrics")
	text := harness.Call(s, "GET", "/metrics", "").Body.String()
	for _, sent := range []string{"jdoe", "secret-path", "made-up", "evil", "TRACE"} {
		assert.NotContains(t, text, sent)
	}
}

func TestAFailedRunIsCountedByItsCode(t *testing.T) {
	s := harness.New(t, harness.Failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown}), nil)
	harness.Call(s, "DELETE", "/api/ADUser/jdoe", "")
	assert.EqualValues(t, 1, harness.Metric(t, s, requests("user.delete", "adgateway", "5xx", "timeout")))
	assert.EqualValues(t, 1, harness.Metric(t, s, `adgateway_http_request_duration_seconds_count{operation="user.delete"}`))
	assert.EqualValues(t, 1, harness.Metric(t, s, `adgateway_changes_incomplete_total{outcome="unknown"}`))
	assert.EqualValues(t, 0, harness.Metric(t, s, `adgateway_changes_incomplete_total{outcome="partial"}`))
}

// requests returns the name of a request counter in the metrics.
func requests(operation, protocol, class, code string) string {
	return fmt.Sprintf("adgateway_http_requests_total{class=%q,code=%q,operation=%q,protocol=%q}", class, code,
		operation, protocol)
}

func TestWhoMayReadTheMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		open          bool
		peer, headers []string
		status        int
	}{
		"ops:read":                   {false, []string{"192.0.2.1:5"}, []string{"Auth-Token: Bearer " + harness.OpsToken}, 200},
		"without credential":         {true, []string{"192.0.2.1:5"}, nil, 401},
		"without the scope":          {true, []string{"192.0.2.1:5"}, []string{"Auth-Token: Bearer " + harness.ReadToken}, 403},
		"this machine":               {true, []string{"127.0.0.1:5", "[::1]:5", "[::ffff:127.0.0.1]:5"}, nil, 200},
		"this machine, closed":       {false, []string{"127.0.0.1:5", "[::1]:5"}, nil, 401},
		"this machine, unknown":      {true, []string{"127.0.0.1:5"}, []string{"Auth-Token: Bearer made-up"}, 401},
		"this machine, other scopes": {true, []string{"127.0.0.1:5"}, []string{"Auth-Token: Bearer " + harness.ReadToken}, 403},
		"a proxy on this machine":    {true, []string{"127.0.0.1:5"}, []string{"X-Forwarded-For: 192.0.2.1"}, 401},
		"a proxy of another kind":    {true, []string{"127.0.0.1:5"}, []string{"Forwarded: for=127.0.0.1"}, 401},
		"this machine, by address":   {true, []string{"127.0.0.1:5", "[::1]:5"}, []string{"Host: 127.0.0.1:8080"}, 200},
		"this machine, by IPv6":      {true, []string{"[::1]:5"}, []string{"Host: [::1]"}, 200},
		"a listed host":              {true, []string{"127.0.0.1:5"}, []string{"Host: portal.corp.example"}, 200},
		"a name made to resolve":     {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example"}, 401},
		"its own page":               {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example", "Origin: http://evil.example"}, 401},
		"its own page, credential":   {true, []string{"127.0.0.1:5"}, []string{"Host: evil.example", "Auth-Token: Bearer " + harness.OpsToken}, 200},
		"another web site":           {true, []string{"127.0.0.1:5"}, []string{"Origin: https://evil.example"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) {
				o.OpenMetrics = c.open
				o.Policy.TrustedProxies = []string{"127.0.0.1"}
				o.Policy.Origins = []string{"https://portal.corp.example"}
			})
			for _, peer := range c.peer {
				w := harness.Call(s, "GET", "/metrics", "",
					append([]string{"Auth-Token: ", "Host: localhost:8080", "From-Peer: " + peer}, c.headers...)...)
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
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "of_another_package", Help: "x"},
		func() float64 { return 7 }))
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) { o.Metrics = registry })
	assert.Contains(t, harness.Call(s, "GET", "/metrics", "").Body.String(), "of_another_package 7\n")
	o := harness.Options(t, s.Runner)
	o.Metrics = registry
	_, err := gateway.New(o)
	require.ErrorContains(t, err, "metrics")
}
