package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/store"
)

// A step is data that the pages store for a session, such as a preview until it is confirmed. Steps are in
// the store, because another gateway may get the next request.

// Limits of the steps of a session.
const (
	stepsMost = 50 // beyond that the oldest is dropped
	stepLife  = time.Hour
)

// Version counts the changes of a step. It is 0 if the step does not exist.
type Version store.Revision

// step is the stored form of a step.
type step struct {
	store.Formatted
	Value json.RawMessage `json:"value"`
}

func (s *Session) stepKey(name string) string { return s.key.String() + "." + sumOf(name).String() }

// Keep stores a step under a name for an hour, provided that the stored step has the version at. It
// fails with [store.ErrConflict] if the version differs, or with [ErrStore].
func (s *Session) Keep(ctx context.Context, name string, at Version, value any) error {
	set, err := s.set(stepKind, s.stepKey(name), at, value, stepLife)
	if err != nil {
		return err
	}
	changes := []store.Change{set}
	if at == 0 {
		old, err := s.oldest(ctx)
		if err != nil {
			return err
		}
		changes = append(changes, old...)
	}
	return s.apply(ctx, changes...)
}

// set returns the change that stores a value for a while.
func (s *Session) set(
	kind store.Kind, key string, at Version, value any, life time.Duration,
) (set store.Change, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return set, err
	}
	encoded, err := store.Encode(s.in, step{Value: text})
	return store.Change{
		Kind: kind, Key: key, Expect: store.Revision(at), Value: encoded, Expires: s.gate.o.Now().Add(life),
	}, err
}

// apply makes changes in the store of the session.
func (s *Session) apply(ctx context.Context, changes ...store.Change) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	_, err := s.in.Apply(ctx, changes...)
	if err != nil && !errors.Is(err, store.ErrConflict) && s.in.Remote() {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return err
}

// oldest returns the changes that make room for one more step.
func (s *Session) oldest(ctx context.Context) (forgotten []store.Change, err error) {
	var all []store.Entry
	err = s.in.Range(ctx, stepKind, s.key.String()+".",
		func(e store.Entry) bool { all = append(all, e); return true })
	slices.SortFunc(all, func(a, b store.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	for i := 0; i <= len(all)-stepsMost; i++ {
		forgotten = append(forgotten, store.Change{Kind: stepKind, Key: all[i].Key, Expect: all[i].Revision})
	}
	return forgotten, err
}

// Kept reads a step into a value, and returns its version.
func (s *Session) Kept(ctx context.Context, name string, value any) (Version, error) {
	found, at, err := read[step](ctx, s.in, stepKind, s.stepKey(name))
	if err == nil && at == store.Absent && s.in.Remote() && s.gate.asking.ask(ctx, s.in) == nil {
		found, at, err = read[step](ctx, s.in, stepKind, s.stepKey(name))
	}
	return valueOf(found, at, err, value)
}

func valueOf(found step, at store.Revision, err error, value any) (Version, error) {
	if err != nil || at == store.Absent {
		return 0, err
	}
	return Version(at), json.Unmarshal(found.Value, value)
}

// ownLife is how long a person's data is kept after its last change.
const ownLife = 400 * 24 * time.Hour

func (s *Session) ownKey(name string) string {
	return ownerKey(s.in, s.Identity) + "." + sumOf(name).String()
}

// Remember stores a value under a name for more than a year. The owner of the session finds it in every
// session. The stored value must have the version at. Remember fails like [Session.Keep].
func (s *Session) Remember(ctx context.Context, name string, at Version, value any) error {
	if s.in == nil { // no gate has found it
		return ErrStore
	}
	set, err := s.set(ownKind, s.ownKey(name), at, value, ownLife)
	if err != nil {
		return err
	}
	return s.apply(ctx, set)
}

// Recall reads the owner's data with the given name into value, as known to this gateway, and returns the
// version of the data. A session that no gate has found has no data.
func (s *Session) Recall(ctx context.Context, name string, value any) (Version, error) {
	if s.in == nil {
		return 0, nil
	}
	found, at, err := read[step](ctx, s.in, ownKind, s.ownKey(name))
	return valueOf(found, at, err, value)
}

// CatchUp makes later reads see the steps that other gateways had stored when it was called.
// Without a cluster, or while its store is lost, it does nothing.
func (s *Session) CatchUp(ctx context.Context) {
	if s.in.Remote() {
		_ = s.gate.asking.ask(ctx, s.in) // on failure, reads see the state that is known here
	}
}
