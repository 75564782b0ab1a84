package storetest

import (
	"context"

	"adgateway/gateway/store"
)

// Update runs an update on a store: with its own Update if it is a [store.Updater], otherwise with
// [store.CompareAndSet].
func Update(ctx context.Context, s store.Store, f func(*store.Tx) error) error {
	if own, ok := s.(store.Updater); ok {
		return own.Update(ctx, f)
	}
	return store.CompareAndSet(ctx, s, f)
}
