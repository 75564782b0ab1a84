// Package clustertest has what several gateways within one test need: messages between them, the
// authority of their certificates, and members without changes or formats.
package clustertest

import (
	"context"
	"sync"

	"adgateway/gateway/cluster"
)

// Mail carries messages between all gateways that are not cut off. It is safe for concurrent use.
type Mail struct {
	mu    sync.Mutex
	inbox map[string]chan cluster.Message
	cut   map[string]bool
}

// NewMail returns the mail between the gateways with the given names.
func NewMail(names ...string) *Mail {
	m := &Mail{inbox: map[string]chan cluster.Message{}, cut: map[string]bool{}}
	for _, name := range names {
		m.inbox[name] = make(chan cluster.Message, 100)
	}
	return m
}

// Cut sets whether a gateway is cut off.
func (m *Mail) Cut(name string, cut bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut[name] = cut
}

// IsCut reports whether a gateway is cut off.
func (m *Mail) IsCut(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cut[name]
}

// Peers returns the peers of a gateway.
func (m *Mail) Peers(name string) cluster.Peers { return peers{m, name} }

type peers struct {
	mail *Mail
	name string
}

// Send implements [cluster.Peers]. A message to a full inbox is lost.
func (p peers) Send(message cluster.Message) {
	p.mail.mu.Lock()
	defer p.mail.mu.Unlock()
	for name, inbox := range p.mail.inbox {
		if name == p.name || message.To != "" && message.To != name || p.mail.cut[name] || p.mail.cut[p.name] {
			continue
		}
		select {
		case inbox <- message:
		default:
		}
	}
}

// Receive implements [cluster.Peers].
func (p peers) Receive(ctx context.Context) (cluster.Message, bool) {
	select {
	case message := <-p.mail.inbox[p.name]:
		return message, true
	case <-ctx.Done():
		return cluster.Message{}, false
	}
}

// NoAttempts are the [cluster.Attempts] of a gateway that makes no changes.
type NoAttempts struct{}

// Open implements [cluster.Attempts].
func (NoAttempts) Open(context.Context) ([]cluster.Attempt, error) { return nil, nil }

// Lock implements [cluster.Attempts].
func (NoAttempts) Lock([]cluster.Attempt) {}

// Judge implements [cluster.Attempts].
func (NoAttempts) Judge(context.Context, cluster.Attempt, *cluster.Report) error { return nil }

// Raced implements [cluster.Attempts].
func (NoAttempts) Raced(context.Context, cluster.Report) error { return nil }

// NoFormats are the [cluster.Formats] of a gateway that remembers no other one.
type NoFormats struct{}

// Seen implements [cluster.Formats].
func (NoFormats) Seen() map[string]cluster.Seen { return nil }

// See implements [cluster.Formats].
func (NoFormats) See(context.Context, string, cluster.Seen) error { return nil }
