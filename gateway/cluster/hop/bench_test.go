package hop

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/cluster/clustertest"
)

// BenchmarkHop measures calls over the loopback interface, both to a gateway that forwards them and
// to the leader itself. The difference is the cost of the hop.
func BenchmarkHop(b *testing.B) {
	whole := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	ca := clustertest.NewAuthority(b)
	leader := &chosen{changed: make(chan struct{})}
	server, err := NewServer(&Receiver{Gateway: "gw1", Leader: leader, Peer: members, Next: whole},
		ca.Settings("gw1"))
	if err != nil {
		b.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.ServeTLS(l, "", "") }()
	defer server.Close()
	leader.elect("gw1")
	leader.address = l.Addr().String()
	forwarder := NewForwarder(Options{Gateway: "gw2", Leader: leader, TLS: ca.Client("gw2"), Waiting: 1})
	defer forwarder.Close()
	forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forwarder.Forward(w, r, Origin{Scheme: "http"}, time.Minute)
	}))
	defer forward.Close()
	direct := httptest.NewServer(whole)
	defer direct.Close()

	body := strings.Repeat("x", 1<<10)
	for name, c := range map[string]struct{ url, method, body string }{
		"forwarded GET": {forward.URL, http.MethodGet, ""}, "direct GET": {direct.URL, http.MethodGet, ""},
		"forwarded POST": {forward.URL, http.MethodPost, body}, "direct POST": {direct.URL, http.MethodPost, body},
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				r, err := http.NewRequestWithContext(b.Context(), c.method, c.url, strings.NewReader(c.body))
				if err != nil {
					b.Fatal(err)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if got, err := io.ReadAll(res.Body); err != nil || string(got) != c.body {
					b.Fatalf("%s, %v", got, err)
				}
				_ = res.Body.Close()
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
		})
	}
}
