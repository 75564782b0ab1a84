// Package relay lets every gateway of a cluster, and commands, use the store that only the leading
// gateway can change.
//
// A [Store] belongs to a gateway. It reads from the gateway's copy, and sends changes to the leader. A
// [Client] has no copy, so it also reads from the leader. Both use the hop listener, where a [Handler]
// answers.
//
// The leader decides whether a change has the expected revisions, so compare-and-set loops work at every
// gateway. A change is sent again only if it is certain that nothing has begun. If its answer is lost, its
// outcome is unknown at first.
package relay

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/store"
)

// Options configure a [Store]. All except Waiting are required.
type Options struct {
	File    func() *store.File // current copy of this gateway, which may be replaced
	Gateway string             // name of this gateway
	Leader  hop.Leader

	// Leads reports whether this gateway is certain to lead, so that its copy is the newest.
	Leads func() bool

	// TLS returns the settings for a connection to a gateway, which must prove its name.
	TLS func(gateway string) *tls.Config

	Waiting int // changes that may wait for a leader at the same time; 0 means 100
}

const (
	waiting   = 100
	applyFor  = 15 * time.Second // time limit for the leader to make changes
	readFor   = 10 * time.Second // time limit for the leader to begin an answer
	becoming  = 5 * time.Second  // time limit for this gateway to make changes after it became the leader
	copyFor   = 5 * time.Second  // time limit for the copy to receive a change
	lookAgain = 20 * time.Millisecond
)

// Store is a [store.Store] shared by the gateways of a cluster. Its values must be sealed, so that no two of
// them are equal. Otherwise it could not recognize a change whose answer was lost.
type Store struct {
	*Local
	o   Options
	far *asker
}

// New returns a store. The file still belongs to the caller; [Store.Close] does not close it.
func New(o Options) *Store {
	if o.Waiting == 0 {
		o.Waiting = waiting
	}
	far := newAsker(hop.Options{Gateway: o.Gateway, Leader: o.Leader, TLS: o.TLS, Waiting: o.Waiting})
	return &Store{Local: NewLocal(o.File), o: o, far: far}
}

// Apply makes changes here if this gateway leads. Otherwise it sends them to the leader, for which it waits
// up to 5 s. It fails with [store.ErrUnreachable] if the leader does not answer. The error also wraps
// [store.ErrNotSent] if the changes were certainly not made.
//
// When it returns, this gateway's copy has the changes, unless that takes more than 5 s or ctx has
// ended. After a conflict the copy has the conflicting value.
func (s *Store) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	until := time.NewTimer(becoming)
	defer until.Stop()
	for {
		if err := s.usable(ctx); err != nil {
			return 0, err
		}
		file := s.o.File()
		if file.Leads() {
			revision, err := file.Apply(ctx, changes...)
			if !errors.Is(err, store.ErrFollows) || !errors.Is(err, store.ErrNotSent) {
				return s.resolve(ctx, changes, revision, err)
			}
		}
		revision, err := s.send(ctx, changes)
		if !errors.Is(err, hop.ErrHere) {
			return revision, s.far.noted(err)
		}
		select {
		case <-time.After(lookAgain):
		case <-until.C:
			return 0, s.far.noted(notSent(err))
		case <-ctx.Done():
			return 0, notSent(context.Cause(ctx))
		}
	}
}

// Update calls f here if this gateway leads. Otherwise it calls f with the values in this gateway's
// copy, and again if the leader has different values, see [store.CompareAndSet].
func (s *Store) Update(ctx context.Context, f func(*store.Tx) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if file := s.o.File(); file.Leads() {
		err := file.Update(ctx, f)
		var doubt *store.Doubt
		if errors.As(err, &doubt) {
			_, err = s.resolve(ctx, doubt.Changes, 0, err)
		}
		if !errors.Is(err, store.ErrFollows) || !errors.Is(err, store.ErrNotSent) {
			return err
		}
	}
	return store.CompareAndSet(ctx, s, f)
}

// send sends changes to the leading gateway.
func (s *Store) send(ctx context.Context, changes []store.Change) (store.Revision, error) {
	revision, err := s.far.apply(ctx, changes)
	if err == nil || errors.Is(err, store.ErrConflict) {
		limited, cancel := context.WithTimeout(ctx, copyFor)
		defer cancel()
		_ = s.await(limited, revision) // the outcome is certain, even if the copy does not show it yet
	}
	return s.resolve(ctx, changes, revision, err)
}

// resolve returns the outcome of changes. If the outcome is unknown, resolve waits briefly for the copy to
// show it.
func (s *Store) resolve(
	ctx context.Context, changes []store.Change, revision store.Revision, err error,
) (store.Revision, error) {
	deposed, lost := errors.Is(err, store.ErrFollows), errors.Is(err, store.ErrUnreachable)
	switch {
	case err == nil:
		return revision, nil
	case errors.Is(err, store.ErrNotSent), !deposed && !lost:
		return 0, err
	case !lost:
		err = fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, copyFor)
	defer cancel()
	if found, ok := s.look(ctx, changes); ok {
		return found, nil
	}
	return 0, err
}

// await waits until the copy has a revision.
func (s *Store) await(ctx context.Context, r store.Revision) error {
	return s.read(ctx, func(file *store.File) error { return file.Await(ctx, r) })
}

// look waits until the copy shows that changes were made, or ctx ends. The copy can never show that
// they were not made.
func (s *Store) look(ctx context.Context, changes []store.Change) (at store.Revision, stored bool) {
	var mark *store.Change
	for i := range changes {
		if c := &changes[i]; c.Log == "" && c.Value != nil {
			mark = c
		}
	}
	for mark != nil && ctx.Err() == nil {
		present, presentErr := s.o.File().Revision() // read first, so that no later change is missed
		found, err := s.Get(ctx, mark.Kind, mark.Key)
		switch {
		case err != nil && !errors.Is(err, store.ErrAbsent):
			return 0, false
		case found.Revision == mark.Expect: // not made yet
		default:
			return found.Revision, bytes.Equal(found.Value, mark.Value)
		}
		if presentErr == nil {
			_ = s.await(ctx, present+1) // wait for the next change, or for the end of ctx
		}
	}
	return 0, false
}

// State returns the state of the copy, and counts the outcomes of the sent changes.
func (s *Store) State() store.State {
	state, sent := s.o.File().State(), s.far.sent()
	state.Writes += sent.Writes
	state.Failures += sent.Failures
	state.Failed = cmp.Or(state.Failed, sent.Failed)
	return state
}

// Reach implements [store.Remote]. It returns once the copy has everything that the leader had when
// Reach was called. It fails with [store.ErrUnreachable] if no gateway is certain to lead.
func (s *Store) Reach(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if s.o.Leads() {
		s.far.reached()
		return nil
	}
	told, err := s.far.ask(ctx, question(tells, nil, nil), readFor, nil)
	switch {
	case errors.Is(err, hop.ErrHere): // it leads, but cannot prove it now
		return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	case err != nil:
		return err
	}
	s.far.reached()
	return s.await(ctx, told.revision)
}

// Close closes the connections. Later calls fail.
func (s *Store) Close() error {
	s.far.close()
	return s.Local.Close()
}
