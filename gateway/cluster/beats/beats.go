// Package beats carries the messages between a cluster's gateways through the nodes of the engine, which do
// not store them.
//
// A message is sealed with the cluster's key, and bound to the cluster and its sender. It names the processes
// that its sender has heard. A process only accepts messages that name the process. Such a message was
// created after the process began, no matter what the clocks say, so it cannot be an old message that
// somebody has recorded. Therefore two gateways hear each other from their second message on.
// [cluster.Member] ignores repetitions within the lifetime of a process.
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

	// processesMost is the number of processes per gateway that a message names. The process heard last may come
	// from an old message, so earlier ones are named, too.
	processesMost = 4

	// A dead connection is dropped after about three pings.
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

// Peers implements [cluster.Peers]. It is safe for concurrent use, except for Receive, which only
// one goroutine may call. The caller must call [Peers.Close].
type Peers struct {
	o        Options
	conn     *nats.Conn
	outgoing chan []byte
	incoming chan *nats.Msg
	done     chan struct{}
	sending  sync.WaitGroup
	refused  atomic.Uint64

	mu    sync.Mutex
	heard map[string][]string // latest starts of each gateway, newest last
}

var _ cluster.Peers = (*Peers)(nil)

// letter is the sealed content of a message.
type letter struct {
	Heard   []string        `json:"heard,omitempty"` // starts of the processes that the sender has heard
	Message cluster.Message `json:"message"`
}

// New connects a process to the messages of its cluster. It keeps trying to reach nodes until
// [Peers.Close].
func New(o Options) (*Peers, error) {
	conn, err := o.Connect(nats.Name("adgateway "+o.Cluster+" beats"), nats.NoEcho(),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.ReconnectWait(pingEvery/4), nats.ReconnectBufSize(-1),
		nats.Timeout(2*pingEvery),
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

// Refused returns the number of received messages that were refused, because their sender lacks the
// cluster's key, or because they are older than this process or are the first ones from another
// process.
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
		return // a message always encodes
	}
	select {
	case p.outgoing <- p.o.Cipher.Seal(plain, p.bound(p.o.Self.Gateway)):
	default:
	}
}

// publish sends messages until Close. Without a connection it drops them, because they would be
// outdated later.
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

// hear records that a message from a process has arrived. It keeps the last processesMost processes
// of each gateway.
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

// bound returns the context to which a gateway's messages are bound.
func (p *Peers) bound(gateway string) []byte {
	return []byte("adgateway beat\x00" + p.o.Cluster + "\x00" + gateway)
}
