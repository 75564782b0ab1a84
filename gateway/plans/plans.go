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
	StateOpen    State = "open"
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
	plan := &Plan{}
	if err := store.Decode(p.store, found.Value, plan); err != nil {
		return nil, fmt.Errorf("plan %s: %w", id, err)
	}
	plan.revision = found.Revision
	return plan, nil
}

// Add keeps a new plan, and forgets the oldest of a caller that has too many.
func (p *Plans) Add(ctx context.Context, plan *Plan) error {
	if err := p.save(ctx, plan); err != nil {
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

// Use marks a plan as applied by a call, before that call changes anything. It fails with
// ErrUsed if another one was faster.
func (p *Plans) Use(ctx context.Context, plan *Plan, by Use) error {
	plan.Used, plan.Drifted = &by, false
	err := p.save(ctx, plan)
	if errors.Is(err, store.ErrConflict) {
		return ErrUsed
	}
	return err
}

// Using returns the change of the store that [Plans.Use] makes, for a decision with others.
// Once it is made, [Plan.Saved] must follow.
func (p *Plans) Using(plan *Plan, by Use) (store.Change, error) {
	plan.Used, plan.Drifted = &by, false
	return p.change(plan)
}

// Done returns the change of the store that adds to a plan the change that its call has
// made.
func (p *Plans) Done(plan *Plan, changeID string) (store.Change, error) {
	plan.Used.ChangeID = changeID
	return p.change(plan)
}

// Release returns the change of the store that makes a plan usable again whose application
// has changed nothing.
func (p *Plans) Release(plan *Plan) (store.Change, error) {
	plan.Used = nil
	return p.change(plan)
}

// Drift returns the change of the store that marks a plan that did not hold when it was
// applied. Another call may have changed it meanwhile, which then stays.
func (p *Plans) Drift(plan *Plan) (store.Change, error) {
	plan.Drifted = true
	return p.change(plan)
}

// Saved notes that a plan was changed as it is now.
func (p *Plan) Saved(revision store.Revision) { p.revision = revision }

// Same reports whether two plans are the same state of one.
func (p *Plan) Same(as *Plan) bool { return p.ID == as.ID && p.revision == as.revision }

// Adopt makes a plan the successor of its latest state.
func (p *Plan) Adopt(latest *Plan) { p.revision = latest.revision }

func (p *Plans) change(plan *Plan) (store.Change, error) {
	value, err := store.Encode(p.store, *plan)
	return store.Change{Kind: kind, Key: plan.ID, Expect: plan.revision, Value: value, Expires: plan.Expires.Add(afterlife)}, err
}

func (p *Plans) save(ctx context.Context, plan *Plan) error {
	own, err := p.change(plan)
	if err != nil {
		return err
	}
	revision, err := p.store.Apply(ctx, own)
	if err == nil {
		plan.revision = revision
	}
	return err
}
