// Package replica connects the parts of one gateway in a cluster: its file, which is a copy of the store; the
// log, which all copies apply; and its membership, which decides which gateway writes the log. While the
// gateway leads, the file decides changes, and applies each batch after the log has stored it. Otherwise the
// file applies the leader's batches, and refuses changes with [store.ErrFollows].
package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/cluster"
	"adgateway/gateway/every"
	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// Options configure a replica. All except Copy and SetFormat are required.
type Options struct {
	File    *store.File
	Stream  journal.Stream
	Journal journal.Options
	// options of the member, without Store, Clock, Touch and Repair, which the replica sets
	Member cluster.Options
	Clock  cluster.Clock // clock by which the values in the file expire

	// SetFormat sets the format in which values are written, which is the newest that all gateways read. It is
	// called by New, before this gateway leads, and after every change of the format. It is usually
	// [store.Sealed.SetFormat].
	SetFormat func(format int)

	// Copy replaces this gateway's file, whose position the log no longer contains, with another gateway's file,
	// and returns the new file open. check returns an error if a file at a position would not help. If Copy
	// fails, it returns the file that is then open, or nil if that is the old one. If Copy is nil, the file is
	// not replaced.
	Copy func(ctx context.Context, old *store.File, check func(context.Context, store.Point) error) (*store.File,
		error)
}

// Replica is one gateway's part of a cluster. It is safe for concurrent use.
type Replica struct {
	o      Options
	member *cluster.Member

	mu     sync.Mutex // guards the fields below
	file   *store.File
	log    *journal.Log
	leads  uint64        // term in which the file decides changes; 0 if it does not
	turned chan struct{} // closed when leads changes
	format int           // last argument of SetFormat; 0 if none
}

// New returns a replica that takes part in its cluster while [Replica.Run] runs. Before that its file only
// follows.
func New(o Options) *Replica {
	r := &Replica{o: o, file: o.File, turned: make(chan struct{})}
	if r.o.SetFormat == nil {
		r.o.SetFormat = func(int) {}
	}
	r.file.Follow()
	o.Member.Store, o.Member.Clock = applier{r}, o.Clock
	o.Member.Repair = r.repair
	o.Member.Touch = r.touch
	r.member = cluster.New(o.Member)
	r.log = r.open()
	r.agree()
	return r
}

// open returns the log from the position that the file has applied.
func (r *Replica) open() *journal.Log {
	return journal.New(r.o.Stream, r.member.Applier(), r.o.Journal)
}

// Member returns the gateway's membership in the cluster.
func (r *Replica) Member() *cluster.Member { return r.member }

// File returns the copy of the store. It changes when the copy is replaced.
func (r *Replica) File() *store.File {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file
}

// Log returns the status of the log.
func (r *Replica) Log() journal.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Status()
}

// Run takes part in the cluster until ctx ends, given the open changes in the store. It may only be
// called once.
func (r *Replica) Run(ctx context.Context, attempts cluster.Attempts) {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	watching.Go(func() { r.watch(ctx) })
	watching.Go(func() { every.Do(ctx, formatEvery, r.agree) })
	r.mu.Lock()
	log := r.log
	r.mu.Unlock()
	r.member.Run(ctx, log, takenOver{attempts, r})
	r.File().Follow()
}

// formatEvery is the interval at which the common format of all gateways is checked.
const formatEvery = time.Second

// agree calls SetFormat when the common format of all gateways has changed.
func (r *Replica) agree() {
	format := r.member.Format()
	r.mu.Lock()
	defer r.mu.Unlock()
	if format != r.format {
		r.format = format
		r.o.SetFormat(format)
	}
}

// takenOver are the open changes in a store whose gateway has become the leader. They are read once
// the file decides changes. The member accepts changes after that.
type takenOver struct {
	cluster.Attempts
	r *Replica
}

func (t takenOver) Open(ctx context.Context) ([]cluster.Attempt, error) {
	if err := t.r.awaitLead(ctx); err != nil {
		return nil, err
	}
	t.r.agree()
	return t.Attempts.Open(ctx)
}

// awaitLead returns once the file decides changes in the term of the member, or when ctx ends.
func (r *Replica) awaitLead(ctx context.Context) error {
	for {
		r.mu.Lock()
		leads, turned := r.leads, r.turned
		r.mu.Unlock()
		if own, _ := r.member.Leads(); own != 0 && own == leads {
			return nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// turn sets the term in which the file decides changes.
func (r *Replica) turn(term uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leads = term
	close(r.turned)
	r.turned = make(chan struct{})
}

// watch switches the role of the file according to the role of the member, until ctx ends.
func (r *Replica) watch(ctx context.Context) {
	var term uint64          // in which the file decides changes; 0 if it does not
	var over <-chan struct{} // closed when the file stops deciding; nil if it does not decide
	for {
		changed := r.member.Changed()
		led, _ := r.member.Leads()
		if term != 0 && led != term {
			r.File().Follow()
			term, over = 0, nil
			r.turn(0)
		}
		if led != 0 && term == 0 {
			term, over = led, r.File().Lead(appender{r.member}).Done()
			r.turn(term)
		}
		select {
		case <-changed:
		case <-over: // a batch is in doubt, or the file cannot be written
			r.member.GiveUp(term)
			term, over = 0, nil
			r.turn(0)
		case <-ctx.Done():
			return
		}
	}
}

// touch appends an empty entry through the file, so that a leader whose file has stopped writing does not
// seem to be alive. It does nothing before the file decides changes.
func (r *Replica) touch(ctx context.Context) error {
	if file := r.File(); file.Leads() {
		return file.Touch(ctx)
	}
	return nil
}

// appender stores the file's batches in the log.
type appender struct{ member *cluster.Member }

func (a appender) Append(ctx context.Context, batch []byte, at time.Time) (store.Point, error) {
	point, err := a.member.Append(ctx, batch, at)
	if errors.Is(err, journal.ErrDeposed) || errors.Is(err, cluster.ErrNotLeader) {
		err = fmt.Errorf("%w: %w", store.ErrNotSent, err) // it is not stored, and never will be
	}
	return point, err
}

// writerEnds is how long an entry waits for a file that has stopped leading to give up its last
// batch. After that the entry is read again.
const writerEnds = 100 * time.Millisecond

// applier applies the entries of the log to the file.
type applier struct{ r *Replica }

func (a applier) Point() (store.Point, error) { return a.r.File().Point() }

// Apply skips entries that change nothing; their position is stored with the next batch. It also skips an
// entry that the file itself is waiting for, because the file applies that entry.
func (a applier) Apply(ctx context.Context, e *journal.Entry, at store.Point) error {
	file := a.r.File()
	switch {
	case len(e.Batch) == 0:
		return nil
	case e.Process == a.r.o.Member.Self && file.Leads():
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, writerEnds)
	defer cancel()
	if err := file.FollowWithin(limited); err != nil {
		return fmt.Errorf("the file still writes: %w", err) // it may be waiting for this entry
	}
	err := file.ApplyBatch(ctx, e.Batch, at, e.Time)
	if errors.Is(err, store.ErrDiverged) {
		err = fmt.Errorf("%w: %w", journal.ErrBehind, err) // the file cannot apply a batch of the log
	}
	return err
}

// repair reads the log again from the position that the file has applied. If the log no longer has
// that position, or has a different entry there, another gateway's file replaces this one.
func (r *Replica) repair(ctx context.Context, cause error) (cluster.Log, error) {
	r.File().Follow()
	log := r.open()
	if !errors.Is(cause, store.ErrDiverged) {
		if r.o.Copy == nil {
			return nil, cause
		}
		file, err := r.o.Copy(ctx, r.File(), log.Reaches)
		if file != nil {
			file.Follow()
			r.mu.Lock()
			r.file = file
			r.mu.Unlock()
		}
		if err != nil {
			return nil, err
		}
		log = r.open()
	}
	r.mu.Lock()
	r.log = log
	r.mu.Unlock()
	return log, nil
}
