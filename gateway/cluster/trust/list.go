package trust

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"time"
)

// followEvery is the interval at which the list is checked for changes.
const followEvery = time.Second

// List is the list of a cluster as known to a process. It is safe for concurrent use.
type List struct {
	folder Folder
	now    atomic.Pointer[Members]
}

// List reads the copy of the list. It fails like [LoadMembers].
func (f Folder) List() (*List, error) {
	m, err := LoadMembers(f.MembersFile())
	if err != nil {
		return nil, err
	}
	l := &List{folder: f}
	l.now.Store(&m)
	return l, nil
}

// Members returns the current list.
func (l *List) Members() Members { return *l.now.Load() }

// FollowFile adopts the lists that another process writes to the copy, until ctx ends. It calls
// changed with each list that differs. If a list cannot be read, it calls problem with the reason,
// and the previous list stays in effect.
func (l *List) FollowFile(ctx context.Context, changed func(Members), problem func(error)) {
	l.follow(ctx, func() (Members, error) { return LoadMembers(l.folder.MembersFile()) }, changed, problem)
}

// FollowStore adopts the lists in the store, and writes them to the copy, until ctx ends. For changed and
// problem see [List.FollowFile]. It ignores a store that has no list because the list has not been copied
// yet.
func (l *List) FollowStore(ctx context.Context, r *Register, changed func(Members), problem func(error)) {
	read := func() (Members, error) {
		m, err := r.Members(ctx)
		if errors.Is(err, ErrNone) {
			return l.Members(), nil
		}
		if err == nil && !same(m, l.Members()) {
			err = SaveMembers(l.folder.MembersFile(), m, l.folder.Restrict)
		}
		return m, err
	}
	l.follow(ctx, read, changed, problem)
}

// same reports whether two lists have the same content, in any format.
func same(a, b Members) bool {
	a.V, b.V = 0, 0
	return reflect.DeepEqual(a, b)
}

// follow reports each problem once.
func (l *List) follow(
	ctx context.Context, read func() (Members, error), changed func(Members), problem func(error),
) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	said := ""
	for {
		m, err := read()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if text := err.Error(); text != said {
				said = text
				problem(err)
			}
		default:
			said = ""
			if !same(m, l.Members()) {
				l.now.Store(&m)
				changed(m)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
