package audit

import (
	"errors"
	"time"

	"adgateway/ps"
)

// batch is a set of lines that are written and synced together.
type batch struct {
	lines []*Line
	led   bool // whether a caller writes it; guarded by Log.mu
	done  chan struct{}
	err   error // valid after done is closed
}

// maxOwed limits how many lines about calls without effect are kept while nothing can be written.
// Other outcomes are limited by the number of running calls.
const maxOwed = 1000

// append writes lines and returns once they are on disk. The first caller of a batch writes it as soon as the
// previous writer is done; callers that arrive meanwhile add their lines to the batch. So one sync serves all
// waiting calls.
func (l *Log) append(lines ...*Line) error { return l.join(0, lines...) }

// join does the work of append. For the given time it leaves it to another caller to write the batch.
func (l *Log) join(patience time.Duration, lines ...*Line) error {
	now := l.o.now()
	for _, line := range lines {
		line.createdAt = now
	}
	l.mu.Lock()
	if l.batch == nil {
		l.batch = &batch{done: make(chan struct{})}
	}
	b := l.batch
	b.lines = append(b.lines, lines...)
	l.mu.Unlock()
	if patience > 0 {
		b.wait(patience)
	}
	if !l.lead(b) {
		<-b.done
		return b.err
	}
	defer close(b.done)
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.batch = nil
	pending := l.pending(b)
	l.mu.Unlock()
	started, err := l.out.write(pending)
	b.err = err
	l.measure()
	l.settle(b, len(pending), err)
	switch {
	case started:
		l.checkpoint("audit file started")
	case err == nil:
		l.checkpoint("")
	}
	return err
}

// wait waits until the batch is written, but only for some time.
func (b *batch) wait(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-b.done:
	case <-timer.C:
	}
}

// lead reports whether the caller has to write the batch, because no other caller does.
func (l *Log) lead(b *batch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	leads := !b.led
	b.led = true
	return leads
}

// pending returns the lines of a batch, preceded by owed lines.
func (l *Log) pending(b *batch) []*Line {
	if l.trouble == nil {
		return b.lines
	}
	lines := []*Line{{Event: EventGap, Since: stamp(l.since), Reason: l.trouble.Error(), Count: l.lost}}
	for _, line := range l.owed {
		line.Since = stamp(line.createdAt)
		lines = append(lines, line)
	}
	return append(lines, b.lines...)
}

// settle records the result of a batch.
func (l *Log) settle(b *batch, written int, err error) {
	l.mu.Lock()
	before := l.trouble
	l.stats.Sequence = l.out.seq
	if err == nil {
		l.stats.Lines += uint64(written)
		l.trouble, l.owed, l.lost = nil, nil, 0
		l.head = Head{l.out.seq, l.out.last}
		if l.grown != nil {
			close(l.grown)
			l.grown = nil
		}
	} else {
		l.stats.Failures++
		l.trouble = err
		if before == nil {
			l.since = l.o.now()
		}
		l.owe(b.lines)
	}
	l.mu.Unlock()
	switch {
	case errors.Is(err, errClosed):
	case err != nil && before == nil:
		l.notice("audit log cannot be written, changes are refused",
			map[string]any{"error": err.Error(), "file": l.o.File})
	case err == nil && before != nil:
		l.notice("audit log can be written again", map[string]any{"file": l.o.File})
	}
}

// owe keeps lines about calls that ran. Intents are not kept but only counted, because their calls do not
// run.
func (l *Log) owe(lines []*Line) {
	for _, line := range lines {
		effect := line.Intent > 0 || line.Outcome != string(ps.OutcomeNone)
		switch {
		case line.Event == EventOpen, line.Event == EventOutcome && effect:
			l.owed = append(l.owed, line)
		case line.Event == EventIntent:
			l.lost++
		case line.Event == EventRefused, line.Event == EventCounted, line.Event == EventOutcome:
			if len(l.owed) < maxOwed {
				l.owed = append(l.owed, line)
			} else {
				l.lost++
			}
		}
	}
}

var errClosed = errors.New("the audit log is closed")

// encodeAll encodes lines with their number, time and hash, after the last line. It does not change
// the state of the chain. text is valid until the next call.
func (c *chain) encodeAll(lines []*Line) (text []byte, seq uint64, last string) {
	seq, last = c.seq, c.last
	now := stamp(c.o.now())
	c.text.Reset()
	if c.unended {
		c.text.WriteByte('\n')
	}
	for _, line := range lines {
		seq++
		line.Seq, line.Time, line.Previous = seq, now, last
		last = line.encode(&c.text, c.o.Key)
	}
	return c.text.Bytes(), seq, last
}
