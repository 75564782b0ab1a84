package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// shownChange is a change as answers show it.
type shownChange struct {
	ID        string          `json:"id"`
	RequestID string          `json:"requestId"`
	Time      string          `json:"time"`
	Caller    string          `json:"caller"`
	Operation string          `json:"operation"`
	Effect    ps.Effect       `json:"effect"`
	Outcome   ps.Outcome      `json:"outcome"`
	Server    string          `json:"server"`
	Objects   []shownObject   `json:"objects"`
	Undo      schema.Undoable `json:"undo"`
	Undoes    *string         `json:"undoes"`
	UndoneBy  []string        `json:"undoneBy"`
	Plan      *string         `json:"plan"`
	Batch     *string         `json:"batch"`
	Degraded  bool            `json:"degraded"`
}

type shownObject struct {
	GUID              *string         `json:"guid"`
	DistinguishedName string          `json:"distinguishedName"`
	Changes           []shownValue    `json:"changes"`
	Image             json.RawMessage `json:"image,omitempty"`
}

type shownValue struct {
	change.Change
	Undo  schema.Undoable `json:"undo"`
	Now   json.RawMessage `json:"now,omitempty"`
	State string          `json:"state,omitempty"`
}

// past is a recorded change with its row.
type past struct {
	*changes.Record
	op   *ops.Operation
	done ops.Done
	bin  bool // what it removed can be restored from the Recycle Bin
}

// pastOf returns a recorded change, or false if its row does not exist any more.
func (s *Server) pastOf(c *changes.Record) (*past, bool) {
	op := s.operationOf(c.Operation)
	if op == nil || op.Reply.Shape == nil && op.Protocol == nil {
		return nil, false
	}
	if c.Rebuilt {
		known := *op
		known.Undo = ops.Undo{Never: "it was read back from the audit log, which has no image of what was there before"}
		op = &known
	}
	return &past{c, op, ops.Done{Op: op, Texts: c.Parameters, Secret: c.Secret, Intent: &c.Intent}, s.restorable(op, &c.Intent)}, true
}

// restorable reports whether what a row has removed is in the Recycle Bin, as was looked up
// when it was announced. Where that is not known, it may be.
func (s *Server) restorable(op *ops.Operation, i *ps.Intent) bool {
	if !op.Undo.Bin || s.operationOf(op.Undo.Rows[0]) == nil {
		return false
	}
	return !slices.ContainsFunc(i.Objects, func(object ps.Intended) bool {
		known := ops.ImageOf(&object).Restorable
		return known != "" && known != "True"
	})
}

// announcement returns the recorded change in the form that plans are made from.
func (p *past) announcement() change.Announcement {
	return change.Announcement{Intent: &p.Intent, Shape: p.op.Reply.Shape, Secret: p.Secret}
}

// show returns the change as answers show it.
func (s *Server) show(ctx context.Context, p *past, principal *identity.Principal, whole bool) shownChange {
	bounds := boundsOf(principal)
	shown := shownChange{
		ID: p.ID, RequestID: p.RequestID, Time: p.Time.UTC().Format(time.RFC3339Nano), Caller: p.Caller, Operation: p.Operation, Effect: p.Intent.Effect,
		Outcome: p.Outcome, Server: p.Server, Undo: s.undoable(ctx, p), Undoes: call.OrNull(p.Undoes), UndoneBy: []string{},
		Plan: call.OrNull(p.Plan), Batch: call.OrNull(p.Batch), Degraded: p.Degraded,
	}
	if p.Running {
		shown.Outcome = ps.OutcomeUnknown
	}
	for _, undoing := range p.UndoneBy {
		shown.UndoneBy = append(shown.UndoneBy, undoing.ID)
	}
	shown.Objects = p.objects(bounds, whole)
	return shown
}

// objects returns what is changed, within the bounds of a caller, and of whole ones their
// images.
func (p *past) objects(bounds bounds, whole bool) []shownObject {
	all := []shownObject{}
	from := p.announcement()
	for i := range p.Intent.Objects {
		object := &p.Intent.Objects[i]
		one := shownObject{GUID: call.OrNull(object.GUID), DistinguishedName: object.DN, Changes: []shownValue{}}
		if object.DN == "" {
			one.DistinguishedName = change.NameOfNew(p.op.Reply.Shape, object)
		}
		for _, c := range announcedChanges(object) {
			for _, planned := range from.Changes(object, c) {
				bounds.hide(&planned)
				one.Changes = append(one.Changes, shownValue{Change: planned, Undo: p.undoOfValue(c, planned)})
			}
		}
		if whole && len(object.Image) > 0 && string(object.Image) != "null" && bounds.none() {
			one.Image = object.Image
		}
		if len(one.Changes) > 0 || len(one.Image) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// announcedChanges returns the changes of an announced object, with what it gets at its
// creation.
func announcedChanges(object *ps.Intended) []ps.IntendedChange {
	all := slices.Clone(object.Changes)
	for _, name := range slices.Sorted(maps.Keys(object.Also)) {
		all = append(all, ps.IntendedChange{Name: name, After: object.Also[name]})
	}
	return all
}

// undoOfValue returns how a value can be taken back.
func (p *past) undoOfValue(c ps.IntendedChange, planned change.Change) schema.Undoable {
	switch {
	case p.Intent.Effect == ps.EffectCreated && p.op.Undo.Never == "":
		return schema.UndoFull
	case planned.Kind == schema.SetsSecret, !p.op.Undo.CanUndo(p.done, c):
		return schema.UndoNone
	case p.op.Undo.Bin && !p.bin:
		return schema.UndoNone
	case p.op.Undo.Bin:
		return schema.UndoRestore
	}
	return schema.UndoFull
}

// showChange answers with one change.
func (s *Server) showChange(r *request) (call.Answer, error) {
	p, failed := s.findChange(r)
	if failed != nil {
		return call.Answer{}, failed
	}
	shown := s.show(r.ctx, p, r.principal, true)
	if r.bound.Text("Compare") == "true" {
		if failed := s.compareNow(r, p, &shown); failed != nil {
			return call.Answer{}, failed
		}
	}
	answer := r.accepted().Answer("The change was found.", shown)
	answer.Server = r.server
	return answer, nil
}

// findChange returns the change that a call is about.
func (s *Server) findChange(r *request) (*past, error) {
	id := r.bound.Text(ops.ChangeIDParam)
	c, err := s.History.Get(r.ctx, id)
	switch {
	case errors.Is(err, changes.ErrAbsent):
	case err != nil:
		return nil, historyUnavailable(err)
	default:
		if p, known := s.pastOf(c); known && boundsOf(r.principal).see(p) {
			return p, nil
		}
	}
	made, _ := changes.Time(id)
	if r.op.Effect.Writes() && s.store().Now().Sub(made) > s.History.Life() {
		return nil, problem.New(schema.NotUndoable, "The change '%s' is no longer kept: changes are kept for %s.", id, s.History.Life())
	}
	return nil, problem.New(schema.NotFound, "There is no change '%s', or the credential may not see it.", id)
}

func historyUnavailable(err error) error {
	failed := problem.New(schema.Unavailable, "The history cannot be read at the moment. Try again later.")
	failed.Cause, failed.RetryAfter = err, call.StoreRetry
	return failed
}

// listChanges answers with the changes that pass the filters.
func (s *Server) listChanges(r *request) (call.Answer, error) {
	b := r.bound
	if b.Has(ops.WaitName) {
		return s.awaitChanges(r)
	}
	since, until := moment(b.Text("Since")), moment(b.Text("Until"))
	var limit int
	_ = json.Unmarshal([]byte(b.Text("Limit")), &limit) // it is a number, or the default
	before, failed := s.cursors.Open(r.accepted())
	if failed != nil {
		return call.Answer{}, failed
	}
	ctx, bounds := r.ctx, boundsOf(r.principal)
	records, last, more, seen := []any{}, "", false, 0
	err := s.History.Newest(ctx, until, before, func(c *changes.Record) bool {
		if c.Time.Before(since) {
			return false
		}
		if len(records) == limit || seen == maxScan {
			more = true
			return false
		}
		seen++
		last = c.ID
		if p, known := s.pastOf(c); known && bounds.see(p) && s.passes(ctx, b, p) {
			records = append(records, s.show(ctx, p, r.principal, false))
		}
		return true
	})
	if err != nil {
		return call.Answer{}, historyUnavailable(err)
	}
	answer := r.accepted().Found(records)
	if more {
		answer.Next = s.cursors.Seal(r.accepted(), last)
	}
	return answer, nil
}

// maxScan is the limit on the changes that one call reads.
const maxScan = 20_000

func moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // absent: the zero time
	return t
}

// passes reports whether a change passes the filters of a call.
func (s *Server) passes(ctx context.Context, b *ops.Bound, p *past) bool {
	resource, _, _ := strings.Cut(p.Operation, ".")
	outcome := p.Outcome
	if p.Running {
		outcome = ps.OutcomeUnknown
	}
	for name, has := range map[string]func(string) bool{
		"Operation": func(want string) bool {
			return strings.EqualFold(want, p.Operation) || strings.EqualFold(want, resource)
		},
		"Caller":  func(want string) bool { return strings.EqualFold(want, p.Caller) },
		"Outcome": func(want string) bool { return want == string(outcome) },
		"Undo":    func(want string) bool { return want == string(s.undoable(ctx, p)) },
		"Object":  p.isAbout,
	} {
		if want := b.Text(name); want != "" && !has(want) {
			return false
		}
	}
	return true
}

// Names of announced changes.
const (
	existence = "exists"
	parent    = "parent"
)

// bounds are the limits of a caller, as they apply to what was changed.
type bounds struct {
	ous           []schema.Path
	limits        identity.Limits
	limitedToNone bool
}

func boundsOf(p *identity.Principal) bounds {
	b := bounds{limits: p.Limits}
	for _, ou := range p.Limits.OUs {
		if path, ok := schema.ParsePath(ou); ok {
			b.ous = append(b.ous, path)
		}
	}
	b.limitedToNone = len(p.Limits.OUs) > 0 && len(b.ous) == 0
	return b
}

// none reports whether there are no limits.
func (b bounds) none() bool {
	return len(b.limits.OUs)+len(b.limits.Zones)+len(b.limits.Groups)+len(b.limits.Names) == 0
}

// within reports whether a distinguished name lies within the caller's OUs.
func (b bounds) within(dn string) bool {
	if len(b.limits.OUs) == 0 {
		return true
	}
	path, ok := schema.ParsePath(dn)
	return ok && slices.ContainsFunc(b.ous, path.Within)
}

// see reports whether the caller may see a change: every object of it must lie within the
// limits, before the change or after it.
func (b bounds) see(p *past) bool {
	if b.none() {
		return true
	}
	for i := range p.Intent.Objects {
		object := &p.Intent.Objects[i]
		if p.op.Lane == ps.DNS && !b.seeName(p, object) || p.op.Lane == ps.Directory && !b.seeObject(p, i, object) {
			return false
		}
	}
	return true
}

func (b bounds) seeName(p *past, object *ps.Intended) bool {
	if len(b.limits.Zones) > 0 && !slices.ContainsFunc(b.limits.Zones, func(zone string) bool { return strings.EqualFold(zone, p.Zone) }) {
		return false
	}
	if len(b.limits.Names) == 0 {
		return true
	}
	names := []string{object.DN}
	for _, c := range object.Changes {
		if name, _, _ := strings.Cut(strings.TrimPrefix(c.Name, "ttl "), " "); strings.Contains(c.Name, " ") {
			names = append(names, name)
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !ops.NameWithin(name, b.limits.Names) })
}

func (b bounds) seeObject(p *past, i int, object *ps.Intended) bool {
	dn := object.DN
	if dn == "" {
		dn = change.NameOfNew(p.op.Reply.Shape, object)
	}
	inside := b.within(dn)
	for _, c := range object.Changes {
		if c.Name == parent {
			inside = inside || b.within(c.After)
		}
	}
	isGroup := p.op.Reply.Shape == schema.Group || p.op.Reply.Shape == schema.Membership && i == 0
	if !isGroup || len(b.limits.Groups) == 0 {
		return inside
	}
	return slices.ContainsFunc(b.limits.Groups, func(group string) bool {
		if strings.EqualFold(group, object.Account) || strings.EqualFold(strings.Trim(group, "{}"), object.GUID) {
			return true
		}
		wanted, ok := schema.ParsePath(group)
		path, isPath := schema.ParsePath(dn)
		return ok && isPath && slices.Equal(wanted, path)
	})
}

// hide hides names of objects outside the limits in the values of a change.
func (b bounds) hide(c *change.Change) {
	if c.Attribute == "manager" || c.Attribute == "managedBy" || c.Attribute == parent {
		c.Before, c.After = b.hidden(c.Before), b.hidden(c.After)
	}
}

// hidden returns a value, or null if it is the name of an object outside the limits.
func (b bounds) hidden(value json.RawMessage) json.RawMessage {
	var dn string
	if json.Unmarshal(value, &dn) != nil || dn == "" || b.within(dn) {
		return value
	}
	return json.RawMessage("null")
}
