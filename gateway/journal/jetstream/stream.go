// Package jetstream keeps the journal of a cluster in a stream of NATS JetStream, which is
// replicated between its nodes.
//
// A message is published with the last sequence that its writer has read, which the leader of the stream
// compares with its own last proposal (facts J24). Messages are read by sequence from that leader. A leader
// that was cut off shows an old end until it notices the cut (facts J8).
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

const (
	// requestFor is the time to wait for the answer to a request.
	requestFor = 2 * time.Second

	// A single node delivers the messages. Because it may end, it sends heartbeats at this
	// interval.
	followHeartbeat = time.Second
	followExpiry    = 10 * time.Second

	// incomingMost limits the number of received messages that wait to be visited.
	incomingMost = 256
)

// Options describe the nodes and the cluster of a stream.
type Options struct {
	Cluster string // name of the cluster: letters, digits, hyphens

	// Connect connects to one of the nodes.
	Connect func(...nats.Option) (*nats.Conn, error)
}

// connect returns a connection that reconnects indefinitely, and does not buffer messages for
// sending them later.
func (o Options) connect(more ...nats.Option) (*nats.Conn, error) {
	return o.Connect(append(more, nats.Name("adgateway "+o.Cluster), nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.ReconnectWait(requestFor/8), nats.ReconnectBufSize(-1),
		nats.Timeout(requestFor))...)
}

// Stream implements [journal.Stream]. It must be closed with [Stream.Close].
type Stream struct {
	cluster  string
	conn     *nats.Conn
	js       jetstream.JetStream
	identity Identity

	mu     sync.Mutex
	stream jetstream.Stream // nil if it has not been found since Resume
	moving time.Time        // when the connection was last moved to another node
}

// Identity distinguishes streams of the same name.
type Identity struct {
	Journal    string     `json:"journal"`
	Origin     store.Hash `json:"origin"`     // hash of the content of the file that the journal continues
	MaxMessage int32      `json:"maxMessage"` // size of a message in bytes
}

var _ journal.Stream = (*Stream)(nil)

// ErrNoStream means that the stream of a cluster does not exist.
var ErrNoStream = errors.New("the nodes have no log of this cluster")

// Open connects to the stream of a cluster. It fails with [ErrNoStream], or if the stream does not
// have the settings that a journal needs; the error names each wrong setting. After any other error
// it can be tried again.
func Open(ctx context.Context, o Options) (*Stream, error) {
	s, err := Resume(o, Identity{})
	if err != nil {
		return nil, err
	}
	if s.stream, s.identity, err = s.find(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Resume returns a stream that was open before, even if no node can be reached now.
func Resume(o Options, known Identity) (*Stream, error) {
	conn, err := o.connect()
	if err != nil {
		return nil, err
	}
	s := &Stream{cluster: o.Cluster, conn: conn, identity: known}
	if s.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(requestFor)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// find finds the stream.
func (s *Stream) find(ctx context.Context) (found jetstream.Stream, is Identity, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	found, err = s.js.Stream(ctx, StreamName(s.cluster))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, is, ErrNoStream
	}
	if err != nil {
		return nil, is, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	c := found.CachedInfo().Config
	is.MaxMessage = c.MaxMsgSize
	is.Journal, is.Origin, err = described(s.cluster, c)
	return found, is, err
}

// found returns the client's handle of the stream. It fails with [journal.ErrReplaced] if another
// stream has replaced it.
func (s *Stream) found(ctx context.Context) (jetstream.Stream, error) {
	s.mu.Lock()
	known := s.stream
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	known, is, err := s.find(ctx)
	switch {
	case err != nil:
		return nil, s.unanswered(err)
	case is.Journal != s.identity.Journal:
		return nil, journal.ErrReplaced
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream = known
	return known, nil
}

// Identity returns the stream's identity, for [Resume].
func (s *Stream) Identity() Identity { return s.identity }

// Close ends the connection.
func (s *Stream) Close() { s.conn.Close() }

// Node returns the address of the connected node, or "".
func (s *Stream) Node() string { return s.conn.ConnectedUrl() }

// Options returns the options of a log in this stream.
func (s *Stream) Options(c journal.Cipher) journal.Options {
	return journal.Options{
		Cluster: s.cluster, Journal: s.identity.Journal, Origin: s.identity.Origin, Cipher: c,
		MaxMessage: int(s.identity.MaxMessage) / 4 * 3, // a read returns it in base64
	}
}

// Publish implements [journal.Stream].
func (s *Stream) Publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error) {
	if try > 0 {
		s.elsewhere()
	}
	ack, err := s.js.Publish(ctx, Subject(s.cluster), message,
		jetstream.WithExpectStream(StreamName(s.cluster)), jetstream.WithExpectLastSequence(expect),
		jetstream.WithRetryAttempts(0))
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return ack.Sequence, nil
	case errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return 0, fmt.Errorf("%w: %w", journal.ErrRefused, err)
	}
	return 0, err
}

// elsewhere connects to another node, because the current one may be cut off from the others although
// it is still connected to this gateway (facts J8).
func (s *Stream) elsewhere() {
	s.mu.Lock()
	due := time.Since(s.moving) >= requestFor
	if due {
		s.moving = time.Now()
	}
	s.mu.Unlock()
	if due {
		_ = s.conn.ForceReconnect() // fails if the connection is closed or being made
	}
}

// unanswered connects to another node if a request was not answered, or if the answering node
// reports that there is no leader, because that node may be cut off.
func (s *Stream) unanswered(err error) error {
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.Code == http.StatusServiceUnavailable {
		s.elsewhere()
	}
	for _, away := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders} {
		if errors.Is(err, away) {
			s.elsewhere()
		}
	}
	return err
}

// Read implements [journal.Stream]. The answer comes from the node that leads the stream, or that
// believes it does.
func (s *Stream) Read(ctx context.Context, sequence uint64) ([]byte, error) {
	// The next message of the subject distinguishes a removed message from one that was not written yet (facts
	// J25).
	stream, err := s.found(ctx)
	if err != nil {
		return nil, err
	}
	found, err := stream.GetMsg(ctx, sequence, jetstream.WithGetMsgSubject(Subject(s.cluster)))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, journal.ErrNotYet
	case err != nil:
		return nil, s.unanswered(err)
	case found.Sequence != sequence:
		return nil, journal.ErrGone
	}
	return found.Data, nil
}

// Last implements [journal.Stream]. It fails with [journal.ErrRewound] if another stream has
// replaced this one.
func (s *Stream) Last(ctx context.Context) (oldest, last uint64, err error) {
	info, err := s.js.Stream(ctx, StreamName(s.cluster))
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return 0, 0, nil
	case err != nil:
		return 0, 0, s.unanswered(err)
	}
	now := info.CachedInfo()
	if now.Config.Metadata[journalField] != s.identity.Journal {
		return 0, 0, journal.ErrReplaced
	}
	return now.State.FirstSeq, now.State.LastSeq, nil
}

var errUndelivered = errors.New("the stream is not delivered any more")

// Follow implements [journal.Stream]. It needs a consumer, which the meta leader creates.
func (s *Stream) Follow(
	ctx context.Context, after uint64, visit func(sequence uint64, message []byte) bool,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.found(ctx)
	if err != nil {
		return err
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
	})
	if err != nil {
		return err
	}
	incoming := make(chan jetstream.Msg, incomingMost)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case incoming <- m:
		case <-ctx.Done():
		}
	}, jetstream.PullExpiry(followExpiry), jetstream.PullHeartbeat(followHeartbeat))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	closed := consuming.Closed() // each call of Closed starts a goroutine
	for {
		select {
		case m := <-incoming:
			at, err := m.Metadata()
			if err != nil {
				return err
			}
			if !visit(at.Sequence.Stream, m.Data()) {
				return nil
			}
		case <-closed:
			return errUndelivered
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
