package call

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/etag"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Entity tags identify the state of a record (see package etag). A change with If-Match is made only if its
// object has one of the given tags. The session that announces the change reads the state on the server where
// the change will be made, and sends the state with the announcement. The script may write only after the
// gateway has compared the state with the tags. Without the header, no state is read.

// Conditions are the requirements of a call on the state of its object.
type Conditions struct {
	Match *etag.Condition // If-Match of a change; nil if none
	None  *etag.Condition // If-None-Match; nil if none
}

// conditionsOf returns the conditions of a call. It fails if the call's row does not honor them.
func conditionsOf(c *Call) (found Conditions, err error) {
	if found.Match, err = conditionOf(ops.IfMatch, c.Match); err != nil {
		return Conditions{}, err
	}
	if found.None, err = conditionOf(ops.IfNoneMatch, c.NoneMatch); err != nil {
		return Conditions{}, err
	}
	if len(c.UnmodifiedSince) > 0 {
		return Conditions{}, NotHonored("If-Unmodified-Since",
			"the time of the last change is not a version: use "+ops.IfMatch)
	}
	return found, found.honoredBy(c.Op)
}

// conditionOf parses the condition of a header. It returns nil if the header was not sent.
func conditionOf(header string, lines []string) (*etag.Condition, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	condition, err := etag.Parse(lines)
	if err != nil {
		wrong := err.Error()
		if errors.Is(err, etag.ErrMalformed) {
			wrong += "; " + shownValue(strings.Join(lines, ", ")) + " was sent"
		}
		failed := problem.New(schema.InvalidRequest, "%s %s.", header, wrong)
		failed.Details = []problem.Detail{{Field: header, Message: wrong}}
		return nil, failed
	}
	return &condition, nil
}

// honoredBy refuses conditions that a row does not honor.
func (c Conditions) honoredBy(op *ops.Operation) error {
	switch {
	case c.Match != nil && !op.Effect.Writes():
		return NotHonored(ops.IfMatch, "it changes nothing")
	case c.Match != nil && !op.Guard.Matches():
		return NotHonored(ops.IfMatch, op.Guard.Never)
	case c.None == nil:
		return nil
	case !op.Effect.Writes():
		if !op.Tagged() || op.Reply.Mark != ops.Single {
			return NotHonored(ops.IfNoneMatch, "its answer has no ETag")
		}
		return nil
	case !op.Guard.New:
		return NotHonored(ops.IfNoneMatch, "it makes nothing new; "+ops.IfMatch+" is for changes")
	case !c.None.Any:
		return NotHonored(ops.IfNoneMatch, "what is to be made has no tag yet: only * is of use")
	}
	return nil
}

// String returns the conditions as text. Equal conditions have equal texts.
func (c Conditions) String() string {
	var text string
	if c.Match != nil {
		text = ops.IfMatch + ": " + c.Match.String()
	}
	if c.None != nil {
		text += ops.IfNoneMatch + ": " + c.None.String()
	}
	return text
}

// tagged reports whether the answer to a call with the conditions has entity tags.
func (c Conditions) tagged(b *ops.Bound) bool {
	op := b.Op
	reads := !op.Effect.Writes() && op.Reply.Mark == ops.Single
	return op.Tagged() && (b.Text(ops.WithETag) == "true" || c.Match != nil ||
		reads && (c.None != nil || b.Fields.Whole()))
}

// requireGuard refuses a change that has no guard although its scope demands one.
func requireGuard(a Accepted, scopes []identity.Scope) error {
	if a.For != nil || a.Conditions.Match != nil || a.Conditions.None != nil || a.Bound.Has(ops.PlanID) {
		return nil // the guard of the whole call covers its parts
	}
	scope := a.Demands(slices.Concat(scopes, a.Principal.RequireGuard))
	if scope == "" {
		return nil
	}
	ways := []string{ops.PlanID}
	if a.Op.Guard.New {
		ways = append(ways, ops.IfNoneMatch+": *")
	}
	if a.Op.Guard.Matches() {
		ways = append(ways, ops.IfMatch)
	}
	failed := problem.New(schema.PreconditionRequired,
		"A change with the scope '%s' requires %s here, so that it does not overwrite somebody else's change.",
		scope, strings.Join(ways, " or "))
	for _, way := range ways {
		failed.Details = append(failed.Details, problem.Detail{Field: way, Message: "is missing"})
	}
	return failed
}

// requireReason refuses changes without a reason if their row requires one, and their dry runs, because the
// plan shows the reason. A part of a call needs no reason, because the whole call had to give one.
func requireReason(a Accepted, required []string) error {
	if a.For != nil || a.Op.Protocol != nil || a.Bound.Has(ops.ReasonName) {
		return nil
	}
	if !RequiresReason(a.Op, required) {
		return nil
	}
	const missing = "%s is required here: give the reason for the change."
	failed := problem.New(schema.InvalidRequest, missing, ops.ReasonName)
	failed.Details = []problem.Detail{{Field: ops.ReasonName, Message: "is missing"}}
	return failed
}

// RequiresReason reports whether calls of an operation must give a reason. required lists
// operations, or patterns such as user.*. A nil operation needs no reason.
func RequiresReason(op *ops.Operation, required []string) bool {
	return op != nil && op.Param(ops.ReasonName) != nil &&
		slices.ContainsFunc(required, func(pattern string) bool { return ops.Matches(pattern, op.ID) })
}

// Demands returns the scope of a change if it is among scopes, and otherwise "". It also returns ""
// for reads, dry runs, and other protocols, which have no such header.
func (a Accepted) Demands(scopes []identity.Scope) identity.Scope {
	if !a.Op.Effect.Writes() || a.DryRun() || a.Op.Protocol != nil {
		return ""
	}
	for _, scope := range append([]identity.Scope{a.Op.Scope}, a.Bound.Scopes...) {
		if slices.Contains(scopes, scope) || slices.Contains(scopes, identity.All) {
			return scope
		}
	}
	return ""
}

// stateOf returns the reading of the state for If-Match in a call with args, or nil if the call need not read
// it.
func (t *Table) stateOf(a Accepted, args ps.Args, supply func(name string) (ps.Value, bool)) *ps.State {
	if a.Conditions.Match == nil || a.Op.Guard.Reader == "" {
		return nil
	}
	reader := ops.Find(t.Rows, a.Op.Guard.Reader)
	state := &ps.State{Script: reader.Script, Identity: a.Op.Guard.Identity, Args: ps.Args{}}
	if arg := reader.FieldsArg(); arg != "" {
		state.Args[arg] = reader.Reply.Shape.All().ReadingAll().Read()
	}
	maps.Copy(state.Args, reader.Fixed)
	for _, p := range t.Scripts[reader.Script].Params {
		if _, set := state.Args[p.Name]; set || p.Name == state.Identity {
			continue
		}
		if p.Name == "Server" || p.Name == "ComputerName" { // the runner supplies it
			state.Args[p.Name] = ps.Null()
			continue
		}
		if value, about := supply(p.Name); about {
			state.Args[p.Name] = value
		} else if value, has := args[p.Name]; has {
			state.Args[p.Name] = value
		}
	}
	return state
}

// condition is the [Guard] of If-Match and If-None-Match of a change.
type condition struct {
	Conditions
	bound    *ops.Bound
	reader   *ops.Operation // row that emits the state for If-Match; nil for memberships
	compared bool           // an announcement was compared
}

// Announced implements [Guard]. It removes the state from the announcement.
func (c *condition) Announced(i *ps.Intent) error {
	state := i.State
	i.State, c.compared = "", true
	op := c.bound.Op
	if c.None != nil && op.Reply.Shape == schema.Membership && wasMember(i) {
		failed := problem.New(schema.PreconditionFailed,
			"The %s already exists, and %s: * was sent. Nothing was changed.",
			op.SubjectOf(c.bound), ops.IfNoneMatch)
		failed.Outcome, failed.Server = ps.OutcomeNone, i.Server
		return failed
	}
	if c.Match == nil {
		return nil
	}
	var tag string
	var err error
	switch {
	case op.Guard.Pair && !wasMember(i):
	case op.Guard.Pair:
		tag, err = schema.Membership.TagOfValues(map[string]string{
			"guid": i.Objects[0].GUID, "direct": "true", "primary": "false",
		})
	default:
		tag, err = c.reader.Reply.Shape.TagOf(json.RawMessage(state))
	}
	if err != nil {
		failed := problem.Internal(err)
		failed.Outcome, failed.Server = ps.OutcomeNone, i.Server
		return failed
	}
	return c.check(tag, i.Server)
}

// Unannounced implements [Guard]. A script with nothing to do need not have announced anything. The state is
// then that of its record.
func (c *condition) Unannounced(result *ps.Result, tag string) error {
	if c.Match == nil || c.compared || c.bound.Text(ops.DryRun) == "true" {
		return nil
	}
	return c.check(tag, result.Server)
}

// check compares If-Match with the tag of the current state.
func (c *condition) check(tag, server string) error {
	if c.Match.Match(tag) {
		return nil
	}
	failed := problem.New(schema.PreconditionFailed,
		"The %s is not in the state that %s names, and nothing was changed. Read it again first.",
		c.bound.Op.SubjectOf(c.bound), ops.IfMatch)
	failed.Tag, failed.Outcome, failed.Server = tag, ps.OutcomeNone, server
	return failed
}

// Refused implements [Guard]. With If-None-Match, a conflict means that the object exists.
func (c *condition) Refused(err error) error {
	failed, ofRun := problem.Of(err), (*ps.Error)(nil)
	if c.None == nil || failed.Code != schema.Conflict || !errors.As(failed.Cause, &ofRun) {
		return err
	}
	there := *failed
	there.Code, there.Outcome = schema.PreconditionFailed, ps.OutcomeNone
	return &there
}

// wasMember reports whether an announced membership already exists.
func wasMember(i *ps.Intent) bool {
	return len(i.Objects) > 0 && slices.ContainsFunc(i.Objects[0].Changes, func(c ps.IntendedChange) bool {
		return c.Name == change.Member && c.Before == "True"
	})
}

// NotHonored refuses a header that a call does not honor.
func NotHonored(header, why string) error {
	failed := problem.New(schema.NotSupported, "This call does not honor %s: %s.", header, why)
	failed.Details = []problem.Detail{{Field: header, Message: why}}
	return failed
}
