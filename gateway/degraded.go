package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A gateway that cannot reach the store of its cluster makes no changes, unless it is allowed
// to go on degraded. Then it makes those that a single gateway can answer for: of
// rows that say so, without a key, a plan or a budget, under its own locks. Their records are
// kept in a journal on its own disk, and sent to the history of all once the store is back.

// degrade lets a change run without the store that is lost, or refuses it.
func (s *Server) degrade(r *request, lost error) *failure {
	if !s.Degraded || !s.Members.Lapsed() {
		return clusterUnavailable(lost)
	}
	header := r.c.Request.Header
	switch {
	case !r.op.WithoutStore:
		return needsStore(lost, "this call")
	case r.dryRun():
		return needsStore(lost, "a dry run, whose plan is kept there,")
	case r.bound.Has(ops.PlanID):
		return needsStore(lost, "a call with %s", ops.PlanID)
	case len(header.Values(keyHeader)) > 0, itemCallOf(r.c.Request) != nil:
		return needsStore(lost, "a call with an %s", keyHeader)
	case r.guard.none != nil:
		return needsStore(lost, "a call with %s", ops.IfNoneMatch)
	}
	r.degraded = true
	return nil
}

// needsStore returns the refusal of a change that a gateway does not make without the store.
func needsStore(lost error, what string, args ...any) *failure {
	failed := clusterUnavailable(lost)
	failed.message = fmt.Sprintf("The store that the gateways share cannot be reached, and %s needs it, so that nothing was changed. Without it this gateway unlocks, enables, disables and updates accounts, sets passwords and changes memberships. GET /readyz tells when the store is back.", fmt.Sprintf(what, args...))
	return failed
}

var (
	errNeedsStore = errors.New("the change needs the store that is lost")
	errBusy       = errors.New("another gateway was changing the object when the store was lost")
)

// mostOfMirror is how long the mirror is asked for the leases of an object, which it looks
// for in the lost store if it has none.
const mostOfMirror = 250 * time.Millisecond

// allowDegraded decides whether a change may begin without the store.
func (s *Server) allowDegraded(ctx context.Context, r *request, i *ps.Intent) error {
	lost := s.Kept.State().Failed
	if slices.ContainsFunc(i.Objects, func(object ps.Intended) bool { return len(namesOf(&object)) > 0 }) {
		r.unrecorded = needsStore(lost, "a change that gives a name")
		return errNeedsStore
	}
	if r.limited() {
		r.unrecorded = needsStore(lost, "a credential with hourly limits")
		return errNeedsStore
	}
	for _, one := range r.hold.wanted {
		if s.hadByAnother(ctx, one) {
			r.unrecorded = busy()
			return errBusy
		}
	}
	s.remember(r, *i)
	if err := s.Journal.Save(ctx, r.change); err != nil {
		r.change = nil // there is no record of it
		r.unrecorded = fail(schema.Unavailable, "The change cannot be noted on the disk of this gateway while the store that the gateways share is lost, so that nothing was changed. GET /readyz tells when the store is back.")
		r.unrecorded.cause, r.unrecorded.retryAfter = err, auditRetry
		return err
	}
	r.kept, r.allowedAt = true, s.Now()
	s.Log.WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID}).Warn("a change is made without the store that the gateways share")
	return nil
}

// hadByAnother reports whether another gateway may be changing what is to be locked, as far as
// the mirror of the lost store knows.
func (s *Server) hadByAnother(ctx context.Context, wanted lock) bool {
	ctx, cancel := context.WithTimeout(ctx, mostOfMirror)
	defer cancel()
	present, err := s.getLease(ctx, s.leaseKey(wanted.object))
	if err != nil {
		return false
	}
	rivals, _ := s.rivals(ctx, present, wanted.shared) // those that are known
	return slices.ContainsFunc(rivals, func(one presentLease) bool {
		return one.Owner != nil && !one.Ended && !s.mine(one.Owner) && s.Now().Before(one.Owner.Until)
	})
}

// limited reports whether the call spends something of an hourly limit of its caller.
func (r *request) limited() bool {
	return slices.ContainsFunc(r.spending.reserved, func(one *spent) bool { _, has := one.Limit(); return has })
}

// degradedWarning is for people who read the answer of such a change.
var degradedWarning = ps.Warning{Code: "degraded", Message: "The store that the gateways share cannot be reached. The change was made under the locks of one gateway, and is in the history once the store is back."}

// historyOf returns the history that the change of a request is recorded in.
func (s *Server) historyOf(r *request) *changes.History {
	if r.degraded {
		return s.Journal
	}
	return s.History
}

// storeOf returns the store that what becomes of a request is kept in.
func (s *Server) storeOf(r *request) *keep.Sealed {
	if r.degraded {
		return s.Journal.Store()
	}
	return s.store()
}

// SendJournal sends the store what was changed while it could not be reached. It returns how
// many changes are left, because they are still running or cannot be settled yet. What an
// earlier process has left unfinished is settled first.
func (s *Server) SendJournal(ctx context.Context) (left int, err error) {
	if s.Journal == nil {
		return 0, nil
	}
	var all []*changes.Record
	if err := s.Journal.Newest(ctx, time.Time{}, "", func(c *changes.Record) bool { all = append(all, c); return true }); err != nil {
		return 0, err
	}
	for n, c := range slices.Backward(all) { // the oldest first
		if state := s.Kept.State(); state.Failed != nil || state.Rewound != nil {
			return left + n + 1, err
		}
		sent, wrong := s.sendChange(ctx, c)
		err = errors.Join(err, wrong)
		if !sent {
			left++
		}
	}
	return left, err
}

// sendChange sends the store a change of the journal. It is not sent while it is running.
func (s *Server) sendChange(ctx context.Context, c *changes.Record) (sent bool, err error) {
	if c.Running {
		if c.Time.After(s.startedAt) {
			return false, nil
		}
		settled, err := s.settlePast(ctx, s.Journal, c, startSettled)
		if err != nil || !settled {
			return false, err
		}
		if c, err = s.Journal.Get(ctx, c.ID); err != nil {
			if errors.Is(err, changes.ErrAbsent) { // it was not made
				return true, nil
			}
			return false, err
		}
	}
	if err := s.History.Adopt(ctx, c, s.Now()); err != nil {
		return false, err
	}
	return true, s.Journal.Remove(ctx, c)
}
