package gateway

import (
	"cmp"
	"encoding/json"
	"strings"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/ps"
)

// Parameters of the audit line of one record set.
const (
	setName = "DNS_HostName"
	setType = "Type"
)

// auditLines returns the lines of the audit about what a call is about to change: one, or in a row
// that changes record sets along with others one for each set.
func (r *request) auditLines(i *ps.Intent) (lines []audit.Call) {
	if p := r.op.Protocol; p == nil || !p.PerSet {
		return []audit.Call{r.auditCall(r.checked.AuditCall())}
	}
	known := map[string]bool{}
	for _, object := range i.Objects {
		kind, _, _ := strings.Cut(object.Name, " ")
		if known[object.DN+" "+kind] {
			continue
		}
		known[object.DN+" "+kind] = true
		line := r.auditCall(r.checked.AuditCall())
		line.Parameters = map[string]string{setName: object.DN, setType: kind}
		lines = append(lines, line)
	}
	return lines
}

// lineResult returns what became of what one line is about, given that of the whole request.
func (r *request) lineResult(line audit.Call, whole audit.Result) audit.Result {
	if p := r.op.Protocol; p == nil || !p.PerSet {
		return whole
	}
	one := whole
	one.Changes, one.Steps, one.Failed, one.Remains = nil, nil, nil, nil
	if r.result == nil || r.runErr != nil {
		return one
	}
	one.Code, one.Outcome = "", string(ps.OutcomeNone)
	name, kind := line.Parameters[setName], line.Parameters[setType]
	for i := range r.result.Failures {
		failed := &r.result.Failures[i]
		if failed.DN == name+" "+kind {
			one.Code = string(problem.Of(call.Failure(r.op, r.checked.Bound, &failed.Error)).Code)
			return one
		}
	}
	for _, change := range r.result.Changes {
		if change.DN == name && typeOf(change) == kind {
			one.Changes, one.Outcome = []ps.Change{change}, string(ps.OutcomeDone)
		}
	}
	return one
}

// typeOf returns the type of the records that a change is about.
func typeOf(change ps.Change) string {
	var kind string
	_ = json.Unmarshal([]byte(cmp.Or(string(change.After["type"]), string(change.Before["type"]))), &kind) // empty if it has none
	return kind
}
