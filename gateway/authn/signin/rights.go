package signin

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// rightsLife is how long the directory's answer about a person is used. The limit matters because a job asks
// before each item.
const rightsLife = 2 * time.Second

// rights caches people as the directory last reported them.
type rights struct {
	flight singleflight.Group

	mu    sync.Mutex
	known *simplelru.LRU[string, found] // keyed by SID
}

// found is the directory's answer about a person at a certain time.
type found struct {
	person *Person // nil if the account may not log on
	at     time.Time
}

func newRights() *rights {
	r := &rights{}
	r.known, _ = simplelru.NewLRU[string, found](remembered, nil) // fails only for size < 1
	return r
}

// of returns the person as found at most life ago. A refusal is remembered only for a moment, because an
// administrator may have unlocked the account.
func (r *rights) of(sid string, now time.Time, life time.Duration) (*Person, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.known.Get(sid)
	age := now.Sub(last.at)
	if last.person == nil || last.person.Locked {
		life = rightsLife
	}
	return last.person, known && age >= 0 && age < life
}

func (r *rights) keep(sid string, person *Person, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.Add(sid, found{person, now})
}
