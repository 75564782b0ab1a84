// Package beats carries the messages of the gateways of a cluster through the nodes of the engine,
// which store none of them.
//
// A message is sealed with the key of the cluster, and bound to the cluster and to its sender. It
// names the processes that its sender has heard. A process accepts only messages that name it. Such
// a message was made since the process began, whatever the clocks say, so it is not an old message
// that somebody has kept. Therefore two gateways hear each other with their second message.
// [cluster.Member] ignores repetitions within the life of a process.
package beats

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"adgateway/gateway/cluster"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal"
)

const (
	outgoingMost = 64  // messages that wait to be sent
	incomingMost = 256 // messages that wait to be received

	// processesMost is how many processes of a gateway a message names. The last one heard may come
	// from an old message, so earlier ones are named, too.
	processesMost = 4

	// A dead connection is given up after about three of these.
	pingEvery = time.Second
)

// Options configure the messages of a process. All are required.
type Options struct {
	Cluster string
	Self    journal.Process
	Cipher  journal.Cipher

	// Connect connects to one of the nodes.
	Connect func(...nats.Option) (*nats.Conn, error)
}

// Peers is a [cluster.Peers]. It is safe for concurrent use, except for Receive, which only one
// goroutine may call. The caller must call [Peers.Close].
type Peers struct {
	o        Options
	conn     *nats.Conn
	outgoing chan []byte
	incoming chan *nats.Msg
	done     chan struct{}
	sending  sync.WaitGroup
	refused  atomic.Uint64

	mu    sync.Mutex
	heard map[string][]string // the last starts of each gateway, the newest at the end
}

var _ cluster.Peers = (*Peers)(nil)

// letter is the sealed content of a message.
type letter struct {
	Heard   []string        `json:"heard,omitempty"` // the starts of the processes that the sender has heard
	Message cluster.Message `json:"message"`
}

// New connects a process to the messages of its cluster. It keeps trying nodes that are out of
// reach until [Peers.Close].
func New(o Options) (*Peers, error) {
	conn, err := o.Connect(nats.Name("adgateway "+o.Cluster+" beats"), nats.NoEcho(), nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.ReconnectWait(pingEvery/4), nats.ReconnectBufSize(-1), nats.Timeout(2*pingEvery),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.FlusherTimeout(2*pingEvery))
	if err != nil {
		return nil, err
	}
	p := &Peers{
		o: o, conn: conn, outgoing: make(chan []byte, outgoingMost), incoming: make(chan *nats.Msg, incomingMost),
		done: make(chan struct{}), heard: map[string][]string{},
	}
	if _, err = conn.ChanSubscribe(stock.BeatSubject(o.Cluster, "*"), p.incoming); err != nil {
		conn.Close()
		return nil, err
	}
	p.sending.Go(p.publish)
	return p, nil
}

// Close closes the connection. Unsent messages are lost.
func (p *Peers) Close() {
	close(p.done)
	p.conn.Close()
	p.sending.Wait()
}

// Refused returns how many received messages were refused: their sender lacks the key of the
// cluster, they are older than this process, or they are the first ones of another process.
func (p *Peers) Refused() uint64 { return p.refused.Load() }

// Send implements [cluster.Peers].
func (p *Peers) Send(m cluster.Message) {
	l := letter{Message: m}
	p.mu.Lock()
	for _, starts := range p.heard {
		l.Heard = append(l.Heard, starts...)
	}
	p.mu.Unlock()
	plain, err := json.Marshal(l)
	if err != nil {
		return // every message can be encoded
	}
	select {
	case p.outgoing <- p.o.Cipher.Seal(plain, p.bound(p.o.Self.Gateway)):
	default:
	}
}

// publish sends messages until Close. Without a connection it drops them, because they would be
// stale later.
func (p *Peers) publish() {
	subject := stock.BeatSubject(p.o.Cluster, p.o.Self.Gateway)
	for {
		select {
		case sealed := <-p.outgoing:
			_ = p.conn.Publish(subject, sealed)
		case <-p.done:
			return
		}
	}
}

// Receive implements [cluster.Peers].
func (p *Peers) Receive(ctx context.Context) (cluster.Message, bool) {
	for {
		select {
		case received := <-p.incoming:
			if m, ok := p.open(received); ok {
				return m, true
			}
			p.refused.Add(1)
		case <-ctx.Done():
			return cluster.Message{}, false
		}
	}
}

// open opens a received message. It returns false if the message is refused.
func (p *Peers) open(received *nats.Msg) (cluster.Message, bool) {
	gateway := received.Subject[strings.LastIndexByte(received.Subject, '.')+1:]
	plain, err := p.o.Cipher.Open(received.Data, p.bound(gateway))
	var l letter
	if err != nil || json.Unmarshal(plain, &l) != nil || l.Message.From.Gateway != gateway {
		return cluster.Message{}, false
	}
	p.hear(l.Message.From)
	return l.Message, slices.Contains(l.Heard, p.o.Self.Start)
}

// hear notes that a process was heard, now or earlier.
func (p *Peers) hear(from journal.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	starts := p.heard[from.Gateway]
	if slices.Contains(starts, from.Start) {
		return
	}
	if len(starts) == processesMost {
		starts = starts[1:]
	}
	p.heard[from.Gateway] = append(starts, from.Start)
}

// bound returns what the messages of a gateway are bound to.
func (p *Peers) bound(gateway string) []byte {
	return []byte("adgateway beat\x00" + p.o.Cluster + "\x00" + gateway)
}
