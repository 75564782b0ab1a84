package natsstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/keep"
)

const (
	// attachAgain is how soon the stream is tried again.
	attachAgain = 500 * time.Millisecond

	// What is followed is sent by one node, which may end: it says so often that it lives, and
	// after two times without a word another one is asked. By default that takes half a minute,
	// in which nothing that is written is seen.
	followHeartbeat = time.Second
	followExpiry    = 10 * time.Second

	// removalsKept is how long the stream says that a value was removed. A mirror that is
	// older than half of it begins anew, as it may have missed that.
	removalsKept = 24 * time.Hour

	// incomingMost is how many messages wait to be followed.
	incomingMost = 512
)

// keepAttached follows the stream until the store is closed.
func (s *Store) keepAttached() {
	for s.ctx.Err() == nil {
		err := s.attach()
		if err != nil && !errors.Is(err, keep.ErrUnreachable) && s.ctx.Err() == nil {
			s.refuse(err)
			return
		}
		s.mu.Lock()
		s.fault = err
		s.mu.Unlock()
		s.elsewhere(err)
		select {
		case <-s.ctx.Done():
		case <-time.After(attachAgain):
		}
	}
}

// refuse ends all changes until the gateway starts again.
func (s *Store) refuse(err error) {
	s.mu.Lock()
	s.refused = err
	first := s.stream == nil
	s.mu.Unlock()
	s.o.Log("the store refuses changes", err)
	if first {
		close(s.attached)
	}
}

// attach compares the stream with what is known of it, and follows it until that fails or
// the store is closed.
func (s *Store) attach() error {
	stream, creation, err := s.find()
	if err != nil {
		return err
	}
	tick, err := s.tick(s.ctx)
	if err != nil {
		return err
	}
	if err = s.compare(stream, creation, tick); err != nil {
		return err
	}
	at, err := s.mirror.At()
	if err != nil {
		return err
	}
	consumer, err := stream.OrderedConsumer(s.ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: at.Sequence + 1})
	if err != nil {
		return unreachable(err)
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	incoming := make(chan jetstream.Msg, incomingMost)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case incoming <- m:
		case <-ctx.Done():
		}
	}, jetstream.PullExpiry(followExpiry), jetstream.PullHeartbeat(followHeartbeat))
	if err != nil {
		return unreachable(err)
	}
	defer consuming.Stop()
	s.work(func() {
		if s.reached(ctx, tick) != nil {
			return
		}
		s.mu.Lock()
		first := s.stream == nil
		s.stream = stream
		s.mu.Unlock()
		if first {
			close(s.attached)
		}
	})
	return s.follow(ctx, incoming, consuming.Closed())
}

// find returns the stream and its identity.
func (s *Store) find() (stream jetstream.Stream, creation string, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	stream, err = s.js.Stream(ctx, StreamName(s.o.Name))
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound) && s.mirror.Known().Creation != "":
		return nil, "", fmt.Errorf("%w: the engine has no store of this name any more", keep.ErrRewound)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, "", ErrNoStream
	case err != nil:
		return nil, "", unreachable(err)
	}
	config := stream.CachedInfo().Config
	if how := different(config); how != "" {
		return nil, "", fmt.Errorf("the stream %s has other settings than a store needs: %s", config.Name, how)
	}
	if config.Metadata[formatField] != fmt.Sprint(format) {
		return nil, "", errNewer
	}
	return stream, config.Metadata[creationField], nil
}

// tick writes, so that the leader of the stream must have a quorum, and returns the
// sequence of what it wrote: all that was decided before has a lower one (facts J8).
func (s *Store) tick(ctx context.Context) (uint64, error) {
	m := message{What: isValue, Token: newToken(), Name: string(tickKind), Key: s.o.Gateway, Value: []byte{}}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	known := s.highest()
	ack, err := s.js.Publish(ctx, m.subject(prefixOf(s.o.Name)), m.encode())
	if err != nil {
		return 0, unreachable(err)
	}
	return ack.Sequence, s.acknowledged(known, ack.Sequence, 1)
}

// highest returns the highest sequence that the stream is known to have; 0 as long as it is
// not followed.
func (s *Store) highest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return 0
	}
	return max(s.applied, s.acked)
}

// acknowledged notes the sequence that the last of some messages got. If the stream had a
// higher one when they were sent, it has lost what it acknowledged, and no change is made
// any more.
func (s *Store) acknowledged(known, last uint64, messages int) error {
	if last < known+uint64(messages) {
		err := fmt.Errorf("%w: what was written after message %d became message %d", keep.ErrRewound, known, last)
		s.refuse(err)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = max(s.acked, last)
	return nil
}

// compare returns [keep.ErrRewound] if the stream has not all that it has acknowledged.
// Otherwise the mirror is of the stream then.
func (s *Store) compare(stream jetstream.Stream, creation string, tick uint64) error {
	known := s.mirror.Known()
	at, err := s.mirror.At()
	if err != nil {
		return err
	}
	switch {
	case known.Creation == "":
		return s.restart(creation)
	case known.Creation != creation:
		return fmt.Errorf("%w: another store has taken its place", keep.ErrRewound)
	case tick <= known.Sequence:
		return fmt.Errorf("%w: the last %d messages are missing", keep.ErrRewound, known.Sequence-tick+1)
	}
	if known.Sequence == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	switch last, err := stream.GetMsg(ctx, known.Sequence); {
	case errors.Is(err, jetstream.ErrMsgNotFound): // another one took its place
	case err != nil:
		return unreachable(err)
	case !last.Time.Equal(known.At):
		return fmt.Errorf("%w: the message %d is another one than was acknowledged", keep.ErrRewound, known.Sequence)
	}
	if at.Creation != creation || time.Since(known.At) > removalsKept/2 {
		return s.restart(creation)
	}
	return nil
}

func (s *Store) restart(creation string) error {
	s.mu.Lock()
	s.applied = 0
	s.mu.Unlock()
	return s.mirror.Restart(creation)
}

// follower puts messages together that belong to one decision.
type follower struct {
	whole    []keep.Arrival // of decisions that are complete
	tokens   map[token]keep.Revision
	sequence uint64 // of the last message of them
	at       time.Time

	parts   []keep.Arrival // of one that may not be
	token   token
	last    keep.Revision // sequence that its last message has, or had
	through uint64
	time    time.Time

	foreign int // messages that no gateway has written, since they were counted last
}

// add adds a message. A decision is complete with its last message, or when that of
// another one follows: then the last is not there any more. It is recognized by any of its
// messages.
func (f *follower) add(m *message, sequence uint64, at time.Time) {
	if f.token != m.Token {
		f.flush()
	}
	f.parts, f.token, f.through, f.time = append(f.parts, m.arrivals(sequence)...), m.Token, sequence, at
	f.last = keep.Revision(sequence + uint64(m.Left))
	if m.Left == 0 {
		f.flush()
	}
}

func (f *follower) flush() {
	if len(f.parts) > 0 {
		f.whole, f.sequence, f.at = append(f.whole, f.parts...), f.through, f.time
		f.tokens[f.token] = f.last
		f.parts = nil
	}
}

// follow brings what arrives into the mirror, until ctx or the consumer ends.
func (s *Store) follow(ctx context.Context, incoming <-chan jetstream.Msg, ended <-chan struct{}) error {
	f := follower{tokens: map[token]keep.Revision{}}
	for {
		select {
		case m := <-incoming:
			if err := f.read(m); err != nil {
				return err
			}
		case <-ended:
			return unreachable(errors.New("the stream is not delivered any more"))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for more := true; more && len(f.whole) < incomingMost; {
			select {
			case m := <-incoming:
				if err := f.read(m); err != nil {
					return err
				}
			default:
				more = false
			}
		}
		if len(f.whole) == 0 && f.foreign == 0 {
			continue
		}
		s.mu.Lock()
		applied, refused := s.applied, s.refused
		s.mu.Unlock()
		switch {
		case refused != nil: // the mirror stays as it is, to recover from
			return refused
		case f.sequence <= applied:
			return fmt.Errorf("%w: message %d came again", keep.ErrRewound, f.sequence)
		}
		if err := s.mirror.Follow(f.whole, f.sequence, f.at); err != nil {
			return err
		}
		s.advance(&f)
	}
}

func (f *follower) read(m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	decoded, err := decodeMessage(m.Data())
	if err != nil {
		f.skip(meta.Sequence.Stream, meta.Timestamp)
		return nil
	}
	f.add(&decoded, meta.Sequence.Stream, meta.Timestamp)
	return nil
}

// skip passes over a message that no gateway has written: the stream says in which format
// they do, so that it is not of a newer one.
func (f *follower) skip(sequence uint64, at time.Time) {
	f.flush()
	f.sequence, f.at = sequence, at
	f.foreign++
}

// advance tells those who wait what the mirror has.
func (s *Store) advance(f *follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = f.sequence
	for decision, revision := range f.tokens {
		if _, waited := s.seen[decision]; waited {
			s.seen[decision] = revision
		} else {
			s.rival = time.Now()
		}
	}
	if f.foreign > 0 && s.foreign == 0 {
		s.o.Log("a message of the stream was not written by a gateway, and is skipped", errForeign)
	}
	s.foreign += uint64(f.foreign)
	f.foreign = 0
	clear(f.tokens)
	f.whole = f.whole[:0]
	close(s.moved)
	s.moved = make(chan struct{})
}
