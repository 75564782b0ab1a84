// Package meters has the metrics that the parts of a gateway share: for changes, jobs, plans, keys,
// reveals, event streams and forwarded calls. The HTTP metrics are in package transport. No label
// contains anything that a caller sent.
package meters

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/figures"
	"adgateway/ps"
)

// Meters count the outcomes of calls. They are safe for concurrent use.
type Meters struct {
	forwarded   *prometheus.CounterVec
	incomplete  *prometheus.CounterVec
	jobsEnded   *prometheus.CounterVec
	jobItems    *prometheus.CounterVec
	unrecorded  prometheus.Counter
	reveals     *prometheus.CounterVec
	manyReveals prometheus.Counter
	hour        figures.Hour
}

// New returns meters that have counted nothing. [Meters.Register] publishes them.
func New() *Meters {
	m := &Meters{
		forwarded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_forwarded_total",
			Help: "Calls that were sent to the gateway that leads, by outcome: forwarded, not_leader or unknown; " +
				"and tries that were retried.",
		}, []string{"outcome"}),
		incomplete: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_changes_incomplete_total",
			Help: "Changes of which only a part was made, or of which it is unknown whether they were made, " +
				"by outcome; the audit names them.",
		}, []string{"outcome"}),
		jobsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_jobs_ended_total",
			Help: "Jobs that ended, by their state.",
		}, []string{"state"}),
		jobItems: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "adgateway_job_items_total",
			Help: "Items of jobs that were called, by outcome; held ones are called again.",
		}, []string{"state"}),
		unrecorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "adgateway_changes_unrecorded_total",
			Help: "Changes that could not be recorded in the history; the audit has them.",
		}),
	}
	m.reveals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "adgateway_reveals_total",
		Help: "Passwords of local administrators and recovery keys that were asked for, by outcome: " +
			"shown or failed; the audit names who and why.",
	}, []string{"outcome"})
	m.manyReveals = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "adgateway_reveals_many_total",
		Help: "Times that one caller had seen half of the secrets that it may see in an hour, or all; " +
			"the log names it.",
	})
	for _, outcome := range []string{"shown", "failed"} {
		m.reveals.WithLabelValues(outcome)
	}
	for _, state := range []jobstate.Job{jobstate.Done, jobstate.Failed, jobstate.Cancelled} {
		m.jobsEnded.WithLabelValues(string(state))
	}
	for _, outcome := range []hop.Outcome{hop.Forwarded, hop.Retried, hop.NotLeader, hop.Unknown} {
		m.forwarded.WithLabelValues(string(outcome))
	}
	for _, outcome := range incompleteOutcomes { // so the first outcome is visible as an increase
		m.incomplete.WithLabelValues(string(outcome))
	}
	return m
}

// incompleteOutcomes are the outcomes of changes that an administrator must examine.
var incompleteOutcomes = []ps.Outcome{ps.OutcomePartial, ps.OutcomeUnknown}

// Parts are the parts of a gateway that have figures of their own.
type Parts struct {
	Streams *call.Streams
	Plans   *plan.Plans       // nil if none are kept
	Keys    *idempotency.Keys // nil if none are kept
	Jobs    *jobs.Manager     // nil if there are none
}

// Register adds the meters and the figures of the parts to a registry.
func (m *Meters) Register(with *prometheus.Registry, of Parts) error {
	streams := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "adgateway_event_streams",
		Help: "Streams of events that are open.",
	}, func() float64 { return float64(of.Streams.Open()) })
	for _, collector := range []prometheus.Collector{
		streams, m.forwarded, m.incomplete, m.jobsEnded, m.jobItems, m.unrecorded, m.reveals, m.manyReveals,
	} {
		if err := with.Register(collector); err != nil {
			return fmt.Errorf("gateway: metrics: %w", err)
		}
	}
	faults := []error{registerPlans(with, of.Plans)}
	if of.Keys != nil {
		faults = append(faults, registerKeys(with, of.Keys))
	}
	if of.Jobs != nil {
		faults = append(faults, registerJobs(with, of.Jobs))
	}
	return errors.Join(faults...)
}

// registerPlans adds the numbers of plans that were made, were applied, or had drifted.
func registerPlans(with *prometheus.Registry, plans *plan.Plans) error {
	for event, number := range map[string]func(plan.Stats) int64{
		"made":    func(s plan.Stats) int64 { return s.Made },
		"applied": func(s plan.Stats) int64 { return s.Applied },
		"drifted": func(s plan.Stats) int64 { return s.Drifted },
	} {
		counter := prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "adgateway_plans_total",
			Help: "Plans of dry runs, by what happened to them: made, applied, " +
				"or drifted when they were to be applied.",
			ConstLabels: prometheus.Labels{"event": event},
		}, func() float64 { return float64(number(plans.Stats())) })
		if err := with.Register(counter); err != nil {
			return fmt.Errorf("gateway: metrics: %w", err)
		}
	}
	return nil
}

// registerKeys adds the current figures of keys.
func registerKeys(with *prometheus.Registry, keys *idempotency.Keys) error {
	refused := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "adgateway_idempotency_refusals_total",
		Help: "Calls that were refused because their credential has as many keys as it may.",
	}, func() float64 { return float64(keys.Refused()) })
	used := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "adgateway_idempotency_keys",
		Help: "Keys of the credential that has most, of those that used one since the start; " +
			"those that expired since they were counted are among them.",
	}, func() float64 { return float64(keys.Most()) })
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "adgateway_idempotency_keys_max",
		Help: "Keys that one credential may have.",
	})
	limit.Set(float64(bounds.Keys.Own))
	if err := errors.Join(with.Register(used), with.Register(limit), with.Register(refused)); err != nil {
		return fmt.Errorf("gateway: metrics: %w", err)
	}
	return nil
}

// registerJobs adds the current figures of jobs.
func registerJobs(with *prometheus.Registry, of *jobs.Manager) error {
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "adgateway_jobs_open",
		Help: "Jobs that have not ended: ready, held, running and paused ones.",
	}, func() float64 {
		n, _ := of.Open()
		return float64(n)
	})
	items := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "adgateway_job_items_open",
		Help: "Items of these jobs that have not ended.",
	}, func() float64 {
		_, n := of.Open()
		return float64(n)
	})
	if err := errors.Join(with.Register(open), with.Register(items)); err != nil {
		return fmt.Errorf("gateway: metrics: %w", err)
	}
	return nil
}

// Revealed counts a run of a row that reveals secrets. many reports whether the caller has used half or all
// of its hourly limit.
func (m *Meters) Revealed(outcome string, many bool) {
	m.reveals.WithLabelValues(outcome).Inc()
	if many {
		m.manyReveals.Inc()
	}
}

// Answered counts an answered call, and whether it made a change in part or with an unknown outcome. err is
// the error of the call, or nil on success.
func (m *Meters) Answered(op *ops.Operation, status int, err error) {
	m.hour.Add(time.Now(), status)
	if f := problem.Of(err); f != nil && op.Effect.Writes() && slices.Contains(incompleteOutcomes, f.Outcome) {
		m.incomplete.WithLabelValues(string(f.Outcome)).Inc()
	}
}

// LastHour returns the number of answered calls in each minute of the last hour.
func (m *Meters) LastHour() []figures.Minute { return m.hour.Last(time.Now()) }

// Forwarded counts a call that was sent to the leading gateway.
func (m *Meters) Forwarded(outcome hop.Outcome) { m.forwarded.WithLabelValues(string(outcome)).Inc() }

// JobEnded counts a job that has ended.
func (m *Meters) JobEnded(state jobstate.Job) { m.jobsEnded.WithLabelValues(string(state)).Inc() }

// JobItem counts an item that was called, by its resulting state.
func (m *Meters) JobItem(state string) { m.jobItems.WithLabelValues(state).Inc() }

// Unrecorded counts a change that is missing in the history.
func (m *Meters) Unrecorded() { m.unrecorded.Inc() }
