package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/store"
)

// sending is an entry that is being stored. Its messages are stored one after another, and stay
// the same whenever they are sent.
type sending struct {
	token    string
	messages [][]byte
	since    time.Time

	stored int         // number of messages that were read
	at     store.Point // of the last message that was read
	void   bool        // a message of another entry was stored first
}

// see records that a message that verifies was read.
func (s *sending) see(token string, at store.Point) {
	switch {
	case s.isStored():
	case token == s.token:
		s.stored, s.at = s.stored+1, at
	default:
		s.void = true
	}
}

func (s *sending) isStored() bool { return s.stored == len(s.messages) }

// Append stores a batch as the next entry of this process's term. It returns the point of the entry
// once it is stored and applied. The entry has the time at, or the time of the previous entry if
// that is later.
//
// It fails with [ErrDeposed] if this process does not hold the highest term. After [ErrUndecided] the batch
// may be stored, now or later. It is kept, and the next call of Append or Resolve continues with it. After
// any other error it is not stored and will not be. Concurrent calls wait for each other, because only one
// entry is stored at a time.
func (l *Log) Append(ctx context.Context, batch []byte, at time.Time) (store.Point, error) {
	if err := l.ready(ctx); err != nil {
		return store.Point{}, err
	}
	defer func() { <-l.writing }()
	l.mu.Lock()
	verified, last, leads := l.verified, l.chain.last, l.leads()
	l.mu.Unlock()
	if !leads {
		return store.Point{}, ErrDeposed
	}
	return l.store(ctx, verified, &Entry{
		Term: last.Term, Process: last.Process, Number: last.Number + 1, Time: at, Batch: batch,
	})
}

// Claim begins the next term for a process and returns its number. If the process already has a term, Claim
// returns that term. It fails with [ErrDeposed], and stores nothing, if it finds a message of another process
// that had not been read when Claim was called, because a process must have caught up before it claims a
// term. It fails with [ErrKeyUnknown] if the process may have missed messages for which it has no key.
// [ErrUndecided] and other errors are as for Append.
func (l *Log) Claim(ctx context.Context, p Process, at time.Time) (uint64, error) {
	l.mu.Lock()
	verified := l.verified
	l.mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return 0, err
	}
	defer func() { <-l.writing }()
	if s := l.Status(); s.Leads {
		return s.Term, nil
	}
	if err := l.CatchUp(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	last, unknown := l.chain.last, l.unknown
	l.mu.Unlock()
	if unknown {
		return 0, ErrKeyUnknown
	}
	if _, err := l.store(ctx, verified, &Entry{Term: last.Term + 1, Process: p, Time: at}); err != nil {
		return 0, err
	}
	return last.Term + 1, nil
}

// Resolve continues with the undecided entry, if there is one. It returns nil if there is none or the entry
// is stored and applied, [ErrDeposed] if the entry is not stored and will not be, and otherwise an error that
// matches [ErrUndecided].
func (l *Log) Resolve(ctx context.Context) error {
	if err := enter(ctx, l.writing); err != nil {
		return fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	defer func() { <-l.writing }()
	_, err := l.decide(ctx)
	return err
}

// ready waits until no entry is being stored. If it succeeds, the caller holds l.writing.
func (l *Log) ready(ctx context.Context) error {
	if err := enter(ctx, l.writing); err != nil {
		return err
	}
	if _, err := l.decide(ctx); errors.Is(err, ErrUndecided) {
		<-l.writing
		return fmt.Errorf("%w: %v", ErrNotSent, err) // the caller's own entry is not the undecided one
	}
	return nil
}

// leads reports whether this process holds the highest term. l.mu is held.
func (l *Log) leads() bool { return l.term != 0 && l.term == l.chain.last.Term }

// store stores an entry after the last one. verified is the number of verified messages that the caller
// has seen. If more have been read since, store fails and stores nothing.
func (l *Log) store(ctx context.Context, verified uint64, e *Entry) (store.Point, error) {
	l.mu.Lock()
	last, hash := l.chain.last, l.chain.hash
	l.mu.Unlock()
	if e.Time = e.Time.UTC().Round(0); e.Time.Before(last.Time) {
		e.Time = last.Time
	}
	e.Token, e.Previous = rand.Text(), hash
	all, err := split(e, l.o.MaxMessage-headMost)
	if err != nil {
		return store.Point{}, err
	}
	for i, plain := range all {
		all[i] = l.o.Cipher.Seal(plain, l.bound)
	}
	l.mu.Lock()
	late := l.verified != verified
	if !late {
		l.pending = &sending{token: e.Token, messages: all, since: time.Now()}
	}
	l.mu.Unlock()
	if late {
		return store.Point{}, ErrDeposed
	}
	return l.decide(ctx)
}

// decide sends the messages of the pending entry until their outcome is known. Only reading a message proves
// that it is stored. If a message was not read, or was refused, its outcome is open, because it may be on its
// way, or may have been refused because of its own first copy. So the same message is sent with the same
// expectation until a message is read at its sequence.
func (l *Log) decide(ctx context.Context) (store.Point, error) {
	for try := 0; ; {
		l.mu.Lock()
		s, expect := l.pending, l.read
		switch {
		case s == nil:
			l.mu.Unlock()
			return store.Point{}, nil
		case s.void || s.isStored():
			l.pending = nil
			l.mu.Unlock()
			if s.void {
				return store.Point{}, ErrDeposed
			}
			return s.at, nil
		}
		message := s.messages[s.stored]
		l.status.Sent++
		if try > 0 {
			l.status.Again++
		}
		l.mu.Unlock()
		moved, err := l.send(ctx, expect, message, try)
		if err != nil {
			return store.Point{}, fmt.Errorf("%w: %w", ErrUndecided, err)
		}
		if try++; moved {
			try = 0
		}
	}
}

// send sends a message once. moved reports whether a message was read at its sequence before it is
// time to send it again.
func (l *Log) send(ctx context.Context, expect uint64, message []byte, try int) (moved bool, err error) {
	sent := time.Now()
	sequence, err := l.publish(ctx, expect, message, try)
	until := sent.Add(tryFor)
	switch {
	case err == nil && sequence == expect+1:
		err = l.take(ctx, sequence, message)
		return err == nil, err
	case err != nil && !errors.Is(err, ErrRefused):
		until = sent.Add(readAgainMost) // perhaps only this node is unreachable
	}
	if l.position() > expect {
		return true, nil
	}
	if try == 0 && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil // reading from this node would take as long, so another node is tried first
	}
	for pause := readAgainMost / 64; ; pause = min(2*pause, readAgainMost) {
		err := l.readOn(ctx)
		late := !time.Now().Before(until)
		if err == nil && late {
			err = l.reaches(ctx)
		}
		if err != nil && !errors.Is(err, store.ErrUnreachable) {
			return false, err
		}
		l.mu.Lock()
		read, wake := l.read, l.moved
		l.mu.Unlock()
		if read > expect || late && ctx.Err() == nil {
			return read > expect, nil
		}
		select {
		case <-wake:
		case <-time.After(min(pause, time.Until(until))):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// publish publishes to the stream, until a time limit or until a message was read at the expected
// sequence.
func (l *Log) publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		for {
			l.mu.Lock()
			read, moved := l.read, l.moved
			l.mu.Unlock()
			if read > expect {
				cancel()
				return
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	})
	return l.stream.Publish(ctx, expect, message, try)
}
