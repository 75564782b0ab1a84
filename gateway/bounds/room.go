package bounds

import (
	"sync"
	"time"
)

// Least is the number of bytes that one caller may take within a day, even if little space is left.
// It is enough for a few hundred changes.
const Least = 1 << 20

const (
	freeFor = time.Second // how long a measurement of the free space is used
	hours   = 24          // number of hours for which a caller's usage counts
)

// Room is the space left on the disk. Each caller can take a quarter of the space within a day, so it always
// leaves three quarters to the others. A nil Room has no limits. It is safe for concurrent use.
type Room struct {
	free func() (int64, error)
	keep int64
	now  func() time.Time

	mu       sync.Mutex // guards the fields below
	askedAt  time.Time
	left     int64
	known    bool
	taken    map[string]*day // keyed by caller
	forgotAt int64           // hour in which callers were last dropped
}

// day is the amount that a caller has taken in each of the last hours.
type day struct {
	last int64 // hour of the latest count
	by   [hours]int64
}

// NewRoom returns a room. free returns the number of free bytes, of which keep bytes are reserved.
// If free fails, the space is unknown, and nothing is refused.
func NewRoom(free func() (int64, error), keep int64, now func() time.Time) *Room {
	return &Room{free: free, keep: keep, now: now, taken: map[string]*day{}}
}

// Left returns the number of bytes left above the reserve, or false if it is unknown.
func (r *Room) Left() (int64, bool) {
	if r == nil {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look()
}

// look is like Left. The caller holds r.mu.
func (r *Room) look() (int64, bool) {
	if now := r.now(); r.askedAt.IsZero() || now.Sub(r.askedAt).Abs() >= freeFor {
		free, err := r.free()
		r.askedAt, r.left, r.known = now, max(free-r.keep, 0), err == nil
	}
	return r.left, r.known
}

// Low reports whether so little space is left that dispensable data is not stored.
func (r *Room) Low() bool {
	left, known := r.Left()
	return known && left < Least*Share
}

// Share returns how much of a budget one caller may hold: a fixed share, or less if the disk has less space.
// short reports whether the disk is the reason.
func (r *Room) Share(all int64) (most int64, short bool) {
	share := Of(all)
	if left, known := r.Left(); known && max(Of(left), Least) < share {
		return max(Of(left), Least), true
	}
	return share, false
}

// Passing returns a function that returns how much of a budget of short-lived data one caller may hold. That
// is a fixed share, or less if the disk has less space, or 0 if little space is left.
func (r *Room) Passing(all int64) func() int64 {
	return func() int64 {
		if r.Low() {
			return 0
		}
		most, _ := r.Share(all)
		return most
	}
}

// Take records that a caller has taken a number of bytes for lasting data.
func (r *Room) Take(by string, bytes int64) {
	if r == nil || bytes <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hour := r.hour()
	r.forget(hour)
	of := r.taken[by]
	if of == nil {
		of = &day{last: hour}
		r.taken[by] = of
	}
	of.advance(hour)
	of.by[hour%hours] += bytes
	r.left = max(r.left-bytes, 0)
}

// Admit returns a [*Full] if a caller must not take more, or nil.
func (r *Room) Admit(by string) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	left, known := r.look()
	of := r.taken[by]
	if !known || of == nil {
		return nil
	}
	of.advance(r.hour())
	used, most := of.sum(), max(Of(left), Least)
	if used < most {
		return nil
	}
	return &Full{Row: changesOfADay, Own: true, Used: used, Most: most, Room: true}
}

// changesOfADay is the row for refusals by [Room.Admit].
var changesOfADay = &Row{
	Name: "changes of a day", Settings: []string{"store.minFree"},
	Remove: "remove jobs that have ended, free space on the disk, " +
		"or wait: what was written 24 hours ago does not count any more.",
}

func (r *Room) hour() int64 { return r.now().Unix() / 3600 }

// forget drops, once an hour, the callers that have taken nothing for a day. The caller holds r.mu.
func (r *Room) forget(hour int64) {
	if r.forgotAt == hour {
		return
	}
	r.forgotAt = hour
	for by, of := range r.taken {
		if hour-of.last >= hours {
			delete(r.taken, by)
		}
	}
}

// advance clears the hours since the latest count.
func (d *day) advance(hour int64) {
	if hour-d.last >= hours || hour < d.last {
		if hour != d.last {
			d.by = [hours]int64{}
		}
		d.last = hour
		return
	}
	for d.last < hour {
		d.last++
		d.by[d.last%hours] = 0
	}
}

func (d *day) sum() (n int64) {
	for _, bytes := range d.by {
		n += bytes
	}
	return n
}
