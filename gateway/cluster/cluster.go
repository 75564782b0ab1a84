// Package cluster decides which gateway of a cluster leads. The leader makes the changes and writes
// the log, which every gateway applies to its own store.
//
// The log alone decides which gateway leads. A gateway that has not heard from a leader for some seconds
// reads the log to its end and appends an entry that begins a term. Afterwards the log refuses entries of
// earlier terms. Messages between the gateways speed this up, but correctness never depends on them. All
// waits are measured by the monotonic clock of the process. A wall clock can only keep something from
// happening, never cause it.
//
// A new leader first locks everything that the open changes of earlier leaders may still write to. It accepts
// all other changes at once, and judges the open ones when their runs have ended or can no longer continue.
//
//	cluster.go   a member, and its phases: follow, claim, lead
//	claim.go     how a member becomes the leader, and stops being it
//	message.go   messages between gateways
//	gateways.go  a member's knowledge of the other gateways
//	tick.go      checks made ten times a second: beats, silence, hanging runs
//	lead.go      entries of the leader, and the proof that it still leads
//	run.go       whether the script of a change may begin to write
//	takeover.go  the open changes of earlier leaders
//	handover.go  a leader names its successor
//	agree.go     wall clocks, and the format that all gateways read
//	status.go    the published state of a member
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

// The times of a cluster. proofLasts must be less than silence, so two gateways never answer as leaders at
// the same time. goAfterSending ensures that a change is not judged while its script may still write.
const (
	ticking     = 100 * time.Millisecond // interval at which a member checks whether something is due
	beatEvery   = 500 * time.Millisecond
	silence     = 3 * time.Second        // silence after which a leader counts as lost
	silenceRank = 500 * time.Millisecond // added for each gateway with a better rank

	proofEvery = time.Second     // interval at which an idle leader appends an entry
	proofLasts = 2 * time.Second // validity of a proof, from the sending of the last acknowledged entry

	goAfterStoring = 2 * time.Second // time limit for a script to begin to write, after its attempt is stored
	goAfterSending = 5 * time.Second // the same, after its attempt was first sent
	killTakes      = 5 * time.Second // how long a run may take to end after its time limit
	settles        = 30 * time.Second

	retries = time.Second // pause before a failed operation is retried
)

// The errors of this package.
var (
	// ErrNotLeader means that this gateway does not lead, does not accept changes yet, or no longer
	// accepts them. Nothing was begun.
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

// Clock is log time, by which stored values that outlive a process expire. It is a [store.Clock] that follows
// the wall clock while [Member.Agree] allows it.
type Clock interface {
	Now() time.Time
	Raise(to time.Time)
}

// Options configure a member. Fields are required unless their comment says otherwise.
type Options struct {
	Self     journal.Process
	Gateways []string // names of all gateways of the cluster; see [Member.SetGateways]
	Hop      string   // address at which the other gateways reach this one
	Reads    int      // newest store format that this gateway reads

	Store   journal.Applier
	Clock   Clock
	Peers   Peers
	Formats Formats

	// SettleDelay is how long a domain controller may continue to process a request after the
	// requesting process has ended. Zero means 30 s.
	SettleDelay time.Duration

	// Touch appends an entry without a batch on the same path as batches, so that a store that has
	// stopped writing is noticed. Nil means [Member.Append].
	Touch func(ctx context.Context) error

	// Repair is called after [journal.ErrBehind] or [journal.ErrRewound]. It replaces the store with one that
	// can follow the log, such as a copy from another gateway, and returns the log that continues from the
	// position of that store. If nil, nothing is repaired.
	Repair func(ctx context.Context, cause error) (Log, error)

	// Lanes returns the names of the lanes whose servers this gateway can reach now. It must not
	// block. Nil means none.
	Lanes func() []string

	// KeyVersion returns the newest version of the store's key that this gateway has. It must not
	// block. Nil means 0.
	KeyVersion func() uint32

	// Note receives messages for administrators. If nil, they are discarded.
	Note func(message string, err error)

	// Now is the monotonic clock and Wall the wall clock. Nil means [time.Now].
	Now, Wall func() time.Time
}

// Member is one process of a gateway in its cluster. It is safe for concurrent use.
type Member struct {
	o     Options
	ended sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	changed   chan struct{}
	phase     phase
	interrupt context.CancelFunc // ends the current phase
	started   time.Time
	log       Log
	attempts  Attempts // not changed once set

	names     []string // names of the gateways
	gateways  map[string]*gateway
	strangers []string
	number    uint64    // number of the last sent message
	beaten    time.Time // when the last beat was sent
	clockSet  bool      // whether log time no longer has to be compared with the wall clocks

	term      uint64          // highest term seen
	leader    journal.Process // leader of the term; zero if it is unknown or has resigned
	heard     time.Time       // when anything was last heard from the leader
	notBefore time.Time       // this gateway does not claim before this time
	successor uint64          // term whose leader has named this gateway as successor; 0 if none
	resigned  uint64          // term that this process has given up; 0 if none
	next      string          // successor that this process has named
	writes    int             // newest format that a leader writes
	point     store.Point     // last entry that was applied or appended
	fault     error           // reason why the log cannot be used; nil if it can

	own      uint64    // term in which this process leads; 0 if it does not
	acked    time.Time // when the term of this process was acknowledged
	sent     time.Time // when the last acknowledged entry was sent; zero if there is none
	touched  time.Time // when the append of its last entry began
	accepts  bool      // the open attempts are locked, so changes are accepted
	draining bool      // no new changes may begin
	runs     map[*Run]bool
	cases    map[string]*openCase
	reports  map[string]Report // reports of this process that no leader has acknowledged
}

// phase is the current activity of a member.
type phase int

const (
	following phase = iota
	claiming
	leading
)

// New returns a member. It takes part in the cluster when [Member.Run] is called.
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

// Run takes part in the cluster until ctx ends. The applier of the log must be [Member.Applier].
// attempts are the open changes of the store. Run must be called only once.
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

// enter begins a phase. The returned context ends when the phase should end.
func (m *Member) enter(ctx context.Context, p phase) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.interrupt = p, cancel
	m.notify()
	return ctx, cancel
}

// follow applies the entries of the log until ctx ends. If the store cannot follow the log and
// repair is not nil, follow replaces the store.
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

// failed stores the reason why the log cannot be used. It logs the reason unless the log was already
// unusable.
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

// Applier returns the applier of the log. It applies entries to the store, and informs the member
// of new terms.
func (m *Member) Applier() journal.Applier { return observer{m} }

type observer struct{ m *Member }

func (o observer) Point() (store.Point, error) { return o.m.o.Store.Point() }

func (o observer) Apply(ctx context.Context, e *journal.Entry, at store.Point) error {
	m := o.m
	m.mu.Lock()
	m.see(e.Term) // before the store applies the entry
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

// notify wakes all waiters for a change of the member. The caller holds the mutex.
func (m *Member) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Changed returns a channel that is closed when the status changes.
func (m *Member) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// await waits until condition returns true. The caller holds the mutex.
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
