package call

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/problem"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// holds checks an announcement against the guards of the call and the plan that it applies.
func holds(r *request, i *ps.Intent) error {
	if err := Announced(r.Guards, i); err != nil {
		return err
	}
	return r.applying.Announced(i)
}

// outcomes returns a function that writes the audit's outcome of an announced change. It returns
// nil if the call has no outcome or is not audited.
func outcomes(r *request, status int, raced bool) (put func(patient bool) error) {
	if !r.service.Audited(r.Op) {
		return nil
	}
	whole := sync.OnceValue(func() audit.Result { return auditResult(r, status, raced) })
	return r.run.Outcomes(func(line audit.Call) audit.Result { return lineResult(r, line, whole()) })
}

// conclusion holds a call while its end is being stored and recorded.
type conclusion struct {
	*request
	written chan error // receives the error of writing the audit's outcome; nil if writing has not begun
}

// close stores the end of a call. The audit's outcome of a change is written at the same time,
// except in a cluster, where the outcome may depend on values that other gateways have stored.
//
// An item of a job whose change was made leaves its place to the next item first. Its end then shares the
// wait for the disk with the beginning of that item.
func (c *conclusion) close(answer Answer, err error) write.Closed {
	patient := c.leavesEarly()
	if patient {
		c.Item.Left()
	}
	if !c.service.clustered() {
		if put := outcomes(c.request, c.status(answer, err), false); put != nil {
			c.written = make(chan error, 1)
			go func() { c.written <- put(patient) }()
		}
	}
	return closeChange(c.request, answer, err, patient)
}

// leavesEarly reports whether the next item of a job may begin before the end of this one is stored.
func (c *conclusion) leavesEarly() bool {
	if c.Item == nil || c.Item.Left == nil || c.service.clustered() {
		return false
	}
	return c.run.Running() && c.failure == nil && verdictOf(c.request).Outcome == ps.OutcomeDone
}

// status returns the status of the answer, or 0 for a part, which has no separate answer.
func (c *conclusion) status(answer Answer, err error) int {
	if c.outer != nil {
		return 0
	}
	return Status(c.Op, c.Classic, answer, err)
}

// record records the outcome of an operation, or its refusal, before the first byte of its answer is
// sent. A streamed answer is the exception: it is recorded once it is complete. Answers of changes are
// never streamed.
func (c *conclusion) record(status int, raced bool) {
	var err error
	if c.written != nil {
		err = <-c.written
	} else if put := outcomes(c.request, status, raced); put != nil {
		err = put(false)
	} else if c.service.Audited(c.Op) {
		err = writeOutcome(c.request, status)
	}
	if err != nil {
		c.service.Log.WithError(err).WithField("request_id", c.ID).Error("audit line not written")
		return
	}
	c.run.Audited()
}

// writeOutcome writes the audit line for the outcome of an operation, if it needs one.
func writeOutcome(r *request, status int) (err error) {
	result := auditResult(r, status, false)
	switch {
	case r.failure != nil && isUnrecorded(r.failure):
	case r.replayed, r.resumed: // the change already has its own line
		result.Outcome = string(ps.OutcomeNone)
		err = r.service.Audit.Done(auditCall(r, r.AuditCall()), result, false)
	case r.started && !waited(r.Op, r.runErr):
		err = r.service.Audit.Done(auditCall(r, r.AuditCall()), result, !r.Op.Effect.Writes())
	case r.started, r.failure != nil && r.failure.Code.Status() < http.StatusInternalServerError:
		err = r.service.Audit.Refuse(auditCall(r, r.AuditRefused()), result)
	}
	return err
}

// auditCall completes the description of a call for the audit.
func auditCall(r *request, shown audit.Call) audit.Call {
	shown.Change, shown.PlanCaller = r.run.ID(), r.applying.Maker()
	return shown
}

// auditResult describes the outcome of a call for the audit.
func auditResult(r *request, status int, raced bool) audit.Result {
	record := auditRun(r.result, r.runErr)
	record.Status, record.Server, record.PinEpoch = status, r.server, r.run.PinEpoch()
	record.Duration = time.Since(r.begun)
	if r.DryRun() {
		record.Outcome = string(ps.OutcomeNone)
	}
	switch {
	case raced:
		record.Code = Raced
	case r.notReadBack:
		record.Code = NotReadBack
	}
	if r.failure != nil {
		auditFailure(&record, r.failure)
	}
	return record
}

// Parameters of the audit line of one record set.
const (
	setName = "DNS_HostName"
	setType = "Type"
)

// auditLines returns the audit lines for an announced change: one per record set if the row changes
// several, otherwise one.
func auditLines(r *request, i *ps.Intent) (lines []audit.Call) {
	if p := r.Op.Protocol; p == nil || !p.PerSet {
		return []audit.Call{auditCall(r, r.AuditCall())}
	}
	known := map[string]bool{}
	for _, object := range i.Objects {
		kind, _, _ := strings.Cut(object.Name, " ")
		if known[object.DN+" "+kind] {
			continue
		}
		known[object.DN+" "+kind] = true
		line := auditCall(r, r.AuditCall())
		line.Parameters = map[string]string{setName: object.DN, setType: kind}
		lines = append(lines, line)
	}
	return lines
}

// lineResult returns the outcome for one audit line, given the outcome of the whole request.
func lineResult(r *request, line audit.Call, whole audit.Result) audit.Result {
	if p := r.Op.Protocol; p == nil || !p.PerSet {
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
			one.Code = string(problem.Of(Failure(r.Op, r.Bound, &failed.Error)).Code)
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

// typeOf returns the record type of a change.
func typeOf(change ps.Change) string {
	var kind string
	of := cmp.Or(string(change.After["type"]), string(change.Before["type"]))
	_ = json.Unmarshal([]byte(of), &kind) // kind stays empty if the record has no type
	return kind
}
