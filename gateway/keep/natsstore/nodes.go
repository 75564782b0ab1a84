package natsstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A node whose files were damaged does not notice it, and may lead one day (facts J3). So
// the stream can be read through each node, and what they have be compared.

// Comparison is what [CompareNodes] has found.
type Comparison struct {
	Nodes    []NodeComparison `json:"nodes"`    // by name
	Messages uint64           `json:"messages"` // that were compared
}

// NodeComparison is how what one node has differs from what most have.
type NodeComparison struct {
	Name    string `json:"name"`
	Missing uint64 `json:"missing"` // messages that it lacks
	Altered uint64 `json:"altered"` // that it has otherwise
	Surplus uint64 `json:"surplus"` // that it has and most have not
	First   uint64 `json:"first"`   // sequence of the first of them; 0: there is none
}

// Differs reports whether the node must be wiped and joined anew.
func (n *NodeComparison) Differs() bool { return n.First > 0 }

// Differs reports whether some node does.
func (c *Comparison) Differs() bool {
	return slices.ContainsFunc(c.Nodes, func(n NodeComparison) bool { return n.Differs() })
}

// lookAgain is how long after a comparison what differed is compared again.
const lookAgain = 2 * time.Second

// CompareNodes reads the stream of a store through each of its nodes, and compares what they
// have. Gateways may run meanwhile: what differs counts only if it still does when all is
// read for the second time, as no message changes that was removed or replaced at every
// node. It fails while a node is away or behind.
func CompareNodes(ctx context.Context, o Options) (found Comparison, err error) {
	conn, err := o.Connect(nats.Name("adgateway verify "+o.Gateway), nats.Timeout(requestTimeout))
	if err != nil {
		return found, unreachable(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		return found, err
	}
	stream, err := js.Stream(ctx, StreamName(o.Name))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return found, ErrNoStream
	}
	if err != nil {
		return found, unreachable(err)
	}
	first := &comparing{stream: stream}
	if err = first.read(ctx); err != nil {
		return found, err
	}
	found.Messages = first.messages
	for _, name := range first.names {
		found.Nodes = append(found.Nodes, NodeComparison{Name: name})
	}
	if len(first.differ) == 0 {
		return found, nil
	}
	select {
	case <-ctx.Done():
		return found, context.Cause(ctx)
	case <-time.After(lookAgain):
	}
	second := &comparing{stream: stream}
	if err = second.read(ctx); err != nil {
		return found, err
	}
	for _, sequence := range slices.Sorted(maps.Keys(first.differ)) {
		if digests := second.differ[sequence]; digests != nil && slices.Equal(digests, first.differ[sequence]) {
			found.count(sequence, digests)
		}
	}
	return found, nil
}

// count counts a message that differs, by the digests that the nodes have of it.
func (c *Comparison) count(sequence uint64, digests []digest) {
	times := map[digest]int{}
	for _, d := range digests {
		times[d]++
	}
	most := digests[0]
	for d, n := range times {
		if n > times[most] {
			most = d
		}
	}
	for i, d := range digests {
		if d == most && times[most] > 1 { // else no two of them agree
			continue
		}
		n := &c.Nodes[i]
		switch {
		case d == digest{}:
			n.Missing++
		case most == digest{} && times[most] > 1:
			n.Surplus++
		default:
			n.Altered++
		}
		if n.First == 0 {
			n.First = sequence
		}
	}
}

// digest is that of a message; zero: there is none.
type digest [sha256.Size]byte

// comparing is one reading of a stream through all its nodes.
type comparing struct {
	stream   jetstream.Stream
	names    []string // of the nodes
	messages uint64
	differ   map[uint64][]digest // by sequence, of each node
}

// mostDiffer is how many messages that differ are noted.
const mostDiffer = 100_000

// read reads the stream up to where it ends now.
func (c *comparing) read(ctx context.Context) error {
	info, err := leaderState(ctx, c.stream)
	if err != nil {
		return err
	}
	h := healthOf(info)
	for _, node := range h.Nodes {
		if node.State != NodeCurrent {
			return fmt.Errorf("the node '%s' of the engine is %s: wait until 'adgateway cluster status' shows all as current", node.Name, node.State)
		}
		c.names = append(c.names, node.Name)
	}
	readers, err := c.readers(ctx, info.State.LastSeq)
	defer func() {
		for _, r := range readers {
			r.messages.Stop()
		}
	}()
	if err != nil {
		return err
	}
	c.differ = map[uint64][]digest{}
	for {
		at := uint64(0)
		for _, r := range readers {
			if r.sequence > 0 && (at == 0 || r.sequence < at) {
				at = r.sequence
			}
		}
		if at == 0 {
			return nil
		}
		c.messages++
		digests := make([]digest, len(readers))
		for i, r := range readers {
			if r.sequence != at {
				continue
			}
			digests[i] = r.digest
			if err := r.next(ctx); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(digests[1:], func(d digest) bool { return d != digests[0] }) {
			if len(c.differ) == mostDiffer {
				return nil // that is enough to tell
			}
			c.differ[at] = digests
		}
	}
}

// mostReaders is how many readers are made until there is one at each node: the engine
// chooses the node of each at random.
const mostReaders = 64

// readers returns a reader at each node, in the order of their names.
func (c *comparing) readers(ctx context.Context, last uint64) ([]*reader, error) {
	all := map[string]*reader{}
	for range mostReaders {
		consumer, err := c.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
			AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
			Replicas: 1, MemoryStorage: true, InactiveThreshold: time.Minute,
		})
		if err != nil {
			return slices.Collect(maps.Values(all)), unreachable(err)
		}
		info := consumer.CachedInfo()
		name := c.names[0]
		if info.Cluster != nil {
			name = info.Cluster.Leader
		}
		if all[name] != nil || !slices.Contains(c.names, name) {
			if err := c.stream.DeleteConsumer(ctx, info.Name); err != nil {
				return slices.Collect(maps.Values(all)), unreachable(err)
			}
			continue
		}
		messages, err := consumer.Messages(jetstream.PullExpiry(4*pullAgain), jetstream.PullHeartbeat(pullAgain/2), jetstream.WithMessagesErrOnMissingHeartbeat(false))
		if err != nil {
			return slices.Collect(maps.Values(all)), unreachable(err)
		}
		all[name] = &reader{node: name, consumer: consumer, messages: messages, last: last, pending: info.NumPending}
		if err := all[name].next(ctx); err != nil {
			return slices.Collect(maps.Values(all)), err
		}
		if len(all) == len(c.names) {
			break
		}
	}
	sorted := slices.SortedFunc(maps.Values(all), func(a, b *reader) int { return strings.Compare(a.node, b.node) })
	if len(sorted) < len(c.names) {
		return sorted, fmt.Errorf("only %d of the %d nodes of the engine can be read through: %w", len(sorted), len(c.names), errSomeNodes)
	}
	return sorted, nil
}

var errSomeNodes = errors.New("the others take no reader at the moment; try again later")

// reader reads the stream through one node.
type reader struct {
	node     string
	consumer jetstream.Consumer
	messages jetstream.MessagesContext
	last     uint64 // sequence to read up to
	pending  uint64 // messages that follow

	sequence uint64 // of the message that was read last; 0: there are no more
	digest   digest
}

// pullAgain is how soon messages are asked for again of a node that has not heard of it: it
// takes a moment until the others know of a new reader.
const pullAgain = time.Second

// messageWait is how long a message is waited for until the node is asked whether there is
// one, as it may have been removed since it was counted, and mostWaits how often.
const (
	messageWait = 5 * time.Second
	mostWaits   = 6
)

// next reads the next message.
func (r *reader) next(ctx context.Context) error {
	if r.pending == 0 || r.sequence >= r.last && r.sequence > 0 {
		r.sequence = 0
		return nil
	}
	m, err := r.wait(ctx)
	if err != nil {
		return fmt.Errorf("node '%s': %w", r.node, unreachable(err))
	}
	if m == nil {
		r.sequence, r.pending = 0, 0
		return nil
	}
	at, err := m.Metadata()
	if err != nil {
		return fmt.Errorf("node '%s': %w", r.node, err)
	}
	r.sequence, r.pending = at.Sequence.Stream, at.NumPending
	if r.sequence > r.last {
		r.sequence = 0
		return nil
	}
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%d %s\x00", at.Timestamp.UnixNano(), m.Subject()) // never fails, as below
	for _, name := range slices.Sorted(maps.Keys(m.Headers())) {
		_, _ = fmt.Fprintf(hash, "%q %q\x00", name, m.Headers()[name])
	}
	_, _ = hash.Write(m.Data())
	copy(r.digest[:], hash.Sum(nil))
	return nil
}

// wait returns the next message; nil if there is none.
func (r *reader) wait(ctx context.Context) (jetstream.Msg, error) {
	for try := 1; ; try++ {
		m, err := r.messages.Next(jetstream.NextMaxWait(messageWait))
		if !errors.Is(err, nats.ErrTimeout) || try == mostWaits {
			return m, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if info, err := r.consumer.Info(ctx); err == nil && info.NumPending == 0 {
			return nil, nil
		}
	}
}
