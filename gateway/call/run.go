package call

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/privileged"
	"adgateway/gateway/problem"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// Request returns the request to the runner for a call. c takes the records. The request has no callback for
// announcements.
func (s *Service) Request(c *Collector, p *Policy, left *quota.Spending) ps.Request {
	a := c.call
	req := ps.Request{
		ID: a.ID, Script: a.Op.Script, Lane: a.Op.Lane, Args: maps.Clone(a.Bound.Args),
		Write: a.Op.Effect.Writes() && !a.DryRun(), List: a.Op.Reply.Mark == ops.List, Limit: a.Op.Timeout,
		Records: c.Take,
	}
	if arg := a.Op.FieldsArg(); arg != "" && a.Fields != a.Bound.Fields {
		req.Args[arg] = a.Fields.Read()
	}
	about := circumstances{s, a, p, left, sync.OnceValue(func() privileged.Set { return s.guards(p) })}
	for _, param := range s.Scripts[req.Script].Params {
		if value, is := about.supply(param.Name); is {
			req.Args[param.Name] = value
		}
	}
	req.State = s.stateOf(a, req.Args, about.supply)
	switch {
	case req.Limit > 0:
	case req.Write:
		req.Limit = p.WriteLimit
	case req.List:
		req.Limit = p.ListLimit
	default:
		req.Limit = p.ReadLimit
	}
	return req
}

// circumstances are facts about a call that scripts may get in addition to its parameters.
type circumstances struct {
	*Service
	call   Accepted
	policy *Policy
	left   *quota.Spending
	guards func() privileged.Set // objects that only privileged callers may change
}

// contextArgs are the arguments that describe the caller, for the scripts that declare them.
var contextArgs = map[string]func(of circumstances) ps.Value{
	"AllowedOU":    func(of circumstances) ps.Value { return listOrNull(of.call.Principal.Limits.OUs) },
	"AllowedZone":  func(of circumstances) ps.Value { return listOrNull(of.call.Principal.Limits.Zones) },
	"AllowedGroup": func(of circumstances) ps.Value { return listOrNull(of.call.Principal.Limits.Groups) },
	"AllowedName":  func(of circumstances) ps.Value { return listOrNull(of.call.Principal.Limits.Names) },
	"Privileged": func(of circumstances) ps.Value {
		return ps.Bool(of.call.Principal.Has(identity.Privileged))
	},
	privileged.GroupArg: func(of circumstances) ps.Value { return of.guarded(privileged.GroupArg) },
	privileged.NameArg:  func(of circumstances) ps.Value { return of.guarded(privileged.NameArg) },
	"BulkLimit": func(of circumstances) ps.Value {
		if of.left.Many() {
			return ps.Int(int64(min(of.policy.BulkLimit, of.left.Most())))
		}
		return ps.Int(int64(of.policy.BulkLimit))
	},
	"ImpactLimit": func(of circumstances) ps.Value { return ps.Int(int64(of.left.Most())) },
	"StaleSince": func(of circumstances) ps.Value {
		return ps.List(filter.Moment(time.Now().AddDate(0, 0, -of.policy.StaleDays)))
	},
	"Readable": func(of circumstances) ps.Value { return ps.List(of.call.Readable) },
	"RemovedTogether": func(of circumstances) ps.Value {
		return ps.List(append([]string{}, of.call.Undoes.Objects...))
	},
	"ProtectedTogether": func(of circumstances) ps.Value {
		return ps.List(append([]string{}, of.call.Undoes.Guarded...))
	},
	"CreatableType": func(of circumstances) ps.Value { return ps.List(creatable(of.call.Principal)) },
}

// supply returns the argument with the given name, if it describes the caller.
func (of circumstances) supply(name string) (ps.Value, bool) {
	value := contextArgs[name]
	if value == nil {
		return ps.Value{}, false
	}
	return value(of), true
}

// guarded returns the argument that lists the objects that only privileged callers may change.
func (of circumstances) guarded(arg string) ps.Value {
	return listOrNull(of.guards().Argument(arg, of.call.Principal.Limits))
}

// guards returns the objects that only privileged callers may change under a policy.
func (s *Service) guards(p *Policy) privileged.Set {
	if s.Guarded == nil {
		return p.Guarded
	}
	return p.Guarded.With(s.Guarded())
}

// Answer returns the answer to a call whose script succeeded, at least in part. If To has taken
// records, the answer holds the remaining ones.
func (c *Collector) Answer(result *ps.Result) (Answer, error) {
	if len(result.Failures) > 0 {
		return c.partial(result)
	}
	answer, err := c.answer(result)
	if err != nil {
		err = problem.Internal(err)
	}
	return answer, err
}

// Failed returns the error of a call whose run failed with err, or whose script did not emit the
// declared records.
func (s *Service) Failed(c *Collector, p *Policy, left *quota.Spending, err error) error {
	switch {
	case c.streaming: // the caller already has part of the list, so it gets no error body
	case problem.Is(err): // a guard, or the gateway, refused the change
		return problem.Of(err)
	case c.err != nil:
		err = c.err
	case !errors.Is(err, errNoRecord):
		failed := problem.Of(Failure(c.call.Op, c.call.Bound, err))
		s.explain(c.call, p.BulkLimit, left, failed)
		return failed
	}
	return problem.Internal(err)
}

var notReadBack = ps.Warning{
	Code:    NotReadBack,
	Message: "The change was made, but the object could not be read back: fields that are not known are null.",
}

// WasMade reports whether a change was made although its call failed with err. It decides by the result and
// the error of the run.
func (c *Collector) WasMade(result *ps.Result, runErr, err error) bool {
	switch {
	case err == nil, c.streaming, problem.Is(runErr), !c.call.Op.Effect.Writes(), c.call.DryRun():
		return false
	case runErr == nil:
		return result.Effect != ps.EffectNone
	}
	return c.err != nil || ps.AsError(runErr).Outcome == ps.OutcomeDone
}

// Unread returns the result of a change that was made but, because of cause, could not be read
// back. The result is based on the script's report or, without one, on the announcement, and its
// record holds the known values. result and intent may be nil.
func (c *Collector) Unread(result *ps.Result, intent *ps.Intent, cause error) *ps.Result {
	if result == nil {
		cut := *ps.AsError(cause)
		if cut.Intent = intent; intent == nil {
			cut.Intent = &ps.Intent{Effect: ps.EffectChanged}
		}
		found := settle.Unread(settle.Change{Operation: c.call.Op, Bound: c.call.Bound, Cut: &cut})
		result = found.Result
		c.Replace(found.Records)
	}
	result.Warnings = append(result.Warnings, notReadBack)
	if c.err != nil || c.records == 0 {
		c.Replace(nil)
		if c.call.Op.Reply.Mark != ops.List && c.call.Op.Protocol == nil {
			c.err = c.add(c.call.known(intent), 1)
		}
	}
	return result
}

// known returns the record of the first object of an announcement, with null for values that only
// the directory knows.
func (a Accepted) known(i *ps.Intent) json.RawMessage {
	shape := a.Op.Reply.Shape
	values := map[string]json.RawMessage{}
	if i != nil {
		if all := change.Of(a.Announcement(i)); len(all) > 0 {
			object := all[0]
			for _, name := range []string{"distinguishedName", "path"} {
				values[name] = schema.JSON(object.DistinguishedName)
			}
			if object.GUID != nil {
				values["guid"] = schema.JSON(*object.GUID)
			}
			for _, c := range object.Changes {
				values[c.Field] = c.After
			}
		}
	}
	if a.Fields != nil && shape.Variants == nil {
		return a.Fields.Known(values)
	}
	return shape.All().Known(values)
}

// asImage replaces the record of an answer with its image if the caller prefers that. It fails with NotFound
// if there is no image.
func (a Accepted) asImage(answer *Answer) error {
	prefers := func(media string) bool { return a.Prefers != nil && a.Prefers(media) }
	if !slices.ContainsFunc(a.Op.Images, prefers) {
		return nil
	}
	image, media, err := schema.ImageOf(answer.Records)
	switch {
	case err != nil:
		return problem.Internal(err)
	case image == nil:
		return problem.New(schema.NotFound, "The %s has no photo.", a.Op.SubjectOf(a.Bound))
	}
	answer.Document = &Document{Media: media, Write: func(to io.Writer) (int, error) {
		_, err := to.Write(image)
		return 1, err
	}}
	return nil
}

// Announcement converts the announcement of the call's script to the form that plans use.
func (a Accepted) Announcement(i *ps.Intent) change.Announcement {
	return change.Announcement{Intent: i, Shape: a.Op.Reply.Shape, Secret: a.SetsSecret()}
}

// SetsSecret reports whether the call sets a password.
func (a Accepted) SetsSecret() bool {
	_, has := a.Bound.Secret(a.Op)
	return has
}

// Texts returns the accepted parameters as text. It omits secrets, and reports whether there were any.
func (a Accepted) Texts() (texts map[string]string, secret bool) {
	texts = map[string]string{}
	for i := range a.Op.Params {
		p := &a.Op.Params[i]
		switch {
		case p.Kind.Secret():
			secret = secret || a.Bound.Has(p.Name) || a.Bound.Generated != nil
		case a.Bound.Has(p.Name):
			texts[p.Name] = a.Bound.Text(p.Name)
		}
	}
	return texts, secret
}

// Zone returns the zone of an announced DNS change, or "" if there is none or more than one.
func (a Accepted) Zone(i *ps.Intent) string {
	if a.Op.Lane != ps.DNS {
		return ""
	}
	zone := ""
	if value, has := a.Bound.Args["ZoneName"]; has {
		text, _ := value.MarshalJSON()  // a string always encodes
		_ = json.Unmarshal(text, &zone) // zone stays empty if the value is not a string
	}
	if zone == "" && len(i.Objects) > 0 {
		zone = i.Objects[0].Parent
	}
	return zone
}

// Settler returns the settler for changes under a policy.
func (s *Service) Settler(p *Policy) *settle.Settler {
	pause := min(p.SettlePause, p.SettleLimit/2) // leaves time for the second reading
	return &settle.Settler{Runner: s.Runner, Scripts: s.Scripts, Limit: p.SettleLimit, Pause: pause}
}
