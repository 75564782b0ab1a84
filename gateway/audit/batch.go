package audit

import "errors"

// batch is lines that go to the disk with one write and one sync.
type batch struct {
	lines []*Line
	done  chan struct{}
	err   error // valid once done is closed
}

// maxOwedRefusals bounds the refusals that are kept while nothing can be
// written; outcomes are bounded by the calls that ran.
const maxOwedRefusals = 1000

// append writes lines and returns when they are on the disk. Who finds no batch
// begins one and writes it as soon as the writer before is done; who comes in
// the meantime joins it. So a sync serves as many calls as wait for it.
func (l *Log) append(lines ...*Line) error {
	now := l.o.now()
	for _, line := range lines {
		line.made = now
	}
	l.mu.Lock()
	b, leads := l.batch, l.batch == nil
	if leads {
		b = &batch{done: make(chan struct{})}
		l.batch = b
	}
	b.lines = append(b.lines, lines...)
	l.mu.Unlock()
	if !leads {
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
	begun, err := l.out.write(pending)
	b.err = err
	l.settle(b, len(pending), err)
	if begun {
		l.notice("audit file begun", map[string]any{"sequence": l.out.seq, "hash": l.out.last, "file": l.o.File})
	}
	return err
}

// pending is the lines of a batch, what is owed before them.
func (l *Log) pending(b *batch) []*Line {
	if l.trouble == nil {
		return b.lines
	}
	lines := []*Line{{Event: EventGap, Since: stamp(l.since), Reason: l.trouble.Error(), Count: l.lost}}
	for _, line := range l.owed {
		line.Since = stamp(line.made)
		lines = append(lines, line)
	}
	return append(lines, b.lines...)
}

// settle remembers how a batch went.
func (l *Log) settle(b *batch, written int, err error) {
	l.mu.Lock()
	before := l.trouble
	l.stats.Sequence = l.out.seq
	if err == nil {
		l.stats.Lines += uint64(written)
		l.trouble, l.owed, l.lost = nil, nil, 0
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
		l.notice("audit log cannot be written, changes are refused", map[string]any{"error": err.Error(), "file": l.o.File})
	case err == nil && before != nil:
		l.notice("audit log can be written again", map[string]any{"file": l.o.File})
	}
}

// owe keeps the lines about what did happen. An intent is only counted: its
// call does not run.
func (l *Log) owe(lines []*Line) {
	for _, line := range lines {
		switch line.Event {
		case EventOutcome, EventOpen:
			l.owed = append(l.owed, line)
		case EventIntent:
			l.lost++
		case EventRefused, EventCounted:
			if len(l.owed) < maxOwedRefusals {
				l.owed = append(l.owed, line)
			} else {
				l.lost++
			}
		}
	}
}

var errClosed = errors.New("the audit log is closed")

// encodeAll numbers, stamps and chains lines after the last one. It changes
// nothing of the chain; the text is valid until the next call.
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
