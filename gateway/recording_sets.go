package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/ps"
)

// auditedSet is a record set that a request changes along with others, and its line in
// the audit.
type auditedSet struct {
	name, kind string
	intent     *audit.Entry
}

// recordSets records that record sets are about to be changed, each once, also if the
// request runs again on another server.
func (s *Server) recordSets(r *request, i ps.Intent) error {
	if len(r.sets) > 0 {
		return nil
	}
	known := map[string]bool{}
	for _, object := range i.Objects {
		kind, _, _ := strings.Cut(object.Name, " ")
		if known[object.DN+" "+kind] {
			continue
		}
		known[object.DN+" "+kind] = true
		call := r.auditCall(r.acceptedText)
		call.Server, call.PinEpoch = i.Server, i.PinEpoch
		call.Parameters = map[string]string{"DNS_HostName": object.DN, "Type": kind}
		intent, err := s.Audit.Intent(call)
		if err != nil {
			return unrecorded(err)
		}
		r.sets = append(r.sets, auditedSet{object.DN, kind, intent})
	}
	return nil
}

// recordSetOutcomes records what became of each set.
func (s *Server) recordSetOutcomes(r *request) (err error) {
	whole := r.auditResult()
	for _, set := range r.sets {
		err = errors.Join(err, set.intent.Outcome(r.setOutcome(set, whole)))
	}
	return err
}

// setOutcome returns what became of one set, given that of the whole request.
func (r *request) setOutcome(set auditedSet, whole audit.Result) audit.Result {
	one := whole
	one.Changes, one.Steps, one.Failed, one.Remains = nil, nil, nil, nil
	if r.result == nil || r.runErr != nil {
		return one
	}
	one.Code, one.Outcome = "", string(ps.OutcomeNone)
	for i := range r.result.Failures {
		failed := &r.result.Failures[i]
		if failed.DN == set.name+" "+set.kind {
			one.Code = string(problem.Of(call.Failure(r.op, r.bound, &failed.Error)).Code)
			return one
		}
	}
	for _, change := range r.result.Changes {
		if change.DN == set.name && typeOf(change) == set.kind {
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
