package audit

import "time"

// Witnessed is the end of another gateway's chain at a time of that gateway's clock, as a line with the event
// [EventWitness] records it. To cut off witnessed lines, an attacker would also have to forge the chains of
// the witnesses.
type Witnessed struct {
	Gateway string `json:"gateway"`
	Head
	Time string `json:"time"` // UTC, RFC 3339 with nanoseconds
}

// Head returns the end of the chain on disk. It is zero for a nil Log.
func (l *Log) Head() Head {
	if l == nil {
		return Head{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Grown returns a channel that is closed when more lines are on disk. To miss no line, a reader gets the
// channel before it reads the files, and then waits for the channel. The channel is nil for a nil Log.
func (l *Log) Grown() <-chan struct{} {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.grown
}

// Witness records the end of another gateway's chain at a time.
func (l *Log) Witness(gateway string, head Head, at time.Time) error {
	if l == nil {
		return nil
	}
	return l.append(&Line{Event: EventWitness, Witness: &Witnessed{gateway, head, stamp(at)}})
}

// Alone records the reason why no other gateway witnesses the end of this chain from here on.
func (l *Log) Alone(reason string) error {
	if l == nil {
		return nil
	}
	return l.append(&Line{Event: EventAlone, Reason: reason})
}

// Suspect records that evidence outside of the log's files contradicts them. [Verify] reports it as
// a fault.
func (l *Log) Suspect(reason string) error {
	if l == nil {
		return nil
	}
	l.notice("the audit log was altered", map[string]any{"error": reason, "file": l.o.File})
	return l.append(&Line{Event: EventAltered, Reason: reason})
}
