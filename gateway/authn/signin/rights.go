package signin

import (
	"context"
	"errors"
	"slices"
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

// Rights returns what a person may do now, whether signed in or not: one principal for each role.
// There is none if the account may not log on any more, or is in no group of a role. An error
// means that the directory could not answer.
func (g *Gate) Rights(ctx context.Context, sid string) ([]*identity.Principal, error) {
	if g.o.Directory == nil {
		return nil, nil
	}
	if known, fresh := g.rights.of(sid, g.o.Now()); fresh {
		return slices.Clone(known), nil
	}
	asked := g.rights.flight.DoChan(sid, func() (any, error) {
		at := g.o.Now() // what changes while the directory answers is asked for again
		person, err := g.o.Directory.Groups(context.WithoutCancel(ctx), sid)
		var now []*identity.Principal
		switch {
		case err == nil:
			now = principals(person, g.o.Roles)
		case !errors.Is(err, ErrRefused):
			return nil, err
		}
		g.rights.keep(sid, now, at)
		return now, nil
	})
	select {
	case answer := <-asked:
		now, _ := answer.Val.([]*identity.Principal)
		return slices.Clone(now), answer.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
