package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"time"

	"golang.org/x/crypto/nacl/box"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// The call of an item is one like that of a client, as the caller who submitted the job with the
// rights of that moment, under the key of the item.

// Current is an [authn.Authenticator] that finds callers again.
type Current interface {
	// Now returns a caller with its rights of now; nil if there is none any more.
	Now(id identity.ID) *identity.Principal
}

// callerNow returns the caller of a job with its rights of now; nil: there is none.
func (s *Server) callerNow(c jobs.Caller) *identity.Principal {
	current, ok := s.Auth.(Current)
	if !ok {
		return nil
	}
	return current.Now(identity.ID{Kind: c.Kind, ID: cmp.Or(c.ID, c.Name)})
}

// How long a job is held when its item could not be run.
const (
	holdCredential = 5 * time.Second
	holdLane       = 2 * time.Second
)

// CallItem makes the call of an item, as [jobs.Options] want it: with the rights that the caller of
// its job has now, and under the key of the item. It is safe for concurrent use.
func (s *Server) CallItem(ctx context.Context, item jobs.Call) jobs.Answer {
	principal := s.callerNow(item.Job.Caller)
	if principal == nil || !principal.Expires.IsZero() && !s.store().Now().Before(principal.Expires) {
		return jobs.Answer{Hold: jobstate.Credential, For: holdCredential}
	}
	op := s.operationOf(item.Spec.Operation)
	if op == nil {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: string(schema.NotSupported), Message: "This gateway does not have the operation any more."}}
	}
	values, err := itemValues(op, item)
	if err != nil {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: string(schema.InvalidRequest), Message: err.Error()}}
	}
	c := call.Call{
		ID: item.Spec.RequestID, Principal: principal, Input: values,
		Item: &call.Item{Key: item.Spec.Key, Expires: item.Job.Expires},
	}
	c.From, _ = netip.ParseAddr(item.Job.From) // stays invalid if it is not known
	if item.Spec.IfMatch != "" && item.Plan == "" {
		c.Match = []string{item.Spec.IfMatch}
	}
	made, err := s.Call(ctx, op.ID, c)
	answer := itemAnswer(item, made)
	if err != nil {
		answer = itemRefused(made.ChangeID, err)
	}
	state := string(answer.State)
	if answer.Hold != "" || answer.Again {
		state = string(jobstate.Held)
	}
	s.meters.jobItems.WithLabelValues(state).Inc()
	return answer
}

// itemValues returns the parameters of an item.
func itemValues(op *ops.Operation, item jobs.Call) (call.Values, error) {
	given := maps.Clone(item.Spec.Parameters)
	if given == nil {
		given = map[string]any{}
	}
	for name, value := range item.Secrets {
		given[name] = value
	}
	switch {
	case item.DryRun:
		given[ops.DryRun] = true
	case item.Plan != "":
		given[ops.PlanID] = item.Plan
	}
	values := call.Values{}
	for name, value := range given {
		p := op.Param(name)
		if p == nil {
			return nil, fmt.Errorf("the operation has no parameter %s any more", name)
		}
		converted, err := listValue(value, p.Kind)
		if err != nil {
			return nil, fmt.Errorf("%s %w", p.Name, err)
		}
		values[p.Name] = converted
	}
	return values, nil
}

// itemAnswer returns what the call of an item came to that has succeeded.
func itemAnswer(item jobs.Call, answer call.Answer) jobs.Answer {
	result := jobs.Result{State: jobstate.Made, ChangeID: answer.ChangeID, Message: answer.Output}
	_ = json.Unmarshal(schema.Member(answer.Records, "guid"), &result.GUID) // stays empty if there is none
	var planned struct {
		ID     string    `json:"id"` // null: it is not kept
		Effect ps.Effect `json:"effect"`
	}
	switch {
	case answer.Plan != nil:
		_ = json.Unmarshal(answer.Plan, &planned) // it was encoded here
		if result.Plan = planned.ID; planned.Effect == ps.EffectNone {
			result.State = jobstate.Noop
		}
	case result.ChangeID == "":
		result.State = jobstate.Noop
	}
	for _, w := range answer.Warnings {
		if w.Code == racedCode || w.Code == call.NotReadBack {
			result.Code, result.Message = w.Code, w.Message
		}
	}
	result.Secret = sealSecret(answer.Secret, item.Job.ResultKey)
	return jobs.Answer{Result: result}
}

// itemRefused returns what the call of an item came to that has failed, and the change that it made
// all the same; empty: it made none.
func itemRefused(changeID string, err error) jobs.Answer {
	if errors.Is(err, call.ErrAgain) {
		return jobs.Answer{Again: true, For: holdLane}
	}
	e := problem.Of(err)
	result := jobs.Result{State: jobstate.Refused, ChangeID: changeID, Code: string(e.Code), Message: e.Message}
	wait := max(holdLane, e.RetryAfter)
	none := cmp.Or(e.Outcome, ps.OutcomeNone) == ps.OutcomeNone
	switch {
	case e.Code == schema.InProgress && e.Outcome == ps.OutcomeUnknown: // of an earlier call, which is being judged
		return jobs.Answer{Again: true, For: wait}
	case e.Outcome == ps.OutcomeUnknown:
		result.State = jobstate.Unknown
	case !none:
	case e.Code == schema.RateLimited:
		return jobs.Answer{Hold: jobstate.Budget, For: wait}
	case e.Code == schema.InProgress: // others are not concerned
		return jobs.Answer{Again: true, For: wait}
	case e.Code == schema.NotLeader, e.Code == schema.StoreLost, e.Code == schema.StoreRewound, e.Code == schema.NewerPeer:
		return jobs.Answer{Hold: jobstate.Engine, For: wait}
	case e.Code == schema.Overloaded, e.Code == schema.Unavailable:
		return jobs.Answer{Hold: jobstate.Lane, For: wait}
	case e.Code == schema.Forbidden, e.Code == schema.Unauthenticated:
		return jobs.Answer{Hold: jobstate.Credential, For: holdCredential}
	}
	return jobs.Answer{Result: result}
}

// sealSecret seals a generated secret to the key of whoever fetches the result: an anonymous box (X25519,
// XSalsa20, Poly1305). Without a secret or a key it returns nil.
func sealSecret(secret *ops.Generated, key []byte) []byte {
	if secret == nil || len(key) != 32 {
		return nil
	}
	sealed, err := box.SealAnonymous(nil, []byte(secret.Reveal()), (*[32]byte)(key), nil)
	if err != nil {
		return nil
	}
	return sealed
}

// openJobs opens the jobs of the store.
func (s *Server) openJobs() (err error) {
	if s.Kept == nil || s.History == nil {
		return nil
	}
	limits := s.JobLimits
	o := jobs.Options{
		Store: s.Kept, Call: s.CallItem, Log: s.Log, Sessions: s.Sessions, Ready: s.LaneReady, Ended: s.jobEnded, Entry: s.jobEntry,
		Share: limits.Share, Running: limits.Running, PerCaller: limits.PerCaller, Rate: limits.Rate, Keep: limits.Keep, Wall: s.Wall,
	}
	if s.Member != nil {
		s.jobs = jobs.New(o) // the leader loads them
	} else if s.jobs, err = jobs.Open(context.Background(), o); err != nil {
		return err
	}
	return registerJobs(s.Metrics, s.jobs)
}

// jobEntry returns what webhooks tell of a job that has ended.
func (s *Server) jobEntry(job *jobs.Job) []byte {
	return encode(map[string]any{"type": "job", "data": s.showJob(&jobs.Progress{Job: *job})})
}

// jobEnded counts a job that has ended.
func (s *Server) jobEnded(job *jobs.Job) {
	s.meters.jobsEnded.WithLabelValues(string(job.State)).Inc()
	s.Log.WithField("job", job.ID).WithField("principal", job.Caller.Name).WithField("outcome", job.State).Info("a job ended")
}

// RunJobs runs jobs until ctx is done. It is called once what was running when the gateway
// was ended has been settled, so that an item that is called again finds what became of
// its change.
func (s *Server) RunJobs(ctx context.Context) {
	if s.jobs != nil {
		s.jobs.Run(ctx)
	}
}
