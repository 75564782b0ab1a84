package store

import (
	"context"
	"errors"
	"fmt"
)

// mostTries limits how often an update calls its function.
const mostTries = 50

// CompareAndSet implements [Updater] with [Store.Apply], for a store whose changes are decided elsewhere. It
// calls f again if a value that f has read has changed since, up to 50 times. f may read outdated values if
// the store returns them.
func CompareAndSet(ctx context.Context, store Store, f func(*Tx) error) error {
	for range mostTries {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ErrNotSent, context.Cause(ctx))
		}
		from := &compared{ctx: ctx, store: store, seen: map[place]sight{}}
		tx := newTx(from, store.Now())
		if s, ok := store.(*Sealed); ok {
			tx.of = s
		}
		changes, err := tx.decide(f)
		switch {
		case from.torn:
			continue
		case err != nil || len(changes) == 0:
			if from.holds() {
				return err
			}
			continue
		}
		if changes, err = from.expecting(changes); err != nil {
			return err
		}
		if _, err = store.Apply(ctx, changes...); !errors.Is(err, ErrConflict) {
			return certainty(err)
		}
	}
	return errors.New("others go on changing the same values at the same time: try again")
}

// certainty converts an error of Apply to one of Update.
func certainty(err error) error {
	for _, certain := range []error{nil, ErrNotSent, ErrTooMany, ErrOtherKey} {
		if errors.Is(err, certain) {
			return err
		}
	}
	return unsure(err)
}

// compared is a [source] that remembers the data it has read.
type compared struct {
	ctx   context.Context
	store Store
	seen  map[place]sight
	torn  bool // two reads of a value differ
}

// sight is a value as it was first read; its revision is 0 if it was absent.
type sight struct {
	Entry
	counts bool // the value was read by Get, not only visited
}

func (c *compared) get(kind Kind, key string) (Entry, error) {
	p := place{kind, key}
	found, known := c.seen[p]
	if !known {
		e, err := c.store.Get(c.ctx, kind, key)
		if err != nil && !errors.Is(err, ErrAbsent) {
			return Entry{}, err
		}
		found.Entry = e
	}
	found.counts = true
	c.seen[p] = found
	if found.Revision == Absent {
		return Entry{}, ErrAbsent
	}
	return found.Entry, nil
}

func (c *compared) scan(kind Kind, prefix string, visit func(Entry) bool) error {
	return c.store.Range(c.ctx, kind, prefix, func(e Entry) bool {
		p := place{kind, e.Key}
		if found, known := c.seen[p]; !known {
			c.seen[p] = sight{Entry: e}
		} else if found.Revision != e.Revision {
			c.torn = true
		}
		return visit(e)
	})
}

// holds reports whether the values that were read with Get are unchanged, so that there was a moment when all
// of them were current.
func (c *compared) holds() bool {
	if len(c.seen) < 2 {
		return true
	}
	for p, found := range c.seen {
		now, err := c.store.Get(c.ctx, p.kind, p.key)
		if found.counts && (err == nil || errors.Is(err, ErrAbsent)) && now.Revision != found.Revision {
			return false
		}
	}
	return true
}

// expecting returns the changes with the revisions that were read as expected ones, and comparisons
// for values that were only read.
func (c *compared) expecting(changes []Change) ([]Change, error) {
	changed := map[place]bool{}
	for i := range changes {
		own := &changes[i]
		if own.Log != "" {
			continue
		}
		p := place{own.Kind, own.Key}
		changed[p] = true
		if _, err := c.get(own.Kind, own.Key); err != nil && !errors.Is(err, ErrAbsent) {
			return nil, err
		}
		own.Expect = c.seen[p].Revision
	}
	for p, found := range c.seen {
		if found.counts && !changed[p] {
			changes = append(changes, Change{Kind: p.kind, Key: p.key, Expect: found.Revision, Compares: true})
		}
	}
	return changes, CheckChanges(changes)
}
