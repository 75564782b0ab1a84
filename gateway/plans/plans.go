// Package plans keeps what dry runs have shown, so that it can be applied exactly as it
// was shown, or not at all: a [Plan] is made by a dry run, found by its id, and used up
// by the call that applies it.
package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/change"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// kind is the kind of plans in the store.
const kind store.Kind = "plan"

// Caller is the credential that made a plan or applied one.
type Caller struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Plan is what a dry run has shown.
type Plan struct {
	store.Formatted
	ID          string          `json:"id"`
	Caller      Caller          `json:"caller"`
	Fingerprint []byte          `json:"fingerprint"` // of the operation and its arguments
	Operation   string          `json:"operation"`
	Expires     time.Time       `json:"expires"`
	Objects     []change.Object `json:"objects"`
	Shown       json.RawMessage `json:"shown"` // the plan as it was made, without its state

	Parameters map[string]string `json:"parameters,omitempty"` // as accepted, without secrets
	Row        string            `json:"row,omitempty"`        // operation that makes the change; empty: there is none
	Intent     ps.Intent         `json:"intent"`               // without the images of what is removed
	Zone       string            `json:"zone,omitempty"`       // of the DNS records

	Drifted bool `json:"drifted,omitempty"` // it did not hold when it was last applied
	Used    *Use `json:"used,omitempty"`    // nil: it was not applied

	revision store.Revision
}

// Use is the call that applied a plan.
type Use struct {
	RequestID string `json:"requestId"`
	ChangeID  string `json:"changeId,omitempty"`
}

// ChangeID returns the change that the plan has made; empty if there is none.
func (p *Plan) ChangeID() string {
	if p.Used == nil {
		return ""
	}
	return p.Used.ChangeID
}

// State is what can be done with a plan.
type State string

// The states. A plan that has drifted can be applied again: it holds once what it expects
// is there again.
const (
	StateOpen    State = change.PlanOpen
	StateUsed    State = "used"
	StateExpired State = "expired"
	StateDrifted State = "drifted"
)

// StateAt returns the state at a time.
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

// NewID returns an id for a plan. Later ones are greater.
func NewID() string { return prefix + uuid.Must(uuid.NewV7()).String() }

// ErrAbsent means that there is no such plan, or not any more.
var ErrAbsent = store.ErrAbsent

// ErrUsed means that another call has applied the plan.
var ErrUsed = errors.New("the plan was applied by another call")

// afterlife is how long a plan is kept after it has expired, so that it is found then.
const afterlife = 24 * time.Hour

// perCaller is how many plans of one credential are kept; the oldest make place for new ones.
const perCaller = 1000

// Plans is safe for concurrent use.
type Plans struct {
	store *store.Sealed

	mu  sync.Mutex
	ids map[Caller][]string // the oldest first
}

// Open returns the plans in a store. Those that cannot be read are as good as absent.
func Open(ctx context.Context, db *store.Sealed) (*Plans, error) {
	p := &Plans{store: db}
	return p, p.Load(ctx)
}

// Load counts the plans of each caller anew, as another gateway may have kept some.
func (p *Plans) Load(ctx context.Context) error {
	all := map[Caller][]string{}
	var ids []string
	err := p.store.Store.Range(ctx, kind, "", func(e store.Entry) bool { // keys ascend with time
		ids = append(ids, e.Key)
		return true
	})
	for _, id := range ids {
		if plan, unread := p.Get(ctx, id); unread == nil {
			all[plan.Caller] = append(all[plan.Caller], id)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = all
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

// Add keeps a new plan, and forgets the oldest of a caller that has too many.
func (p *Plans) Add(ctx context.Context, plan *Plan) error {
	if err := p.store.Update(ctx, func(tx *store.Tx) error { return p.put(tx, plan) }); err != nil {
		return err
	}
	p.mu.Lock()
	ids := append(p.ids[plan.Caller], plan.ID)
	var surplus []string
	if more := len(ids) - perCaller; more > 0 {
		surplus, ids = ids[:more], append([]string(nil), ids[more:]...)
	}
	p.ids[plan.Caller] = ids
	p.mu.Unlock()
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

// Use marks a plan as applied by a call, before that call changes anything. It is a part of an
// update. If another call has used it since it was read, it returns that state and [ErrUsed].
func (p *Plans) Use(tx *store.Tx, plan *Plan, by Use) (latest *Plan, err error) {
	latest, err = p.find(tx, plan.ID)
	switch {
	case err != nil:
		return nil, err
	case latest.Used != nil && latest.revision != plan.revision:
		return latest, ErrUsed
	}
	latest.Used, latest.Drifted = &by, false
	return latest, p.put(tx, latest)
}

// End notes the change that a call has made with a plan, as a part of an update. Without a
// change the plan can be applied again. It does nothing if another call has used the plan, or if
// that was noted before.
func (p *Plans) End(tx *store.Tx, id, requestID, change string) error {
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

// Drift marks a plan that did not hold when a call has applied it, as a part of an update. It does
// nothing if another call has used the plan since it was read.
func (p *Plans) Drift(tx *store.Tx, plan *Plan, requestID string) error {
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
