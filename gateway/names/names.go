// Package names reserves the names that changes assign, so that a change at one domain controller does not
// use a name that was just assigned at another one and has not replicated yet.
package names

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
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"

	"github.com/sirupsen/logrus"
)

// heldKind is the kind of names in the store. They are keyed by sums.
const heldKind store.Kind = "name"

// nameHold is a name that a change assigns at one domain controller.
type nameHold struct {
	store.Formatted
	Server string `json:"server"`
	GUID   string `json:"guid,omitempty"`   // GUID of the object; empty if it was created
	Change string `json:"change,omitempty"` // id of the change that assigns it
	Fresh  bool   `json:"fresh,omitempty"`  // nobody held it before the change
}

// Options configure [Names]. All are required.
type Options struct {
	Store     *store.Sealed
	History   *changes.History
	Operation func(id string) *ops.Operation // nil if there is none
	Hold      time.Duration                  // how long a name is held
	Log       *logrus.Logger
}

// Names holds the names that changes assign. It is safe for concurrent use.
type Names struct{ o Options }

// New returns the names that are held in a store.
func New(o Options) *Names { return &Names{o} }

// Part holds the names that one call's change assigns. Only one goroutine uses it at a time.
type Part struct {
	names     *Names
	requestID string
	settler   *settle.Settler
	// replicated maps the keys of holds that no longer matter to the server of the run to their revisions.
	replicated map[string]store.Revision
}

// Part returns the names of a call's change. All announcements of the call share it. settler
// determines whether an earlier change has replicated.
func (n *Names) Part(requestID string, settler *settle.Settler) *Part {
	return &Part{names: n, requestID: requestID, settler: settler, replicated: map[string]store.Revision{}}
}

// Begin implements [write.Participant].
func (p *Part) Begin(tx *store.Tx, a *write.Attempt) error {
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

// Begun implements [write.Participant].
func (p *Part) Begun() {}

// hold holds a name for an object. It refuses a name that another object got at another domain controller,
// because the controller of this run may not know about that object yet.
func (p *Part) hold(tx *store.Tx, a *write.Attempt, object *ps.Intended, name nameOf) error {
	n, sum := p.names, p.names.key(name)
	present, revision, err := heldName(tx, sum)
	if err != nil {
		return err
	}
	absent, ours := present == nil, present != nil && present.Change == a.Record.ID
	elsewhere := !absent && !strings.EqualFold(present.Server, a.Intent.Server)
	rival := elsewhere && !ours && p.replicated[sum] != revision
	if rival && !n.areOf(tx, present, object.GUID) {
		found, server := *present, a.Intent.Server
		return n.pending(name, present, func(ctx context.Context) bool {
			seen := p.hasReplicated(ctx, &found, server)
			if seen {
				p.replicated[sum] = revision
			}
			return seen
		})
	}
	held := nameHold{
		Server: a.Intent.Server, GUID: object.GUID, Change: a.Record.ID, Fresh: absent || ours && present.Fresh,
	}
	return store.Save(tx, heldKind, sum, held, tx.Now().Add(n.o.Hold))
}

// heldName returns the holder of a name within an update, or nil if there is none.
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

// End implements [write.Kind]. If a change was not made, it releases the change's names. If the
// outcome is unknown, the names expire.
func (n *Names) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if e.Verdict.Outcome != ps.OutcomeNone {
		return nil
	}
	for i := range c.Intent.Objects {
		for _, name := range namesOf(&c.Intent.Objects[i]) {
			sum := n.key(name)
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

// nameOf is a name that a change assigns: its kind, and the value that must be unique.
type nameOf struct{ kind, value string }

// namesOf returns the names that an announced object gets if it is created, restored, renamed or
// moved.
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

// entryOf returns the name of an entry below another one. leaf is written as in a distinguished name. All
// spellings of leaf give the same name.
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

// areOf reports whether a hold belongs to the object with the given GUID, which may get back a former name
// of its own. If the change created the object, the history has its GUID.
func (n *Names) areOf(tx *store.Tx, hold *nameHold, guid string) bool {
	if guid == "" || hold.GUID != "" || hold.Change == "" {
		return guid != "" && strings.EqualFold(guid, hold.GUID)
	}
	c, err := n.o.History.Find(tx, hold.Change)
	return err == nil && slices.ContainsFunc(c.Intent.Objects, func(o ps.Intended) bool {
		return strings.EqualFold(guid, o.GUID)
	})
}

func (n *Names) key(name nameOf) string {
	return hex.EncodeToString(n.o.Store.Sum([]byte(heldKind), []byte(name.kind), []byte(name.value)))
}

// errPending is the cause of refusing a change that would assign a name twice.
var errPending = errors.New("the name was given at another controller")

// pending refuses a change that would assign a name twice, unless wait reports that the server now knows
// about the change that assigned the name first.
func (n *Names) pending(name nameOf, by *nameHold, wait func(ctx context.Context) bool) error {
	what := map[string]string{
		"account": "account name", "principal": "logon name", "entry": "name in its OU",
	}[name.kind]
	failed := problem.New(schema.NamePending, "The %s was given on the domain controller '%s' not long ago, "+
		"of which others may not know yet, so it could be given twice. Nothing was changed. "+
		"Use another one, or try again once it has replicated; after %s it is free again.",
		what, by.Server, n.o.Hold)
	failed.RetryAfter, failed.Cause = 5*time.Minute, &write.Later{Cause: errPending, Wait: wait}
	return failed
}

// hasReplicated reports whether the server of a refused run knows about the earlier change that
// assigned the name. If so, the server's own rules decide, and the run can begin again.
func (p *Part) hasReplicated(ctx context.Context, hold *nameHold, server string) bool {
	if hold.Change == "" {
		return false
	}
	c, err := p.names.o.History.Get(ctx, hold.Change)
	if err != nil || c.Running {
		return false
	}
	past, can := settle.Recorded(p.names.o.Operation(c.Operation), c)
	if !can {
		return false
	}
	past.Cut.Server, past.Cut.Intent.Server = server, server
	seen, err := p.settler.Seen(ctx, past)
	if err != nil {
		p.names.o.Log.WithError(err).WithField("request_id", p.requestID).
			Warn("whether a name has replicated could not be read")
	}
	return seen
}
