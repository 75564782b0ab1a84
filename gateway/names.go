package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// nameKind is the kind of names in the store, by sums.
const nameKind keep.Kind = "name"

// nameHold is a name that a change gives at one controller.
type nameHold struct {
	keep.Formatted
	Server string `json:"server"`
	GUID   string `json:"guid,omitempty"`   // of the object; empty: it was created
	Change string `json:"change,omitempty"` // which gives it
	Fresh  bool   `json:"fresh,omitempty"`  // nobody held it before the change
}

// naming is what one request has of the names that its change gives.
type naming struct {
	held       map[string]keep.Revision // by key
	fresh      map[string]bool          // those that nobody held before
	pending    *pendingName             // why the run that has just ended was stopped
	replicated map[string]keep.Revision // holds that no longer matter to the server of the run, by key
}

// names returns what a request has of names.
func (r *request) names() *naming {
	if r.naming == nil {
		r.naming = &naming{held: map[string]keep.Revision{}, fresh: map[string]bool{}, replicated: map[string]keep.Revision{}}
	}
	return r.naming
}

// shareOfNames returns the holds of the names that a change gives.
func (s *Server) shareOfNames(r *request, i *ps.Intent) share {
	held := map[string]keep.Change{}
	return share{
		changes: func(ctx context.Context) (all []keep.Change, err error) {
			clear(held)
			err = s.holdNames(ctx, r, i, held)
			for _, one := range held {
				all = append(all, one)
			}
			return all, err
		},
		made: func(revision keep.Revision) {
			n := r.names()
			for sum, one := range held {
				n.held[sum] = revision
				n.fresh[sum] = n.fresh[sum] || one.Expect == keep.Absent
			}
		},
	}
}

// endOfNames returns what becomes of the names of a call. Those of a change of which is not
// known whether it was made end by themselves.
func (s *Server) endOfNames(r *request) share {
	n, outcome := r.naming, r.outcome()
	if n == nil || len(n.held) == 0 || outcome == ps.OutcomeUnknown {
		return share{}
	}
	var all []keep.Change
	for sum, revision := range n.held {
		if outcome == ps.OutcomeNone && n.fresh[sum] {
			all = append(all, keep.Change{Kind: nameKind, Key: sum, Expect: revision})
		}
	}
	clear(n.held)
	return unlessChanged(s.store(), all...)
}

// nameOf is a name that a change gives: its kind and what it must be the only one of.
type nameOf struct{ kind, value string }

// namesOf returns the names that an announced object gets, if it is created, restored,
// renamed or moved.
func namesOf(object *ps.Intended) (names []nameOf) {
	created := false
	leaf, above, _ := cutName(object.DN)
	for _, c := range object.Changes {
		if c.Name == existence && c.After == "True" {
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
		case c.Name == "parent":
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

// cutName splits a distinguished name into the value of its first part, as it is escaped,
// and what is above.
func cutName(dn string) (leaf, above string, found bool) {
	for i := 0; i < len(dn); i++ {
		switch dn[i] {
		case '\\':
			i++
		case ',':
			_, leaf, _ = strings.Cut(dn[:i], "=")
			return leaf, dn[i+1:], true
		}
	}
	_, leaf, _ = strings.Cut(dn, "=")
	return leaf, "", false
}

// pendingName is a hold that kept a run from giving its name.
type pendingName struct {
	key      string
	revision keep.Revision
	hold     nameHold
	server   string // of the run
}

// holdNames adds the changes that hold the names that a change gives. It refuses a name
// that another object has got at another controller, which this one may not know of yet.
func (s *Server) holdNames(ctx context.Context, r *request, i *ps.Intent, all map[string]keep.Change) error {
	if r.op.Lane != ps.Directory {
		return nil
	}
	n := r.names()
	for o := range i.Objects {
		object := &i.Objects[o]
		for _, name := range namesOf(object) {
			sum := s.nameKey(name)
			present, revision, err := kept[nameHold](ctx, s.store(), nameKind, sum)
			if err != nil {
				return err
			}
			rival := revision != keep.Absent && present.Change != changeIn(r) && !strings.EqualFold(present.Server, i.Server) && n.replicated[sum] != revision
			if rival && !s.namesObject(ctx, &present, object.GUID) {
				n.pending = &pendingName{key: sum, revision: revision, hold: present, server: i.Server}
				return s.namePending(name, &present)
			}
			own := nameHold{Server: i.Server, GUID: object.GUID, Change: changeIn(r), Fresh: revision == keep.Absent || n.fresh[sum]}
			value, err := keep.Encode(s.store(), own)
			if err != nil {
				return err
			}
			all[sum] = keep.Change{Kind: nameKind, Key: sum, Expect: revision, Value: value, Expires: s.store().Now().Add(s.NameHold)}
		}
	}
	return nil
}

// namesObject reports whether a hold is of a name of the object with a GUID: one that gets
// back a name that it had has no rival. Of one that was created the history has the GUID.
func (s *Server) namesObject(ctx context.Context, hold *nameHold, guid string) bool {
	if guid == "" || hold.GUID != "" || hold.Change == "" || s.History == nil {
		return guid != "" && strings.EqualFold(guid, hold.GUID)
	}
	c, err := s.History.Get(ctx, hold.Change)
	return err == nil && slices.ContainsFunc(c.Intent.Objects, func(o ps.Intended) bool { return strings.EqualFold(guid, o.GUID) })
}

func (s *Server) nameKey(name nameOf) string {
	return hex.EncodeToString(s.store().Sum([]byte(nameKind), []byte(name.kind), []byte(name.value)))
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
	if p == nil || p.hold.Change == "" || s.History == nil {
		return false
	}
	r.naming.pending = nil
	c, err := s.History.Get(ctx, p.hold.Change)
	if err != nil || c.Running {
		return false
	}
	change, can := s.pastChange(c)
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
