package gateway

import (
	"context"
	"errors"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/members"
	"adgateway/gateway/schema"
)

// Where several gateways share a store, each call that is running has an owner:
// the gateway that runs it, and until when the run can last. Others leave it alone while
// that gateway lives. Once it is gone and the time has passed, another one takes over: it
// moves the fences of the owner first, so that one that only slept is not allowed any
// change it had begun, and then finds out what became of what was announced.

// owner returns this gateway as the owner of a run that begins now; nil if it is alone.
func (s *Server) owner(limit time.Duration) *changes.Owner {
	if s.Members == nil {
		return nil
	}
	return &changes.Owner{Gateway: s.Members.Name(), Incarnation: s.Members.Incarnation(), Until: s.Now().Add(limit + leaseAfter)}
}

// mine reports whether this process is an owner.
func (s *Server) mine(o *changes.Owner) bool {
	return o == nil || s.Members == nil || o.Gateway == s.Members.Name() && o.Incarnation == s.Members.Incarnation()
}

// orphaned reports whether what an owner has announced may be taken over. What an earlier
// process of this gateway left has ended with it. What this one has begun and cannot be
// running any more has an outcome that could not be kept.
func (s *Server) orphaned(o *changes.Owner) bool {
	own := o.Gateway == s.Members.Name()
	switch {
	case own && !s.mine(o):
		return true
	case s.Now().Before(o.Until.Add(s.SettleDelay)):
		return false
	case own:
		return true
	}
	return s.Members.Gone(o.Gateway, o.Incarnation, s.SettleDelay)
}

// notReady returns the refusal of a change that this gateway must not make.
func (s *Server) notReady(err error) *failure {
	failed := fail(schema.Unavailable, "This gateway makes no changes at the moment, as its clock or its membership is not in order. Send them to another one. GET /readyz tells; "+askWhy)
	failed.cause, failed.retryAfter = err, auditRetry
	return failed
}

// ready refuses a change early that this gateway must not make.
func (s *Server) ready(r *request) *failure {
	if !s.shared() || !r.op.Effect.Writes() {
		return nil
	}
	switch state := s.Kept.State(); {
	case state.Rewound != nil:
		return clusterUnavailable(state.Rewound)
	case errors.Is(state.Failed, keep.ErrUnreachable):
		return s.degrade(r, state.Failed)
	}
	if err := s.Members.Refuses(); err != nil {
		return s.notReady(err)
	}
	return nil
}

// shared reports whether other gateways use the same store.
func (s *Server) shared() bool { return s.Members != nil || s.Kept != nil && s.Kept.Remote() }

// storeCode returns the code of a call that was refused because of a fault of the store.
func storeCode(err error) schema.Code {
	switch {
	case errors.Is(err, keep.ErrRewound):
		return schema.StoreRewound
	case errors.Is(err, keep.ErrUnreachable):
		return schema.StoreLost
	case errors.Is(err, keep.ErrNewer):
		return schema.NewerPeer
	}
	return schema.Unavailable
}

// running refuses a call with a key that another gateway is running, or may be.
func (s *Server) running(call *keptCall) *failure {
	o := call.Owner
	if s.mine(o) {
		return nil
	}
	wait := time.Second
	if call.Intent == nil { // it has changed nothing, and cannot once the key has another owner
		if s.Members.Gone(o.Gateway, o.Incarnation, s.SettleDelay) {
			return nil
		}
	} else if s.orphaned(o) {
		return nil
	} else if s.Members.Gone(o.Gateway, o.Incarnation, 0) {
		wait = max(wait, o.Until.Add(s.SettleDelay).Sub(s.Now()))
	}
	failed := fail(schema.InProgress, "A call with this %s is running at another gateway, or was when that ended. Repeat it later to get its answer.", keyHeader)
	failed.retryAfter = wait
	return failed
}

// fencesOf returns the changes that move the fences of an owner that is gone; none if it is
// this gateway, whose fences its start has moved.
func (s *Server) fencesOf(ctx context.Context, o *changes.Owner) ([]keep.Change, error) {
	if s.mine(o) || o.Gateway == s.Members.Name() {
		return nil, nil
	}
	return members.MoveFences(ctx, s.store(), o.Gateway)
}

// TakeOver settles the changes of other gateways that are gone, and those of this one whose
// outcome could not be kept: it finds out what became of them, and completes their records.
// Those that cannot be read yet are left, and counted.
// It does nothing for a gateway alone, and for one that must not make changes: its clock may
// say that a run has ended which still goes on.
func (s *Server) TakeOver(ctx context.Context) (left int, err error) {
	if s.Members == nil || s.History == nil || s.Members.Refuses() != nil {
		return 0, nil
	}
	open, err := s.History.Running(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range open {
		o := c.Owner
		if o == nil || !s.orphaned(o) {
			continue
		}
		claimed, wrong := s.claimRecord(ctx, c)
		if wrong != nil {
			err = errors.Join(err, wrong)
		}
		if !claimed {
			continue
		}
		settled, wrong := s.settlePast(ctx, s.History, c, s.gatewayName())
		err = errors.Join(err, wrong)
		if !settled {
			left++
		}
	}
	return left, err
}

// claimRecord makes this gateway the owner of a change, unless another one is faster.
func (s *Server) claimRecord(ctx context.Context, c *changes.Record) (claimed bool, err error) {
	was := c.Owner
	for {
		fences, err := s.fencesOf(ctx, was)
		if err != nil {
			return false, err
		}
		c.Owner = s.owner(s.current.Load().policy.SettleLimit)
		own, err := s.History.Change(c)
		if err != nil {
			return false, err
		}
		all := append([]keep.Change{own}, fences...)
		revision, err := s.store().Apply(ctx, all...)
		if err == nil {
			s.seen(revision)
			return true, s.History.Saved(ctx, c, all[:1], revision)
		}
		if !errors.Is(err, keep.ErrConflict) {
			return false, err
		}
		latest, err := s.History.Get(ctx, c.ID)
		if errors.Is(err, changes.ErrAbsent) || err == nil && !latest.Same(c) {
			return false, nil // another one has it
		}
		if err != nil {
			return false, err
		}
	}
}

// seen notes a revision that the store has reached.
func (s *Server) seen(revision keep.Revision) {
	for {
		last := s.reached.Load()
		if uint64(revision) <= last || s.reached.CompareAndSwap(last, uint64(revision)) {
			return
		}
	}
}

// latest returns a revision that the store has reached, which is not far from its last.
func (s *Server) latest() keep.Revision { return keep.Revision(s.reached.Load()) }
