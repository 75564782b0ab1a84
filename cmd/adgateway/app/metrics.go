package app

import (
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/auditmirror"
	"adgateway/gateway/store"
	"adgateway/gateway/webhooks"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/servers"
	"adgateway/ps/session"
)

// newRegistry returns a registry with the metrics of the Go runtime, the process and the stack, and
// with Options.Collectors.
func newRegistry(s *Stack, o Options) (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range slices.Concat([]prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{s, o},
	}, o.Collectors) {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

// collector reads the metrics from the state of a stack on each scrape.
type collector struct {
	stack   *Stack
	options Options
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(all chan<- *prometheus.Desc) {
	for _, m := range metrics {
		all <- m.desc()
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(all chan<- prometheus.Metric) {
	state := c.state()
	for _, m := range metrics {
		desc := m.desc()
		m.read(state, func(v value, labels ...string) {
			if v.times != nil {
				all <- prometheus.MustNewConstHistogram(desc, uint64(v.times.Count), v.times.Sum.Seconds(),
					buckets(v.times.Within), labels...)
				return
			}
			all <- prometheus.MustNewConstMetric(desc, m.kind, v.number, labels...)
		})
	}
}

func buckets(within map[time.Duration]int64) map[float64]uint64 {
	all := make(map[float64]uint64, len(within))
	for bound, n := range within {
		all[bound.Seconds()] = uint64(n)
	}
	return all
}

// state is the snapshot of a stack that a scrape reads.
type state struct {
	version gateway.Version
	engine  string
	lanes   []laneState
	servers []serverState
	checks  []gateway.Check
	expires time.Time // expiry of the certificate; zero without TLS
	audit   *audit.Log
	store   *store.State // nil without a store
	hooks   []webhooks.Status
	lost    int64              // log entries that could not be written
	mirror  *auditmirror.Stats // nil if the audit log is not copied
	member  *memberState       // nil if the gateway is in no cluster
}

type laneState struct {
	name string
	pool.Stats
	session.Measured
}

type serverState struct {
	kind string
	servers.Status
}

func (c *collector) state() *state {
	s := &state{version: c.options.Version, engine: c.options.Engine, checks: c.stack.checks(),
		expires: c.stack.certificateExpires(), audit: c.stack.Audit, hooks: c.stack.webhookStatus(),
		member: c.stack.kept.memberState()}
	if store := c.stack.kept.sealed(); store != nil {
		now := store.State()
		s.store = &now
	}
	if copies, ok := c.stack.evidence.stats(); ok {
		s.mirror = &copies
	}
	if c.options.LostEntries != nil {
		s.lost = c.options.LostEntries()
	}
	for lane, stats := range c.stack.Pool.Stats() {
		s.lanes = append(s.lanes, laneState{string(lane), stats, c.stack.meters[lane].Stats()})
	}
	directory, dns := c.stack.Servers.Status()
	s.servers = []serverState{{string(ps.Directory), directory}, {string(ps.DNS), dns}}
	return s
}

// metric is one row of the table of metrics.
type metric struct {
	name, help string
	kind       prometheus.ValueType // unused for histograms
	labels     []string
	read       func(*state, emit)
}

func (m metric) desc() *prometheus.Desc { return prometheus.NewDesc(m.name, m.help, m.labels, nil) }

type emit func(v value, labels ...string)

// value is a number or, if times is set, a histogram.
type value struct {
	number float64
	times  *pool.Times
}

func number[T int | int64 | uint64](n T) value { return value{number: float64(n)} }

func boolean(b bool) value {
	if b {
		return value{number: 1}
	}
	return value{}
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// perLane emits one value for each lane.
func perLane(read func(*laneState) value) func(*state, emit) {
	return func(s *state, put emit) {
		for i := range s.lanes {
			put(read(&s.lanes[i]), s.lanes[i].name)
		}
	}
}

// perName emits a value for each lane and name. The given names are emitted
// as zero from the start, so that rate queries see their first increase.
func perName[K ~string](names []K, read func(*laneState) map[K]int64) func(*state, emit) {
	return func(s *state, put emit) {
		for i := range s.lanes {
			counts := read(&s.lanes[i])
			for _, name := range names {
				if _, there := counts[name]; !there {
					counts[name] = 0
				}
			}
			for name, n := range counts {
				put(number(n), s.lanes[i].name, string(name))
			}
		}
	}
}

// perStore emits one value of the store, and nothing without one.
func perStore(read func(store.State) value) func(*state, emit) {
	return func(s *state, put emit) {
		if s.store != nil {
			put(read(*s.store))
		}
	}
}

// perMirror emits one value of the copy of the audit log, and nothing without one.
func perMirror(read func(*auditmirror.Stats) value) func(*state, emit) {
	return func(s *state, put emit) {
		if s.mirror != nil {
			put(read(s.mirror))
		}
	}
}

// perAudit emits one value of the audit log, and nothing without one.
func perAudit(read func(audit.Stats) value) func(*state, emit) {
	return func(s *state, put emit) {
		if s.audit != nil {
			put(read(s.audit.Stats()))
		}
	}
}

var lane = []string{"lane"}

// metrics is the table of a stack's metrics.
var metrics = slices.Concat(stackMetrics, webhookMetrics, clusterMetrics)

var stackMetrics = []metric{
	{"adgateway_build_info", "Always 1; the labels tell what runs.", gauge, []string{"version", "engine", "go"},
		func(s *state, put emit) { put(boolean(true), s.version.Version, s.engine, runtime.Version()) }},
	{"adgateway_check_ok", "1 when a check of /readyz is passed, else 0.", gauge, []string{"check"},
		func(s *state, put emit) {
			for _, check := range s.checks {
				put(boolean(check.OK), check.Name)
			}
		}},
	{"adgateway_check_degraded", "1 when a check of /readyz is passed although something needs attention, else 0.", gauge, []string{"check"},
		func(s *state, put emit) {
			for _, check := range s.checks {
				put(boolean(check.OK && check.Degraded), check.Name)
			}
		}},

	{"adgateway_certificate_expires_timestamp_seconds", "When the server's certificate ends. Without TLS there is none.", gauge, nil,
		func(s *state, put emit) {
			if !s.expires.IsZero() {
				put(number(s.expires.Unix()))
			}
		}},

	{"adgateway_sessions", "PowerShell sessions, by state: starting, idle, or busy, which includes those that are being ended.", gauge, []string{"lane", "state"},
		perName(nil, func(l *laneState) map[string]int64 {
			return map[string]int64{"starting": int64(l.Starting), "idle": int64(l.Idle), "busy": int64(l.Busy)}
		})},
	{"adgateway_sessions_max", "Most sessions that a lane may have.", gauge, lane,
		perLane(func(l *laneState) value { return number(l.Size) })},
	{"adgateway_session_starts_total", "Sessions that were started.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Started) })},
	{"adgateway_session_start_failures_total", "Starts of sessions that failed.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Failed) })},
	{"adgateway_session_start_blocked", "1 while sessions cannot be started, or only tried now and then.", gauge, lane,
		perLane(func(l *laneState) value { return boolean(l.Reason != "") })},
	{"adgateway_session_retirements_total", "Sessions that were ended, by reason: requests, age, memory, died, closed.", counter, []string{"lane", "reason"},
		perName(pool.Ends(), func(l *laneState) map[string]int64 { return l.Ended })},
	{"adgateway_session_kills_total", "Processes of sessions that were killed, by cause.", counter, []string{"lane", "cause"},
		perName(session.Causes(), func(l *laneState) map[session.Cause]int64 { return l.Killed })},
	{"adgateway_session_last_answer_timestamp_seconds", "When a session of the lane last answered; 0 before the first answer.", gauge, lane,
		perLane(func(l *laneState) value {
			if l.Answered.IsZero() {
				return value{}
			}
			return value{number: float64(l.Answered.UnixMilli()) / 1000}
		})},
	{"adgateway_session_frames_total", "Frames that sessions answered with.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Frames) })},
	{"adgateway_session_frame_bytes_total", "Bytes of these frames, their headers left out.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Bytes) })},
	{"adgateway_session_noise_bytes_total", "Bytes on the standard output of sessions that belong to no frame.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Noise) })},

	{"adgateway_script_waiting", "Requests that wait for a session.", gauge, lane,
		perLane(func(l *laneState) value { return number(l.Waiting) })},
	{"adgateway_script_wait_seconds", "Time that requests waited for a session.", 0, lane,
		perLane(func(l *laneState) value { return value{times: &l.Waits} })},
	{"adgateway_script_overloads_total", "Requests that were refused because no session became free.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Overloaded) })},
	{"adgateway_script_runs_total", "Runs of scripts, by result: ok, or the kind of the error.", counter, []string{"lane", "result"},
		perName([]string{"ok"}, func(l *laneState) map[string]int64 { return l.Results })},
	{"adgateway_script_run_seconds", "Time that scripts ran.", 0, lane,
		perLane(func(l *laneState) value { return value{times: &l.Runs} })},
	{"adgateway_script_retries_total", "Reads that were run once more because their session died.", counter, lane,
		perLane(func(l *laneState) value { return number(l.Retries) })},

	{"adgateway_log_lost_entries_total", "Log entries that could not be written.", counter, nil,
		func(s *state, put emit) { put(number(s.lost)) }},

	{"adgateway_audit_ok", "1 when the audit log can be written, else 0: changes are refused. Without an audit log there is none.", gauge, nil,
		perAudit(func(s audit.Stats) value { return boolean(s.OK) })},
	{"adgateway_audit_sequence", "Number of the last line of the audit log.", gauge, nil,
		perAudit(func(s audit.Stats) value { return number(s.Sequence) })},
	{"adgateway_audit_lines_total", "Lines that were written to the audit log.", counter, nil,
		perAudit(func(s audit.Stats) value { return number(s.Lines) })},
	{"adgateway_audit_failures_total", "Attempts to write to the audit log that failed.", counter, nil,
		perAudit(func(s audit.Stats) value { return number(s.Failures) })},
	{"adgateway_audit_owed_lines", "Lines about what was done that are still to be written.", gauge, nil,
		perAudit(func(s audit.Stats) value { return number(s.Owed) })},
	{"adgateway_audit_bytes", "Size of all audit files.", gauge, nil,
		perAudit(func(s audit.Stats) value { return number(s.Used) })},
	{"adgateway_audit_bytes_max", "Space for all audit files (audit.maxTotal); 0: no limit.", gauge, nil,
		perAudit(func(s audit.Stats) value { return number(s.MaxTotal) })},
	{"adgateway_audit_mirror_behind_lines", "Lines of the audit log that are not copied into the store of the cluster yet. Without copies there is none.", gauge, nil,
		perMirror(func(s *auditmirror.Stats) value { return number(s.Behind) })},
	{"adgateway_audit_mirror_behind_seconds", "How long the oldest of these lines has been waiting.", gauge, nil,
		perMirror(func(s *auditmirror.Stats) value {
			if s.Since.IsZero() {
				return value{}
			}
			return value{number: time.Since(s.Since).Seconds()}
		})},
	{"adgateway_audit_counted_calls_total", "Calls without effect that were counted in the audit log, not written one by one.", counter, nil,
		perAudit(func(s audit.Stats) value { return number(s.Suppressed) })},

	{"adgateway_store_ok", "1 while the store can be written, else 0: calls with an Idempotency-Key are refused, and changes are not recorded in the history. Without a store there is none.", gauge, nil,
		perStore(func(s store.State) value { return boolean(s.Failed == nil) })},
	{"adgateway_store_bytes", "Size of the store's file.", gauge, nil,
		perStore(func(s store.State) value { return number(s.Bytes) })},
	{"adgateway_store_writes_total", "Writes to the store that are on the disk.", counter, nil,
		perStore(func(s store.State) value { return number(s.Writes) })},
	{"adgateway_store_failures_total", "Attempts to write to the store that failed.", counter, nil,
		perStore(func(s store.State) value { return number(s.Failures) })},
	{"adgateway_store_swept_total", "Expired values that were removed from the store.", counter, nil,
		perStore(func(s store.State) value { return number(s.Swept) })},

	{"adgateway_server_pinned", "Always 1; the labels tell which server is asked. Without one there is none.", gauge, []string{"kind", "server"},
		func(s *state, put emit) {
			for _, server := range s.servers {
				if server.Pinned != "" {
					put(boolean(true), server.kind, server.Pinned)
				}
			}
		}},
	{"adgateway_server_failovers_total", "Changes to another server.", counter, []string{"kind"},
		func(s *state, put emit) {
			for _, server := range s.servers {
				put(number(server.Failovers), server.kind)
			}
		}},
}
