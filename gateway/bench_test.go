package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// discarded is an answer that nobody reads.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(status int)      { d.status = status }

// BenchmarkOwn is the gateway's own share of a request, with a runner that answers at
// once and without the HTTP server: routing, parameters, answer, metrics, and the access
// log in each of its formats. The audit is off.
func BenchmarkOwn(b *testing.B) {
	record := "[" + harness.Sample(schema.User) + "]"
	created := ps.Result{Effect: ps.EffectCreated, Server: "dc1.corp.example"}
	for _, c := range []struct {
		name, method, body string
		status             int
		result             ps.Result
	}{
		{"details", "GET", "", 200, harness.OK},
		{"create", "POST", `{"FirstName":"Ada","LastName":"Byron","City":"London","Department":"Sales","JobTitle":"Clerk"}`, 201, created},
	} {
		for name, tune := range map[string]func(*logrus.Logger){
			"text": func(*logrus.Logger) {},
			"json": func(log *logrus.Logger) { log.SetFormatter(&logrus.JSONFormatter{}) },
			"none": func(log *logrus.Logger) { log.SetLevel(logrus.ErrorLevel) },
		} {
			s := harness.New(b, harness.Answering(c.result, record), func(o *gateway.Options) { tune(o.Log) })
			target := strings.TrimSuffix("/api/ADUser/jdoe/Details", map[bool]string{true: "/Details"}[c.method == "POST"])
			request := httptest.NewRequest(c.method, target, nil)
			request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
			request.Header.Set("Content-Type", "application/json")
			body := strings.NewReader("")
			answer := &discarded{header: http.Header{}}
			b.Run(c.name+"/log="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					clear(answer.header)
					body.Reset(c.body)
					if request.Body = http.NoBody; c.body != "" {
						request.Body = io.NopCloser(body)
					}
					s.Handler().ServeHTTP(answer, request)
				}
				require.Equal(b, c.status, answer.status)
			})
		}
	}
}
