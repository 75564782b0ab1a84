package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Every change is recorded in the history before it is made, and completed with what
// became of it before the answer is sent. Calls that changed nothing leave no record.

// changeHeader identifies the change that a call has made.
const changeHeader = ops.ChangeHeader

// remember prepares the record of what a call is about to change.
func (s *Server) remember(r *request, i ps.Intent) {
	if s.History == nil {
		return
	}
	if r.change == nil {
		r.change = &changes.Record{ID: changes.NewID(), RequestID: r.id, Caller: r.principal.Name, Operation: r.op.ID, Running: true}
		r.change.Token, r.change.Process = uuid.NewString(), s.process()
		r.change.Parameters, r.change.Secret = r.parameters()
		r.change.Plan, r.change.Key = r.applying.ID(), r.claimed().Name()
		undoes := &r.call.Undoes
		r.change.Undoes, r.change.Fields, r.change.Batch = undoes.Change, undoes.Fields, undoes.Batch
	}
	c := r.change
	c.Time, c.Intent, c.Server, c.Zone = time.Now().UTC(), i, i.Server, zoneOf(r, &i)
	if s.Member != nil {
		c.Limit = writeLimitOf(c.Intent)
	}
}

// changeID returns the identity of the change in the history; empty: there is none.
func (r *request) changeID() string {
	if r.change == nil {
		return ""
	}
	return cmp.Or(r.change.Batch, r.change.ID)
}

// unremembered reports that a change will not be in the history.
func (s *Server) unremembered(r *request, err error) {
	s.meters.unremembered.Inc()
	s.Log.WithError(err).WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID}).Error("a change could not be recorded in the history")
	r.change, r.unkept = nil, true
}

// parameters returns the accepted parameters but the secrets, and whether there are any
// of those.
func (r *request) parameters() (texts map[string]string, secret bool) {
	texts = map[string]string{}
	for i := range r.op.Params {
		p := &r.op.Params[i]
		switch {
		case p.Kind.Secret():
			secret = secret || r.bound.Has(p.Name) || r.bound.Generated != nil
		case r.bound.Has(p.Name):
			texts[p.Name] = r.bound.Text(p.Name)
		}
	}
	return texts, secret
}

// zoneOf returns the zone that a change of DNS is about; empty if there are several, or
// none.
func zoneOf(r *request, i *ps.Intent) string {
	if r.op.Lane != ps.DNS {
		return ""
	}
	zone := ""
	if value, has := r.bound.Args["ZoneName"]; has {
		text, _ := value.MarshalJSON()  // a text can always be encoded
		_ = json.Unmarshal(text, &zone) // stays empty unless it is one
	}
	if zone == "" && len(i.Objects) > 0 {
		zone = i.Objects[0].Parent
	}
	return zone
}

// SettleHistory finds out what became of the changes that were running when the gateway
// was ended. Those that cannot be read yet are left, and it is called again.
func (s *Server) SettleHistory(ctx context.Context) (left int, err error) {
	if s.History == nil || s.Member != nil { // then it is the leader that judges them
		return 0, nil
	}
	running, err := s.History.Running(ctx)
	running = slices.DeleteFunc(running, func(c *changes.Record) bool { return !s.left(ctx, c) })
	for _, c := range running {
		s.lockOpen(c)
	}
	for _, c := range running {
		settled, wrong := s.settlePast(ctx, true, c, startSettled)
		err = errors.Join(err, wrong)
		if !settled {
			left++
		}
	}
	return left, errors.Join(err, s.recordDue(ctx))
}

// left reports whether a change that is running was left by an earlier process of this
// gateway. Earlier versions did not note that its line is due.
func (s *Server) left(ctx context.Context, c *changes.Record) bool {
	_, err := s.store().Get(ctx, dueKind, c.ID)
	return s.before[c.ID] || errors.Is(err, store.ErrAbsent)
}

// settlePast finds out what became of a change that was cut off, and closes it. If it is not
// recorded in the history, only its key tells of it. It is not settled if it cannot be read yet.
// The audit says by whom it was.
func (s *Server) settlePast(ctx context.Context, recorded bool, c *changes.Record, by string) (done bool, err error) {
	v, result := &write.Verdict{Outcome: ps.OutcomeUnknown}, (*ps.Result)(nil)
	if change, can := settle.Recorded(s.operationOf(c.Operation), c); can {
		found := s.settler(s.current.Load()).Settle(ctx, change)
		if found.Unread != nil && (passing[ps.AsError(found.Unread).Kind] || ctx.Err() != nil) {
			return false, nil
		}
		v, result = write.VerdictOf(found), found.Result
	}
	if err = s.settled(recorded, c, v, result); errors.Is(err, write.ErrClosed) {
		return true, nil // by another one, who was faster
	}
	if err != nil {
		return false, err
	}
	s.Log.WithFields(logrus.Fields{"request_id": c.RequestID, "operation": c.Operation, "outcome": v.Outcome}).Warn("a change that was cut off by the end of a gateway was settled")
	if recorded {
		err = s.recordSettled(ctx, by, map[string]*changes.Record{c.ID: c})
	}
	return true, err
}

// passing are the reasons for which a change cannot be read now, but may be later.
var passing = map[ps.Kind]bool{ps.KindUnavailable: true, ps.KindOverloaded: true, ps.KindTimeout: true, ps.KindDied: true, ps.KindCancelled: true}

func (s *Server) operationOf(id string) *ops.Operation { return ops.Find(s.Operations, id) }
