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

// Options configure a [Writer]. Fields are required unless their comment says otherwise.
type Options struct {
	Runner     ps.Runner
	Operations []*ops.Operation
	Settler    func() *settle.Settler // with the current settings
	Log        *logrus.Logger

	Store   *store.Sealed    // nil stores nothing
	History *changes.History // history in Store; nil for none
	Audit   *audit.Log       // nil for no audit
	Kinds   []Kind           // kinds of values that are stored with the beginning of a change

	// Spent returns the used quota of a settled change by impact, or nil if it is unknown. Spent
	// may be nil if there are no quotas.
	Spent func(c *changes.Record, op *ops.Operation, outcome ps.Outcome, result *ps.Result) map[string]int
	// Unrecorded counts a change that is missing from the history, or recorded without its final
	// state. It may be nil.
	Unrecorded func()
	Cluster
}

// Cluster connects a writer to its cluster. The other fields are only used with a Member.
type Cluster struct {
	Member *cluster.Member // nil outside of a cluster
	Relay  *store.Sealed   // takes values that every gateway may write, whether or not it leads
	// Load reloads the values that the gateway caches in memory. It is called when the gateway
	// begins to lead.
	Load     func(ctx context.Context) error
	Stopping context.Context // ends when the gateway stops
}

// operation returns an operation by its id, or nil.
func (o *Options) operation(id string) *ops.Operation { return ops.Find(o.Operations, id) }

// process returns the process that runs this gateway's scripts. It is zero outside of a cluster.
func (o *Options) process() journal.Process {
	if o.Member == nil {
		return journal.Process{}
	}
	return o.Member.Self()
}

// gateway returns the gateway's name in its cluster, or "" outside of a cluster.
func (o *Options) gateway() string { return o.process().Gateway }

// ending returns the store that accepts the ends of changes.
func (o *Options) ending() *store.Sealed {
	if o.Member != nil {
		return o.Relay
	}
	return o.Store
}

// unrecorded counts a change that is missing from the history, or recorded without its final state.
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

// New returns a writer. Outside of a cluster, it locks the objects of the changes that an earlier
// process has left open, until [Writer.SettleHistory] has settled them.
func New(o Options) (*Writer, error) {
	w := &Writer{Options: o, locks: newLocks(), doubts: doubts{all: map[string]*doubt{}}}
	w.evidence = evidence{o: &w.Options, startedAt: time.Now(), before: map[string]bool{}}
	if err := w.lockLeft(context.Background()); err != nil {
		return nil, fmt.Errorf("changes that were cut off: %w", err)
	}
	return w, nil
}

// Prepare returns a run of a change that has not begun.
func (w *Writer) Prepare(c Change) *Run { return &Run{w: w, change: c} }

// Attempts returns the open changes of the store, for the member of a cluster to judge.
func (w *Writer) Attempts() cluster.Attempts { return attempts{w} }

// closingEvery is the interval at which changes that could not be closed at once are retried.
const closingEvery = time.Second

// RunClosing closes changes that could not be closed when their calls were answered, because the store failed
// or their outcome was unknown. It returns when ctx ends, after a last attempt.
func (w *Writer) RunClosing(ctx context.Context) {
	every.Do(ctx, closingEvery, func() { w.closeOpen(ctx) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Settler().Limit)
	defer cancel()
	w.closeOpen(last)
}

// closeOpen tries once to close the open changes.
func (w *Writer) closeOpen(ctx context.Context) {
	err := errors.Join(w.StoreLate(ctx), w.settleDoubts(ctx), w.evidence.removePaid(ctx))
	if err != nil && ctx.Err() == nil {
		w.Log.WithError(err).Warn("changes that have ended could not be closed yet")
	}
}

// linesEvery is the interval at which missing audit lines are looked for.
const linesEvery = time.Minute

// In a cluster with a single writer, the leading gateway makes all changes, like a gateway without
// a cluster. A script may begin to write only while its gateway is certain to lead and has just
// stored the announcement. When the gateway's term ends, running scripts continue to their end. The
// next leader keeps their objects locked until it learns how they ended, or until they can no
// longer write.

// RunMember does the background work of a cluster member until ctx ends. In each term of this
// gateway it also calls the leading functions, with a context that ends with the term. It waits
// until all of them have returned before the next term.
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

// runTerm calls the functions of the leader and waits until the term ends and they have returned.
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

// leaveTidy cleans up when the gateway stops leading.
func (w *Writer) leaveTidy(ctx context.Context) {
	if term, _ := w.Member.Leads(); term != 0 {
		return // RunClosing does this and more
	}
	w.handOverDoubts()
	if err := w.evidence.removePaid(ctx); err != nil && ctx.Err() == nil {
		w.Log.WithError(err).Debug("notes of lines of the audit could not be removed yet")
	}
}
