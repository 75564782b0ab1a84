package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/etag"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Entity tags identify the state of a record (see package etag). A change with If-Match is
// made only if what it is about has one of the tags. The session that has announced the
// change reads the state, on the server where the change will be made, and sends it with
// the announcement; it is compared here, and only then may the script write. A call without
// the header reads nothing more.

const tagHeader = "ETag"

// errUnguarded is why a change is not made whose guard does not hold.
var errUnguarded = errors.New("the guard of the change does not hold")

// guard is what a request demands of the state of the object that it is about.
type guard struct {
	match *etag.Condition // If-Match of a change; nil: none
	none  *etag.Condition // If-None-Match; nil: none
	asked bool            // the answer has tags

	compared bool           // with what was announced
	failed   *problem.Error // the state is another one
}

// readGuard reads the headers with which a request depends on the state of its object.
func readGuard(r *request) error {
	g := &r.guard
	for _, header := range []struct {
		name  string
		lines []string
		to    **etag.Condition
	}{{ops.IfMatch, r.call.Match, &g.match}, {ops.IfNoneMatch, r.call.NoneMatch, &g.none}} {
		if len(header.lines) == 0 {
			continue
		}
		condition, err := etag.Parse(header.lines)
		if err != nil {
			failed := problem.New(schema.InvalidRequest, "%s %s.", header.name, err)
			failed.Details = []problem.Detail{{Field: header.name, Message: err.Error()}}
			return failed
		}
		*header.to = &condition
	}
	if len(r.call.UnmodifiedSince) > 0 {
		return call.NotHonoured("If-Unmodified-Since", "the time of the last change is no version: use "+ops.IfMatch)
	}
	if failed := r.canHonour(); failed != nil {
		return failed
	}
	single := r.op.Reply.Mark == ops.Single
	g.asked = r.op.Tagged() && (r.bound.Text(ops.WithETag) == "true" || g.match != nil ||
		!r.op.Effect.Writes() && single && (g.none != nil || r.bound.Fields.Whole()))
	return nil
}

// canHonour refuses a guard that the row does not honour.
func (r *request) canHonour() error {
	g, op := &r.guard, r.op
	switch {
	case g.match != nil && !op.Effect.Writes():
		return call.NotHonoured(ops.IfMatch, "it changes nothing")
	case g.match != nil && !op.Guard.Matches():
		return call.NotHonoured(ops.IfMatch, op.Guard.Never)
	case g.none == nil:
		return nil
	case !op.Effect.Writes():
		if !op.Tagged() || op.Reply.Mark != ops.Single {
			return call.NotHonoured(ops.IfNoneMatch, "its answer has no "+tagHeader)
		}
		return nil
	case !op.Guard.New:
		return call.NotHonoured(ops.IfNoneMatch, "it makes nothing new; "+ops.IfMatch+" is for changes")
	case !g.none.Any:
		return call.NotHonoured(ops.IfNoneMatch, "what is to be made has no tag yet: only * is of use")
	}
	return nil
}

// requireGuard refuses a change that must have a guard and has none.
func requireGuard(r *request) error {
	if r.outer != nil || r.guard.match != nil || r.guard.none != nil || r.bound.Has(ops.PlanID) {
		return nil // a part needs none: the whole call was asked for it
	}
	scope := r.demands(slices.Concat(r.policy.RequireGuard, r.principal.RequireGuard))
	if scope == "" {
		return nil
	}
	ways := []string{ops.PlanID}
	if r.op.Guard.New {
		ways = append(ways, ops.IfNoneMatch+": *")
	}
	if r.op.Guard.Matches() {
		ways = append(ways, ops.IfMatch)
	}
	failed := problem.New(schema.PreconditionRequired, "A change with the scope '%s' must have %s here, so that nobody's change is overwritten unseen.", scope, strings.Join(ways, " or "))
	for _, way := range ways {
		failed.Details = append(failed.Details, problem.Detail{Field: way, Message: "is missing"})
	}
	return failed
}

// demands returns the scope of a change that is among those that demand something; empty
// if none is, for reads, dry runs and protocols of others, which have no such header.
func (r *request) demands(scopes []identity.Scope) identity.Scope {
	if !r.op.Effect.Writes() || r.dryRun() || r.op.Protocol != nil {
		return ""
	}
	for _, scope := range append([]identity.Scope{r.op.Scope}, r.bound.Scopes...) {
		if slices.Contains(scopes, scope) || slices.Contains(scopes, identity.All) {
			return scope
		}
	}
	return ""
}

// text identifies the guard in the fingerprint of a call.
func (g *guard) text() string {
	var text string
	if g.match != nil {
		text = ops.IfMatch + ": " + g.match.String()
	}
	if g.none != nil {
		text += ops.IfNoneMatch + ": " + g.none.String()
	}
	return text
}

// readAll has the run read every field, if the answer is to have a tag.
func (r *request) readAll() {
	if !r.guard.asked || r.bound.Fields.Whole() {
		return
	}
	r.bound.Fields = r.bound.Fields.ReadingAll()
	for i := range r.op.Params {
		if p := &r.op.Params[i]; schema.ChoosesFields(p.Kind) {
			r.bound.Args[cmp.Or(p.Arg, p.Name)] = ps.List(r.bound.Fields.Names())
		}
	}
}

// stateOf returns how the run reads the state that If-Match is about; nil if it need not.
func (s *Server) stateOf(r *request, args ps.Args) *ps.State {
	if r.guard.match == nil || r.op.Guard.Reader == "" {
		return nil
	}
	reader := s.operationOf(r.op.Guard.Reader)
	state := &ps.State{Script: reader.Script, Identity: r.op.Guard.Identity, Args: ps.Args{}}
	for i := range reader.Params {
		if p := &reader.Params[i]; schema.ChoosesFields(p.Kind) {
			state.Args[cmp.Or(p.Arg, p.Name)] = ps.List(reader.Reply.Shape.All().Names())
		}
	}
	maps.Copy(state.Args, reader.Fixed)
	for _, p := range s.scripts[reader.Script].Params {
		value, has := args[p.Name]
		_, set := state.Args[p.Name]
		supply := contextArgs[p.Name]
		switch {
		case set || p.Name == state.Identity:
		case p.Name == "Server" || p.Name == "ComputerName": // the runner knows it
			state.Args[p.Name] = ps.Null()
		case supply != nil:
			state.Args[p.Name] = supply(r)
		case has:
			state.Args[p.Name] = value
		}
	}
	return state
}

// compare compares the guard with what was announced, before anything is changed.
func (g *guard) compare(r *request, i *ps.Intent) error {
	state := i.State
	i.State = ""
	g.compared, g.failed = true, nil
	if g.none != nil && r.op.Reply.Shape == schema.Membership && wasMember(i) {
		g.failed = problem.New(schema.PreconditionFailed, "The %s is there already, and %s: * was sent. Nothing was changed.", r.op.SubjectOf(r.bound), ops.IfNoneMatch)
		return errUnguarded
	}
	if g.match == nil {
		return nil
	}
	var tag string
	var err error
	switch {
	case r.op.Guard.Pair && !wasMember(i):
	case r.op.Guard.Pair:
		tag, err = schema.Membership.TagOfValues(map[string]string{"guid": i.Objects[0].GUID, "direct": "true", "primary": "false"})
	default:
		tag, err = r.gateway.operationOf(r.op.Guard.Reader).Reply.Shape.TagOf(json.RawMessage(state))
	}
	if err != nil {
		g.failed = problem.Internal(err)
		return errUnguarded
	}
	return g.check(r, tag)
}

// check compares If-Match with the tag of the present state.
func (g *guard) check(r *request, tag string) error {
	if g.match.Match(tag) {
		return nil
	}
	g.failed = problem.New(schema.PreconditionFailed, "The %s is not in the state that %s names, and nothing was changed. Read it again first.", r.op.SubjectOf(r.bound), ops.IfMatch)
	g.failed.Tag = tag
	return errUnguarded
}

// memberChange is the name of the change of a group that a membership begins or ends with.
const memberChange = "member"

// wasMember reports whether an announced membership is there already.
func wasMember(i *ps.Intent) bool {
	return len(i.Objects) > 0 && slices.ContainsFunc(i.Objects[0].Changes, func(c ps.IntendedChange) bool {
		return c.Name == memberChange && c.Before == "True"
	})
}

// refusal returns the error of a run whose guard did not hold; nil if it did. A script
// that had nothing to do may have announced nothing: then the answer has the state.
func (g *guard) refusal(r *request, e *envelope) error {
	if r.runErr == nil && r.result.Effect == ps.EffectNone && g.match != nil && !g.compared && !r.dryRun() {
		_ = g.check(r, e.tag)
	}
	failed := g.failed
	switch {
	case failed != nil && r.runErr == nil:
		failed.Server = r.result.Server
	case failed != nil && errors.Is(r.runErr, errUnguarded):
		failed.Server = ps.AsError(r.runErr).Server
	case g.none != nil && r.runErr != nil && r.op.Effect.Writes():
		if failed = problem.Of(call.Failure(r.op, r.bound, r.runErr)); failed.Code != schema.Conflict {
			return nil
		}
		r.gateway.explain(r, failed)
		failed.Code = schema.PreconditionFailed
	default:
		return nil
	}
	failed.Outcome = ps.OutcomeNone
	return failed
}

// tagged returns the tag of the record that is the answer, and whether the caller has that state
// already; empty: it is not to be told.
func (e *envelope) tagged() (tag string, same bool) {
	g := &e.r.guard
	if e.tag == "" || e.r.op.Reply.Mark != ops.Single || !g.asked {
		return "", false
	}
	return e.tag, !e.r.op.Effect.Writes() && g.none != nil && g.none.Same(e.tag)
}
