package write

import (
	"fmt"
	"sync"

	"adgateway/gateway/audit"
	"adgateway/ps"
)

// The audit's intent is written while the store writes the beginning of the change, once all parts of the
// beginning are decided. The change begins once both are on disk. If the store fails after the intent was
// written, the outcome in the audit says that nothing was changed.

// intents holds the audit lines that announce a change. Nil means none.
type intents struct {
	log   *audit.Log
	calls []audit.Call

	begin   sync.Once
	done    chan struct{} // closed when the lines are written; nil if writing has not begun
	entries []*audit.Entry
	err     error
}

// intentsOf returns the lines of an announcement, or nil if there are none. A change is announced
// to the audit once, even if its script runs again on another server.
func (r *Run) intentsOf(i *ps.Intent) *intents {
	if r.w.Audit == nil || len(r.lines) > 0 {
		return nil
	}
	calls := r.change.Lines(i)
	for n := range calls {
		calls[n].Change, calls[n].Server, calls[n].PinEpoch = r.ID(), i.Server, i.PinEpoch
	}
	return &intents{log: r.w.Audit, calls: calls}
}

// write starts writing the lines unless that has started, without waiting for it.
func (n *intents) write() {
	if n == nil {
		return
	}
	n.begin.Do(func() {
		done := make(chan struct{})
		n.done = done
		go func() {
			defer close(done)
			n.entries, n.err = n.log.Intents(n.calls...)
		}()
	})
}

// announce waits until the started lines are written, and records the lines that need an outcome.
// It must be called after the store has answered.
func (r *Run) announce(n *intents) error {
	if n == nil || n.done == nil {
		return nil
	}
	<-n.done
	if n.err != nil {
		return r.change.Refused(fmt.Errorf("%w: %w", ErrUnaudited, n.err))
	}
	for at, call := range n.calls {
		r.lines = append(r.lines, line{call, n.entries[at]})
	}
	return nil
}
