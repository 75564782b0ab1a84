package natsstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"adgateway/gateway/keep"
)

const (
	mostMessages   = 1000            // of a batch (facts J12); those of a call are fewer
	publishTimeout = 3 * time.Second // of one try

	// slack is how much longer the engine keeps values than they are valid: the clocks of
	// its nodes must not decide.
	slack = time.Hour
)

// write is one call of Apply.
type write struct {
	changes  []keep.Change
	done     chan struct{} // closed when the fields below are set
	revision keep.Revision
	err      error

	sent    []sending
	expects map[string]uint64 // sequences that the last one expected, by the names of the values
	doubt   error             // why it is not known what became of one of them
}

// sending is a batch that a call was sent with.
type sending struct {
	token token
	after uint64 // how many messages of the batch follow those of the call
}

// Apply is that of [keep.Store]. A call shares a batch with those that came while the one
// before was on its way. It may go on being made after it has failed with the cause of ctx.
func (s *Store) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if s.ctx.Err() != nil {
		return 0, keep.ErrClosed
	}
	own := &write{changes: changes, done: make(chan struct{})}
	if err := checkChanges(changes); err != nil {
		s.note(err)
		return 0, err
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, own)
	s.mu.Unlock()
	select {
	case s.writing <- struct{}{}:
	case <-own.done:
		return own.revision, own.err
	case <-ctx.Done():
		return 0, s.leave(ctx, own)
	case <-s.ctx.Done():
		return 0, keep.ErrClosed
	}
	s.work(func() {
		s.giveWay()
		s.mu.Lock()
		all := s.waiting
		s.waiting = nil
		s.mu.Unlock()
		s.applyAll(all)
		<-s.writing
	})
	select {
	case <-own.done:
		return own.revision, own.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", keep.ErrUnreachable, context.Cause(ctx))
	case <-s.ctx.Done():
		return 0, keep.ErrClosed
	}
}

// leave takes back a call that has not been sent. If it has, it is not known what becomes
// of it.
func (s *Store) leave(ctx context.Context, own *write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.waiting, own); at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
		return fmt.Errorf("%w: %w", keep.ErrNotSent, context.Cause(ctx))
	}
	return fmt.Errorf("%w: %w", keep.ErrUnreachable, context.Cause(ctx))
}

func checkChanges(changes []keep.Change) error {
	for _, c := range changes {
		if len(c.Kind) > 255 || len(c.Log) > 255 || c.Kind == endKind || c.Kind == tickKind {
			return fmt.Errorf("values have no kind %q", c.Kind)
		}
	}
	return keep.CheckChanges(changes)
}

// note notes how a write ended. A conflict is an answer of the store, no failure of it.
func (s *Store) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.lost = false
		s.state.Failed = nil
		s.state.Writes++
	case !errors.Is(err, keep.ErrConflict) && !errors.Is(err, keep.ErrClosed):
		s.lost = s.lost || errors.Is(err, keep.ErrUnreachable)
		s.state.Failed = err
		s.state.Failures++
	}
}

// patience is how long changes are tried: for a moment only when those before were tried in
// vain, so that callers learn at once that the engine is lost.
func (s *Store) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return min(s.o.Patience, time.Second)
	}
	return s.o.Patience
}

// end answers a call.
func (s *Store) end(w *write, revision keep.Revision, err error) {
	s.note(err)
	w.revision, w.err = revision, err
	close(w.done)
}

// applyAll makes the changes of several calls, each of which conflicts by itself.
func (s *Store) applyAll(all []*write) {
	defer s.forget()
	until := time.Now().Add(s.patience())
	strict, refusals := false, 0 // strict: nothing is taken from the mirror that it may not know
	for len(all) > 0 {
		err, through := s.usable(until), s.through()
		var b *batch
		if err == nil {
			b, all, err = s.compose(all, strict)
		}
		if err != nil {
			if s.ctx.Err() != nil {
				err = keep.ErrClosed
			}
			for _, w := range all {
				s.end(w, 0, w.failure(err))
			}
			return
		}
		if len(b.writes) == 0 {
			continue // all were refused
		}
		known, sent := s.highest(), time.Now()
		sequence, err := s.publish(b)
		if err == nil {
			err = s.acknowledged(known, sequence, len(b.messages))
		}
		strict = false
		switch {
		case err == nil:
			s.settle(b, sequence, sent)
			refusals = 0
			continue
		case conflicts(err):
			// What was in the way is most often in the mirror as soon as that moves. What
			// never comes there must be looked up, however much the mirror moves.
			refusals++
			strict = !s.moves(through) || refusals%4 == 0
			s.yield(refusals)
			all = append(b.writes, all...)
			continue
		case certain(err), errors.Is(err, keep.ErrRewound):
			for _, w := range b.writes {
				s.end(w, 0, err)
			}
			continue
		default:
			for _, w := range b.writes {
				w.doubt = err
			}
			s.elsewhere(err)
		}
		all = append(b.writes, all...)
		s.pause()
	}
}

// forget ends the wait for decisions: all calls that may have been made with them are
// answered.
func (s *Store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.seen)
}

// failure returns what a call fails with that cannot be tried any longer.
func (w *write) failure(err error) error {
	switch {
	case errors.Is(err, keep.ErrClosed):
	case w.doubt != nil:
		return fmt.Errorf("%w: %w", keep.ErrUnreachable, w.doubt)
	case errors.Is(err, keep.ErrUnreachable):
		return fmt.Errorf("%w: %w", err, keep.ErrNotSent)
	}
	return err
}

// usable waits for a connection, until a time, and returns why nothing can be written.
func (s *Store) usable(until time.Time) error {
	for {
		s.mu.Lock()
		refused, following := s.refused, s.stream != nil
		s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
			return keep.ErrClosed
		case refused != nil:
			return refused
		case time.Now().After(until):
			return unreachable(errors.New("it has not answered in time"))
		case following && s.conn.IsConnected():
			return nil
		case !following:
			return s.away()
		}
		s.pause()
	}
}

// pause waits for a moment, which differs so that rivals do not meet again (facts J10).
func (s *Store) pause() {
	select {
	case <-time.After(moment()):
	case <-s.ctx.Done():
	}
}

func moment() time.Duration { return 10*time.Millisecond + rand.N(40*time.Millisecond) }

// moves waits for a moment until the mirror has more of the stream than up to a sequence,
// and reports whether it has.
func (s *Store) moves(from uint64) bool {
	ctx, cancel := context.WithTimeout(s.ctx, moment())
	defer cancel()
	return s.reached(ctx, from+1) == nil
}

// Changes of all gateways append to the same logs, so that of those that write at the same
// time one succeeds. The others try again as soon as they see what it has written, but it
// knows that first, and would go on before them for as long as it has something to write.
// So who has just written gives way to the others, if they write as well, for the time of two
// batches; and of the others those go first that were refused more often.
const (
	longestTurn = 25 * time.Millisecond
	rivalry     = 100 * time.Millisecond // how long others count as writing after what was seen of them

	seniority = 3 // refusals, after which nobody goes first
	step      = 2 * time.Millisecond
)

// yield lets those go first that were refused more often.
func (s *Store) yield(refusals int) {
	if refusals >= seniority {
		return
	}
	select {
	case <-time.After(time.Duration(seniority-refusals) * step):
	case <-s.ctx.Done():
	}
}

// giveWay lets other gateways write first, if this one has just written.
func (s *Store) giveWay() {
	s.mu.Lock()
	wait, applied, rivals := time.Until(s.turn), s.applied, time.Since(s.rival) < rivalry
	s.mu.Unlock()
	if !rivals || wait <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	_ = s.reached(ctx, applied+1) // they have written, or have nothing to write
}

// settle answers the calls of a batch that was acknowledged, when the mirror has it.
func (s *Store) settle(b *batch, sequence uint64, sent time.Time) {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.Patience)
	defer cancel()
	_ = s.reached(ctx, sequence) // it is decided, in the mirror or not
	s.mu.Lock()
	s.turn = time.Now().Add(min(2*time.Since(sent), longestTurn))
	s.mu.Unlock()
	first := sequence - uint64(len(b.messages)-1)
	for i, w := range b.writes {
		s.end(w, keep.Revision(first+uint64(b.last[i])), nil)
	}
}

// publish sends a batch and returns the sequence of its last message.
func (s *Store) publish(b *batch) (uint64, error) {
	ctx, cancel := context.WithTimeout(s.ctx, publishTimeout)
	defer cancel()
	if len(b.messages) == 1 {
		return publishOnce(ctx, s.js, b.messages[0], b.token)
	}
	ack, err := jetstreamext.PublishMsgBatch(ctx, s.js, b.messages, jetstreamext.BatchFlowControl{AckTimeout: publishTimeout})
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// publishOnce sends a message and returns its sequence. The engine knows it again by the
// token if it comes twice, so that it does not conflict with itself (facts J11); a batch is
// given up then.
func publishOnce(ctx context.Context, js jetstream.JetStream, m *nats.Msg, t token) (uint64, error) {
	m.Header.Set(nats.MsgIdHdr, hex.EncodeToString(t[:]))
	for {
		ack, err := js.PublishMsg(ctx, m)
		var refused *jetstream.APIError
		switch {
		case err == nil:
			return ack.Sequence, nil
		case !errors.As(err, &refused) || refused.ErrorCode != duplicateUnderWay:
			return 0, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// duplicateUnderWay is given for a message that came twice while the first is on its way.
const duplicateUnderWay jetstream.ErrorCode = 10158

// conflicts reports whether the engine refused a batch because a value was not the expected
// one, or might not have been (facts J10).
func conflicts(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == wrongLastSequenceInFlight)
}

// wrongLastSequenceInFlight is given while a rival is on its way.
const wrongLastSequenceInFlight jetstream.ErrorCode = 10164

// certain reports whether a batch was certainly not made, and would not be if it were sent
// again. One that is incomplete may be the rest of one that came twice and was made.
func certain(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code < 500 && refused.Code != http.StatusTooManyRequests && refused.ErrorCode != jetstreamext.JSErrCodeBatchPublishIncomplete
	}
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject)
}
