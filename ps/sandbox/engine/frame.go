package engine

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// A regular expression cannot be stopped from outside: its own time limit
// bounds how long a cancelled run goes on.
func init() {
	dotnet.RegexTimeout = 500 * time.Millisecond
	regexp2.SetTimeoutCheckPeriod(10 * time.Millisecond)
}

// place is where a node stands, for errors.
type place struct {
	src *syntax.Source
	at  syntax.Span
}

func (p *place) position() *dotnet.Position {
	return &dotnet.Position{File: p.src.Name, Line: p.at.From.Line, Column: p.at.From.Column, Text: lineOf(p.src.Text, p.at.From.Offset)}
}

// lineOf is the line of a text that holds an offset.
func lineOf(text string, offset int) string {
	from, to := offset, offset
	for from > 0 && text[from-1] != '\n' {
		from--
	}
	for to < len(text) && text[to] != '\n' && text[to] != '\r' {
		to++
	}
	return text[from:to]
}

// frame is one running block: its session, its scope, its streams. The block of
// ForEach-Object runs on the frame of its caller.
type frame struct {
	s       *Session
	scope   *scope
	streams *Streams
	caller  *frame
	at      *place // where the caller called from
	name    string // of the function, empty for a script block
	depth   int
}

// child is the frame of a block that is called from f.
func (f *frame) child(sc *scope, name string, at *place) (frame, error) {
	if f.depth >= f.s.limits.CallDepth {
		return frame{}, &LimitError{Limit: "CallDepth", Line: at.line()}
	}
	return frame{s: f.s, scope: sc, streams: f.streams, caller: f, at: at, name: name, depth: f.depth + 1}, nil
}

func (p *place) line() int {
	if p == nil {
		return 0
	}
	return p.at.From.Line
}

// meter counts what a request uses.
type meter struct {
	steps    int64
	alloc    int64
	output   int64
	heap     int64 // of the process when the request began
	nextLook int64 // at the heap, when so much is allocated
	nextGC   int64 // before the heap is blamed, when so much is allocated
	deadline time.Time
	timer    *time.Timer // sets late and stop at the deadline
	stop     atomic.Bool // the context is done, or the time is over
	late     atomic.Bool // the time is over
}

// checkEvery is how many steps pass between two looks at the heap.
const checkEvery = 16 * 1024

// step counts one statement, call or loop round, and ends the run when a limit
// is passed or the context is done.
func (f *frame) step(at *place) error {
	m := &f.s.meter
	m.steps++
	if m.stop.Load() {
		return f.s.cancelled(at)
	}
	if m.steps > f.s.limits.Steps {
		return &LimitError{Limit: "Steps", Line: at.line()}
	}
	if m.steps%checkEvery == 0 {
		return f.s.look(at)
	}
	return nil
}

// look checks what is too dear to check at every step: the heap. It is the whole
// process's, so a request that has made less than the limit itself is not to
// blame; garbage that waits for its collection is nobody's.
func (s *Session) look(at *place) error {
	m := &s.meter
	m.nextLook = m.alloc + lookEvery
	now := heapBytes()
	if m.heap < 0 || now < m.heap { // garbage of others has been collected
		m.heap = now
	}
	limit := s.limits.HeapBytes
	if now-m.heap <= limit || m.alloc < max(limit, m.nextGC) {
		return nil
	}
	m.nextGC = m.alloc + limit/4
	runtime.GC()
	if heapBytes()-m.heap <= limit {
		return nil
	}
	return &LimitError{Limit: "HeapBytes", Line: at.line()}
}

func (s *Session) cancelled(at *place) error {
	if s.meter.late.Load() && s.ctx.Err() == nil {
		return &LimitError{Limit: "WallTime", Line: at.line()}
	}
	cause := context.Cause(s.ctx)
	if cause == nil {
		cause = context.Canceled
	}
	return &LimitError{Limit: "context", Line: at.line(), Cause: cause}
}

// charge counts bytes a value takes. All values made by one request count, so
// that what it keeps alive is bounded too.
func (f *frame) charge(n int) error {
	m := &f.s.meter
	m.alloc += int64(n)
	if m.alloc > m.nextLook {
		if err := f.s.look(nil); err != nil {
			return err
		}
	}
	if int64(n) > f.s.limits.ValueBytes {
		return &LimitError{Limit: "ValueBytes"}
	}
	if m.alloc > f.s.limits.AllocBytes {
		return &LimitError{Limit: "AllocBytes"}
	}
	return nil
}

// chargeValue counts a value that an operator or a method made.
func (f *frame) chargeValue(v any) error {
	switch v := v.(type) {
	case string:
		if len(v) > 64 {
			return f.charge(len(v))
		}
	case *dotnet.Array:
		return f.charge(16 * len(v.Items))
	case *dotnet.Bytes:
		return f.charge(len(v.B))
	}
	return nil
}

// resetMeter starts the limits anew: at the start of a run and with each line of input.
func (s *Session) resetMeter() {
	m := &s.meter
	m.steps, m.alloc, m.output = 0, 0, 0
	m.heap, m.nextLook, m.nextGC = -1, lookEvery, 0
	m.deadline = time.Now().Add(s.limits.WallTime)
	if m.late.Swap(false) {
		m.stop.Store(s.ctx.Err() != nil)
	}
	if m.timer == nil {
		m.timer = time.AfterFunc(s.limits.WallTime, func() {
			m.late.Store(true)
			m.stop.Store(true)
		})
		return
	}
	m.timer.Reset(s.limits.WallTime)
}

// pauseMeter stops the clock while the session waits for input or is idle.
func (s *Session) pauseMeter() {
	if s.meter.timer != nil {
		s.meter.timer.Stop()
	}
}

// lookEvery is how many bytes are made between two looks at the heap.
const lookEvery = 16 << 20

// heapBytes is what the process's objects take now.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// limitOf turns limits of package dotnet into those of this package.
func limitOf(err error, at *place) error {
	if isFlow(err) {
		return err
	}
	var over *dotnet.LimitError
	if errors.As(err, &over) {
		return &LimitError{Limit: "ValueBytes", Line: at.line(), Cause: over}
	}
	return err
}

// sink takes what a pipeline element emits.
type sink interface {
	write(v any) error
}

// collectEvery is how many items are collected between two charges.
const collectEvery = 1024

// collector keeps what is written.
type collector struct {
	items []any
	f     *frame
	room  [1]any // for the first item: most of what is collected is one
}

func (c *collector) write(v any) error {
	switch {
	case c.items == nil:
		c.items = c.room[:0]
	case len(c.items) == len(c.room): // a second one: there will be more
		c.items = append(make([]any, 0, 16), c.items...)
	}
	c.items = append(c.items, v)
	if len(c.items)%collectEvery == 0 {
		return c.f.charge(16 * collectEvery)
	}
	return nil
}

// value is what the collected output is as a value: nothing, the one object, or an array.
func (c *collector) value() any {
	switch len(c.items) {
	case 0:
		return dotnet.AutomationNull
	case 1:
		return c.items[0]
	default:
		return dotnet.NewArray(c.items...)
	}
}

// dropper is $null as a target.
type dropper struct{}

func (dropper) write(any) error { return nil }

// sinkFunc is a function as a sink.
type sinkFunc func(v any) error

func (w sinkFunc) write(v any) error { return w(v) }

// emit writes the value of an expression statement: collections item by item. A
// collection that the receiver changes meanwhile is an error.
func emit(out sink, v any) error {
	switch x := v.(type) {
	case nil:
		return out.write(nil)
	case string, bool, int32, int64, float64, *dotnet.Hashtable, *dotnet.PSObject, *dotnet.Instance:
		return out.write(v)
	case dotnet.Nothing:
		return nil
	case *dotnet.Array:
		for _, item := range x.Items {
			if err := out.write(item); err != nil {
				return err
			}
		}
		return nil
	}
	items, ok := dotnet.Enumerate(v)
	if !ok {
		return out.write(v)
	}
	changed := dotnet.Watch(v)
	for _, item := range items {
		if err := out.write(item); err != nil {
			return err
		}
		if changed() {
			return dotnet.BadEnumeration(v)
		}
	}
	return nil
}

// isNull tells whether a value is $null or no output.
func isNull(v any) bool { return v == nil || v == dotnet.AutomationNull }
