package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/store"
)

const (
	// tryFor is the time to wait for the answer to a message before it is sent again.
	tryFor = 2 * time.Second

	// readAgainMost is the longest pause before the end of the stream is read again.
	readAgainMost = 250 * time.Millisecond

	// shortFor is how long a stream must appear to end before the last applied entry until the gateway
	// believes it. A node that was cut off shows an old end until it notices.
	shortFor = 30 * time.Second
)

// Options configure a log.
type Options struct {
	Cluster    string     // name of the cluster
	Journal    string     // identity of the stream
	Origin     store.Hash // hash that the first entry of the stream follows; zero if none
	Cipher     Cipher
	MaxMessage int // size of the largest message that the stream accepts, in bytes; more than 4 KiB
}

// Log reads and writes a journal for a gateway. It applies the entries in its stream that verify,
// in order. It is safe for concurrent use.
type Log struct {
	stream  Stream
	applier Applier
	o       Options
	bound   []byte

	writing chan struct{} // full while an entry is being appended or a term is being claimed
	taking  chan struct{} // full while a message is applied

	mu       sync.Mutex
	started  bool
	chain    chain  // changes only while taking is full
	read     uint64 // sequence that was read last; changes like chain
	at       store.Point
	moved    chan struct{} // closed when read changes
	verified uint64        // number of messages that verify
	status   Status
	term     uint64    // of this process; 0 if it has had none
	unknown  bool      // whether a message sealed with an unknown key has been read since the last entry
	short    time.Time // since when the stream has ended before the last applied entry; zero if it does not
	pending  *sending  // entry that is being stored, or nil
}

// Status is the state of a log as a gateway knows it.
type Status struct {
	Point   store.Point // of the last applied entry
	Term    uint64      // the highest term; 0 if none has begun
	Process Process     // process that has the term
	Leads   bool        // the term belongs to this process
	Time    time.Time   // of the last entry
	Heard   time.Time   // when a message that verifies was last read, by the monotonic clock; zero if never

	Strangers uint64    // messages that do not verify
	Sent      uint64    // messages that were sent
	Again     uint64    // number of sent messages that were repetitions
	Undecided time.Time // since when an entry has been undecided; zero if none is
	Fault     error     // reason why the last read of the stream failed, or nil
}

// New returns the log in a stream. It applies the entries to applier.
func New(stream Stream, applier Applier, o Options) *Log {
	return &Log{
		stream: stream, applier: applier, o: o,
		bound:   []byte("adgateway journal\x00" + o.Cluster + "\x00" + o.Journal),
		writing: make(chan struct{}, 1), taking: make(chan struct{}, 1), moved: make(chan struct{}),
	}
}

// Status returns the log's status as this process knows it now.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.status
	s.Point, s.Term, s.Process, s.Time = l.at, l.chain.last.Term, l.chain.last.Process, l.chain.last.Time
	s.Leads = l.leads()
	if l.pending != nil {
		s.Undecided = l.pending.since
	}
	return s
}

// CatchUp applies the following entries, up to the end of the stream as the answering node knows it. It needs
// no consumer. It fails with [store.ErrUnreachable] if no node answers. It fails in the same way, for half a
// minute, if the stream seems to end before the last applied entry. It fails permanently with [ErrRewound],
// [ErrBehind] and [ErrNewer], and returns the errors of the applier.
func (l *Log) CatchUp(ctx context.Context) error {
	err := l.start(ctx)
	if err == nil {
		err = l.readOn(ctx)
	}
	if err == nil {
		err = l.reaches(ctx)
	}
	err = explain(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Fault = err
	return err
}

// readOn reads and applies messages up to the end of the stream.
func (l *Log) readOn(ctx context.Context) error {
	for {
		next := l.position() + 1
		sealed, err := l.get(ctx, next)
		if err == nil {
			err = l.take(ctx, next, sealed)
		}
		if errors.Is(err, ErrNotYet) {
			return nil
		}
		if err != nil {
			return explain(err)
		}
	}
}

// get reads a message with a time limit.
func (l *Log) get(ctx context.Context, sequence uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	return l.stream.Read(ctx, sequence)
}

// explain converts an error of a stream to one of a log. Unknown errors become
// [store.ErrUnreachable].
func explain(err error) error {
	var failed *applyError
	switch {
	case err == nil, errors.As(err, &failed), errors.Is(err, store.ErrUnreachable),
		errors.Is(err, ErrRewound), errors.Is(err, ErrBehind), errors.Is(err, ErrNewer):
		return err
	case errors.Is(err, ErrGone):
		return ErrBehind
	}
	return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
}

// applyError is an error of the applier.
type applyError struct{ error }

func (e *applyError) Unwrap() error { return e.error }

func (l *Log) position() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// start finds the last applied entry in the stream, once.
func (l *Log) start(ctx context.Context) error {
	if err := enter(ctx, l.taking); err != nil {
		return err
	}
	defer func() { <-l.taking }()
	l.mu.Lock()
	started := l.started
	l.mu.Unlock()
	if started {
		return nil
	}
	at, err := l.applier.Point()
	if err != nil {
		return &applyError{err}
	}
	found, at, err := l.locate(ctx, at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started, l.chain, l.read, l.at = true, found, at.Sequence, at
	return nil
}

// Reaches returns nil if a store at a point could continue with the log, and otherwise the error that
// [Log.CatchUp] would return.
func (l *Log) Reaches(ctx context.Context, at store.Point) error {
	_, at, err := l.locate(ctx, at)
	if err == nil {
		_, err = l.get(ctx, at.Sequence+1)
	}
	if errors.Is(err, ErrNotYet) {
		return nil
	}
	return explain(err)
}

// locate returns the chain that ends at a point, and the corresponding point in this stream.
func (l *Log) locate(ctx context.Context, at store.Point) (chain, store.Point, error) {
	if at.Journal == l.o.Journal {
		found, err := l.find(ctx, at)
		return found, at, err
	}
	if at.Hash != l.o.Origin {
		return chain{}, at, fmt.Errorf("%w: it follows a file that is not this one", ErrBehind)
	}
	return chain{hash: at.Hash}, store.Point{Hash: at.Hash}, nil
}

// find returns the chain that ends at a point.
func (l *Log) find(ctx context.Context, at store.Point) (chain, error) {
	sealed, err := l.get(ctx, at.Sequence)
	switch {
	case errors.Is(err, ErrNotYet):
		return chain{}, l.shorter(at.Sequence)
	case err != nil:
		return chain{}, err
	}
	m, err := l.open(sealed)
	if errors.Is(err, ErrNewer) {
		return chain{}, err
	}
	if err != nil || m.hash != at.Hash {
		return chain{}, fmt.Errorf("%w: entry %d is another one", ErrRewound, at.Sequence)
	}
	return chain{last: m.head, hash: m.hash}, nil
}

// reaches returns an error if the stream ends before the last message that was read.
func (l *Log) reaches(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, tryFor)
	_, last, err := l.stream.Last(limited)
	cancel()
	if err != nil {
		return explain(err)
	}
	if read := l.position(); last < read {
		return l.shorter(read)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.short = time.Time{}
	return nil
}

// shorter handles a stream that ends before a sequence. It returns [ErrRewound] only if that has
// lasted for a while.
func (l *Log) shorter(sequence uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.short.IsZero() {
		l.short = time.Now()
	}
	if time.Since(l.short) >= shortFor {
		return fmt.Errorf("%w: it ends before entry %d", ErrRewound, sequence)
	}
	return fmt.Errorf("%w: the node that answers knows nothing of entry %d", store.ErrUnreachable, sequence)
}

// open decrypts and decodes a message.
func (l *Log) open(sealed []byte) (*message, error) {
	plain, err := l.o.Cipher.Open(sealed, l.bound)
	if err != nil {
		return nil, err
	}
	return decode(plain)
}

// take applies the message with the given sequence number, unless another one must be read next.
func (l *Log) take(ctx context.Context, sequence uint64, sealed []byte) error {
	if err := enter(ctx, l.taking); err != nil {
		return err
	}
	defer func() { <-l.taking }()
	l.mu.Lock()
	isNext := l.started && sequence == l.read+1
	l.mu.Unlock()
	if !isNext {
		return nil
	}
	m, err := l.open(sealed)
	next, e := l.chain, (*Entry)(nil)
	if err == nil {
		next, e, err = l.chain.next(m)
	}
	switch {
	case errors.Is(err, ErrNewer), errors.Is(err, ErrRewound):
		return fmt.Errorf("message %d: %w", sequence, err)
	case err != nil:
		l.skip(sequence, errors.Is(err, ErrKeyUnknown))
		return nil
	}
	at := store.Point{Journal: l.o.Journal, Sequence: sequence, Hash: m.hash}
	if e != nil {
		if err := l.applier.Apply(ctx, e, at); err != nil {
			return &applyError{fmt.Errorf("entry %d: %w", sequence, err)}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chain, l.verified, l.status.Heard, l.unknown = next, l.verified+1, time.Now(), false
	if e != nil {
		l.at = at
	}
	if l.pending != nil {
		l.pending.see(m.Token, at)
		if m.Number == 0 && m.Token == l.pending.token {
			l.term = m.Term
		}
	}
	l.advance(sequence)
	return nil
}

// skip skips a message that does not verify.
func (l *Log) skip(sequence uint64, unknown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Strangers++
	l.unknown = l.unknown || unknown
	l.advance(sequence)
}

// advance records the sequence that was read, and wakes waiters. l.mu is held.
func (l *Log) advance(sequence uint64) {
	l.read = sequence
	close(l.moved)
	l.moved = make(chan struct{})
}

// enter waits until place, which is a mutex in the form of a channel, is free or ctx ends.
func enter(ctx context.Context, place chan<- struct{}) error {
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
