package gateway

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/members"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Where several gateways share a store, what locks do in one process (see locks) leases do
// among them (many W12): an object that is being changed is leased to its run, in the batch
// that allows the change, until its outcome is kept. A lease that has ended stays for a
// while and tells when: a run that began before it has read the object as it was before.
// Names that a change is about to give are held for longer, until every controller knows of
// them (many W11).

// The kinds of leases and holds in the store, by sums.
const (
	leaseKind keep.Kind = "obj"
	nameKind  keep.Kind = "name"
)

// leaseAfter is how much longer a lease is than the run that has it may be: nobody else
// takes over what a run may still do (many Z1).
const leaseAfter = time.Minute

// The reasons for which a run is stopped, to be run again.
var (
	errLeased = errors.New("another gateway changes the object, or has changed it since the run began")
	errFenced = members.ErrFenced
)

// lease is an object that one run changes.
type lease struct {
	keep.Formatted
	Run   string         `json:"run"`
	Owner *changes.Owner `json:"owner"`
	Ended bool           `json:"ended,omitempty"`
}

// leases are those of one request.
type leases struct {
	run     string                   // identifies it
	objects map[string]keep.Revision // leased, by key
	names   map[string]keep.Revision // held, by key
	fresh   map[string]bool          // names that nobody held before
	taken   map[string]bool          // objects of which a run was allowed to change something
	after   map[string]bool          // objects that another run had before
	owner   *changes.Owner

	pending    *pendingName             // why the run that has just ended was stopped
	replicated map[string]keep.Revision // holds that no longer matter to the server of the run, by key
}

// sharesOfCluster returns what the batch of a change must contain where there are several
// gateways, and what must follow; nothing for one alone.
func (s *Server) sharesOfCluster(ctx context.Context, r *request, i *ps.Intent) (all []share, end func(), err error) {
	if s.Members == nil {
		return nil, func() {}, nil
	}
	if err := s.Members.Refuses(); err != nil {
		r.unrecorded = s.notReady(err)
		return nil, nil, err
	}
	pass, err := s.Members.Pass(ctx, r.begun)
	if err != nil {
		return nil, nil, err
	}
	l := r.leased()
	l.owner = s.owner(r.limit)
	fence := share{
		changes: func(context.Context) ([]keep.Change, error) { return pass.Changes() },
		again:   pass.Refresh,
		made:    pass.Done,
	}
	objects := map[string]bool{}
	named := map[string]keep.Change{}
	leasing := share{
		changes: func(ctx context.Context) (all []keep.Change, err error) {
			for _, key := range r.hold.wanted {
				sum := s.leaseKey(key)
				one, err := s.lease(ctx, r, sum)
				if err != nil {
					return nil, err
				}
				objects[sum] = true
				all = append(all, one)
			}
			return all, nil
		},
		made: func(revision keep.Revision) {
			for sum := range objects {
				l.objects[sum], l.taken[sum] = revision, true
			}
		},
	}
	naming := share{
		changes: func(ctx context.Context) ([]keep.Change, error) {
			clear(named)
			err := s.holdNames(ctx, r, i, named)
			var all []keep.Change
			for _, one := range named {
				all = append(all, one)
			}
			return all, err
		},
		made: func(revision keep.Revision) {
			for sum, one := range named {
				l.names[sum] = revision
				l.fresh[sum] = l.fresh[sum] || one.Expect == keep.Absent
			}
		},
	}
	return []share{fence, leasing, naming}, pass.End, nil
}

// leased returns the leases of a request.
func (r *request) leased() *leases {
	if r.leases == nil {
		r.leases = &leases{run: uuid.NewString(), objects: map[string]keep.Revision{}, names: map[string]keep.Revision{}, fresh: map[string]bool{}, taken: map[string]bool{}, after: map[string]bool{}, replicated: map[string]keep.Revision{}}
	}
	return r.leases
}

func (s *Server) leaseKey(object string) string {
	return hex.EncodeToString(s.store().Sum([]byte(leaseKind), []byte(object)))
}

// lease returns the change that leases an object to a request. It fails with errLeased if
// another run has it, or had it since this one began.
func (s *Server) lease(ctx context.Context, r *request, sum string) (keep.Change, error) {
	l := r.leased()
	value, err := keep.Encode(s.store(), lease{Run: l.run, Owner: l.owner})
	own := keep.Change{Kind: leaseKind, Key: sum, Value: value, Expires: l.owner.Until}
	if err != nil {
		return own, err
	}
	present, revision, err := kept[lease](ctx, s.store(), leaseKind, sum)
	own.Expect = revision
	switch {
	case err != nil:
		return own, err
	case revision == keep.Absent, present.Run == l.run:
	case !present.Ended, revision > r.seenAt:
		s.seen(revision)
		return own, errLeased
	default:
		l.after[sum] = true
	}
	return own, nil
}

// end returns the change that ends a lease of an object, which was changed or not.
func (l *lease) end(store *keep.Sealed, sum string, at keep.Revision, changed bool) (own keep.Change, err error) {
	own = keep.Change{Kind: leaseKind, Key: sum, Expect: at}
	if changed {
		own.Value, err = keep.Encode(store, lease{Run: l.Run, Owner: l.Owner, Ended: true})
		own.Expires = l.Owner.Until.Add(leaseAfter)
	}
	return own, err
}

// kept returns a value of the store and its revision, or the zero value if it is absent.
func kept[T any, P keep.Value[T]](ctx context.Context, store *keep.Sealed, kind keep.Kind, key string) (value T, revision keep.Revision, err error) {
	e, err := store.Get(ctx, kind, key)
	if errors.Is(err, keep.ErrAbsent) {
		return value, keep.Absent, nil
	}
	if err == nil {
		err = keep.Decode(store, e.Value, P(&value))
	}
	return value, e.Revision, err
}

// waitForLeases leases the objects of a request once no other gateway has one of them, all
// at once, so that nobody waits who has one.
func (s *Server) waitForLeases(ctx context.Context, r *request) error {
	const longest = 250 * time.Millisecond
	l := r.leased()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		r.seenAt = s.latest()
		l.owner = s.owner(r.limit)
		var all []keep.Change
		var err error
		for _, key := range r.hold.wanted {
			var one keep.Change
			if one, err = s.lease(ctx, r, s.leaseKey(key)); err != nil {
				break
			}
			all = append(all, one)
		}
		if err == nil {
			var revision keep.Revision
			if revision, err = s.store().Apply(ctx, all...); err == nil {
				for _, one := range all {
					l.objects[one.Key] = revision
				}
				s.seen(revision)
				r.seenAt = revision
				return nil
			}
		}
		if !errors.Is(err, errLeased) && !errors.Is(err, keep.ErrConflict) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errLeased
		}
	}
}

// busy returns the refusal of a change whose object another gateway changes all the time.
func busy() *failure {
	failed := fail(schema.Busy, "Another gateway is changing the object, and was not done in time. Nothing was changed. Try again later.")
	failed.retryAfter = time.Second
	return failed
}

// endOfLeases returns what becomes of the leases and the names of a call. Those of a change
// of which is not known whether it was made end by themselves.
func (s *Server) endOfLeases(r *request) *ending {
	l := r.leases
	outcome := r.outcome()
	if l == nil || len(l.objects)+len(l.names) == 0 || outcome == ps.OutcomeUnknown {
		return nil
	}
	none := outcome == ps.OutcomeNone
	var all []keep.Change
	for sum, revision := range l.objects {
		one, err := (&lease{Run: l.run, Owner: l.owner}).end(s.store(), sum, revision, l.taken[sum] && !none || l.after[sum]) // the end of the one before must be told on
		if err != nil {
			continue // it ends by itself
		}
		all = append(all, one)
	}
	for sum, revision := range l.names {
		if none && l.fresh[sum] {
			all = append(all, keep.Change{Kind: nameKind, Key: sum, Expect: revision})
		}
	}
	clear(l.objects)
	clear(l.names)
	return &ending{changes: all, failed: func(err error) {
		s.Log.WithError(err).WithField("request_id", r.id).Warn("the leases of a change were not given back, and end by themselves")
	}}
}
