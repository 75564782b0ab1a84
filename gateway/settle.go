package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/ops"
	"adgateway/ps"
)

// A write that was cut off is settled before it is answered. The script
// had announced what it would change, with the values before and after; another
// script, on another session, reads from the same server what is there now, and
// judge compares the two.
//
// To end a session does not stop a cmdlet that is at work in the server. So
// only what shows as done is believed at once; anything else must be read twice,
// with a pause between, and be the same. A server that takes longer than that
// to do what it was asked cannot be told from one that does not do it.

// settler settles one request.
type settler struct {
	*Server
	op    *ops.Operation
	bound *ops.Bound
	req   ps.Request // the one that was cut off
	began time.Time
	cut   *ps.Error
	pause time.Duration
}

// settled turns the error of a run into what became of its changes. An error
// that leaves nothing open is returned as it is. The client's leaving does not
// matter here.
func (s *Server) settled(c *gin.Context, a *answer, req ps.Request, began time.Time, err error) (*ps.Result, error) {
	cut := *ps.AsError(err)
	if !req.Write || cut.Outcome != ps.OutcomeUnknown || cut.Intent == nil || len(cut.Intent.Objects) == 0 {
		return nil, err
	}
	policy := note(c).policy
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), policy.SettleLimit)
	defer cancel()
	t := &settler{Server: s, op: a.op, bound: a.bound, req: req, began: began, cut: &cut, pause: policy.SettlePause}
	v, seen, failed := t.find(ctx)
	if v.outcome == ps.OutcomePartial && t.op.Settle.CleanUp != "" && t.guid() != "" {
		v = t.cleanUp(ctx, v)
	}
	fields := logrus.Fields{"request": req.ID, "operation": a.op.ID, "cause": err.Error(), "outcome": v.outcome}
	if failed != nil {
		fields["error"] = failed.Error()
	}
	s.Log.WithFields(fields).Warn("a write that was cut off was settled")
	return t.result(a, v, seen)
}

// find reads until it is clear what became of the changes. The error tells why
// it stayed unclear.
func (t *settler) find(ctx context.Context) (verdict, []observation, error) {
	var last verdict
	for first := true; ; first = false {
		seen, err := t.read(ctx)
		if err != nil {
			return verdict{outcome: ps.OutcomeUnknown}, nil, err
		}
		v := judge(t.cut.Intent, t.cut.Steps, seen)
		if v.outcome == ps.OutcomeDone || !first && v.same(last) {
			return v, seen, nil
		}
		last = v
		select {
		case <-time.After(t.pause):
		case <-ctx.Done():
			return verdict{outcome: ps.OutcomeUnknown, notes: v.notes}, seen, context.Cause(ctx)
		}
	}
}

// read has the state of the announced objects read.
func (t *settler) read(ctx context.Context) ([]observation, error) {
	var seen []observation
	maxAge := t.maxAge()
	err := t.run(ctx, t.op.Settle.Script, false, func(batch json.RawMessage) error {
		var some []observation
		if err := json.Unmarshal(batch, &some); err != nil {
			return err
		}
		seen = append(seen, some...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return nil, errNothingSeen
	}
	if t.guid() == "" && seen[0].Age > maxAge {
		seen[0] = observation{State: map[string]string{existence: absent}} // another one of that name
	}
	return seen, nil
}

var errNothingSeen = errors.New("the script that settles emitted no record")

// guid is the identity of the first object: announced, or named by the step
// that created it.
func (t *settler) guid() string {
	if guid := t.cut.Intent.Objects[0].GUID; guid != "" || len(t.cut.Steps) == 0 {
		return guid
	}
	return t.cut.Steps[0].GUID
}

// maxAge is how old, in seconds, what the request created can be by now; the
// directory keeps times in whole seconds.
func (t *settler) maxAge() int { return int(time.Since(t.began)/time.Second) + 2 }

// run runs one of the scripts that settle, on the server that the write went to.
func (t *settler) run(ctx context.Context, name string, write bool, records func(json.RawMessage) error) error {
	script := t.scripts[name]
	object := &t.cut.Intent.Objects[0]
	var guids []string
	packed := false
	for i := range t.cut.Intent.Objects {
		guids = append(guids, t.cut.Intent.Objects[i].GUID)
	}
	for _, change := range object.Changes {
		packed = packed || change.Name == userParameters
	}
	args := t.op.Settle.Args(script, ps.Args{
		ops.SettleGuid: ps.Text(t.guid()), ops.SettleGuids: ps.List(guids), ops.SettleAccount: ps.Text(object.Account),
		ops.SettleName: ps.Text(object.Name), ops.SettleParent: ps.Text(object.Parent),
		ops.SettleUserParameters: ps.Bool(packed), ops.SettleMaxAge: ps.Int(int64(t.maxAge())),
	}, t.bound)
	for _, server := range ops.ServerArgs {
		if _, declared := script.Param(server); declared && t.cut.Server != "" {
			args[server] = ps.Text(t.cut.Server)
		}
	}
	deadline, _ := ctx.Deadline()
	_, err := t.Runner.Run(ctx, ps.Request{
		ID: t.req.ID, Script: name, Lane: t.op.Lane, Args: args, Write: write, Settles: true, Limit: max(time.Until(deadline), time.Millisecond), Records: records,
	})
	return err
}

// cleanUp removes what a create has left half made. What cannot be removed
// remains.
func (t *settler) cleanUp(ctx context.Context, v verdict) verdict {
	if err := t.run(ctx, t.op.Settle.CleanUp, true, nil); err != nil {
		t.Log.WithFields(logrus.Fields{"request": t.req.ID, "error": err.Error()}).Error("what a create left half made could not be removed")
		return v
	}
	return verdict{outcome: ps.OutcomeNone}
}

// result is the answer of the run as it would have been, or its error with
// what is known now.
func (t *settler) result(a *answer, v verdict, seen []observation) (*ps.Result, error) {
	intent := t.cut.Intent
	subjects, done := v.subjects(intent)
	if v.outcome != ps.OutcomeDone && (a.op.Reply.Mark != ops.List || v.outcome != ps.OutcomePartial || done == 0) {
		e := t.cut
		e.Outcome, e.Notes = v.outcome, v.notes
		if v.outcome == ps.OutcomePartial && intent.Effect == ps.EffectCreated {
			e.Remains = append(e.Remains, ps.Object{GUID: seen[0].GUID, DN: seen[0].DN})
		}
		return nil, e
	}
	a.reset()
	result := &ps.Result{
		Effect: intent.Effect, Warnings: intent.Warnings, Counts: intent.Counts, Steps: t.cut.Steps, Server: t.cut.Server,
	}
	if v.idle {
		result.Effect = ps.EffectNone
	}
	if done < subjects { // of a list the script counts its records
		result.Counts = map[string]int{}
		for name := range intent.Counts {
			result.Counts[name] = done
		}
	}
	for i := range intent.Objects {
		object, record := &intent.Objects[i], recordOf(intent, seen, i)
		if v.objects[i] != isDone {
			if !isNull(object.Record) {
				result.Failures = append(result.Failures, ps.Failure{GUID: object.GUID, DN: object.DN, Error: ps.Error{Kind: t.cut.Kind}})
			}
			continue
		}
		if !isNull(record) {
			_ = a.take(json.RawMessage(fmt.Sprintf("[%s]", record))) // kept in a.broken
		}
		if result.Effect != ps.EffectNone && len(object.Changes) > 0 {
			result.Changes = append(result.Changes, changeOf(object, record))
		}
	}
	return result, nil
}

// recordOf is the record of an announced object: as it was when it goes, else
// as it was read.
func recordOf(intent *ps.Intent, seen []observation, i int) json.RawMessage {
	if record := intent.Objects[i].Record; !isNull(record) {
		return record
	}
	if i < len(seen) {
		return seen[i].Record
	}
	return nil
}

func isNull(record json.RawMessage) bool {
	return len(record) == 0 || bytes.Equal(record, []byte("null"))
}

// changeOf is a change as the script would have reported it, for the audit.
func changeOf(object *ps.Intended, record json.RawMessage) ps.Change {
	change := ps.Change{GUID: object.GUID, DN: object.DN, Before: map[string]json.RawMessage{}, After: map[string]json.RawMessage{}}
	for _, c := range object.Changes {
		switch {
		case c.Name == existence && c.After == absent:
			_ = json.Unmarshal(record, &change.Before) // an object, or nothing to tell
			return change
		case c.Name == existence:
			_ = json.Unmarshal(record, &change.After)
			_ = json.Unmarshal(change.After["guid"], &change.GUID)
			_ = json.Unmarshal(change.After["distinguishedName"], &change.DN)
			return change
		case c.Before != c.After:
			change.Before[c.Name], change.After[c.Name] = encode(c.Before), encode(c.After)
		}
	}
	return change
}
