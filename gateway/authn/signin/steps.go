package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/keep"
)

// Steps are what the pages keep for a session, such as a preview until it is confirmed: they
// are in the store, as the next request may come to another gateway.

// Limits of the steps of a session.
const (
	stepsMost = 50 // the oldest is forgotten
	stepLife  = time.Hour
)

// Version counts the changes of a step; 0: it is not kept.
type Version keep.Revision

// step is a step in the store.
type step struct {
	keep.Formatted
	Value json.RawMessage `json:"value"`
}

func (s *Session) stepKey(name string) string { return s.key.String() + "." + sumOf(name).String() }

// Keep keeps a step under a name, for an hour, if the one that is kept has a version. It
// fails with [keep.ErrConflict] if it has another, or with [ErrStore].
func (s *Session) Keep(ctx context.Context, name string, at Version, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	encoded, err := keep.Encode(s.in, step{Value: text})
	if err != nil {
		return err
	}
	changes := []keep.Change{{Kind: stepKind, Key: s.stepKey(name), Expect: keep.Revision(at), Value: encoded, Expires: s.gate.o.Now().Add(stepLife)}}
	if at == 0 {
		old, err := s.oldest(ctx)
		if err != nil {
			return err
		}
		changes = append(changes, old...)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	_, err = s.in.Apply(ctx, changes...)
	if err != nil && !errors.Is(err, keep.ErrConflict) && s.in.Remote() {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return err
}

// oldest returns the changes that make room for one more step.
func (s *Session) oldest(ctx context.Context) (forgotten []keep.Change, err error) {
	var all []keep.Entry
	err = s.in.Range(ctx, stepKind, s.key.String()+".", func(e keep.Entry) bool { all = append(all, e); return true })
	slices.SortFunc(all, func(a, b keep.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	for i := 0; i <= len(all)-stepsMost; i++ {
		forgotten = append(forgotten, keep.Change{Kind: stepKind, Key: all[i].Key, Expect: all[i].Revision})
	}
	return forgotten, err
}

// Kept reads a step into a value, and returns its version.
func (s *Session) Kept(ctx context.Context, name string, value any) (Version, error) {
	found, at, err := read[step](ctx, s.in, stepKind, s.stepKey(name))
	if err == nil && at == keep.Absent && s.in.Remote() && s.gate.asking.ask(ctx, s.in) == nil {
		found, at, err = read[step](ctx, s.in, stepKind, s.stepKey(name))
	}
	if err != nil || at == keep.Absent {
		return 0, err
	}
	return Version(at), json.Unmarshal(found.Value, value)
}

// CatchUp lets steps that are read afterwards be as other gateways had kept them when it was
// called. Without a cluster, or while its store is lost, it does nothing.
func (s *Session) CatchUp(ctx context.Context) {
	if s.in.Remote() {
		_ = s.gate.asking.ask(ctx, s.in) // what is known here is read
	}
}
