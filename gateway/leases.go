package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/members"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Where several gateways share a store, what locks do in one process (see locks) leases do
// among them: an object that is being changed is leased to its run, in the batch
// that allows the change, until its outcome is kept. A lease that has ended stays for a
// while and tells when: a run that began before it has read the object as it was before.
// Names that a change is about to give are held for longer, until every controller knows of
// them.
//
// The lease of an object that changes share says which runs do, and for each of them the
// lease that it has alone, whose end is that of the run. So only the beginning of such a
// change competes with others for the shared lease, and nothing need be given back.

// The kinds of leases and holds in the store, by sums.
const (
	leaseKind keep.Kind = "obj"
	nameKind  keep.Kind = "name"
)

// leaseAfter is how much longer a lease is than the run that has it may be: nobody else
// takes over what a run may still do.
const leaseAfter = time.Minute

// The reasons for which a run is stopped, to be run again.
var (
	errLeased = errors.New("another gateway changes the object, or has changed it since the run began")
	errFenced = members.ErrFenced
)

// lease is an object that one run changes, or several that share it.
type lease struct {
	keep.Formatted
	Run   string         `json:"run"` // that has it alone; empty: it is shared
	Owner *changes.Owner `json:"owner"`
	Ended bool           `json:"ended,omitempty"`

	Sharers []sharer      `json:"sharers,omitempty"`
	Alone   keep.Revision `json:"alone,omitempty"` // of a shared one: when the last run that had it alone had ended
	Next    *turn         `json:"next,omitempty"`
}

// sharer is a run that shares an object.
type sharer struct {
	Run string `json:"run"`
	Key string `json:"key"` // of a lease that it has alone, and of which the end is kept

	// Since is the revision that lease had when this one was joined; 0 is that of this one. An
	// older one is not what the run has: a store may read a value as it was before.
	Since keep.Revision `json:"since,omitempty"`
	Until time.Time     `json:"until"` // when it expires
}

// turn keeps a run from waiting for ever for those that share what it wants alone: nobody
// joins them for a moment.
type turn struct {
	Run   string    `json:"run"`
	Until time.Time `json:"until"`
}

// leases are those of one request.
type leases struct {
	run     string                   // identifies it
	objects map[string]keep.Revision // leased, by key
	taken   map[string]bool          // objects of which a run was allowed to change something
	after   map[string]bool          // objects that another run had before
	shares  bool                     // others may ask whether the leases have ended
	owner   *changes.Owner
}

// sharesOfCluster returns what the batch of a change must contain where there are several
// gateways, and what must follow; nothing for one alone.
func (s *Server) sharesOfCluster(ctx context.Context, r *request, i *ps.Intent) (all []share, end func(), err error) {
	switch {
	case s.Member != nil:
		return []share{s.shareOfNames(r, i)}, func() {}, nil
	case s.Members == nil:
		return nil, func() {}, nil
	}
	if err := s.Members.Refuses(); err != nil {
		r.unrecorded = s.notReady(err)
		return nil, nil, err
	}
	pass, err := s.Members.Pass(ctx, r.fences)
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
	leasing := share{
		changes: func(ctx context.Context) ([]keep.Change, error) {
			all, alone, err := s.leasesOf(ctx, r)
			for _, sum := range alone {
				objects[sum] = true
			}
			return all, err
		},
		made: func(revision keep.Revision) {
			for sum := range objects {
				l.objects[sum], l.taken[sum] = revision, true
			}
		},
	}
	return []share{fence, leasing, s.shareOfNames(r, i)}, pass.End, nil
}

// leased returns the leases of a request.
func (r *request) leased() *leases {
	if r.leases == nil {
		r.leases = &leases{run: uuid.NewString(), objects: map[string]keep.Revision{}, taken: map[string]bool{}, after: map[string]bool{}}
	}
	return r.leases
}

func (s *Server) leaseKey(object string) string {
	return hex.EncodeToString(s.store().Sum([]byte(leaseKind), []byte(object)))
}

// leasesOf returns the changes that lease a request what it has locked, and the keys of
// those that it has alone, which it must give back. It fails with errLeased if another run
// has one of the objects, or had it since this one began.
func (s *Server) leasesOf(ctx context.Context, r *request) (all []keep.Change, alone []string, err error) {
	for _, one := range r.hold.wanted {
		if !one.shared {
			alone = append(alone, s.leaseKey(one.object))
		}
	}
	for _, one := range r.hold.wanted {
		sum := s.leaseKey(one.object)
		present, err := s.getLease(ctx, sum)
		if err != nil {
			return nil, nil, err
		}
		var own keep.Change
		if one.shared {
			own, err = s.shareLease(ctx, r, sum, present, alone[0])
		} else {
			own, err = s.lease(ctx, r, sum, present)
		}
		if errors.Is(err, errLeased) {
			s.seen(present.revision)
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, own)
	}
	return all, alone, nil
}

// presentLease is a lease as the store has it; without a revision, there is none.
type presentLease struct {
	lease
	revision keep.Revision
	expires  time.Time
}

func (s *Server) getLease(ctx context.Context, sum string) (present presentLease, err error) {
	e, err := s.store().Get(ctx, leaseKind, sum)
	if errors.Is(err, keep.ErrAbsent) {
		return present, nil
	}
	if err == nil {
		err = keep.Decode(s.store(), e.Value, &present.lease)
	}
	present.revision, present.expires = e.Revision, e.Expires
	for n := range present.Sharers {
		present.Sharers[n].Since = cmp.Or(present.Sharers[n].Since, e.Revision)
	}
	return present, err
}

// rivals returns the leases of the runs that have an object, or had it, so that it cannot be
// had as it is wanted. They are read after the lease of the object, so that of a run that is
// still going on none is missed.
func (s *Server) rivals(ctx context.Context, present presentLease, shared bool) (all []presentLease, err error) {
	if present.Run != "" {
		return []presentLease{present}, nil
	}
	if shared {
		return nil, nil
	}
	for _, one := range present.Sharers {
		its, err := s.getLease(ctx, one.Key)
		switch {
		case err != nil:
			return all, err
		case its.revision == keep.Absent && !s.Now().Before(one.Until):
		case its.revision < one.Since: // the end of it would be there
			its = presentLease{lease: lease{Run: one.Run, Owner: &changes.Owner{Until: one.Until}}}
			fallthrough
		case its.Run == one.Run:
			all = append(all, its)
		}
	}
	return all, nil
}

// waitsFor reports whether a request cannot have what one of some other runs has, or had
// since its own began.
func (s *Server) waitsFor(r *request, rivals []presentLease) bool {
	return slices.ContainsFunc(rivals, func(one presentLease) bool {
		s.seen(one.revision)
		return one.Run != r.leased().run && (!one.Ended || one.revision > r.seenAt)
	})
}

// lease returns the change that leases an object to a request alone.
func (s *Server) lease(ctx context.Context, r *request, sum string, present presentLease) (own keep.Change, err error) {
	l := r.leased()
	rivals, err := s.rivals(ctx, present, false)
	switch {
	case err != nil:
		return own, err
	case s.waitsFor(r, rivals), present.Run == "" && present.revision > r.seenAt: // who has joined since may have ended already
		return own, errLeased
	case present.revision != keep.Absent && present.Run != l.run:
		l.after[sum] = true
	}
	own = keep.Change{Kind: leaseKind, Key: sum, Expect: present.revision, Expires: l.owner.Until}
	own.Value, err = keep.Encode(s.store(), lease{Run: l.run, Owner: l.owner})
	return own, err
}

// shareLease returns the change by which a request shares an object. Key is that of a lease
// that it has alone.
func (s *Server) shareLease(ctx context.Context, r *request, sum string, present presentLease, key string) (own keep.Change, err error) {
	l := r.leased()
	next := lease{Alone: present.Alone, Next: present.Next}
	if present.Run != "" {
		next.Alone = present.revision
	}
	joined := slices.ContainsFunc(present.Sharers, func(one sharer) bool { return one.Run == l.run })
	rivals, err := s.rivals(ctx, present, true)
	switch {
	case err != nil:
		return own, err
	case s.waitsFor(r, rivals), next.Alone > r.seenAt:
		return own, errLeased
	case next.Next != nil && !s.Now().Before(next.Next.Until):
		next.Next = nil
	case next.Next != nil && !joined: // who has joined is waited for
		return own, errLeased
	}
	if len(rivals) == 0 {
		others, err := s.rivals(ctx, present, false)
		if err != nil {
			return own, err
		}
		for _, one := range present.Sharers {
			if one.Run != l.run && slices.ContainsFunc(others, func(its presentLease) bool { return its.Run == one.Run && !its.Ended }) {
				next.Sharers = append(next.Sharers, one)
			}
		}
	}
	next.Sharers = append(next.Sharers, sharer{Run: l.run, Key: key, Until: l.owner.Until})
	l.shares = true
	own = keep.Change{Kind: leaseKind, Key: sum, Expect: present.revision, Expires: l.owner.Until.Add(leaseAfter)}
	if own.Expires.Before(present.expires) {
		own.Expires = present.expires // what it tells of others
	}
	own.Value, err = keep.Encode(s.store(), next)
	return own, err
}

// longestTurn is for how long nobody joins those that share an object that a run wants alone,
// unless it asks for that again.
const longestTurn = 2 * time.Second

// askForTurns keeps others from joining those that share what a request wants alone.
func (s *Server) askForTurns(ctx context.Context, r *request) error {
	for _, one := range r.hold.wanted {
		if one.shared {
			continue
		}
		sum := s.leaseKey(one.object)
		present, err := s.getLease(ctx, sum)
		switch asked, now := present.Next, s.Now(); {
		case err != nil:
			return err
		case len(present.Sharers) == 0:
			continue
		case asked != nil && asked.Run != r.leases.run && now.Before(asked.Until):
			continue // after that
		case asked != nil && now.Before(asked.Until.Add(-longestTurn/2)):
			continue
		default:
			present.Next = &turn{r.leases.run, now.Add(longestTurn)}
		}
		value, err := keep.Encode(s.store(), present.lease)
		if err != nil {
			return err
		}
		revision, err := s.store().Apply(ctx, keep.Change{Kind: leaseKind, Key: sum, Expect: present.revision, Value: value, Expires: present.expires})
		if err != nil {
			return err
		}
		s.seen(revision)
	}
	return nil
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
		all, alone, err := s.leasesOf(ctx, r)
		if err == nil {
			var revision keep.Revision
			if revision, err = s.store().Apply(ctx, all...); err == nil {
				for _, sum := range alone {
					l.objects[sum] = revision
				}
				s.seen(revision)
				r.seenAt = revision
				return nil
			}
		}
		if errors.Is(err, errLeased) {
			err = cmp.Or(s.askForTurns(ctx, r), err)
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

// endOfLeases returns what becomes of the leases of a call. Those of a change
// of which is not known whether it was made end by themselves.
func (s *Server) endOfLeases(r *request) share {
	l := r.leases
	outcome := r.outcome()
	if l == nil || len(l.objects) == 0 || outcome == ps.OutcomeUnknown {
		return share{}
	}
	none := outcome == ps.OutcomeNone
	var all []keep.Change
	for sum, revision := range l.objects {
		one, err := (&lease{Run: l.run, Owner: l.owner}).end(s.store(), sum, revision, l.taken[sum] && !none || l.after[sum] || l.shares) // the end of the one before must be told on
		if err != nil {
			continue // it ends by itself
		}
		all = append(all, one)
	}
	clear(l.objects)
	return unlessChanged(s.store(), all...) // they end by themselves, too
}
