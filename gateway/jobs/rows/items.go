package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/nacl/box"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// Items makes the calls of items on behalf of the job's submitter, with that caller's current
// rights, under the keys of the items. All fields are required. It is safe for concurrent use.
type Items struct {
	Operations []*ops.Operation
	// Make makes a call of an operation.
	Make   func(ctx context.Context, operation string, c call.Call) (call.Answer, error)
	Rights Rights
	Log    *logrus.Logger
	// Clock returns the store's time, by which the rights of callers expire.
	Clock func() time.Time
	// Count is called with the state of each called item. An item that will be called again counts as
	// held.
	Count func(state string)
}

// Rights returns the current rights of a caller: one principal or, for a person, one for each role.
// Roles are not merged. It returns none if the caller no longer exists, or has no rights. It fails
// if the rights cannot be determined now.
type Rights func(ctx context.Context, id identity.ID) ([]*identity.Principal, error)

// How long a job is held if its item could not be run.
const (
	holdCredential = 5 * time.Second
	holdLane       = 2 * time.Second
)

// Call makes the call of an item, see [jobs.Options]. If the caller has several roles, it uses the
// first one that allows the call, as the pages do.
func (s Items) Call(ctx context.Context, item jobs.Call) jobs.Answer {
	all, err := s.Rights(ctx, item.Job.Caller.Identity())
	if err != nil {
		s.Log.WithError(err).WithField("job", item.Job.ID).Warn("what the submitter of a job may do is not known")
		return jobs.Answer{Hold: jobstate.Lane, For: holdLane}
	}
	all = slices.DeleteFunc(all, s.expired)
	if len(all) == 0 {
		return jobs.Answer{Hold: jobstate.Credential, For: holdCredential}
	}
	op := ops.Find(s.Operations, item.Spec.Operation)
	if op == nil {
		return refusedItem(schema.NotSupported, "This gateway does not have the operation any more.")
	}
	values, err := itemValues(op, item)
	if err != nil {
		return refusedItem(schema.InvalidRequest, err.Error())
	}
	var answer jobs.Answer
	var refused error
	for _, principal := range call.Able(all, op) {
		roleAnswer, err := s.callAs(ctx, principal, op, values, item)
		if refused == nil || outranks(err, refused) {
			answer, refused = roleAnswer, err
		}
		if !call.PassedOn(err) {
			break
		}
	}
	state := string(answer.State)
	if answer.Hold != "" || answer.Again {
		state = string(jobstate.Held)
	}
	s.Count(state)
	return answer
}

func (s Items) expired(p *identity.Principal) bool {
	return !p.Expires.IsZero() && !s.Clock().Before(p.Expires)
}

// callAs makes the call of an item in one role of its caller. The error means that the role refuses
// it.
func (s Items) callAs(
	ctx context.Context, principal *identity.Principal, op *ops.Operation, values call.Values, item jobs.Call,
) (jobs.Answer, error) {
	c := call.Call{
		ID: item.Spec.RequestID, Principal: principal, Input: values,
		Item: &call.Item{
			Key: item.Spec.Key, Expires: item.Job.Expires, Resumed: item.Resumed, Done: item.Done,
			Left: item.Left,
		},
	}
	c.From, _ = netip.ParseAddr(item.Job.From) // stays invalid if it is unknown
	if item.Spec.IfMatch != "" && item.Plan == "" {
		c.Match = []string{item.Spec.IfMatch}
	}
	made, err := s.Make(ctx, op.ID, c)
	answer := itemAnswer(item, made)
	if failed := call.Problem(made, err); failed != nil {
		answer = itemRefused(made.ChangeID, failed)
	}
	answer.Within = change.BoundsOf(principal.Limits).Digest()
	return answer, err
}

// outranks reports whether the error in one role takes precedence over the refusal in an earlier role. The
// error of a call that was not passed on ranks highest. The error of a limit, which is temporary, comes
// second, and a fault of the item third.
func outranks(err, earlier error) bool {
	rank := func(err error) int {
		switch e := problem.Of(err); {
		case !call.PassedOn(err):
			return 3
		case e.Code == schema.RateLimited:
			return 2
		case e.Reason != problem.ReasonScope:
			return 1
		}
		return 0
	}
	return rank(err) > rank(earlier)
}

// refusedItem returns the answer of an item that cannot be called.
func refusedItem(code schema.Code, message string) jobs.Answer {
	return jobs.Answer{Result: jobs.Result{State: jobstate.Refused, Code: string(code), Message: message}}
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

// itemAnswer returns the outcome of an item whose call succeeded.
func itemAnswer(item jobs.Call, answer call.Answer) jobs.Answer {
	result := jobs.Result{State: jobstate.Made, ChangeID: answer.ChangeID, Message: answer.Output}
	_ = json.Unmarshal(schema.Member(answer.Records, "guid"), &result.GUID) // stays empty if there is none
	var planned struct {
		ID     string    `json:"id"` // null if there is no plan
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
		if w.Code == call.Raced || w.Code == call.NotReadBack {
			result.Code, result.Message = w.Code, w.Message
		}
	}
	result.Secret = sealSecret(answer.Secret, item.Job.ResultKey)
	return jobs.Answer{Result: result}
}

// itemRefused returns the outcome of an item whose call failed. changeID is the change that the call made
// nevertheless, or "" if it made none.
func itemRefused(changeID string, err error) jobs.Answer {
	if errors.Is(err, call.ErrAgain) {
		return jobs.Answer{Again: true, For: holdLane}
	}
	e := problem.Of(err)
	result := jobs.Result{State: jobstate.Refused, ChangeID: changeID, Code: string(e.Code), Message: e.Message}
	wait := max(holdLane, e.RetryAfter)
	none := cmp.Or(e.Outcome, ps.OutcomeNone) == ps.OutcomeNone
	switch {
	case e.Code == schema.InProgress && e.Outcome == ps.OutcomeUnknown: // an earlier call is being judged
		return jobs.Answer{Again: true, For: wait}
	case e.Outcome == ps.OutcomeUnknown:
		result.State = jobstate.Unknown
	case !none:
	case e.Code == schema.RateLimited:
		return jobs.Answer{Hold: jobstate.Budget, For: wait}
	case e.Code == schema.InProgress: // other items may continue
		return jobs.Answer{Again: true, For: wait}
	case e.Code == schema.NotLeader, e.Code == schema.StoreLost, e.Code == schema.StoreRewound,
		e.Code == schema.NewerPeer:
		return jobs.Answer{Hold: jobstate.Engine, For: wait}
	case e.Code == schema.Overloaded, e.Code == schema.Unavailable:
		return jobs.Answer{Hold: jobstate.Lane, For: wait}
	case e.Reason == problem.ReasonScope, e.Code == schema.Unauthenticated: // affects all items
		return jobs.Answer{Hold: jobstate.Credential, For: holdCredential}
	}
	return jobs.Answer{Result: result}
}

// sealSecret seals a generated secret with the key of the caller that will fetch the result, as an
// anonymous box (X25519, XSalsa20, Poly1305). It returns nil without a secret or a key.
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
