package gateway

import (
	"encoding/json"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// The outcome decides the status. A change that was made is a success, also if the script
// failed afterwards, such as when it read the object back: the answer has what is known.

var notReadBack = ps.Warning{Code: call.NotReadBack, Message: "The change was made, but the object could not be read back: fields that are not known are null."}

// wasMade reports whether the error of a call came after its change was made.
func (r *request) wasMade(e *envelope, err error) bool {
	switch {
	case err == nil, e.streaming, problem.Is(r.runErr), !r.op.Effect.Writes(), r.dryRun():
		return false
	case r.runErr == nil:
		return r.result.Effect != ps.EffectNone
	}
	return e.err != nil || ps.AsError(r.runErr).Outcome == ps.OutcomeDone
}

// unread lets a call succeed whose change was made, and whose result could not be read back.
func (s *Server) unread(r *request, e *envelope, cause error) {
	s.Log.WithError(cause).WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID}).Warn("a change was made, but its result could not be read back")
	intent := s.announcedBy(r)
	if r.result == nil {
		cut := *ps.AsError(cause)
		if cut.Intent = intent; intent == nil {
			cut.Intent = &ps.Intent{Effect: ps.EffectChanged}
		}
		found := settle.Unread(settle.Change{Operation: r.op, Bound: r.bound, Cut: &cut})
		r.result = found.Result
		e.replace(found.Records)
	}
	r.runErr, r.notReadBack = nil, true
	r.result.Warnings = append(r.result.Warnings, notReadBack)
	if e.err != nil || e.records == 0 {
		e.replace(nil)
		if r.op.Reply.Mark != ops.List && r.op.Protocol == nil {
			e.err = e.add(r.known(intent), 1)
		}
	}
}

// announcedBy returns what a call has announced before its change; nil: it is not known.
func (s *Server) announcedBy(r *request) *ps.Intent {
	begun := r.claimed().Progress().Intent
	switch {
	case r.change != nil:
		return &r.change.Intent
	case begun != nil:
		return begun
	case r.runErr != nil:
		return ps.AsError(r.runErr).Intent
	}
	return nil
}

// known returns the record of the first object of an announcement, with null for what only
// the directory could tell.
func (r *request) known(i *ps.Intent) json.RawMessage {
	shape := r.op.Reply.Shape
	values := map[string]json.RawMessage{}
	if i != nil {
		if all := change.Of(r.announcement(i)); len(all) > 0 {
			object := all[0]
			for _, name := range []string{"distinguishedName", "path"} {
				values[name] = encode(object.DistinguishedName)
			}
			if object.GUID != nil {
				values["guid"] = encode(*object.GUID)
			}
			for _, c := range object.Changes {
				values[c.Field] = c.After
			}
		}
	}
	if fields := r.bound.Fields; fields != nil && shape.Variants == nil {
		return fields.Known(values)
	}
	return shape.All().Known(values)
}
