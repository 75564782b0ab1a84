package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adgateway/gateway/auth"
)

// meters are what the server itself counts of requests. No label holds anything
// that a client sent: operations are rows of the table, codes those of the API.
type meters struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	running  prometheus.Gauge
	refused  *prometheus.CounterVec

	handshakes prometheus.Counter
}

// Labels of requests that have no operation, or no error.
const (
	noOperation = "none"        // what no route matches
	allWell     = "ok"          // no error
	clientLeft  = "client_left" // the client went away before the answer
)

func newMeters() *meters {
	return &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_http_requests_total",
			Help: "Requests that were answered, by operation, class of the status and error code.",
		}, []string{"operation", "class", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "adgateway_http_request_duration_seconds",
			Help:    "Time from a request to the end of its answer, by operation.",
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

// A refusalReason says why a request was refused for who sent it.
type refusalReason string

// The reasons.
const (
	refusedMalformed  refusalReason = "malformed"       // credentials that contradict each other, or at a wrong place
	refusedUnknown    refusalReason = "unauthenticated" // no valid credential
	refusedRate       refusalReason = "rate_limited"
	refusedBusy       refusalReason = "busy"        // too many credentials are being checked
	refusedStore      refusalReason = "unavailable" // credentials cannot be read
	refusedScope      refusalReason = "scope"
	refusedOtherSites refusalReason = "cross_site"
)

func (m *meters) register(with *prometheus.Registry) error {
	for _, collector := range []prometheus.Collector{m.requests, m.duration, m.running, m.refused, m.handshakes} {
		if err := with.Register(collector); err != nil {
			return fmt.Errorf("gateway: metrics: %w", err)
		}
	}
	return nil
}

// measure counts each request.
func (s *Server) measure(c *gin.Context) {
	start := time.Now()
	s.meters.running.Inc()
	defer func() {
		s.meters.running.Dec()
		n := note(c)
		status, code := c.Writer.Status(), allWell
		if n.failure != nil {
			status, code = n.failure.code.Status(), string(n.failure.code)
			if c.Request.Context().Err() != nil {
				code = clientLeft
			}
			if n.failure.refused != "" {
				s.meters.refused.WithLabelValues(string(n.failure.refused)).Inc()
			}
		}
		operation := operationOf(c)
		s.meters.requests.WithLabelValues(operation, strconv.Itoa(status/100)+"xx", code).Inc()
		s.meters.duration.WithLabelValues(operation).Observe(time.Since(start).Seconds())
	}()
	c.Next()
}

// operationOf is the id of the row that a request was for, or the name of an
// operational endpoint.
func operationOf(c *gin.Context) string {
	if op := note(c).op; op != nil {
		return op.ID
	}
	if path := c.FullPath(); path != "" {
		return strings.TrimPrefix(path, "/")
	}
	return noOperation
}

// metrics answers with the metrics as Prometheus reads them.
func (s *Server) metrics() gin.HandlerFunc {
	answer := promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{ErrorLog: s.Log, ErrorHandling: promhttp.ContinueOnError})
	return func(c *gin.Context) {
		if !s.OpenMetrics || auth.Carries(c.Request) || !local(c.Request) {
			principal, failed := s.authenticate(c)
			if failed == nil {
				failed = lacks(principal, auth.OpsRead)
			}
			if failed != nil {
				s.writeFailure(c, failed)
				return
			}
		}
		limitWrite(c, time.Now().Add(note(c).sendTimeout))
		answer.ServeHTTP(c.Writer, c.Request)
	}
}

// local tells whether a request comes from this machine and not through a proxy.
func local(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	return auth.Peer(r).IsLoopback()
}
