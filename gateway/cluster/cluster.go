// Package cluster decides which gateway of a cluster leads: makes the changes, and writes the log
// that every gateway applies to its own store.
//
// The log alone decides which gateway leads. A gateway that has heard nothing of a leader for some
// seconds reads the log to its end and appends an entry that begins a term. The log then refuses
// the entries of earlier terms. Messages between the gateways make that quick, and are never needed
// for it to be right. All waits are measured by the monotonic clock of the process. A wall clock
// can only forbid something.
//
// A new leader first locks what the open changes of earlier leaders may still write to. It accepts
// all other changes at once, and judges the open ones when their runs have ended or cannot go on
// any longer.
//
//	cluster.go   a member, and what it does all its life: follow, claim, lead
//	claim.go     how it becomes the leader, and stops being it
//	message.go   what gateways tell each other
//	gateways.go  what a member knows of the other gateways
//	tick.go      what is looked at ten times a second: beats, silence, what hangs
//	lead.go      entries of the leader, and the proof that it still leads
//	run.go       whether the script of a change may begin to write
//	takeover.go  the open changes of earlier leaders
//	handover.go  a leader names its successor
//	agree.go     wall clocks, and the format that all gateways read
//	status.go    what others see of a member
package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// The times of a cluster. proofLasts must be less than silence, so two gateways never show their
// state as leaders at the same time. goAfterSending keeps a change from being judged while its
// script may write.
const (
	ticking     = 100 * time.Millisecond // how often a member looks whether something is due
	beatEvery   = 500 * time.Millisecond
	silence     = 3 * time.Second        // a leader that was not heard for this long is given up
	silenceRank = 500 * time.Millisecond // added for each gateway with a better rank

	proofEvery = time.Second     // how often an idle leader appends an entry
	proofLasts = 2 * time.Second // how long a proof lasts after the last acknowledged entry was sent

	goAfterStoring = 2 * time.Second // a script must begin to write within this time after its attempt is stored
	goAfterSending = 5 * time.Second // the same, after the attempt was first sent
	killTakes      = 5 * time.Second // how long a run may take to end after its time limit
	settles        = 30 * time.Second

	retries = time.Second // pause before a failed operation is tried again
)

// The errors of this package.
var (
	// ErrNotLeader means that this gateway does not lead, or does not accept changes yet, or no
	// longer does. Nothing was begun.
	ErrNotLeader = errors.New("this gateway does not lead")

	// ErrLate means that too much time has passed since a change was stored. Its script must not
	// begin to write, because another gateway may lead by now.
	ErrLate = errors.New("too much time has passed since the change was stored")

	// ErrNoSuccessor means that no other gateway can lead.
	ErrNoSuccessor = errors.New("no other gateway can lead now")
)

// Log is the part of [journal.Log] that a member uses. The applier of the log is [Member.Applier].
type Log interface {
	CatchUp(ctx context.Context) error
	Follow(ctx context.Context) error
	Claim(ctx context.Context, p journal.Process, at time.Time) (term uint64, err error)
	Append(ctx context.Context, batch []byte, at time.Time) (store.Point, error)
}

// Clock is log time, by which values expire that outlive a process. It is a [store.Clock] that
// follows the wall clock while [Member.Agree] says that it may.
type Clock interface {
	Now() time.Time
	Raise(to time.Time)
}

// Options configure a member. Fields without a remark are required.
type Options struct {
	Self     journal.Process
	Gateways []string // the names of all gateways of the cluster; see [Member.SetGateways]
	Hop      string   // address at which the other gateways reach this one
	Reads    int      // the newest format of the store that this gateway reads

	Store   journal.Applier
	Clock   Clock
	Peers   Peers
	Formats Formats

	// SettleDelay is how long a controller may go on with what a process has sent it, after
	// that has ended. 0 is 30 s.
	SettleDelay time.Duration

	// Touch appends an entry without a batch in the way that all batches go. So a store that has
	// stopped writing is noticed. nil is [Member.Append].
	Touch func(ctx context.Context) error

	// Repair is called after [journal.ErrBehind] or [journal.ErrRewound]. It replaces the store by
	// one that can follow the log, for instance by a copy from another gateway, and returns the log
	// that continues from there. Nil repairs nothing.
	Repair func(ctx context.Context, cause error) (Log, error)

	// Lanes returns the names of the lanes whose controllers this gateway reaches now; nil
	// is none. It returns at once.
	Lanes func() []string

	// KeyVersion returns the newest version of the store's key that this gateway has; nil
	// is 0. It returns at once.
	KeyVersion func() uint32

	// Note receives messages for administrators; nil discards them.
	Note func(message string, err error)

	// Now is the monotonic clock and Wall the wall clock; nil is [time.Now].
	Now, Wall func() time.Time
}

// Member is one process of a gateway in its cluster. It is safe for concurrent use.
type Member struct {
	o     Options
	ended sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	changed   chan struct{}
	phase     phase
	interrupt context.CancelFunc // ends the phase
	started   time.Time
	log       Log
	attempts  Attempts // not changed once it is set

	names     []string // names of the gateways
	gateways  map[string]*gateway
	strangers []string
	number    uint64    // number of the last message sent
	beaten    time.Time // when the last beat was sent
	clockSet  bool      // log time need not be compared with the wall clocks

	term      uint64          // the highest term seen
	leader    journal.Process // the leader of the term; zero: not known, or it has resigned
	heard     time.Time       // when something was heard of the leader
	notBefore time.Time       // time before which this gateway does not claim
	successor uint64          // the term whose leader has named this gateway; 0: none
	resigned  uint64          // the term that this process has given up; 0: none
	next      string          // the successor that it has named
	writes    int             // the newest format that a leader writes
	point     store.Point     // the last entry that was applied or appended
	fault     error           // why the log cannot be used

	own      uint64    // the term in which this process leads; 0: it does not
	acked    time.Time // when the term of this process was acknowledged
	sent     time.Time // when its last acknowledged entry was sent; zero: there is none
	touched  time.Time // when its last entry was begun
	accepts  bool      // the open attempts are locked, so changes are accepted
	draining bool      // no more changes begin
	runs     map[*Run]bool
	cases    map[string]*openCase
	reports  map[string]Report // reports of this process that no leader has acknowledged
}

// phase is what a member does.
type phase int

const (
	following phase = iota
	claiming
	leading
)

// New returns a member. It takes part when [Member.Run] is called.
func New(o Options) *Member {
	if o.SettleDelay == 0 {
		o.SettleDelay = settles
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wall == nil {
		o.Wall = time.Now
	}
	if o.Lanes == nil {
		o.Lanes = func() []string { return nil }
	}
	if o.KeyVersion == nil {
		o.KeyVersion = func() uint32 { return 0 }
	}
	if o.Note == nil {
		o.Note = func(string, error) {}
	}
	m := &Member{
		o: o, changed: make(chan struct{}), interrupt: func() {},
		names: slices.Sorted(slices.Values(o.Gateways)), gateways: map[string]*gateway{},
		runs: map[*Run]bool{}, cases: map[string]*openCase{}, reports: map[string]Report{},
	}
	if o.Touch == nil {
		m.o.Touch = func(ctx context.Context) error {
			_, err := m.Append(ctx, nil, m.o.Clock.Now())
			return err
		}
	}
	return m
}

// Run takes part in the cluster until ctx ends, with a log whose applier is [Member.Applier], and
// with the open changes of the store. It must be called only once.
func (m *Member) Run(ctx context.Context, log Log, attempts Attempts) {
	ctx, end := context.WithCancel(ctx)
	defer m.ended.Wait()
	defer end()
	point, err := m.o.Store.Point() // a fault of the store is reported when the member follows the log
	m.mu.Lock()
	m.log, m.attempts = log, attempts
	m.started = m.o.Now()
	m.heard = m.started
	if err == nil {
		m.point = point
	}
	m.mu.Unlock()
	m.ended.Go(func() { m.receive(ctx) })
	m.ended.Go(func() { m.tickUntil(ctx) })
	for ctx.Err() == nil {
		m.wait(ctx)
		if m.claim(ctx) {
			m.lead(ctx)
		}
	}
	m.mu.Lock()
	m.stepDown()
	m.mu.Unlock()
}

// enter begins a phase. The context that it returns ends when the phase should.
func (m *Member) enter(ctx context.Context, p phase) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.interrupt = p, cancel
	m.notify()
	return ctx, cancel
}

// follow applies the entries of the log until ctx ends. If the store cannot follow and repair is
// not nil, it replaces the store.
func (m *Member) follow(ctx context.Context, repair func(ctx context.Context, cause error) (Log, error)) {
	for ctx.Err() == nil {
		err := m.journal().Follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if repair != nil && (errors.Is(err, journal.ErrBehind) || errors.Is(err, journal.ErrRewound)) {
			log, failure := repair(ctx, err)
			if failure == nil {
				m.mu.Lock()
				m.log = log
				m.mu.Unlock()
			}
			err = errors.Join(err, failure)
		}
		m.failed("the log cannot be followed", err)
		pause(ctx, retries)
	}
}

// journal returns the log.
func (m *Member) journal() Log {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log
}

// failed stores the reason why the log cannot be used, and notes it unless the log was unusable
// before.
func (m *Member) failed(message string, err error) {
	m.mu.Lock()
	again := m.fault != nil
	m.fault = err
	m.notify()
	m.mu.Unlock()
	if !again {
		m.o.Note(message, err)
	}
}

// Applier returns the applier of the log. It applies entries to the store, and tells the member who
// leads.
func (m *Member) Applier() journal.Applier { return observer{m} }

type observer struct{ m *Member }

func (o observer) Point() (store.Point, error) { return o.m.o.Store.Point() }

func (o observer) Apply(ctx context.Context, e *journal.Entry, at store.Point) error {
	m := o.m
	m.mu.Lock()
	m.see(e.Term) // before the store has to follow it
	m.mu.Unlock()
	if err := m.o.Store.Apply(ctx, e, at); err != nil {
		return err
	}
	m.o.Clock.Raise(e.Time)
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.point, m.fault = at, nil
	if e.Term == m.term && e.Process != m.o.Self && e.Term != m.givenUp(e.Process) {
		m.learn(now, func() { m.leader, m.heard = e.Process, now })
	}
	return nil
}

// notify wakes all waiters for a change of the member. The mutex is held.
func (m *Member) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Changed returns a channel that is closed when the status has changed.
func (m *Member) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// await waits until condition returns true. It is called with the mutex held.
func (m *Member) await(ctx context.Context, condition func() bool) error {
	for {
		m.mu.Lock()
		met, changed := condition(), m.changed
		m.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
