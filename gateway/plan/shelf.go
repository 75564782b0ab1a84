package plan

import (
	"math"
	"sync"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/identity"
)

// Limits limit the size of stored plans.
type Limits struct {
	Bytes int64        // limit of all plans together, of which each caller gets a share; 0 means no limit
	Room  *bounds.Room // room left on the disk; nil means no limit
}

// shelf counts the plans of each caller, and their size. It is safe for concurrent use.
type shelf struct {
	limits Limits
	now    func() time.Time

	mu    sync.Mutex
	plans map[identity.ID][]shelved // keyed by account, oldest first
}

// shelved is the id and size of a plan.
type shelved struct {
	id      string
	bytes   int64
	expires time.Time
}

func newShelf(limits Limits, now func() time.Time) *shelf {
	if limits.Bytes == 0 {
		limits.Bytes = math.MaxInt64
	}
	return &shelf{limits: limits, now: now, plans: map[identity.ID][]shelved{}}
}

// load replaces all counts.
func (s *shelf) load(all map[identity.ID][]shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = all
}

// put adds a plan of a caller, and returns the ids of plans that must be removed to make room for
// it.
func (s *shelf) put(of identity.Who, entry shelved) (surplus []string) {
	share, _ := s.limits.Room.Share(s.limits.Bytes)
	by, named := of.Identity(), identity.ID{Kind: of.Kind, ID: of.Name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if named != by { // plans of an earlier version are older
		s.plans[by] = append(s.plans[named], s.plans[by]...)
		delete(s.plans, named)
	}
	s.plans[by] = append(s.plans[by], entry)
	sizes, all := s.measure()
	forget := func(caller identity.ID) {
		oldest := s.plans[caller][0]
		surplus = append(surplus, oldest.id)
		s.plans[caller] = s.plans[caller][1:]
		sizes[caller] -= oldest.bytes
		all -= oldest.bytes
	}
	for n := len(s.plans[by]); n > 1 && (n > bounds.Plans.Own || sizes[by] > share); n = len(s.plans[by]) {
		forget(by)
	}
	for all > s.limits.Bytes {
		largest := by
		for caller, size := range sizes {
			if size > sizes[largest] && len(s.plans[caller]) > 0 {
				largest = caller
			}
		}
		if len(s.plans[largest]) == 1 && largest == by {
			break
		}
		forget(largest)
	}
	return surplus
}

// measure drops expired plans, and returns the size of each caller's plans and of all plans. The
// caller holds s.mu.
func (s *shelf) measure() (sizes map[identity.ID]int64, all int64) {
	sizes = map[identity.ID]int64{}
	now := s.now()
	for caller, plans := range s.plans {
		for len(plans) > 0 && !now.Before(plans[0].expires) {
			plans = plans[1:]
		}
		if len(plans) == 0 {
			delete(s.plans, caller)
			continue
		}
		s.plans[caller] = plans
		for i := range plans {
			sizes[caller] += plans[i].bytes
		}
		all += sizes[caller]
	}
	return sizes, all
}
