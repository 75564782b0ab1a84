package trust

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"time"
)

// followEvery is how often it is looked whether the list has changed.
const followEvery = time.Second

// List is the list of a cluster as a process knows it. It is safe for concurrent use.
type List struct {
	folder Folder
	now    atomic.Pointer[Members]
}

// List reads the copy of the list. It fails as [LoadMembers] does.
func (f Folder) List() (*List, error) {
	m, err := LoadMembers(f.MembersFile())
	if err != nil {
		return nil, err
	}
	l := &List{folder: f}
	l.now.Store(&m)
	return l, nil
}

// Members returns the list.
func (l *List) Members() Members { return *l.now.Load() }

// FollowFile takes over what another process writes to the copy, until ctx ends. changed is
// called with each list that is another one, and problem with why one cannot be read; the one
// before stays then.
func (l *List) FollowFile(ctx context.Context, changed func(Members), problem func(error)) {
	l.follow(ctx, func() (Members, error) { return LoadMembers(l.folder.MembersFile()) }, changed, problem)
}

// FollowStore takes over the list of the store, and writes it to the copy, until ctx ends. For
// changed and problem see [List.FollowFile]. A store that has no list yet, since it is still to be
// copied, changes nothing.
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

// same reports whether two lists say the same, in whatever format.
func same(a, b Members) bool {
	a.V, b.V = 0, 0
	return reflect.DeepEqual(a, b)
}

// follow tells each problem once.
func (l *List) follow(ctx context.Context, read func() (Members, error), changed func(Members), problem func(error)) {
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
