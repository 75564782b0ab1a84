package engine

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// place is the position of a node, for errors.
type place struct {
	src *syntax.Source
	at  syntax.Span
}

func (p *place) position() *dotnet.Position {
	return &dotnet.Position{File: p.src.Name, Line: p.at.From.Line, Column: p.at.From.Column,
		Text: lineOf(p.src.Text, p.at.From.Offset)}
}

// lineOf returns the line of a text that contains an offset.
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

// frame is a running block: its session, scope and streams. The block of
// ForEach-Object runs on the frame of its caller.
type frame struct {
	s       *Session
	scope   *scope
	streams *Streams
	depth   int
}

// child returns the frame of a block called from f.
func (f *frame) child(sc *scope, at *place) (frame, error) {
	if f.depth >= f.s.limits.CallDepth {
		return frame{}, &LimitError{Limit: "CallDepth", Line: at.line()}
	}
	return frame{s: f.s, scope: sc, streams: f.streams, depth: f.depth + 1}, nil
}

func (p *place) line() int {
	if p == nil {
		return 0
	}
	return p.at.From.Line
}

// meter counts the resources of a request.
type meter struct {
	steps    int64
	alloc    int64
	output   int64
	heap     int64 // live heap of the process when the request started
	nextLook int64 // value of alloc at which the heap is measured next
	nextGC   int64 // value of alloc from which the heap may be collected again
	deadline time.Time
	timer    *time.Timer // sets late and stop after the wall time
	stop     atomic.Bool // the context is done, or the wall time has passed
	late     atomic.Bool // the wall time has passed
}

// checkEvery is the number of steps between two measurements of the heap.
const checkEvery = 16 * 1024

// step counts a statement, call or loop iteration. It fails when a limit is
// exceeded or the context is done.
func (f *frame) step(at *place) error {
	m := &f.s.meter
	m.steps++
	if m.stop.Load() {
		return f.s.canceled(at)
	}
	if m.steps > f.s.limits.Steps {
		return &LimitError{Limit: "Steps", Line: at.line()}
	}
	if m.steps%checkEvery == 0 {
		return f.s.look(at)
	}
	return nil
}

// look measures the heap, which is too expensive for every step. The heap belongs to the
// whole process, so a request that has allocated less than the limit is not ended, and
// uncollected garbage is not charged to a request.
func (s *Session) look(at *place) error {
	m := &s.meter
	m.nextLook = m.alloc + lookEvery
	now := heapBytes()
	if m.heap < 0 || now < m.heap { // the heap has been collected since
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

func (s *Session) canceled(at *place) error {
	if s.meter.late.Load() && s.ctx.Err() == nil {
		return &LimitError{Limit: "WallTime", Line: at.line()}
	}
	cause := context.Cause(s.ctx)
	if cause == nil {
		cause = context.Canceled
	}
	return &LimitError{Limit: "context", Line: at.line(), Cause: cause}
}

// charge counts the bytes of a new value. All values that a request creates count, so the limit also bounds
// the values that it keeps alive.
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

// chargeValue charges for the result of an operator or a method.
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

// resetMeter resets the limits at the start of a run and with each line of input.
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

// lookEvery is the number of bytes allocated between two measurements of the heap.
const lookEvery = 16 << 20

// heapBytes returns the size of the process's heap objects.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// limitOf converts a limit error of package dotnet.
func limitOf(err error, at *place) error {
	if err == nil || isFlow(err) {
		return err
	}
	var over *dotnet.LimitError
	if errors.As(err, &over) {
		return &LimitError{Limit: "ValueBytes", Line: at.line(), Cause: over}
	}
	return err
}

// sink receives the output of a pipeline element.
type sink interface {
	write(v any) error
}

// collectEvery is the number of items collected between two charges.
const collectEvery = 1024

// collector collects its input.
type collector struct {
	items []any
	f     *frame
	one   [1]any // backing array of a single item, the common case
}

func (c *collector) write(v any) error {
	switch {
	case c.items == nil:
		c.items = c.one[:0]
	case len(c.items) == len(c.one): // avoids several small reallocations
		c.items = append(make([]any, 0, 16), c.items...)
	}
	c.items = append(c.items, v)
	if len(c.items)%collectEvery == 0 {
		return c.f.charge(16 * collectEvery)
	}
	return nil
}

// value returns the collected output as a value: no output, the only item, or an array.
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

// array returns the collected output as an array.
func (c *collector) array() any {
	if len(c.items) == 1 {
		return dotnet.OneItem(c.items[0])
	}
	return dotnet.NewArray(c.items...)
}

// dropper discards its input.
type dropper struct{}

func (dropper) write(any) error { return nil }

// emit writes the value of an expression statement, a collection item by item. It is an
// error if the receiver modifies the collection.
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
			return dotnet.CollectionModified()
		}
	}
	return nil
}

// isNull reports whether a value is $null or no output.
func isNull(v any) bool { return v == nil || v == dotnet.AutomationNull }
