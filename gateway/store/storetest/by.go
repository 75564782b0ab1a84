package storetest

import (
	"context"

	"adgateway/gateway/store"
)

// Update changes a store in its own way, and one that has none by compare and set.
func Update(ctx context.Context, s store.Store, f func(*store.Tx) error) error {
	if own, ok := s.(store.Updater); ok {
		return own.Update(ctx, f)
	}
	return store.CompareAndSet(ctx, s, f)
}
