package history

import (
	"context"
	"errors"
	"strings"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// RunIndexing maintains an index with which searches for an object or a caller read only a part of the
// history. It keeps the index in the store, and reads only what is newer when it starts again. It runs until
// ctx ends, and calls failed with each error. In a cluster only the leader may run it, because the index only
// gets the changes that this gateway saves.
func (s *Service) RunIndexing(ctx context.Context, failed func(error)) {
	if s.History == nil {
		return
	}
	defer s.index.clear()
	report := func(err error) {
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
	x := indexing{Service: s}
	report(x.load(ctx))
	for {
		report(x.extend(ctx))
		select {
		case <-s.index.due:
		case <-ctx.Done():
			return
		}
	}
}

// indexing is one run of [Service.RunIndexing].
type indexing struct {
	*Service
	// All changes that ended up to this position are in the index if a block covers them. It is zero if the
	// index is built from the beginning.
	position store.Position
	most     int // number of changes above which the index is built again, without removed changes
}

// bytesOfChange is less than the size of most records.
const bytesOfChange = 512

// extend adds the changes that are newer than the indexed ones, and stores what has changed. If the feed has no
// entries after the position, or if most indexed changes may be removed ones, it builds the index again.
func (x *indexing) extend(ctx context.Context) error {
	x.most = max(x.most, int(x.History.Most()/bytesOfChange))
	err := x.read(ctx)
	if errors.Is(err, store.ErrPosition) || err == nil && x.index.size() > x.most {
		x.position = store.Position{}
		x.index.reset()
		err = x.read(ctx)
		x.most = max(x.most, 2*x.index.size())
	}
	if err == nil {
		err = x.store(ctx)
	}
	return err
}

// read adds blocks for newer changes to the index, and the changes that ended after the position.
func (x *indexing) read(ctx context.Context) error {
	last := x.index.begin()
	read, oldest, err := x.after(ctx, last)
	x.index.end(read, oldest)
	if err != nil {
		return err
	}
	later, reached, err := x.endedAfter(ctx, x.position, x.index.covers)
	for _, t := range later {
		x.index.add(t)
	}
	if err == nil {
		x.position = reached
	}
	return err
}

// after returns the terms of the changes after a place, newest first, and the place of the oldest change. It
// returns neither if it fails.
func (x *indexing) after(ctx context.Context, last place) (read []terms, oldest place, err error) {
	if x.position == (store.Position{}) {
		if x.position, err = x.History.End(ctx); err != nil {
			return nil, 0, err
		}
	}
	err = x.History.Newest(ctx, time.Time{}, "", func(c *changes.Record) bool {
		if placeOf(c.ID) <= last || ctx.Err() != nil {
			return false
		}
		read = append(read, x.termsOf(c))
		return true
	})
	if err != nil || ctx.Err() != nil {
		return nil, 0, errors.Join(err, ctx.Err())
	}
	id, err := x.History.Oldest(ctx)
	return read, placeOf(id), err
}

// endedAfter returns the terms of the covered changes that ended after a position, and the position after them.
func (s *Service) endedAfter(
	ctx context.Context, position store.Position, covers func(place) bool,
) (all []terms, reached store.Position, err error) {
	reached = position
	var ids []string
	err = s.History.Store().Log(ctx, changes.Log, position, func(a store.Appended) bool {
		reached = a.Position
		if id := string(a.Value); covers(placeOf(id)) {
			ids = append(ids, id)
		}
		return true
	})
	for _, id := range ids {
		if err != nil {
			break
		}
		var c *changes.Record
		if c, err = s.History.Get(ctx, id); err == nil {
			all = append(all, s.termsOf(c))
		} else if errors.Is(err, changes.ErrAbsent) {
			err = nil // it was removed meanwhile
		}
	}
	return all, reached, err
}

// Prefixes that distinguish the terms of objects, of their paths and of callers.
const (
	objectTerm = "object "
	pathTerm   = "path "
	callerTerm = "caller "
)

// termsOf returns the terms by which a change can be found.
func (s *Service) termsOf(c *changes.Record) terms {
	who := c.Who()
	texts := []string{callerTerm + who.Name, callerTerm + who.Identity().ID}
	if p, known := s.pastOf(c); known { // other changes are never found
		for _, name := range p.names() {
			if name == "" {
				continue
			}
			texts = append(texts, objectTerm+name)
			if account, isComputer := strings.CutSuffix(name, "$"); isComputer {
				texts = append(texts, objectTerm+account)
			}
			if path, ok := schema.ParsePath(name); ok {
				texts = append(texts, pathTerm+strings.Join(path, "\x00"))
			}
		}
	}
	return terms{placeOf(c.ID), sums(texts)}
}

// wanted returns the terms for those filters of a call that the index supports. They match every change that
// [past.isAbout] and [identity.Reference] match.
func (s *Service) wanted(b *ops.Bound) (w wanted) {
	if name := b.Text("Object"); name != "" {
		name = strings.Trim(name, "{}")
		texts := []string{objectTerm + name, objectTerm + strings.TrimSuffix(name, ".")}
		for _, text := range []string{name, strings.TrimSuffix(name, ".")} {
			if path, ok := schema.ParsePath(text); ok {
				texts = append(texts, pathTerm+strings.Join(path, "\x00"))
			}
		}
		w = append(w, sums(texts))
	}
	if caller := b.Text(ops.CallerName); caller != "" {
		if i := strings.LastIndex(caller, ":"); i >= 0 { // names and ids have no colons
			caller = caller[i+1:]
		}
		w = append(w, sums([]string{callerTerm + caller}))
	}
	return w
}

// newest is like [changes.History.Newest], but only visits changes that may match w.
func (s *Service) newest(
	ctx context.Context, until time.Time, before string, w wanted, visit func(*changes.Record) bool,
) error {
	if len(w) == 0 {
		return s.History.Newest(ctx, until, before, visit)
	}
	more := true
	for before = changes.Before(until, before); more; {
		span, found := s.index.next(before, w)
		if !found {
			break
		}
		err := s.History.NewestBut(ctx, until, span.before, func(id string, revision store.Revision) bool {
			return id > span.after && !span.covered && s.index.excludes(id, revision, w)
		}, func(c *changes.Record) bool {
			if c.ID <= span.after {
				return false
			}
			if !span.covered {
				s.index.learn(c.ID, known{c.Revision(), s.termsOf(c).sums})
			}
			more = visit(c)
			return more
		})
		if err != nil {
			return err
		}
		before, more = span.after, more && span.after != ""
	}
	return nil
}
