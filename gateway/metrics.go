package gateway

import (
	"errors"
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
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// meters are the server's own metrics of requests. No label contains anything that a
// client sent: operations are rows of the table, codes those of the API.
type meters struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	running  prometheus.Gauge
	streams  prometheus.Gauge
	refused  *prometheus.CounterVec

	forwarded    *prometheus.CounterVec
	handshakes   prometheus.Counter
	unremembered prometheus.Counter
	jobsEnded    *prometheus.CounterVec
	jobItems     *prometheus.CounterVec
	incomplete   *prometheus.CounterVec
	plans        *prometheus.CounterVec
}

// Labels of requests that have no operation, or no error.
const (
	noOperation = "none" // no route matches
	noError     = "ok"
	clientLeft  = "client_left" // before the answer
)

func newMeters() *meters {
	m := &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_http_requests_total",
			Help: "Requests that were answered, by operation, protocol, class of the status and error code.",
		}, []string{"operation", "protocol", "class", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "adgateway_http_request_duration_seconds",
			Help:    "Time from a request to the end of its answer, by operation; of a stream of events, to its beginning.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"operation"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "adgateway_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "adgateway_event_streams",
			Help: "Streams of events that are open.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_http_refusals_total",
			Help: "Requests that were refused for who sent them, by reason.",
		}, []string{"reason"}),
		forwarded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_forwarded_total",
			Help: "Calls that were sent to the gateway that leads, by what became of them: forwarded, not_leader or unknown; and tries that were retried.",
		}, []string{"outcome"}),
		handshakes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "adgateway_tls_handshake_failures_total",
			Help: "TLS handshakes that clients began and that failed; the log has each at the level debug.",
		}),
		plans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_plans_total",
			Help: "Plans of dry runs, by what happened to them: made, applied, or drifted when they were to be applied.",
		}, []string{"event"}),
		incomplete: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_changes_incomplete_total",
			Help: "Changes of which only a part was made, or of which it is unknown whether they were made, by outcome; the audit names them.",
		}, []string{"outcome"}),
		jobsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_jobs_ended_total",
			Help: "Jobs that ended, by their state.",
		}, []string{"state"}),
		jobItems: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_job_items_total",
			Help: "Items of jobs that were called, by what became of them; held ones are called again.",
		}, []string{"state"}),
		unremembered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "adgateway_changes_unrecorded_total",
			Help: "Changes that could not be recorded in the history; the audit has them.",
		}),
	}
	for _, event := range []string{planMade, planApplied, planDrifted} {
		m.plans.WithLabelValues(event)
	}
	for _, state := range []jobstate.Job{jobstate.Done, jobstate.Failed, jobstate.Cancelled} {
		m.jobsEnded.WithLabelValues(string(state))
	}
	for _, outcome := range []hop.Outcome{hop.Forwarded, hop.Retried, hop.NotLeader, hop.Unknown} {
		m.forwarded.WithLabelValues(string(outcome))
	}
	for _, outcome := range incompleteOutcomes { // so that the first one is an increase
		m.incomplete.WithLabelValues(string(outcome))
	}
	return m
}

// incompleteOutcomes are those of changes that somebody must look at.
var incompleteOutcomes = []ps.Outcome{ps.OutcomePartial, ps.OutcomeUnknown}

// What happens to plans.
const (
	planMade    = "made"
	planApplied = "applied"
	planDrifted = "drifted"
)

func (m *meters) register(with *prometheus.Registry) error {
	for _, collector := range []prometheus.Collector{m.requests, m.duration, m.running, m.streams, m.refused, m.forwarded, m.handshakes, m.unremembered, m.incomplete, m.plans, m.jobsEnded, m.jobItems} {
		if err := with.Register(collector); err != nil {
			return fmt.Errorf("gateway: metrics: %w", err)
		}
	}
	return nil
}

// registerJobs adds what is known of jobs at the moment.
func registerJobs(with *prometheus.Registry, jobs *jobs.Manager) error {
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adgateway_jobs_open", Help: "Jobs that have not ended: ready, held, running and paused ones."}, func() float64 {
		n, _ := jobs.Open()
		return float64(n)
	})
	items := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adgateway_job_items_open", Help: "Items of these jobs that have not ended."}, func() float64 {
		_, n := jobs.Open()
		return float64(n)
	})
	if err := errors.Join(with.Register(open), with.Register(items)); err != nil {
		return fmt.Errorf("gateway: metrics: %w", err)
	}
	return nil
}

// measure counts an answered request.
func (s *Server) measure(x *exchange) {
	status, code := x.c.Writer.Status(), noError
	if f := problem.Of(x.err); f != nil {
		code = string(f.Code)
		if x.op == nil || x.op.Protocol == nil {
			status = f.Code.Status() // an answer may have begun
		}
		if x.c.Request.Context().Err() != nil {
			code = clientLeft
		}
		if f.Reason != "" {
			s.meters.refused.WithLabelValues(string(f.Reason)).Inc()
		}
	}
	if x.op != nil {
		s.answered(x.op, status, x.err)
	}
	operation := x.operation()
	s.meters.requests.WithLabelValues(operation, x.protocolName(), strconv.Itoa(status/100)+"xx", code).Inc()
	answeredAt := time.Now()
	if !x.answeredAt.IsZero() {
		answeredAt = x.answeredAt // how long a stream lasts depends on its client only
	}
	s.meters.duration.WithLabelValues(operation).Observe(answeredAt.Sub(x.startedAt).Seconds())
}

// answered counts an answered request for an operation.
func (s *Server) answered(op *ops.Operation, status int, err error) {
	s.hour.add(time.Now(), status)
	if f := problem.Of(err); f != nil && op.Effect.Writes() && slices.Contains(incompleteOutcomes, f.Outcome) {
		s.meters.incomplete.WithLabelValues(string(f.Outcome)).Inc()
	}
}

// operation returns the id of the operation, or the name of an operational
// endpoint.
func (x *exchange) operation() string {
	if x.op != nil {
		return x.op.ID
	}
	if path := x.c.FullPath(); path != "" {
		return strings.TrimPrefix(path, "/")
	}
	return noOperation
}

// metrics returns the handler that serves the metrics to Prometheus.
func (s *Server) metrics() func(*exchange) {
	answer := promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{ErrorLog: s.Log, ErrorHandling: promhttp.ContinueOnError})
	return func(x *exchange) {
		if !s.OpenMetrics || carries(x.c.Request) || !local(x.c.Request, x.policy.Origins) {
			var failed error
			if x.principal, failed = s.authenticate(x.c.Request); failed == nil {
				failed = call.Authorise(x.principal, identity.OpsRead)
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

// local reports whether a request comes from this machine, not through a proxy, and
// was meant for this machine: a page whose name was made to resolve to it has another
// Host (DNS rebinding). Hosts of listed origins are allowed, too.
func local(r *http.Request, origins []string) bool {
	if !localHost(r.Host) && !slices.ContainsFunc(origins, func(origin string) bool { return sameHost(origin, r.Host) }) {
		return false
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	return transport.Peer(r).IsLoopback()
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
