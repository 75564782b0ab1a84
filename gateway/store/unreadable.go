package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrOtherKey means that the key of a store opens nothing of what the store has: the file of
// the key was replaced or damaged. Nothing is written under such a key.
var ErrOtherKey = errors.New("the key opens nothing of what the store has: put back the file of the key " +
	"that was there before")

// faults are the values of a store that could not be decrypted.
type faults struct {
	otherKey atomic.Bool

	mu    sync.Mutex
	found map[string]map[string]bool // the keys of the values, by kind
}

// mostFaults is how many values of a kind are told apart.
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

// Unreadable returns how many values were found since the start that cannot be decrypted, at
// most 1000 of each kind, and of which kinds they are.
func (s *Sealed) Unreadable() (n int, kinds []string) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	for _, keys := range s.faults.found {
		n += len(keys)
	}
	return n, slices.Sorted(maps.Keys(s.faults.found))
}

// proofKind has one value, which is sealed when the store is opened for the first time. A key that
// opens it is the key of the store.
const (
	proofKind = Kind("seal")
	proofKey  = "proof"
)

// CheckKey finds out whether the key belongs to the store. If it opens no value, [Sealed.Apply]
// fails with [ErrOtherKey] from now on, and so does CheckKey. In a store that is older than the
// proof, some values of the given kinds are tried. CheckKey is called before the store is used.
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

// Writable returns [ErrOtherKey] if [Sealed.CheckKey] has found that, or nil.
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

// sampleOf is how many values of a kind are tried at most.
const sampleOf = 20

// sample tries to decrypt some values of each kind, until it has opened one.
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
