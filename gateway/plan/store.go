package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// kind is the kind of plans in the store.
const kind store.Kind = "plan"

// makerOf returns a caller as the maker of a plan. A maker always has an id, so it cannot be confused with
// another caller of the same name. Only makers stored by an earlier version have no id.
func makerOf(p *identity.Principal) identity.Who {
	return identity.Who{Name: p.Name, Kind: p.Kind, ID: p.Identity().ID}
}

// madeBy reports whether a caller has made the plan. Earlier versions stored only the name.
func (p *Plan) madeBy(caller *identity.Principal) bool {
	if p.Caller.ID == "" {
		return p.Caller.Kind == caller.Kind && p.Caller.Name == caller.Name
	}
	return p.Caller.Identity() == caller.Identity()
}

// Plan is the stored plan of a dry run.
type Plan struct {
	store.Formatted
	ID          string          `json:"id"`
	Caller      identity.Who    `json:"caller"`
	Fingerprint []byte          `json:"fingerprint"` // of the operation and its arguments
	Operation   string          `json:"operation"`
	Expires     time.Time       `json:"expires"`
	Objects     []change.Object `json:"objects"`
	Shown       json.RawMessage `json:"shown"` // the plan as shown, without its state

	Parameters map[string]string `json:"parameters,omitempty"` // as accepted, except secrets
	Row        string            `json:"row,omitempty"`        // operation that makes the change; empty if none
	Intent     ps.Intent         `json:"intent"`               // without the images of removed objects
	Zone       string            `json:"zone,omitempty"`       // zone of the DNS records

	Drifted bool `json:"drifted,omitempty"` // whether it had drifted when it was last applied
	Used    *Use `json:"used,omitempty"`    // nil if it was not applied

	revision store.Revision
}

// Use is the call that applied a plan.
type Use struct {
	RequestID string `json:"requestId"`
	ChangeID  string `json:"changeId,omitempty"`
}

// ChangeID returns the id of the change made by applying the plan, or "" if there is none.
func (p *Plan) ChangeID() string {
	if p.Used == nil {
		return ""
	}
	return p.Used.ChangeID
}

// State determines which actions on a plan are possible.
type State string

// The states. A drifted plan can still be applied; that succeeds once the expected values are back.
const (
	StateOpen    State = change.PlanOpen
	StateUsed    State = "used"
	StateExpired State = "expired"
	StateDrifted State = "drifted"
)

// StateAt returns the state of the plan at a time.
func (p *Plan) StateAt(now time.Time) State {
	switch {
	case p.Used != nil:
		return StateUsed
	case !now.Before(p.Expires):
		return StateExpired
	case p.Drifted:
		return StateDrifted
	default:
		return StateOpen
	}
}

const prefix = "pl_"

// newID returns an id for a plan. Ids are in the order of their creation.
func newID() string { return prefix + uuid.Must(uuid.NewV7()).String() }

// ErrAbsent means that the plan never existed or was removed.
var ErrAbsent = store.ErrAbsent

// errUsed means that another call has applied the plan.
var errUsed = errors.New("the plan was applied by another call")

// afterlife is how long an expired plan can still be found.
const afterlife = 24 * time.Hour

// Plans are the stored plans. Nil Plans store none. They are safe for concurrent use.
type Plans struct {
	store *store.Sealed
	table []*ops.Operation
	stats struct{ made, applied, drifted atomic.Int64 }
	shelf *shelf
}

// Open returns the plans in a store. table has their operations. Plans that cannot be read count as
// absent. limits apply to the size of all plans.
func Open(ctx context.Context, db *store.Sealed, table []*ops.Operation, limits Limits) (*Plans, error) {
	p := &Plans{store: db, table: table, shelf: newShelf(limits, db.Now)}
	return p, p.Load(ctx)
}

// Stats counts, since the start, the plans that were made, were applied, and had drifted when they
// were applied.
type Stats struct{ Made, Applied, Drifted int64 }

// Stats returns the counts. It is safe on nil Plans.
func (p *Plans) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	return Stats{p.stats.made.Load(), p.stats.applied.Load(), p.stats.drifted.Load()}
}

// Load counts the plans of each caller again, because another gateway may have stored plans.
func (p *Plans) Load(ctx context.Context) error {
	all := map[identity.ID][]shelved{}
	var found []shelved
	err := p.store.Store.Range(ctx, kind, "", func(e store.Entry) bool { // keys ascend with time
		found = append(found, shelved{id: e.Key, bytes: int64(len(e.Value)), expires: e.Expires})
		return true
	})
	for _, entry := range found {
		if plan, unread := p.Get(ctx, entry.id); unread == nil {
			by := plan.Caller.Identity()
			all[by] = append(all[by], entry)
		}
	}
	p.shelf.load(all)
	return err
}

// Get returns a plan, or ErrAbsent.
func (p *Plans) Get(ctx context.Context, id string) (*Plan, error) {
	found, err := p.store.Get(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	return p.decode(found)
}

func (p *Plans) decode(found store.Entry) (*Plan, error) {
	plan := &Plan{}
	if err := store.Decode(p.store, found.Value, plan); err != nil {
		return nil, fmt.Errorf("plan %s: %w", found.Key, err)
	}
	plan.revision = found.Revision
	return plan, nil
}

// add stores a new plan. If a caller has too many plans, or too large ones, add removes the oldest.
func (p *Plans) add(ctx context.Context, plan *Plan) error {
	entry := shelved{id: plan.ID}
	err := p.store.Update(ctx, func(tx *store.Tx) error {
		if err := p.put(tx, plan); err != nil {
			return err
		}
		put, err := tx.Get(kind, plan.ID)
		entry.bytes, entry.expires = int64(len(put.Value)), put.Expires
		return err
	})
	if err != nil {
		return err
	}
	surplus := p.shelf.put(plan.Caller, entry)
	if len(surplus) == 0 {
		return nil
	}
	return p.store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range surplus {
			tx.Delete(kind, id)
		}
		return nil
	})
}

// use marks a plan as applied by a call, before that call changes anything, as part of an update.
// If another call has used the plan since it was read, use returns the latest state and [errUsed].
func (p *Plans) use(tx *store.Tx, plan *Plan, by Use) (latest *Plan, err error) {
	latest, err = p.find(tx, plan.ID)
	switch {
	case err != nil:
		return nil, err
	case latest.Used != nil && latest.revision != plan.revision:
		return latest, errUsed
	}
	latest.Used, latest.Drifted = &by, false
	return latest, p.put(tx, latest)
}

// note records the change that a call has made with a plan, as part of an update. If change is empty, the
// plan can be applied again. It does nothing if another call has used the plan, or if the change was recorded
// before.
func (p *Plans) note(tx *store.Tx, id, requestID, change string) error {
	plan, err := p.find(tx, id)
	switch {
	case errors.Is(err, ErrAbsent):
		return nil
	case err != nil:
		return err
	case plan.Used == nil || plan.Used.RequestID != requestID || plan.Used.ChangeID != "":
		return nil
	case change == "":
		plan.Used = nil
	default:
		plan.Used.ChangeID = change
	}
	return p.put(tx, plan)
}

// drift marks a plan that had drifted when a call applied it, as part of an update. It does nothing
// if another call has used the plan since it was read.
func (p *Plans) drift(tx *store.Tx, plan *Plan, requestID string) error {
	latest, err := p.find(tx, plan.ID)
	switch {
	case errors.Is(err, ErrAbsent):
		return nil
	case err != nil:
		return err
	case latest.Used != nil && latest.Used.RequestID != requestID && latest.revision != plan.revision:
		return nil
	}
	latest.Used, latest.Drifted = nil, true
	return p.put(tx, latest)
}

// End implements [write.Kind]. It records the change in the plan. If the change was not made, it
// makes the plan available again. A call with nothing to change has used up the plan.
func (p *Plans) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	switch {
	case c.Plan == "":
		return nil
	case e.Verdict.Outcome != ps.OutcomeNone:
		return p.note(tx, c.Plan, c.RequestID, c.ID)
	case e.Verdict.Idle:
		return nil
	}
	return p.note(tx, c.Plan, c.RequestID, "")
}

func (p *Plans) find(tx *store.Tx, id string) (*Plan, error) {
	found, err := tx.Get(kind, id)
	if err != nil {
		return nil, err
	}
	return p.decode(found)
}

func (p *Plans) put(tx *store.Tx, plan *Plan) error {
	return store.Save(tx, kind, plan.ID, *plan, plan.Expires.Add(afterlife))
}
