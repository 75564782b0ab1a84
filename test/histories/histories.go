// Package histories records what the clients of several gateways asked for and were told,
// and holds it against a model: an object that everybody uses one after the other. A
// history is linearizable if there is such an order that explains every answer and in
// which what ended before something else began also comes first.
//
// A [Recorder] takes the calls of a test; [Models] are the objects; [Recorder.Check] looks
// for the order, by porcupine, for each object by itself.
package histories

import (
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
	now   int64
	calls []*Call
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
	r.now++
	c := &Call{r: r, op: op, begin: r.now}
	r.calls = append(r.calls, c)
	return c
}

// End records the answer.
func (c *Call) End(answer Answer) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.now++
	c.end, c.answer = c.r.now, answer
}

// Forget takes back a call that certainly did nothing, and that learned nothing.
func (c *Call) Forget() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.calls = slices.DeleteFunc(c.r.calls, func(one *Call) bool { return one == c })
}

// String describes a call and its answer.
func (c *Call) String() string {
	text := fmt.Sprintf("%4d to ", c.begin)
	if c.end == 0 {
		text += "   ?"
	} else {
		text += fmt.Sprintf("%4d", c.end)
	}
	text += fmt.Sprintf("  at %d %s %s", c.op.At, c.op.Do, c.op.Of)
	if c.op.Expect != "" || c.op.Value != "" {
		text += fmt.Sprintf(" %q -> %q", c.op.Expect, c.op.Value)
	}
	switch {
	case c.end == 0:
		return text + ": the answer was lost"
	case c.answer.Refused:
		return text + ": refused"
	}
	return text + fmt.Sprintf(": %q", c.answer.Value)
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

func describe(calls []*Call) string {
	var lines []string
	for _, c := range calls {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}
