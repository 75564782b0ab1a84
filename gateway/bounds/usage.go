package bounds

// Usage is the amount that callers have taken of a room, by caller and by hour since 1970.
type Usage map[string]map[int64]int64

// worthKeeping is the smallest daily usage that is kept across a restart. Any smaller usage is far from the
// limit.
const worthKeeping = Least / 4

// Usage returns the amounts that callers have taken within a day. It omits callers that have taken little.
func (r *Room) Usage() Usage {
	all := Usage{}
	if r == nil {
		return all
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hour := r.hour()
	for by, of := range r.taken {
		if of.advance(hour); of.sum() < worthKeeping {
			continue
		}
		all[by] = map[int64]int64{}
		for at := hour - hours + 1; at <= hour; at++ {
			if bytes := of.by[at%hours]; bytes > 0 {
				all[by][at] = bytes
			}
		}
	}
	return all
}

// Restore loads the callers' usage from before a restart, or from another gateway.
func (r *Room) Restore(before Usage) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hour := r.hour()
	for by, taken := range before {
		of := r.taken[by]
		if of == nil {
			of = &day{last: hour}
			r.taken[by] = of
		}
		of.advance(hour)
		for at, bytes := range taken {
			if at > hour-hours && at <= hour {
				of.by[at%hours] = max(of.by[at%hours], bytes)
			}
		}
	}
}
