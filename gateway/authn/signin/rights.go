package signin

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"adgateway/gateway/identity"
)

// rightsLife is how long an answer of the directory about a person is used: a job asks before each
// item.
const rightsLife = 2 * time.Second

// rights remembers for a moment what people may do.
type rights struct {
	flight singleflight.Group

	mu    sync.Mutex
	known *simplelru.LRU[string, found] // by SID
}

// found is what a person could do a moment ago.
type found struct {
	principals []*identity.Principal
	at         time.Time
}

func newRights() *rights {
	r := &rights{}
	r.known, _ = simplelru.NewLRU[string, found](remembered, nil) // fails only for size < 1
	return r
}

// of returns what was found for a person, not longer ago than rightsLife.
func (r *rights) of(sid string, now time.Time) ([]*identity.Principal, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.known.Get(sid)
	age := now.Sub(last.at)
	return last.principals, known && age >= 0 && age < rightsLife
}

func (r *rights) keep(sid string, principals []*identity.Principal, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.Add(sid, found{principals, now})
}
