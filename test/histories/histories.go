// Package histories records what the clients of several gateways asked for and were told,
// and holds it against a model: an object that everybody uses one after the other. A
// history is linearizable if there is such an order that explains every answer and in
// which what ended before something else began also comes first.
//
// A [Recorder] takes the calls of a test; [Models] are the objects; [Recorder.Check] looks
// for the order, by porcupine, for each object by itself.
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

// Op is what a client asks for.
type Op struct {
	Of     string // the object: a key, a plan, a name
	At     int    // the gateway
	Do     string // what the model lists
	Expect string // what the object must be, for what compares
	Value  string // what it is to be; empty: absent
}

// Answer is what the client is told.
type Answer struct {
	Refused bool   // certainly nothing was done
	Value   string // what was read or said
}

// Recorder is a history that grows. The zero value is empty. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	last  int64
	calls []*Call
}

// started is from when times are counted.
var started = time.Now()

// now returns the time in nanoseconds, later each time that it is called.
func (r *Recorder) now() int64 {
	r.last = max(r.last+1, time.Since(started).Nanoseconds())
	return r.last
}

// Call is one that has begun. Without [Call.End] its answer was lost: whatever it does may
// happen at any time after it began, or never.
type Call struct {
	r      *Recorder
	op     Op
	begin  int64
	end    int64 // 0: the answer was lost
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

// Happened records what was done at a time, as was found afterwards.
func (r *Recorder) Happened(op Op, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	moment := at.Sub(started).Nanoseconds()
	r.calls = append(r.calls, &Call{r: r, op: op, begin: moment, end: moment})
}

// Forget takes back a call that certainly did nothing, and that learned nothing.
func (c *Call) Forget() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.calls = slices.DeleteFunc(c.r.calls, func(one *Call) bool { return one == c })
}

// describe says when a call began and ended, after a moment in milliseconds, and the rest.
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

// Counts returns how many calls there are, and how many of them were not answered.
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

// searchLimit is how long an order is looked for. There may be very many.
const searchLimit = 30 * time.Second

// Check fails the test unless the history so far is one of the model, and shows the calls of
// an object for which there is no order. The label, such as a seed, says which history it is.
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

// describe returns a line for each call, in the order in which they began.
func describe(calls []*Call) string {
	slices.SortFunc(calls, func(a, b *Call) int { return cmp.Compare(a.begin, b.begin) })
	var lines []string
	for _, c := range calls {
		lines = append(lines, c.describe(calls[0].begin))
	}
	return strings.Join(lines, "\n")
}
