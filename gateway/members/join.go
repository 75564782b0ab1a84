package members

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/keep"
)

// Join makes a gateway a member. It fails with [ErrTaken] or [ErrBehind], or if the store
// or the file cannot be used. [Self.Run] must follow.
func Join(ctx context.Context, store *keep.Sealed, o Options) (*Self, error) {
	s, err := New(store, o, nil)
	if err == nil {
		err = s.join(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// New returns a gateway that has not joined, for a reason such as [keep.ErrUnreachable]. It
// makes no changes ([Self.Refuses]) until [Self.Run] has let it join. It fails if the options
// are wrong.
func New(store *keep.Sealed, o Options, reason error) (*Self, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Self{store: store, options: o, others: map[string]*observation{}, fault: reason}
	s.own.Name = o.Name
	store.SetFormat(keep.Oldest) // until it is known what the others read
	s.fences.free = make(chan *slot, slots)
	return s, nil
}

// join is [Join].
func (s *Self) join(ctx context.Context) error {
	on, err := readDisk(s.store, s.options.File)
	if err != nil {
		return err
	}
	for {
		err := s.observe(ctx) // first: how the others read what is claimed
		if err == nil {
			err = s.claim(ctx, on)
		}
		if err == nil {
			return s.observe(ctx)
		}
		if !errors.Is(err, keep.ErrConflict) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// joinLater joins, if a try is due. Until it succeeds, what is in the way may go away: the
// engine comes back, or the other gateway of the name ends.
func (s *Self) joinLater(ctx context.Context) {
	s.mu.Lock()
	now := s.options.Now()
	due := now.Sub(s.tried) >= Beat
	if due {
		s.tried = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	var err error
	if s.options.Check != nil {
		err = s.options.Check(ctx)
	}
	if err == nil {
		err = s.join(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

// hasJoined reports whether it is a member.
func (s *Self) hasJoined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.joined.IsZero()
}

// known returns what the store has of this name: its latest incarnation, and its last
// heartbeat.
func (s *Self) known(ctx context.Context) (latest incarnation, latestAt keep.Revision, last heartbeat, lastAt keep.Revision, err error) {
	if latest, latestAt, err = read[incarnation](ctx, s.store, incarnations, s.options.Name); err == nil {
		last, lastAt, err = read[heartbeat](ctx, s.store, heartbeats, s.options.Name)
	}
	return latest, latestAt, last, lastAt, err
}

// claim takes the name, and the next incarnation of it.
func (s *Self) claim(ctx context.Context, on disk) error {
	now := s.options.Now()
	latest, latestAt, last, lastAt, err := s.known(ctx)
	if err != nil {
		return err
	}
	if latestAt != keep.Absent {
		if latest.Identity != on.Identity && lastAt != keep.Absent && last.live(now) {
			return taken(s.options.Name, last)
		}
		if latest.Identity != on.Identity || on.Number < latest.Number {
			return fmt.Errorf("%w: it has joined as '%s' for the %d. time, and %s knows of %d: %s", ErrBehind, s.options.Name, latest.Number, s.options.File, on.Number, afterBehind)
		}
	}
	if on.Identity == "" {
		on.Identity = uuid.NewString()
	}
	on.Number = max(on.Number, latest.Number) + 1
	if err := on.write(s.store, s.options.File); err != nil { // first, as the disk may be ahead but not behind
		return err
	}
	own := heartbeat{Member: Member{
		Name: s.options.Name, Incarnation: strconv.FormatUint(on.Number, 10), Version: s.options.Version, Format: s.store.Newest(),
		Started: now, Clock: now, Site: s.options.Site, KeyVersion: s.options.KeyVersion, Settings: s.options.Settings, Connections: s.options.Connections,
	}}
	beat, err := change(s.store, heartbeats, own.Name, lastAt, own, now.Add(remembered))
	if err != nil {
		return err
	}
	latestNow, err := change(s.store, incarnations, s.options.Name, latestAt, incarnation{Number: on.Number, Identity: on.Identity}, time.Time{})
	if err != nil {
		return err
	}
	fences, moved, err := takeFences(ctx, s.store, own.Name, own.Incarnation)
	if err != nil {
		return err
	}
	revision, err := s.store.Apply(ctx, append(moved, beat, latestNow)...)
	if err != nil {
		return err
	}
	s.fences.taken(fences, revision)
	s.mu.Lock()
	defer s.mu.Unlock()
	own.Reach = s.own.Reach
	own.KeyVersion = cmp.Or(s.own.KeyVersion, own.KeyVersion)
	s.number, s.identity, s.own = on.Number, on.Identity, own
	s.revision, s.beaten, s.joined, s.news = revision, now, now, s.news || own.Reach != nil
	return nil
}

const afterBehind = "a disk that was replaced or taken back to a snapshot has lost what the gateway had begun. Run 'adgateway cluster rejoin' on it, which settles that first"

func taken(name string, by heartbeat) error {
	return fmt.Errorf("%w '%s': it has run since %s and told so at %s. Give this one another name (cluster.gateway), or stop the other one and wait %s",
		ErrTaken, name, by.Started.UTC().Format(time.RFC3339), by.Clock.UTC().Format(time.RFC3339), Lapse)
}

// Rejoin lets a gateway join again whose disk was replaced or taken back: it makes the file
// that of the latest incarnation. It fails with [ErrTaken] while a gateway of the name lives.
func Rejoin(ctx context.Context, store *keep.Sealed, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	latest, _, err := read[incarnation](ctx, store, incarnations, o.Name)
	if err != nil {
		return err
	}
	last, at, err := read[heartbeat](ctx, store, heartbeats, o.Name)
	if err != nil {
		return err
	}
	if at != keep.Absent && last.live(o.Now()) {
		return taken(o.Name, last)
	}
	return disk{Number: latest.Number, Identity: latest.Identity}.write(store, o.File)
}

// Leave forgets a gateway that is gone for good, so that nobody waits for it or takes its
// version for one that must be regarded. It fails with [ErrLives] while it does, and with
// [keep.ErrAbsent] if it is not known.
func Leave(ctx context.Context, store *keep.Sealed, name string, now time.Time) error {
	for {
		last, at, err := read[heartbeat](ctx, store, heartbeats, name)
		if err != nil {
			return err
		}
		_, latestAt, err := read[incarnation](ctx, store, incarnations, name)
		if err != nil {
			return err
		}
		if at == keep.Absent && latestAt == keep.Absent {
			return keep.ErrAbsent
		}
		if at != keep.Absent && last.live(now) {
			return fmt.Errorf("%w: '%s' told so at %s. Stop it, and wait %s", ErrLives, name, last.Clock.UTC().Format(time.RFC3339), Lapse)
		}
		gone := []keep.Change{{Kind: heartbeats, Key: name, Expect: at}, {Kind: incarnations, Key: name, Expect: latestAt}}
		for i := range slots {
			key := fenceKey(name, i)
			_, fenceAt, err := read[fence](ctx, store, fenceKind, key)
			if err != nil {
				return err
			}
			gone = append(gone, keep.Change{Kind: fenceKind, Key: key, Expect: fenceAt})
		}
		gone = slices.DeleteFunc(gone, func(c keep.Change) bool { return c.Expect == keep.Absent })
		if _, err = store.Apply(ctx, gone...); !errors.Is(err, keep.ErrConflict) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
