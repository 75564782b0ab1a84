// Package histories records the calls and answers of the clients of several gateways, and checks them against
// a model. A model is an object that all clients use one after another. A history is linearizable if there is
// an order of the calls that explains every answer, and in which a call that ended before another call began
// precedes that call.
//
// A [Recorder] records the calls of a test. A [Model] describes the objects. [Recorder.Check] uses porcupine
// to search for the order, for each object separately.
package histories

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Op is the request of a client.
type Op struct {
	Of     string // the object: a key, a plan, a name
	At     int    // the gateway
	Do     string // an operation of the model
	Expect string // expected value of the object, for a comparison
	Value  string // new value; empty means absent
}

// Answer is the answer to a client.
type Answer struct {
	Refused bool   // nothing was done
	Value   string // value that was read or reported
}

// Recorder is a growing history. The zero value is an empty history. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	last  int64
	calls []*Call
}

// started is the start of the recorded times.
var started = time.Now()

// now returns the time in nanoseconds. Each call returns a later time.
func (r *Recorder) now() int64 {
	r.last = max(r.last+1, time.Since(started).Nanoseconds())
	return r.last
}

// Call is a call that has begun. If [Call.End] is never called, the answer was lost, so the effect of the
// call may happen at any time after the beginning, or never.
type Call struct {
	r      *Recorder
	op     Op
	begin  int64
	end    int64 // 0 if the answer was lost
	answer Answer
}

// Begin records that a client begins a call.
func (r *Recorder) Begin(op Op) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Call{r: r, op: op, begin: r.now()}
	r.calls = append(r.calls, c)
	return c
}

// End records the answer.
func (c *Call) End(answer Answer) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.end, c.answer = c.r.now(), answer
}

// Happened records an action that took place at a known time and was discovered afterwards.
func (r *Recorder) Happened(op Op, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	moment := at.Sub(started).Nanoseconds()
	r.calls = append(r.calls, &Call{r: r, op: op, begin: moment, end: moment})
}

// Forget removes a call that had no effect and whose answer revealed nothing about the object.
func (c *Call) Forget() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.calls = slices.DeleteFunc(c.r.calls, func(one *Call) bool { return one == c })
}

// describe returns the times when a call began and ended, in milliseconds after the time after, and its
// request and answer.
func (c *Call) describe(after int64) string {
	ms := func(at int64) string { return fmt.Sprintf("%10.3f", float64(at-after)/1e6) }
	text, answer := ms(c.begin)+" to ", fmt.Sprintf("%q", c.answer.Value)
	switch {
	case c.end == 0:
		text, answer = text+fmt.Sprintf("%10s", "?"), "the answer was lost"
	case c.answer.Refused:
		text, answer = text+ms(c.end), "refused"
	default:
		text += ms(c.end)
	}
	text += fmt.Sprintf("  at %d %s %s", c.op.At, c.op.Do, c.op.Of)
	if c.op.Expect != "" || c.op.Value != "" {
		text += fmt.Sprintf(" %q -> %q", c.op.Expect, c.op.Value)
	}
	return text + ": " + answer
}

// Counts returns the number of calls, and the number of calls without an answer.
func (r *Recorder) Counts() (all, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if c.end == 0 {
			lost++
		}
	}
	return len(r.calls), lost
}

// searchLimit is the time limit of the search for an order, because there may be very many orders.
const searchLimit = 30 * time.Second

// Check fails the test if the history so far contradicts the model. It then prints the calls of an object for
// which there is no order. The label, such as a seed, identifies the history.
func (r *Recorder) Check(t testing.TB, m Model, label string) {
	t.Helper()
	if wrong := r.Contradiction(m); wrong != "" {
		t.Errorf("%s: no order of these calls explains their answers (%s):\n%s", label, m.Name, wrong)
	}
}

// Contradiction returns the calls of an object that contradict the model, or "".
func (r *Recorder) Contradiction(m Model) string {
	r.mu.Lock()
	of := map[string][]*Call{}
	for _, c := range r.calls {
		of[c.op.Of] = append(of[c.op.Of], c)
	}
	r.mu.Unlock()
	for object, calls := range of {
		var history []porcupine.Operation
		for _, c := range calls {
			one := porcupine.Operation{Input: c.op, Call: c.begin, Return: c.end, Output: &c.answer}
			if c.end == 0 {
				one.Return, one.Output = math.MaxInt64, (*Answer)(nil)
			}
			history = append(history, one)
		}
		switch porcupine.CheckOperationsTimeout(m.model, history, searchLimit) {
		case porcupine.Ok:
		case porcupine.Unknown:
			return fmt.Sprintf("%s: no order of its %d calls was found in %s", object, len(calls), searchLimit)
		default:
			return describe(calls)
		}
	}
	return ""
}

// describe returns one line per call, in the order in which the calls began.
func describe(calls []*Call) string {
	slices.SortFunc(calls, func(a, b *Call) int { return cmp.Compare(a.begin, b.begin) })
	var lines []string
	for _, c := range calls {
		lines = append(lines, c.describe(calls[0].begin))
	}
	return strings.Join(lines, "\n")
}
