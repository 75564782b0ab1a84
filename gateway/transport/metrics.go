package transport

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
)

// meters are the metrics of requests. No label contains anything that a client sent: operations
// come from the table, and codes from the API.
type meters struct {
	requests   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	running    prometheus.Gauge
	refused    *prometheus.CounterVec
	handshakes prometheus.Counter
}

// Labels of requests without an operation, a foreign protocol or an error.
const (
	noOperation = "none" // no route matches
	ownProtocol = "adgateway"
	noError     = "ok"
	clientLeft  = "client_left" // before the answer
)

func newMeters() *meters {
	return &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_http_requests_total",
			Help: "Requests that were answered, by operation, protocol, class of the status and error code.",
		}, []string{"operation", "protocol", "class", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "adgateway_http_request_duration_seconds",
			Help: "Time from a request to the end of its answer, by operation; of a stream of events, to its " +
				"beginning.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"operation"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "adgateway_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_http_refusals_total",
			Help: "Requests that were refused for who sent them, by reason.",
		}, []string{"reason"}),
		handshakes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "adgateway_tls_handshake_failures_total",
			Help: "TLS handshakes that clients began and that failed; the log has each at the level debug.",
		}),
	}
}

func (m *meters) register(with *prometheus.Registry) error {
	for _, collector := range []prometheus.Collector{m.requests, m.duration, m.running, m.refused,
		m.handshakes} {
		if err := with.Register(collector); err != nil {
			return fmt.Errorf("gateway: metrics: %w", err)
		}
	}
	return nil
}

// measure counts an answered request.
func (s *Server) measure(x *exchange) {
	status, f, left := x.c.Writer.Status(), problem.Of(x.err), x.c.Request.Context().Err() != nil
	if f != nil && (x.op == nil || x.op.Protocol == nil) {
		status = f.Code.Status() // part of an answer may already have been sent
	}
	if x.op != nil {
		s.Answered(x.op, status, x.err)
	}
	operation, protocol, path := noOperation, ownProtocol, x.c.FullPath()
	switch {
	case x.op != nil && x.op.Protocol != nil:
		operation, protocol = x.op.ID, x.op.Protocol.Name
	case x.op != nil:
		operation = x.op.ID
	case path != "": // an operational endpoint
		operation = strings.TrimPrefix(path, "/")
	}
	answeredAt := time.Now()
	if !x.answeredAt.IsZero() {
		answeredAt = x.answeredAt // the duration of a stream depends only on its client
	}
	s.meters.count(operation, protocol, status, f, left, answeredAt.Sub(x.startedAt))
}

// count counts an answered request. f is nil if it succeeded, and left reports whether the client has left
// before the answer.
func (m *meters) count(
	operation, protocol string, status int, f *problem.Error, left bool, took time.Duration,
) {
	code := noError
	switch {
	case f == nil:
	case left:
		code = clientLeft
	default:
		code = string(f.Code)
	}
	if f != nil && f.Reason != "" {
		m.refused.WithLabelValues(string(f.Reason)).Inc()
	}
	m.requests.WithLabelValues(operation, protocol, strconv.Itoa(status/100)+"xx", code).Inc()
	m.duration.WithLabelValues(operation).Observe(took.Seconds())
}

// metrics returns the handler that serves the metrics to Prometheus.
func (s *Server) metrics() func(*exchange) {
	answer := promhttp.HandlerFor(s.Metrics,
		promhttp.HandlerOpts{ErrorLog: s.Log, ErrorHandling: promhttp.ContinueOnError})
	return func(x *exchange) {
		if !s.OpenMetrics || x.credential.Given() || !local(x.c.Request, x.policy.Origins) {
			var failed error
			if x.principal, failed = x.authenticate(identity.OpsRead); failed == nil {
				failed = call.Authorize(x.principal, identity.OpsRead)
			}
			if failed != nil {
				x.fail(failed)
				return
			}
		}
		x.limitSend()
		answer.ServeHTTP(x.c.Writer, x.c.Request)
	}
}

// local reports whether a request comes from this machine, not through a proxy, and is addressed to
// this machine. A page whose name was made to resolve to this machine (DNS rebinding) sends a
// different Host. Hosts of listed origins are allowed, too.
func local(r *http.Request, origins []string) bool {
	if !localHost(r.Host) && !slices.ContainsFunc(origins,
		func(origin string) bool { return sameHost(origin, r.Host) }) {
		return false
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	return Peer(r).IsLoopback()
}

// localHost reports whether a Host header names this machine.
func localHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback() || strings.EqualFold(name, "localhost")
}
