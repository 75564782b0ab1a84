// Package journaltest has tools for tests of a journal: a stream in memory that loses and delays
// messages on demand, a cipher, and an applier that records entries.
package journaltest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adgateway/gateway/journal"
)

// Fate determines whether a published message is stored, and when.
type Fate struct {
	Lost     bool          // the message is not stored
	Late     time.Duration // time until the message arrives; it is then stored if its expectation holds
	Pending  time.Duration // time during which the message counts as the last one but cannot be read yet
	Vanishes bool          // the message is not stored after the time Pending
	Silent   bool          // no answer comes
	Fails    bool          // the message is not sent, because no node can be reached
}

// Memory simulates the nodes with a stream. It is safe for concurrent use, and only uses channels
// and timers, so it works in a bubble of testing/synctest.
type Memory struct {
	mu       sync.Mutex
	messages [][]byte // the first has the sequence 1; nil if no longer kept
	oldest   int      // index of the first message that is kept
	pending  bool     // whether one message is counted but cannot be read yet
	behind   [][]byte // messages that were inserted after the pending one
	stored   chan struct{}
}

// NewMemory returns an empty stream.
func NewMemory() *Memory { return &Memory{stored: make(chan struct{})} }

// Client returns a connection to the stream. Each connection has its own faults.
func (m *Memory) Client() *Client { return &Client{memory: m, cut: make(chan struct{})} }

// Insert stores a message as a stranger would, regardless of expectations, and returns its
// sequence.
func (m *Memory) Insert(message []byte) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending {
		m.behind = append(m.behind, message)
		return uint64(len(m.messages) + 1 + len(m.behind))
	}
	return m.add(message)
}

// Messages returns the stored messages. The first has the sequence 1.
func (m *Memory) Messages() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages)
}

// Forget drops the messages before a sequence, as a full stream does.
func (m *Memory) Forget(before uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.oldest = int(before) - 1
	clear(m.messages[:m.oldest])
}

// Rewind drops the messages after a sequence, like nodes that were restored from a copy.
func (m *Memory) Rewind(after uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = m.messages[:after:after]
}

// add stores a message. m.mu is held.
func (m *Memory) add(message []byte) uint64 {
	m.messages = append(m.messages, message)
	close(m.stored)
	m.stored = make(chan struct{})
	return uint64(len(m.messages))
}

type answer struct {
	sequence uint64
	err      error
}

// arrive stores a message that has arrived if its expectation holds, and sends the answer.
func (m *Memory) arrive(expect uint64, message []byte, fate Fate, answers chan<- answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending || uint64(len(m.messages)) != expect {
		answers <- answer{err: journal.ErrRefused}
		return
	}
	if fate.Pending == 0 {
		answers <- answer{sequence: m.add(message)}
		return
	}
	m.pending = true
	time.AfterFunc(fate.Pending, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pending = false
		if !fate.Vanishes {
			answers <- answer{sequence: m.add(message)}
		}
		for _, message := range m.behind {
			m.add(message)
		}
		m.behind = nil
	})
}

// Client is a [journal.Stream] in memory. It is safe for concurrent use.
type Client struct {
	memory *Memory

	mu      sync.Mutex
	fate    func(expect uint64, message []byte, try int) Fate
	cut     chan struct{} // closed when the connection is cut; another channel, closed when it is mended
	end     uint64        // last message that a cut connection shows
	isCut   bool
	noFlow  bool
	publish int
}

// Fates sets the function that decides the fate of each message published from now on. Nil means
// that every message is stored and acknowledged normally.
func (c *Client) Fates(decide func(expect uint64, message []byte, try int) Fate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fate = decide
}

// Cut cuts the client's node off from the other nodes. The node then shows the end that it knows, and stores
// nothing.
func (c *Client) Cut() { c.CutAt(uint64(len(c.memory.Messages()))) }

// CutAt is like Cut, for a node that only knows the log up to end.
func (c *Client) CutAt(end uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCut {
		c.isCut, c.end = true, end
		close(c.cut)
	}
}

// Mend undoes Cut.
func (c *Client) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		c.isCut, c.cut = false, make(chan struct{})
	}
}

// Undeliver makes Follow fail from its next call on, or work again.
func (c *Client) Undeliver(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noFlow = on
}

// Published returns how many messages were sent.
func (c *Client) Published() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.publish
}

// Publish implements [journal.Stream].
func (c *Client) Publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error) {
	c.mu.Lock()
	c.publish++
	decide, isCut := c.fate, c.isCut
	c.mu.Unlock()
	var fate Fate
	if decide != nil {
		fate = decide(expect, message, try)
	}
	if fate.Fails {
		return 0, errAway
	}
	answers := make(chan answer, 1)
	switch {
	case fate.Lost, isCut:
	case fate.Late > 0:
		time.AfterFunc(fate.Late, func() { c.memory.arrive(expect, message, fate, answers) })
	default:
		c.memory.arrive(expect, message, fate, answers)
	}
	heard := answers
	if fate.Silent {
		heard = nil
	}
	select {
	case a := <-heard:
		return a.sequence, a.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// known returns the messages that the client's node knows, and the index of the first that is kept.
func (c *Client) known() (messages [][]byte, oldest int, stored, cut <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	messages = c.memory.messages
	if c.isCut && c.end < uint64(len(messages)) {
		messages = messages[:c.end]
	}
	return messages, c.memory.oldest, c.memory.stored, c.cut
}

// Read implements [journal.Stream].
func (c *Client) Read(ctx context.Context, sequence uint64) ([]byte, error) {
	messages, oldest, _, _ := c.known()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case sequence > uint64(len(messages)):
		return nil, journal.ErrNotYet
	case sequence <= uint64(oldest):
		return nil, journal.ErrGone
	}
	return messages[sequence-1], nil
}

// Last implements [journal.Stream].
func (c *Client) Last(ctx context.Context) (oldest, last uint64, err error) {
	messages, first, _, _ := c.known()
	return uint64(first) + 1, uint64(len(messages)), ctx.Err()
}

var (
	errAway        = errors.New("nobody is there")
	errUndelivered = errors.New("no consumer can be made")
)

// Follow implements [journal.Stream].
func (c *Client) Follow(
	ctx context.Context, after uint64, visit func(sequence uint64, message []byte) bool,
) error {
	for next := after + 1; ; next++ {
		messages, oldest, stored, cut := c.known()
		c.mu.Lock()
		fails := c.noFlow || c.isCut
		c.mu.Unlock()
		switch {
		case fails:
			return errUndelivered
		case next <= uint64(oldest):
			return journal.ErrGone
		case next <= uint64(len(messages)):
			if !visit(next, messages[next-1]) {
				return nil
			}
			continue
		}
		next--
		select {
		case <-stored:
		case <-cut:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
