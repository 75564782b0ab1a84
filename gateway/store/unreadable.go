package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrOtherKey means that the key of a store opens none of its values, because the key file was replaced or
// damaged. Nothing is written under such a key.
var ErrOtherKey = errors.New("the key opens nothing of what the store has: put back the file of the key " +
	"that was there before")

// faults holds the values of a store that could not be decrypted.
type faults struct {
	otherKey atomic.Bool

	mu    sync.Mutex
	found map[string]map[string]bool // keys of the values, by kind
}

// mostFaults is the greatest number of values that are remembered per kind.
const mostFaults = 1000

func (f *faults) note(kind, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		f.found = map[string]map[string]bool{}
	}
	if f.found[kind] == nil {
		f.found[kind] = map[string]bool{}
	}
	if len(f.found[kind]) < mostFaults {
		f.found[kind][key] = true
	}
}

// Unreadable returns the number and the kinds of the values that could not be decrypted since the
// start. It counts at most 1000 values of each kind.
func (s *Sealed) Unreadable() (n int, kinds []string) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	for _, keys := range s.faults.found {
		n += len(keys)
	}
	return n, slices.Sorted(maps.Keys(s.faults.found))
}

// proofKind has a single value, which is sealed when the store is opened for the first time. A key
// that opens it is the key of the store.
const (
	proofKind = Kind("seal")
	proofKey  = "proof"
)

// CheckKey checks whether the key belongs to the store. If the key opens no value, CheckKey fails with
// [ErrOtherKey], and so does [Sealed.Apply] afterwards. In a store without a proof, which an earlier version
// has created, CheckKey tries some values of the given kinds. CheckKey must be called before the store is
// used.
func (s *Sealed) CheckKey(ctx context.Context, kinds ...Kind) error {
	e, err := s.Store.Get(ctx, proofKind, proofKey)
	switch {
	case err == nil && s.opens(proofKind, e):
		return nil
	case err != nil && !errors.Is(err, ErrAbsent):
		return err
	}
	damaged := err == nil
	opened, closed, err := s.sample(ctx, kinds)
	switch {
	case err != nil:
		return err
	case opened == 0 && (closed > 0 || damaged):
		s.faults.otherKey.Store(true)
		return ErrOtherKey
	}
	_, err = s.Apply(ctx, Change{Kind: proofKind, Key: proofKey, Expect: e.Revision, Value: []byte{1}})
	return err
}

// Writable returns [ErrOtherKey] if [Sealed.CheckKey] has failed with that error, and nil otherwise. s may be
// nil.
func (s *Sealed) Writable() error {
	if s != nil && s.faults.otherKey.Load() {
		return ErrOtherKey
	}
	return nil
}

func (s *Sealed) opens(kind Kind, e Entry) bool {
	_, err := s.unseal(e.Value, bound(kind, e.Key))
	return err == nil
}

// sampleOf is the greatest number of values that are tried per kind.
const sampleOf = 20

// sample tries to decrypt some values of each kind until one opens.
func (s *Sealed) sample(ctx context.Context, kinds []Kind) (opened, closed int, err error) {
	for _, kind := range kinds {
		tried := 0
		err = s.Store.RangeBack(ctx, kind, "", func(e Entry) bool {
			if s.opens(kind, e) {
				opened++
			} else {
				closed++
			}
			tried++
			return tried < sampleOf && opened == 0
		})
		if err != nil || opened > 0 {
			return opened, closed, err
		}
	}
	return opened, closed, nil
}
