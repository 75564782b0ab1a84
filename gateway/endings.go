package gateway

import (
	"encoding/json"
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// A script that has begun to write goes on when the term of its gateway ends. Its gateway
// closes the change at the new leader, if that has not judged it yet, and tells the leader
// in any case how the run has ended.

// ending is what a gateway tells of the end of a run.
type ending struct {
	Process journal.Process `json:"process"`           // that has run it
	Verdict *write.Verdict  `json:"verdict,omitempty"` // nil: it is not known what became of the change
	Result  *ps.Result      `json:"result,omitempty"`  // of the script; nil: it had none, or it is too long
	Record  *changes.Record `json:"record,omitempty"`  // of the change; nil: it is too long
}

// mostTold is how many bytes are told of an ending. More is left out.
const mostTold = 128 << 10

// tell tells the leader how the run of a change has ended.
func (s *Server) tell(id string, e ending) {
	e.Process = s.process()
	for _, shorten := range []func(){
		func() {},
		func() {
			if e.Record != nil {
				short := *e.Record
				short.Intent, short.Rebuilt = change.WithoutImages(short.Intent), true
				e.Record = &short
			}
		},
		func() { e.Record = nil },
		func() { e.Result = nil },
	} {
		shorten()
		if told := encode(e); len(told) <= mostTold {
			s.Member.Report(cluster.Report{Attempt: id, Result: told})
			return
		}
	}
}

// told returns what a report tells. What cannot be read tells nothing but that the run has ended.
func told(report *cluster.Report) (e ending) {
	if report != nil && json.Unmarshal(report.Result, &e) != nil {
		return ending{}
	}
	return e
}

// endingOf returns how the run of a call has ended, whose record was c.
func (s *Server) endingOf(r *request, c *changes.Record) ending {
	v := &write.Verdict{Outcome: outcomeOfChange(r)}
	if r.result != nil {
		v.Idle = r.result.Effect == ps.EffectNone
		for i := range r.result.Failures {
			v.Failed = append(v.Failed, r.result.Failures[i].GUID)
		}
	}
	if r.failure != nil {
		v.Notes = problem.Messages(r.failure.Details)
	}
	if r.runErr != nil {
		v.Remains = ps.AsError(r.runErr).Remains
	}
	return ending{Verdict: v, Result: r.result, Record: c}
}

// outcomeOfChange returns what the script of a call has left behind.
func outcomeOfChange(r *request) ps.Outcome {
	if r.failure == nil && (r.result == nil || r.result.Effect == ps.EffectNone) {
		return ps.OutcomeNone
	}
	return r.outcome()
}

// ended does what a member of a cluster must after it has tried to store how a call has ended,
// whose record was c. The caller is told what is stored only.
func (s *Server) ended(r *request, c *changes.Record, stored error) {
	if c == nil || r.inDoubt || stored == nil && !r.raced && !s.deposed(r) {
		return
	}
	how := s.endingOf(r, c)
	if stored != nil && !errors.Is(stored, write.ErrClosed) {
		s.meters.unremembered.Inc()
		r.lost = how.Verdict.Outcome != ps.OutcomeNone
		s.Log.WithError(stored).WithFields(logrus.Fields{
			"request_id": r.id, "operation": r.op.ID, "change": c.ID,
		}).Error("what became of a change could not be stored, and is told to the gateway that leads")
	}
	r.endRun()
	s.tell(c.ID, how)
}

// doubtful tells the next leader that the script of a change was stopped, whose announcement may
// be stored all the same.
func (s *Server) doubtful(r *request, err error) {
	if r.change == nil || r.kept || !errors.Is(err, store.ErrUnsure) {
		return
	}
	s.tell(r.change.ID, ending{Verdict: &write.Verdict{Outcome: ps.OutcomeNone}})
}

// endNotStored returns the answer to a call whose change was made, at least in part, and could
// not be closed.
func endNotStored() error {
	failed := problem.New(schema.Timeout, "The change was begun, but another gateway leads the cluster by now, and what "+
		"became of the change could not be stored. That gateway finds it out: look at the change that %s names, "+
		"or repeat the call with its %s.", changeHeader, ops.KeyHeader)
	failed.Outcome = ps.OutcomeUnknown
	return failed
}
