package change

import (
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Plan is what a dry run answers.
type Plan struct {
	ID        *string          `json:"id"` // nil: it is not kept
	Operation string           `json:"operation"`
	Effect    ps.Effect        `json:"effect"`
	Server    string           `json:"server"`
	Made      time.Time        `json:"made"`
	Expires   *time.Time       `json:"expires"` // nil: it is not kept
	State     string           `json:"state"`
	Reason    *string          `json:"reason"` // nil: none was given
	Undo      schema.Undoable  `json:"undo"`
	Objects   []ShownObject    `json:"objects"`
	Checks    []Check          `json:"checks"`
	Requires  []identity.Scope `json:"requires"`
}

// PlanOpen is the state of a plan that was neither applied nor has expired or drifted.
const PlanOpen = "open"

// WithoutImages returns an announcement without the images of the objects that it removes.
func WithoutImages(i ps.Intent) ps.Intent {
	i.Objects = slices.Clone(i.Objects)
	for n := range i.Objects {
		i.Objects[n].Record, i.Objects[n].Image = nil, nil
	}
	return i
}

// Check is a condition that may prevent a change although its script has announced it, and says
// whether the condition was checked.
type Check struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// Failed returns the first check that failed; nil: none did.
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

// And returns the plan of a change that consists of this one and of others. Its objects and the
// scopes that it requires are the union of all; the rest is taken from this one.
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
