package transport

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/readiness"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// healthz answers for as long as the process runs.
func (s *Server) healthz(x *exchange) {
	x.sendRecords(http.StatusOK, "The gateway is running.", []any{struct {
		Status string `json:"status"`
	}{"ok"}})
}

// readyz reports for each check whether requests can be served. A problem that does not keep requests from
// being served is reported as degraded. Only callers with ops:read see the reasons. If the request names a
// lane, only the checks that affect the lane count.
func (s *Server) readyz(x *exchange) {
	lane := x.c.Query(laneParam)
	if !slices.Contains(readyLanes, lane) && lane != "" {
		f := problem.New(schema.InvalidRequest, "%s must be one of %s.", laneParam, strings.Join(readyLanes, ", "))
		f.Details = []problem.Detail{{Field: laneParam,
			Message: "must be one of " + strings.Join(readyLanes, ", ")}}
		x.fail(f)
		return
	}
	var checks []readiness.Check
	if s.Ready != nil {
		checks = s.Ready(x.c.Request.Context())
	}
	reasons := false
	if x.credential.Given() {
		var failed error
		x.principal, failed = x.authenticate(identity.OpsRead)
		switch {
		case failed == nil:
			reasons = x.principal.Has(identity.OpsRead)
		case problem.Of(failed).Code == schema.Unavailable: // the check of the credential store reports it
		default:
			x.fail(failed)
			return
		}
	}
	type line struct {
		Name     string  `json:"name"`
		OK       bool    `json:"ok"`
		Degraded bool    `json:"degraded,omitempty"`
		Reason   *string `json:"reason,omitempty"`
	}
	status, output := http.StatusOK, "The gateway is ready."
	records := []any{}
	changes := lane == changesLane || lane == leaderLane
	if lane == leaderLane {
		checks = append(checks, readiness.Check{Name: leaderLane, OK: s.Hop == nil || s.Hop.Leads()})
	}
	for _, check := range checks {
		switch {
		case changes && check.NoChanges:
			check.OK = false
		case lane != "" && !changes && check.Lane != "" && string(check.Lane) != lane:
			continue
		}
		record := line{Name: check.Name, OK: check.OK, Degraded: check.Degraded && check.OK}
		if reasons {
			record.Reason = &check.Reason
		}
		if !check.OK {
			status, output = schema.Unavailable.Status(), "The gateway is not ready."
			x.c.Header("Retry-After", "5")
		}
		if record.Degraded && status == http.StatusOK {
			output = "The gateway is ready, but degraded: something needs attention."
		}
		records = append(records, record)
	}
	x.sendRecords(status, output, records)
}

// laneParam is the parameter of /readyz that names the calls that the client wants to send, and readyLanes
// are its values. Load balancers can use it to send changes, or calls for one kind of server, to gateways
// that can serve them.
const (
	laneParam   = "lane"
	changesLane = "changes"
	leaderLane  = "leader" // only the gateway that makes changes itself is ready
)

var readyLanes = []string{string(ps.Directory), string(ps.DNS), changesLane, leaderLane}

// version reports the version and the engine. It does not show build details to unknown callers.
func (s *Server) version(x *exchange) {
	type build struct {
		Commit string `json:"commit"`
		Built  string `json:"built"`
		Go     string `json:"go"`
	}
	shown := struct {
		Version string `json:"version"`
		*build
		Engine string `json:"engine"`
		// Features are features that an older gateway would not honor.
		Features []string `json:"features"`
	}{Version: s.Version.Version, Engine: s.Engine, Features: s.Features}
	if x.credential.Given() {
		var failed error
		x.principal, failed = x.authenticate(identity.OpsRead)
		switch {
		case failed == nil:
			shown.build = &build{s.Version.Commit, s.Version.Built, runtime.Version()}
		case problem.Of(failed).Code == schema.Unavailable: // no caller can be authenticated at the moment
		default:
			x.fail(failed)
			return
		}
	}
	x.sendRecords(http.StatusOK, "This is adgateway "+cmp.Or(s.Version.Version, "(development)")+".",
		[]any{shown})
}

func (x *exchange) sendRecords(status int, output string, records []any) {
	x.send(status, schema.JSON(struct {
		Output string `json:"output"`
		Result []any  `json:"result"`
	}{output, records}))
}
