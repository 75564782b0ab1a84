// Package natsstore is a store of package keep on NATS JetStream, which several gateways
// share (many part 2).
//
// A stream has one message for each value, and one for each entry of a log. A decision is
// one message, or an atomic batch of them, with the sequences that it expects: the engine
// makes all of it or nothing (facts J9, J12). Each gateway follows the stream into a mirror
// in a local file, which answers reads. So a value that is read may be some milliseconds
// old: a read is a hint, and only [Store.Apply] decides. What is not found is
// looked for again when the mirror has what the leader of the stream has, and so is what a
// call conflicts with. A leader that is cut off answers for some seconds as if it were still
// one (facts J8): what it says is old then, also that a value is not the expected one; but
// nothing is made by it.
//
// A call whose answer is lost is sent again, and is not made twice: it is recognized by the
// token of its batch, and expects the same messages as before. If they have changed, and it
// was not seen, it remains in doubt (facts J11).
//
// While the engine cannot be reached, reads go on from the mirror, and changes fail with
// [keep.ErrUnreachable].
//
//	store.go    the store, and its reads
//	attach.go   the stream is compared with what is known of it, and followed
//	write.go    decisions, those that wait together in one batch
//	batch.go    the messages of a decision, and what they expect
//	message.go  a message
//	recover.go  what the stream has lost is sent again
//	stream.go   the stream and its settings
//	health.go   what is wrong with the engine although it works
package natsstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/keep"
)

// Options configure a store.
type Options struct {
	Name    string // of the store, which all its gateways have
	Gateway string // this one's name, which no other has
	Mirror  string // path of the mirror; beside it is a file of what is known of the stream
	Connect func(...nats.Option) (*nats.Conn, error)
	Now     func() time.Time // nil: time.Now

	// Patience is how long a change is tried again while no answer comes: longer than an
	// election takes (facts J8). 0 is 12 s.
	Patience time.Duration

	// Log is told what an administrator should know; nil is nobody.
	Log func(message string, err error)
}

// Store is a [keep.Store] on JetStream.
type Store struct {
	o       Options
	conn    *nats.Conn
	js      jetstream.JetStream
	mirror  *keep.Mirror
	ctx     context.Context // until Close
	cancel  context.CancelFunc
	working sync.WaitGroup
	writing chan struct{} // holds one element while a call of Apply writes for all that wait

	attached chan struct{} // closed when the stream is followed, or refused

	mu      sync.Mutex // guards the fields below
	stream  jetstream.Stream
	fault   error                   // why the stream could not be followed the last time
	refused error                   // why no change can be made until the gateway starts again
	applied uint64                  // sequence up to which the mirror has the stream
	acked   uint64                  // highest sequence that was acknowledged since the stream is followed
	moved   chan struct{}           // closed when applied grows
	seen    map[token]keep.Revision // decisions that are waited for; 0: not seen yet
	waiting []*write
	turn    time.Time // until when others go first, if they write
	rival   time.Time // when something that another one has written was last seen
	moving  time.Time // when the connection was last given up for another one
	state   keep.State
	lost    bool    // the engine did not answer the last change that was tried
	foreign uint64  // messages of the stream that no gateway has written, since this one runs
	health  *Health // of the engine, as it was last seen; nil: not yet
}

var (
	_ keep.Store  = (*Store)(nil)
	_ keep.Remote = (*Store)(nil)
)

// Open opens the mirror and connects to the engine. It waits until the mirror has what the
// stream has. If the engine cannot be reached it goes on with a mirror from before, and
// fails without one. It fails if the stream has other settings than a store needs; if the
// stream has lost what it acknowledged, the store opens and [keep.State] says so.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, error) {}
	}
	o.Patience = cmp.Or(o.Patience, 12*time.Second)
	mirror, err := keep.OpenMirror(o.Mirror, o.Now)
	if err != nil {
		return nil, fmt.Errorf("mirror of the store %s: %w", o.Mirror, err)
	}
	conn, err := o.Connect(nats.Name("adgateway "+o.Gateway), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond), nats.ReconnectBufSize(-1), nats.Timeout(requestTimeout))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("engine: %w", err), mirror.Close())
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		conn.Close()
		return nil, errors.Join(err, mirror.Close())
	}
	s := &Store{
		o: o, conn: conn, js: js, mirror: mirror, writing: make(chan struct{}, 1), attached: make(chan struct{}),
		moved: make(chan struct{}), seen: map[token]keep.Revision{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	at, err := mirror.At()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.applied = at.Sequence
	s.work(s.keepAttached)
	s.work(s.watchHealth)
	if err = s.opened(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// opened waits for the first stream, and returns why the store cannot be used.
func (s *Store) opened(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	select {
	case <-s.attached:
		if refused, rewound := s.refusal(); !rewound {
			return refused
		}
		return nil
	case <-ctx.Done():
		if s.mirror.Known().Creation == "" {
			return s.away()
		}
		s.o.Log("reads go on from the mirror, changes are refused", s.away())
		return nil
	}
}

// away returns why the stream is not followed.
func (s *Store) away() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil && s.conn.IsConnected() {
		return s.fault
	}
	return unreachable(cmp.Or(s.conn.LastError(), errors.New("none of its nodes has answered")))
}

// elsewhere connects to another node, if the present one does not answer: it may be cut off
// from the others, and is still connected to this gateway (facts J8).
func (s *Store) elsewhere(err error) {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, jetstream.ErrNoStreamResponse) || s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	again := time.Since(s.moving) >= requestTimeout
	if again {
		s.moving = time.Now()
	}
	s.mu.Unlock()
	if again {
		_ = s.conn.ForceReconnect() // it fails if the connection is closed, or is being made
	}
}

// refusal returns why no change can be made until the gateway starts again, and whether
// that is because the stream has lost something.
func (s *Store) refusal() (refused error, rewound bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused, errors.Is(s.refused, keep.ErrRewound)
}

// Get is that of [keep.Store].
func (s *Store) Get(ctx context.Context, kind keep.Kind, key string) (keep.Entry, error) {
	e, err := s.get(ctx, kind, key)
	if errors.Is(err, keep.ErrAbsent) && s.catchUp(ctx) == nil {
		e, err = s.get(ctx, kind, key)
	}
	return e, err
}

func (s *Store) get(ctx context.Context, kind keep.Kind, key string) (keep.Entry, error) {
	e, err := s.mirror.Get(ctx, kind, key)
	if err != nil {
		return e, err
	}
	c, err := unmirror(e)
	if err == nil && c.what == isRemoved {
		err = keep.ErrAbsent
	}
	if err != nil {
		return keep.Entry{}, err
	}
	return c.Entry, nil
}

// Range is that of [keep.Store].
func (s *Store) Range(ctx context.Context, kind keep.Kind, prefix string, visit func(keep.Entry) bool) error {
	var malformed error
	err := s.mirror.Range(ctx, kind, prefix, unmirrored(visit, &malformed))
	return errors.Join(err, malformed)
}

// RangeBack is that of [keep.Store].
func (s *Store) RangeBack(ctx context.Context, kind keep.Kind, before string, visit func(keep.Entry) bool) error {
	var malformed error
	err := s.mirror.RangeBack(ctx, kind, before, unmirrored(visit, &malformed))
	return errors.Join(err, malformed)
}

func unmirrored(visit func(keep.Entry) bool, malformed *error) func(keep.Entry) bool {
	return func(e keep.Entry) bool {
		c, err := unmirror(e)
		if *malformed = err; err != nil {
			return false
		}
		return c.what == isRemoved || visit(c.Entry)
	}
}

// Log is that of [keep.Store]. A position that another gateway has reached is found once
// the mirror has come as far.
func (s *Store) Log(ctx context.Context, log keep.Log, after keep.Position, visit func(keep.Appended) bool) error {
	visited := false
	err := s.readLog(ctx, log, after, func(a keep.Appended) bool { visited = true; return visit(a) })
	if errors.Is(err, keep.ErrPosition) && !visited && s.catchUp(ctx) == nil {
		err = s.readLog(ctx, log, after, visit)
	}
	return err
}

func (s *Store) readLog(ctx context.Context, log keep.Log, after keep.Position, visit func(keep.Appended) bool) error {
	var malformed error
	err := s.mirror.Log(ctx, log, after, func(a keep.Appended) bool {
		if len(a.Value) < mirrored {
			malformed = errMalformed
			return false
		}
		a.Value = a.Value[mirrored:]
		return visit(a)
	})
	return errors.Join(err, malformed)
}

// End is that of [keep.Store].
func (s *Store) End(ctx context.Context, log keep.Log) (keep.Position, error) {
	return s.mirror.End(ctx, log)
}

// Appends is that of [keep.Store].
func (s *Store) Appends(log keep.Log) <-chan struct{} { return s.mirror.Appends(log) }

// Sweep removes what has expired from the mirror. The engine does so by itself.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	removed, err := s.mirror.Sweep(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Swept += uint64(removed)
	return removed, err
}

// Now is that of [keep.Store].
func (s *Store) Now() time.Time { return s.o.Now() }

// State is that of [keep.Store]. The size is that of the mirror.
func (s *Store) State() keep.State {
	s.mu.Lock()
	state := s.state
	switch {
	case errors.Is(s.refused, keep.ErrRewound):
		state.Rewound = s.refused
	case s.refused != nil:
		state.Failed = s.refused
	case state.Failed == nil && !s.conn.IsConnected():
		state.Failed = unreachable(cmp.Or(s.conn.LastError(), nats.ErrDisconnected))
	case state.Failed == nil && s.stream == nil && s.fault != nil:
		state.Failed = s.fault
	}
	s.mu.Unlock()
	state.Bytes = s.mirror.Bytes()
	return state
}

// Reach is that of [keep.Remote].
func (s *Store) Reach(ctx context.Context) error { return s.catchUp(ctx) }

// catchUp waits until the mirror has what the leader of the stream has now.
func (s *Store) catchUp(ctx context.Context) error {
	stream := s.followed()
	if stream == nil || !s.conn.IsConnected() {
		return keep.ErrUnreachable
	}
	info, err := leaderState(ctx, stream)
	if err != nil {
		s.elsewhere(err)
		return err
	}
	if info.State.LastSeq < s.highest() { // an old leader may say so, but cannot write (facts J8)
		_, err := s.tick(ctx)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return s.reached(ctx, info.State.LastSeq)
}

// followed returns the stream; nil if it is not followed yet, or not any more.
func (s *Store) followed() jetstream.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused != nil {
		return nil
	}
	return s.stream
}

// through returns the sequence up to which the mirror has the stream.
func (s *Store) through() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

// reached waits until the mirror has the stream up to a sequence.
func (s *Store) reached(ctx context.Context, sequence uint64) error {
	for {
		s.mu.Lock()
		applied, moved := s.applied, s.moved
		s.mu.Unlock()
		if applied >= sequence {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.ctx.Done():
			return keep.ErrClosed
		}
	}
}

// work does something beside the caller, which Close waits for, unless the store is closed.
func (s *Store) work(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.working.Go(do)
	}
}

// Close is that of [keep.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.working.Wait()
	s.conn.Close()
	return s.mirror.Close()
}
