package write

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/every"
	"adgateway/gateway/journal"
	"adgateway/gateway/ops"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Options configure a [Writer]. Those whose comment says nothing else are required.
type Options struct {
	Runner     ps.Runner
	Operations []*ops.Operation
	Settler    func() *settle.Settler // under the settings of now
	Log        *logrus.Logger

	Store   *store.Sealed    // nil: nothing is kept
	History *changes.History // in Store; nil: there is none
	Audit   *audit.Log       // nil: nothing is audited
	Kinds   []Kind           // of what is stored with the beginning of a change

	// Spent returns what a change of an operation that was settled has spent of what it has reserved,
	// by impact; nil: that is not known. Spent itself is nil if nothing is counted.
	Spent func(c *changes.Record, op *ops.Operation, outcome ps.Outcome, result *ps.Result) map[string]int
	// Unrecorded counts a change that the history does not have, or not as it ended. It may be nil.
	Unrecorded func()

	// Member is this gateway in a cluster; nil: it is alone. The fields below are for a Member only.
	Member *cluster.Member
	Relay  *store.Sealed // takes what every gateway may write, whether or not it leads
	// Load reads the values that the gateway keeps in memory again, when it begins to lead.
	Load     func(ctx context.Context) error
	Stopping context.Context // done when the gateway stops
}

// operation returns an operation by its id; nil: there is none.
func (o *Options) operation(id string) *ops.Operation { return ops.Find(o.Operations, id) }

// process returns the process that runs the scripts of this gateway; zero for one that is alone.
func (o *Options) process() journal.Process {
	if o.Member == nil {
		return journal.Process{}
	}
	return o.Member.Self()
}

// gateway returns the name of the gateway in its cluster; empty: it is alone.
func (o *Options) gateway() string { return o.process().Gateway }

// ending returns the store that takes how a change has ended.
func (o *Options) ending() *store.Sealed {
	if o.Member != nil {
		return o.Relay
	}
	return o.Store
}

// unrecorded counts a change that the history does not have, or not as it ended.
func (o *Options) unrecorded() {
	if o.Unrecorded != nil {
		o.Unrecorded()
	}
}

// Writer begins, ends and recovers changes. It is safe for concurrent use.
type Writer struct {
	Options
	locks    *locks
	doubts   doubts
	late     lateEnds
	evidence evidence
}

// New returns a writer. It locks the objects of the changes that an earlier process of a gateway
// alone has left open, until [Writer.SettleHistory] has settled them.
func New(o Options) (*Writer, error) {
	w := &Writer{Options: o, locks: newLocks(), doubts: doubts{all: map[string]*doubt{}}}
	w.evidence = evidence{o: &w.Options, startedAt: time.Now(), before: map[string]bool{}}
	if err := w.lockLeft(context.Background()); err != nil {
		return nil, fmt.Errorf("changes that were cut off: %w", err)
	}
	return w, nil
}

// Prepare returns a change that has not begun.
func (w *Writer) Prepare(c Change) *Run { return &Run{w: w, change: c} }

// Attempts returns the open changes of the store, which the member of a cluster judges.
func (w *Writer) Attempts() cluster.Attempts { return attempts{w} }

// closingEvery is how often what could not be closed at once is tried again.
const closingEvery = time.Second

// RunClosing closes the changes that could not be closed when their calls were answered, because
// the store did not take them or their outcome could not be found out. It returns when ctx is done.
func (w *Writer) RunClosing(ctx context.Context) {
	every.Do(ctx, closingEvery, func() { w.closeOpen(ctx) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Settler().Limit)
	defer cancel()
	w.closeOpen(last)
}

// closeOpen tries once to close what is open.
func (w *Writer) closeOpen(ctx context.Context) {
	err := errors.Join(w.StoreLate(ctx), w.settleDoubts(ctx), w.evidence.removePaid(ctx))
	if err != nil && ctx.Err() == nil {
		w.Log.WithError(err).Warn("changes that have ended could not be closed yet")
	}
}

// linesEvery is how often missing lines of the audit are looked for.
const linesEvery = time.Minute

// RunMember does what a member of a cluster has to do beside its calls, until ctx ends. In each
// term of this gateway it also calls what only the leader does, with a context that ends with the
// term, and waits until all that has returned before the next term.
func (w *Writer) RunMember(ctx context.Context, leading ...func(ctx context.Context)) {
	var ended sync.WaitGroup
	defer ended.Wait()
	ended.Go(func() { every.Do(ctx, closingEvery, func() { w.leaveTidy(ctx) }) })
	ended.Go(func() {
		every.Do(ctx, linesEvery, func() {
			if err := w.recordDue(ctx); err != nil && ctx.Err() == nil {
				w.Log.WithError(err).
					Warn("lines of the audit that an earlier process has left due could not be written yet")
			}
		})
	})
	leading = append([]func(context.Context){w.RunClosing}, leading...)
	for {
		changed := w.Member.Changed()
		if term, leads := w.Member.Leads(); leads {
			w.runTerm(ctx, term, leading)
			w.handOverDoubts()
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// runTerm calls the leader's work until a term ends.
func (w *Writer) runTerm(ctx context.Context, term uint64, leading []func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range leading {
		running.Go(func() { run(ctx) })
	}
	for over := false; !over; {
		changed := w.Member.Changed()
		if own, _ := w.Member.Leads(); own != term {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			over = true
		}
	}
	cancel()
	running.Wait()
}

// leaveTidy does what a gateway must that has led before.
func (w *Writer) leaveTidy(ctx context.Context) {
	if term, _ := w.Member.Leads(); term != 0 {
		return // RunClosing does more
	}
	w.handOverDoubts()
	if err := w.evidence.removePaid(ctx); err != nil && ctx.Err() == nil {
		w.Log.WithError(err).Debug("notes of lines of the audit could not be removed yet")
	}
}
