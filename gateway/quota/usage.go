package quota

import (
	"context"
	"errors"
	"reflect"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/every"
	"adgateway/gateway/store"
)

// usageKind is the kind of the callers' disk usage, which is a single value.
const usageKind store.Kind = "usage"

const (
	usageKey   = "day"
	usageLife  = 24 * time.Hour
	usageEvery = time.Minute
	usageEnd   = 5 * time.Second // time limit of the last write
)

type usage struct {
	store.Formatted
	Taken bounds.Usage `json:"taken"`
}

// KeepUsage stores the callers' usage of a room until ctx ends. It starts from the stored usage, so that a
// restart gives no caller a second daily share. Usage in the last minute before a crash is lost. It calls
// problem when reading or writing fails.
func KeepUsage(ctx context.Context, db *store.Sealed, room *bounds.Room, problem func(error)) {
	stored := restored(ctx, db, room, problem)
	keep := func(ctx context.Context) error {
		now := room.Usage()
		if reflect.DeepEqual(now, stored) {
			return nil
		}
		err := db.Update(ctx, func(tx *store.Tx) error {
			return store.Save(tx, usageKind, usageKey, usage{Taken: now}, tx.Now().Add(usageLife))
		})
		if err == nil {
			stored = now
		}
		return err
	}
	every.Do(ctx, usageEvery, func() {
		if err := keep(ctx); err != nil && ctx.Err() == nil {
			problem(err)
		}
	})
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageEnd)
	defer cancel()
	_ = keep(ending) // another gateway may lead by now, and store its own usage
}

// restored loads the stored usage into a room, and returns it.
func restored(ctx context.Context, db *store.Sealed, room *bounds.Room, problem func(error)) bounds.Usage {
	var found usage
	e, err := db.Get(ctx, usageKind, usageKey)
	if err == nil {
		err = store.Decode(db, e.Value, &found)
	}
	switch {
	case err == nil:
		room.Restore(found.Taken)
		return found.Taken
	case !errors.Is(err, store.ErrAbsent) && ctx.Err() == nil:
		problem(err)
	}
	return bounds.Usage{}
}
