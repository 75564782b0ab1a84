package keyring

import (
	"context"
	"errors"
	"fmt"

	"adgateway/gateway/store"
)

// Rewrap protects the ring of a store with another wrapper. It does nothing if that wrapper already
// protects the ring.
func Rewrap(ctx context.Context, db store.Store, from, to Wrapper) error {
	found, err := db.Get(ctx, kind, key)
	if errors.Is(err, store.ErrAbsent) {
		return ErrNone
	}
	if err != nil {
		return err
	}
	c, err := unwrap(from, store.Newest, found.Value)
	if errors.Is(err, ErrLocked) {
		if _, done := unwrap(to, store.Newest, found.Value); done == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	value, err := wrap(to, store.Newest, c)
	if err == nil {
		_, err = db.Apply(ctx, store.Change{Kind: kind, Key: key, Expect: found.Revision, Value: value})
	}
	return err
}

// StoreKey returns a wrapper with the secret in the key file of a single gateway's store. The secret has
// [store.KeyLength] bytes. It is created if the file does not exist.
func StoreKey(path string) (Wrapper, error) {
	if _, err := store.ReadKey(path); err != nil {
		return nil, err
	}
	bits, err := store.ReadSecret(path)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(bits)
	return &storeKey{keyFile{path, aead}}, err
}

type storeKey struct{ keyFile }

func (f *storeKey) Remedy() string {
	return fmt.Sprintf("the key file of the store, %s, which is another one or was changed: restore it from "+
		"the backup", f.path)
}
