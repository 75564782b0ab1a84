// Package members tells the gateways of a cluster of each other.
//
// Each gateway joins under its name and tells every few seconds that it lives, by a
// heartbeat in the store that they share; a [Self] is one that has joined. Whether another
// one lives is judged by the own clock: by when its heartbeat was last seen to change, and
// never by what the other says about the time. What the others say about the
// time shows whose clock is wrong.
//
// A gateway that joins again, after its end, has a greater incarnation. The number is kept
// in the store and on its own disk. If the disk is behind, it was taken back to an earlier
// state, and the gateway does not join.
//
// The fences of a gateway are values that each of its changes rewrites in the batch that
// allows it. Whoever moves them has stopped every change that was not allowed yet.
package members

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"adgateway/gateway/keep"
)

// The kinds of values in the store, by name of the gateway.
const (
	heartbeats   keep.Kind = "member"
	incarnations keep.Kind = "incarnation"
)

// Beat is how often a gateway tells that it lives, and Lapse how long that holds.
const (
	Beat  = 5 * time.Second
	Lapse = 15 * time.Second
)

// look is how often the heartbeats of the others are read.
const look = time.Second

// remembered is how long a heartbeat is kept, so that what a gateway can read is known
// while it is away.
const remembered = 7 * 24 * time.Hour

// Member is what a gateway tells of itself.
type Member struct {
	Name        string          `json:"name"`
	Incarnation string          `json:"incarnation"` // a decimal number, greater each time it joins
	Version     string          `json:"version"`
	Format      int             `json:"format"` // the newest that it reads
	Started     time.Time       `json:"started"`
	Clock       time.Time       `json:"clock"` // its own
	Site        string          `json:"site,omitempty"`
	Reach       map[string]bool `json:"reach,omitempty"` // by lane: whether it reaches the pinned server
	KeyVersion  int             `json:"keyVersion,omitempty"`
	Settings    string          `json:"settings,omitempty"` // digest of those that must be equal everywhere
	Account     string          `json:"account,omitempty"`  // with which its sessions connect to domain controllers; empty: not known yet
	Connections int             `json:"connections,omitempty"`
}

// heartbeat is a member as it is kept.
type heartbeat struct {
	keep.Formatted
	Member
	Left bool `json:"left,omitempty"` // it has ended in order
}

// incarnation is the latest of a name.
type incarnation struct {
	keep.Formatted
	Number   uint64 `json:"number"`
	Identity string `json:"identity"` // of the disk that the name belongs to
}

// namePattern is what the name of a gateway looks like. It is in clear in the store.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// The errors of [Join] and [Leave].
var (
	// ErrTaken means that another gateway has the name.
	ErrTaken = errors.New("another gateway has the name")
	// ErrLives means that a gateway that is to be forgotten is still there.
	ErrLives = errors.New("the gateway lives")
	// ErrBehind means that the disk of the gateway is not the one that it had when it last
	// joined, or was taken back to an earlier state.
	ErrBehind = errors.New("the disk of the gateway is behind the cluster")
)

// Options configure a member. Name and File are required.
type Options struct {
	Name       string // 1 to 63 of a-z, 0-9 and hyphens
	File       string // where the incarnation is kept, on a disk of this gateway
	Version    string
	Site       string
	Settings   string // digest of the settings that must be equal everywhere
	KeyVersion int
	// Connections is how many this gateway may have to a domain controller at once.
	Connections int
	ClockWarn   time.Duration // difference of clocks to warn of; zero: 2 s

	// Check is asked before each try to join later ([New]), and returns why it must not; nil:
	// nothing is in the way.
	Check func(context.Context) error
	Now   func() time.Time // nil: time.Now
}

// Self is a gateway that has joined, or will ([New]). It is safe for concurrent use. The
// methods of nil are those of a gateway that is alone.
type Self struct {
	store   *keep.Sealed
	options Options
	fences  fences

	mu       sync.Mutex // guards the fields below
	number   uint64
	identity string
	own      heartbeat
	revision keep.Revision // of the own heartbeat
	beaten   time.Time     // when it was last acknowledged
	looked   time.Time     // when the others were last read
	joined   time.Time     // zero: not yet
	tried    time.Time     // when it last tried to join later
	others   map[string]*observation
	replaced bool
	news     bool  // the next heartbeat is due at once
	fault    error // of the last heartbeat or look, or try to join; nil: it was made
}

// observation is what was seen of another member.
type observation struct {
	heartbeat
	revision keep.Revision
	changed  time.Time     // when the heartbeat was last seen to change
	skew     time.Duration // of its clock: positive if it is ahead
	compared bool          // skew is known
}

func (o *Options) complete() error {
	if !namePattern.MatchString(o.Name) {
		return fmt.Errorf("cluster.gateway: %q is no name of a gateway: give it 1 to 63 lower-case letters, digits and hyphens, such as gw1", o.Name)
	}
	if o.File == "" {
		return errors.New("members: the file of the incarnation is missing")
	}
	o.ClockWarn = cmp.Or(o.ClockWarn, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// live reports whether a heartbeat is fresh, as far as clocks agree. It is used only where
// nothing was observed yet.
func (h *heartbeat) live(now time.Time) bool { return !h.Left && now.Sub(h.Clock) < Lapse }

// Read returns the members that the store remembers, sorted by name, and which of them have
// left. It is for those that are no members.
func Read(ctx context.Context, store *keep.Sealed) (all []Member, left map[string]bool, err error) {
	left = map[string]bool{}
	var wrong error
	err = store.Range(ctx, heartbeats, "", func(e keep.Entry) bool {
		var h heartbeat
		if wrong = keep.Decode(store, e.Value, &h); wrong != nil {
			return false
		}
		all, left[h.Name] = append(all, h.Member), h.Left
		return true
	})
	return all, left, errors.Join(err, wrong)
}

// Run joins if that was not possible before, tells that the gateway lives, and reads the others' heartbeats until ctx ends; then
// it leaves.
func (s *Self) Run(ctx context.Context) {
	if s == nil {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), Beat)
			defer cancel()
			s.leave(leaving)
			return
		case <-ticker.C:
			within, cancel := context.WithTimeout(ctx, Beat)
			s.Tick(within)
			cancel()
		}
	}
}

// Tick does what is due: the own heartbeat, and reading the others'. Run calls it each
// second.
func (s *Self) Tick(ctx context.Context) {
	if !s.hasJoined() {
		s.joinLater(ctx)
		return
	}
	s.mu.Lock()
	now := s.options.Now()
	due := (s.news || now.Sub(s.beaten) >= Beat) && !s.replaced
	s.news = false
	s.mu.Unlock()
	var err error
	if due {
		err = s.tell(ctx, false)
	}
	err = errors.Join(err, s.observe(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

// beat returns the change that sets the own heartbeat.
func (s *Self) beat(expect keep.Revision, now time.Time) (keep.Change, error) {
	s.own.Clock = now
	return change(s.store, heartbeats, s.own.Name, expect, s.own, now.Add(remembered))
}

// tell writes the own heartbeat. If that is not the last one that this gateway wrote,
// another one has the name now, or the answer to it was lost.
func (s *Self) tell(ctx context.Context, left bool) error {
	for {
		s.mu.Lock()
		now := s.options.Now()
		s.own.Left = left
		beat, err := s.beat(s.revision, now)
		s.mu.Unlock()
		if err != nil {
			return err
		}
		revision, err := s.store.Apply(ctx, beat)
		if err == nil {
			s.mu.Lock()
			s.revision, s.beaten = revision, now
			s.mu.Unlock()
			return nil
		}
		if !errors.Is(err, keep.ErrConflict) || ctx.Err() != nil {
			return err
		}
		latest, _, _, at, err := s.known(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.replaced = latest.Number != s.number || latest.Identity != s.identity
		s.revision = at
		replaced := s.replaced
		s.mu.Unlock()
		if replaced {
			return nil
		}
	}
}

// leave tells that the gateway has ended.
func (s *Self) leave(ctx context.Context) {
	s.mu.Lock()
	member := !s.joined.IsZero() && !s.replaced
	s.mu.Unlock()
	if !member {
		return
	}
	err := s.tell(ctx, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err // nobody asks any more; the heartbeat lapses
}

// observe reads the heartbeats of the others.
func (s *Self) observe(ctx context.Context) error {
	found := map[string]observation{}
	var wrong error
	err := s.store.Range(ctx, heartbeats, "", func(e keep.Entry) bool {
		var h heartbeat
		if err := keep.Decode(s.store, e.Value, &h); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("member '%s': %w", e.Key, err))
			return true
		}
		found[e.Key] = observation{heartbeat: h, revision: e.Revision}
		return true
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	delete(found, s.own.Name)
	s.agree(found)
	for name, seen := range found {
		before, known := s.others[name]
		switch {
		case !known:
			seen.changed = now
			if ahead := seen.Clock.Sub(now); ahead > 0 { // it may be old, but not from the future
				seen.skew, seen.compared = ahead, true
			}
		case before.revision == seen.revision:
			continue
		default:
			seen.changed = now
			// It was written after the last look, and before now.
			seen.skew, seen.compared = between(seen.Clock.Sub(now), seen.Clock.Sub(s.looked)), true
		}
		s.others[name] = &seen
	}
	for name := range s.others {
		if _, there := found[name]; !there {
			delete(s.others, name)
		}
	}
	s.looked = now
	return wrong
}

// between returns the number between two that is nearest to zero.
func between(low, high time.Duration) time.Duration {
	switch {
	case low > 0:
		return low
	case high < 0:
		return high
	}
	return 0
}

// Name returns the name; empty for nil.
func (s *Self) Name() string {
	if s == nil {
		return ""
	}
	return s.options.Name
}

// Incarnation returns the incarnation, a decimal number; empty for nil, and 0 for one that
// has not joined.
func (s *Self) Incarnation() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.FormatUint(s.number, 10)
}

// Live returns the members whose heartbeat was seen to change within [Lapse], and this one,
// sorted by name. For nil it is one without a name.
func (s *Self) Live() []Member {
	if s == nil {
		return []Member{{}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.own.Member
	own.Clock = s.options.Now()
	live := []Member{own}
	for _, other := range s.others {
		if !other.lapsed(s.options.Now(), 0) {
			live = append(live, other.Member)
		}
	}
	slices.SortFunc(live, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return live
}

// lapsed reports whether a member has not been seen alive for [Lapse] and a delay more, or
// has left for the delay.
func (o *observation) lapsed(now time.Time, delay time.Duration) bool {
	if o.Left {
		return now.Sub(o.changed) >= delay
	}
	return now.Sub(o.changed) >= Lapse+delay
}

// Gone reports whether an incarnation of a gateway has ended: its heartbeat has lapsed for
// at least a delay, or a later incarnation has replaced it. One of which nothing is known
// is gone once this gateway has watched for as long. For nil every member is gone.
func (s *Self) Gone(name, incarnation string, delay time.Duration) bool {
	if s == nil {
		return name != ""
	}
	number, err := strconv.ParseUint(incarnation, 10, 64)
	if err != nil {
		number = 0 // of a gateway that was alone: it came before all
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == s.options.Name {
		return number < s.number
	}
	if s.joined.IsZero() {
		return false // it has not watched anybody
	}
	now := s.options.Now()
	other, known := s.others[name]
	if !known {
		return now.Sub(s.joined) >= Lapse+delay
	}
	latest, err := strconv.ParseUint(other.Incarnation, 10, 64)
	return err == nil && latest > number || other.lapsed(now, delay)
}

// Replaced reports whether an incarnation of another gateway has ended and was started again.
// It is false for nil.
func (s *Self) Replaced(name, incarnation string) bool {
	number, err := strconv.ParseUint(incarnation, 10, 64)
	if s == nil || err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	other, known := s.others[name]
	if !known {
		return false
	}
	latest, err := strconv.ParseUint(other.Incarnation, 10, 64)
	return err == nil && latest > number
}

// Report changes what the next heartbeats say. Name, incarnation and times stay. What a
// gateway reaches is told at once.
func (s *Self) Report(set func(*Member)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.own.Member
	set(&s.own.Member)
	s.news = s.news || !maps.Equal(was.Reach, s.own.Reach) || was.Account != s.own.Account
	s.own.Name, s.own.Incarnation, s.own.Started, s.own.Clock = was.Name, was.Incarnation, was.Started, was.Clock
}

// read returns a value and its revision, or the zero value if it is absent.
func read[T any, P keep.Value[T]](ctx context.Context, store *keep.Sealed, kind keep.Kind, key string) (value T, revision keep.Revision, err error) {
	e, err := store.Get(ctx, kind, key)
	if errors.Is(err, keep.ErrAbsent) {
		return value, keep.Absent, nil
	}
	if err == nil {
		err = keep.Decode(store, e.Value, P(&value))
	}
	return value, e.Revision, err
}

// change returns the change that sets a value.
func change[T any, P keep.Value[T]](store *keep.Sealed, kind keep.Kind, key string, expect keep.Revision, value T, expires time.Time) (keep.Change, error) {
	text, err := keep.Encode[T, P](store, value)
	return keep.Change{Kind: kind, Key: key, Expect: expect, Value: text, Expires: expires}, err
}

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []keep.Kind{heartbeats, incarnations, fenceKind}
