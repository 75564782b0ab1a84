package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/nacl/box"

	"adgateway/gateway/identity"
	"adgateway/gateway/inprocess"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// The call of an item is an ordinary request that the gateway sends to itself, as the
// caller who submitted the job with the rights of that moment, under the key of the item.

// itemCall marks a request as the call of an item.
type itemCall struct {
	key     string    // instead of an Idempotency-Key
	expires time.Time // until when the key is kept

	// What the request finds out.
	overtaken bool // nothing was changed, as other changes of the object went first for too long
	cutOff    bool // nothing was changed, as the run was cut off, and it may be called again
}

type itemCallKey struct{}

func itemCallOf(ctx context.Context) *itemCall {
	item, _ := ctx.Value(itemCallKey{}).(*itemCall)
	return item
}

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
func (s *Server) CallItem(ctx context.Context, call jobs.Call) jobs.Answer {
	principal := s.callerNow(call.Job.Caller)
	if principal == nil || !principal.Expires.IsZero() && !s.store().Now().Before(principal.Expires) {
		return jobs.Answer{Hold: jobstate.Credential, For: holdCredential}
	}
	op := s.operationOf(call.Spec.Operation)
	if op == nil {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: string(schema.NotSupported), Message: "This gateway does not have the operation any more."}}
	}
	made := &itemCall{key: call.Spec.Key, expires: call.Job.Expires}
	ctx = context.WithValue(ctx, itemCallKey{}, made)
	req, err := itemRequest(ctx, op, call)
	if err != nil {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: string(schema.InvalidRequest), Message: err.Error()}}
	}
	taken := itemAnswer(inprocess.Send(s.Handler(), inprocess.As(req, principal)))
	answer := taken.answer(op, call)
	if made.overtaken || made.cutOff {
		answer = jobs.Answer{Again: true, For: holdLane}
	}
	state := string(answer.State)
	if answer.Hold != "" || answer.Again {
		state = string(jobstate.Held)
	}
	s.meters.jobItems.WithLabelValues(state).Inc()
	return answer
}

// itemRequest returns the request of an item.
func itemRequest(ctx context.Context, op *ops.Operation, call jobs.Call) (*http.Request, error) {
	path, body := op.Path, map[string]any{}
	values := map[string]any{}
	for name, value := range call.Spec.Parameters {
		values[name] = value
	}
	for name, value := range call.Secrets {
		values[name] = value
	}
	switch {
	case call.DryRun:
		values[ops.DryRun] = true
	case call.Plan != "":
		values[ops.PlanID] = call.Plan
	}
	for name, value := range values {
		p := op.Param(name)
		if p == nil {
			return nil, fmt.Errorf("the operation has no parameter %s any more", name)
		}
		if p.Path != "" {
			path = strings.Replace(path, "{"+p.Path+"}", url.PathEscape(fmt.Sprint(value)), 1)
			continue
		}
		body[p.Name] = value
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if from, err := netip.ParseAddr(call.Job.From); err == nil {
		req.RemoteAddr = netip.AddrPortFrom(from, 0).String()
	}
	req.Header.Set("Content-Type", ops.MediaJSON)
	req.Header.Set("X-Request-Id", call.Spec.RequestID)
	if call.Spec.IfMatch != "" && call.Plan == "" {
		req.Header.Set(ops.IfMatch, call.Spec.IfMatch)
	}
	return req, nil
}

// itemAnswer is the answer to the call of an item.
type itemAnswer inprocess.Answer

// answer returns what the call came to.
func (t *itemAnswer) answer(op *ops.Operation, call jobs.Call) jobs.Answer {
	var e struct {
		Output string          `json:"output"`
		Result json.RawMessage `json:"result"`
		Plan   *struct {
			ID     *string   `json:"id"`
			Effect ps.Effect `json:"effect"`
		} `json:"plan"`
		Warnings []ps.Warning `json:"warnings"`
		Error    *errorBody   `json:"error"`
	}
	if err := json.Unmarshal(t.Body, &e); err != nil && t.Status != http.StatusNoContent {
		return jobs.Answer{Result: jobs.Result{State: jobstate.Unknown, Code: string(schema.Internal), Message: "The answer to the call of the item could not be read."}}
	}
	result := jobs.Result{State: jobstate.Made, ChangeID: t.Header.Get(changeHeader), Message: e.Output}
	if e.Error != nil {
		return t.refused(e.Error, result)
	}
	record := firstRecord(e.Result)
	result.GUID = textOf(record, "guid")
	switch {
	case e.Plan != nil:
		if e.Plan.ID != nil {
			result.Plan = *e.Plan.ID
		}
		if e.Plan.Effect == ps.EffectNone {
			result.State = jobstate.Noop
		}
	case result.ChangeID == "":
		result.State = jobstate.Noop
	}
	for _, w := range e.Warnings {
		if w.Code == racedCode || w.Code == notReadBackCode {
			result.Code, result.Message = w.Code, w.Message
		}
	}
	result.Secret = sealedSecret(op, record, call.Job.ResultKey)
	return jobs.Answer{Result: result}
}

// refused returns what a call came to that was not a success.
func (t *itemAnswer) refused(e *errorBody, result jobs.Result) jobs.Answer {
	result.State, result.Code, result.Message = jobstate.Refused, string(e.Code), e.Message
	wait := holdLane
	if seconds, err := strconv.Atoi(t.Header.Get("Retry-After")); err == nil {
		wait = max(wait, time.Duration(seconds)*time.Second)
	}
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

// firstRecord returns the record of an answer, or the first one.
func firstRecord(result json.RawMessage) map[string]json.RawMessage {
	var all []map[string]json.RawMessage
	if json.Unmarshal(result, &all) == nil && len(all) > 0 {
		return all[0]
	}
	var one map[string]json.RawMessage
	_ = json.Unmarshal(result, &one) // stays empty if it is neither
	return one
}

func textOf(record map[string]json.RawMessage, member string) (text string) {
	_ = json.Unmarshal(record[member], &text) // stays empty if there is none
	return text
}

// sealedSecret seals the generated secret of an answer to the key of whoever fetches the
// result: an anonymous box (X25519, XSalsa20, Poly1305).
func sealedSecret(op *ops.Operation, record map[string]json.RawMessage, key []byte) []byte {
	if len(key) != 32 {
		return nil
	}
	for i := range op.Params {
		member := op.Params[i].Generated
		secret := textOf(record, member)
		if member == "" || secret == "" {
			continue
		}
		if sealed, err := box.SealAnonymous(nil, []byte(secret), (*[32]byte)(key), nil); err == nil {
			return sealed
		}
	}
	return nil
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
