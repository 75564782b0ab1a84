package change

import (
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Plan is the answer to a dry run.
type Plan struct {
	ID        *string          `json:"id"` // nil if it is not stored
	Operation string           `json:"operation"`
	Effect    ps.Effect        `json:"effect"`
	Server    string           `json:"server"`
	Made      time.Time        `json:"made"`
	Expires   *time.Time       `json:"expires"` // nil if it is not stored
	State     string           `json:"state"`
	Reason    *string          `json:"reason"` // nil if none was given
	Undo      schema.Undoable  `json:"undo"`
	Objects   []ShownObject    `json:"objects"`
	Checks    []Check          `json:"checks"`
	Requires  []identity.Scope `json:"requires"`
}

// PlanOpen is the state of a plan that has not been applied, and has neither expired nor drifted.
const PlanOpen = "open"

// WithoutImages returns an announcement without the images of the objects that it removes.
func WithoutImages(i ps.Intent) ps.Intent {
	i.Objects = slices.Clone(i.Objects)
	for n := range i.Objects {
		i.Objects[n].Record, i.Objects[n].Image = nil, nil
	}
	return i
}

// Check is the result of checking a condition that may prevent a change although its script has announced it.
type Check struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// Failed returns the first check that failed, or nil if none did.
func (p *Plan) Failed() *Check {
	if i := slices.IndexFunc(p.Checks, func(c Check) bool { return c.State == schema.CheckFailed }); i >= 0 {
		return &p.Checks[i]
	}
	return nil
}

// Hide hides names of objects outside the bounds of a caller.
func (p *Plan) Hide(bounds Bounds) {
	for i := range p.Objects {
		for n := range p.Objects[i].Changes {
			bounds.Hide(&p.Objects[i].Changes[n].Change)
		}
	}
}

// And returns the plan of a change that consists of the changes of this plan and others. It has the objects
// and the required scopes of all plans; everything else is taken from this plan.
func (p Plan) And(others ...Plan) Plan {
	p.Objects, p.Requires = slices.Clone(p.Objects), slices.Clone(p.Requires)
	for i := range others {
		p.Objects = append(p.Objects, others[i].Objects...)
		p.Requires = append(p.Requires, others[i].Requires...)
	}
	slices.Sort(p.Requires)
	p.Requires = slices.Compact(p.Requires)
	return p
}
