package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// heldKind is the kind of names in the store, by sums.
const heldKind store.Kind = "name"

// nameHold is a name that a change gives at one controller.
type nameHold struct {
	store.Formatted
	Server string `json:"server"`
	GUID   string `json:"guid,omitempty"`   // of the object; empty: it was created
	Change string `json:"change,omitempty"` // which gives it
	Fresh  bool   `json:"fresh,omitempty"`  // nobody held it before the change
}

// naming is what one request has of the names that its change gives.
type naming struct {
	pending    *pendingName              // why the run that has just ended was stopped
	replicated map[string]store.Revision // holds that no longer matter to the server of the run, by key
}

// names returns what a request has of names.
func (r *request) names() *naming {
	if r.naming == nil {
		r.naming = &naming{replicated: map[string]store.Revision{}}
	}
	return r.naming
}

// namesPart are the names that a change gives, which are held for it.
type namesPart struct {
	s *Server
	r *request
}

func (p *namesPart) Begin(tx *store.Tx, a *write.Attempt) error {
	if p.r.op.Lane != ps.Directory {
		return nil
	}
	p.r.names().pending = nil
	for i := range a.Intent.Objects {
		object := &a.Intent.Objects[i]
		for _, name := range namesOf(object) {
			if err := p.hold(tx, a, object, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *namesPart) Begun() {}

// hold holds a name for an object. It refuses one that another object has got at another
// controller, which this one may not know of yet.
func (p *namesPart) hold(tx *store.Tx, a *write.Attempt, object *ps.Intended, name nameOf) error {
	s, n, sum := p.s, p.r.names(), p.s.nameKey(name)
	present, revision, err := heldName(tx, sum)
	if err != nil {
		return err
	}
	absent, own := present == nil, present != nil && present.Change == a.Record.ID
	rival := !absent && !own && !strings.EqualFold(present.Server, a.Intent.Server) && n.replicated[sum] != revision
	if rival && !s.namesObject(tx, present, object.GUID) {
		n.pending = &pendingName{key: sum, revision: revision, hold: *present, server: a.Intent.Server}
		return s.namePending(name, present)
	}
	held := nameHold{
		Server: a.Intent.Server, GUID: object.GUID, Change: a.Record.ID, Fresh: absent || own && present.Fresh,
	}
	return store.Save(tx, heldKind, sum, held, tx.Now().Add(s.NameHold))
}

// heldName returns who holds a name, in an update; nil: nobody.
func heldName(tx *store.Tx, sum string) (*nameHold, store.Revision, error) {
	e, err := tx.Get(heldKind, sum)
	if errors.Is(err, store.ErrAbsent) {
		return nil, store.Absent, nil
	}
	if err != nil {
		return nil, store.Absent, err
	}
	held, err := store.Load[nameHold](tx, heldKind, sum)
	return &held, e.Revision, err
}

// nameKind frees the names that a change was about to give which was not made. Those of a change
// of which that is not known end by themselves.
type nameKind struct{ s *Server }

func (k nameKind) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if e.Verdict.Outcome != ps.OutcomeNone {
		return nil
	}
	for i := range c.Intent.Objects {
		for _, name := range namesOf(&c.Intent.Objects[i]) {
			sum := k.s.nameKey(name)
			held, _, err := heldName(tx, sum)
			if err != nil {
				return err
			}
			if held != nil && held.Change == c.ID && held.Fresh {
				tx.Delete(heldKind, sum)
			}
		}
	}
	return nil
}

// nameOf is a name that a change gives: its kind and what it must be the only one of.
type nameOf struct{ kind, value string }

// namesOf returns the names that an announced object gets, if it is created, restored,
// renamed or moved.
func namesOf(object *ps.Intended) (names []nameOf) {
	created := false
	leaf, above, _ := schema.CutDN(object.DN)
	for _, c := range object.Changes {
		if c.Name == change.Existence && c.After == "True" {
			created = true
			names = append(names,
				nameOf{"account", cmp.Or(object.Account, object.Also["sAMAccountName"])},
				nameOf{"principal", cmp.Or(object.Principal, object.Also["userPrincipalName"])})
		}
	}
	for _, c := range object.Changes {
		switch {
		case strings.EqualFold(c.Before, c.After) && c.Before != "":
		case c.Name == "sAMAccountName":
			names = append(names, nameOf{"account", c.After})
		case c.Name == "userPrincipalName":
			names = append(names, nameOf{"principal", c.After})
		case c.Name == "name":
			names = append(names, entryOf(schema.EscapeRDN(c.After), above))
		case c.Name == change.Parent:
			names = append(names, entryOf(leaf, c.After))
		}
	}
	if created {
		names = append(names, entryOf(cmp.Or(schema.EscapeRDN(object.Name), leaf), cmp.Or(object.Parent, above)))
	}
	names = slices.DeleteFunc(names, func(n nameOf) bool { return n.value == "" })
	for i := range names {
		names[i].value = strings.ToLower(names[i].value)
	}
	return names
}

// entryOf returns the name of an entry, whose first part is written as in a distinguished
// name, below another entry. However it is written, it is the same.
func entryOf(leaf, above string) nameOf {
	if leaf == "" {
		return nameOf{kind: "entry"}
	}
	dn := "CN=" + leaf + "," + above
	if path, ok := schema.ParsePath(dn); ok {
		return nameOf{"entry", strings.Join(path, "\x00")}
	}
	return nameOf{"entry", dn}
}

// pendingName is a hold that kept a run from giving its name.
type pendingName struct {
	key      string
	revision store.Revision
	hold     nameHold
	server   string // of the run
}

// namesObject reports whether a hold is of a name of the object with a GUID: one that gets
// back a name that it had has no rival. Of one that was created the history has the GUID.
func (s *Server) namesObject(tx *store.Tx, hold *nameHold, guid string) bool {
	if guid == "" || hold.GUID != "" || hold.Change == "" {
		return guid != "" && strings.EqualFold(guid, hold.GUID)
	}
	c, err := s.History.Find(tx, hold.Change)
	return err == nil && slices.ContainsFunc(c.Intent.Objects, func(o ps.Intended) bool { return strings.EqualFold(guid, o.GUID) })
}

func (s *Server) nameKey(name nameOf) string {
	return hex.EncodeToString(s.store().Sum([]byte(heldKind), []byte(name.kind), []byte(name.value)))
}

// errNamePending is the cause of the refusal of a change that gives a name twice.
var errNamePending = errors.New("the name was given at another controller")

// namePending refuses a change that gives a name twice. Its cause is errNamePending.
func (s *Server) namePending(name nameOf, by *nameHold) error {
	what := map[string]string{"account": "account name", "principal": "logon name", "entry": "name in its OU"}[name.kind]
	failed := problem.New(schema.NamePending, "The %s was given on the domain controller '%s' not long ago, of which others may not know yet, so that it could be given twice. Nothing was changed. Use another one, or try again once it has replicated; after %s it is free again.", what, by.Server, s.NameHold)
	failed.RetryAfter, failed.Cause = 5*time.Minute, errNamePending
	return failed
}

// hasReplicated reports whether the server of a run that was kept from giving a name knows of
// the change that has given it before: then its own rule decides, and the run can begin again.
func (s *Server) hasReplicated(ctx context.Context, r *request) bool {
	p := r.names().pending
	if p == nil || p.hold.Change == "" {
		return false
	}
	r.naming.pending = nil
	c, err := s.History.Get(ctx, p.hold.Change)
	if err != nil || c.Running {
		return false
	}
	change, can := settle.Recorded(s.operationOf(c.Operation), c)
	if !can {
		return false
	}
	change.Cut.Server, change.Cut.Intent.Server = p.server, p.server
	seen, err := s.settler(r.policy).Seen(ctx, change)
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).Warn("whether a name has replicated could not be read")
	}
	if !seen {
		return false
	}
	r.naming.replicated[p.key] = p.revision
	return true
}
