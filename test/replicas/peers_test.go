//go:build linux

package replicas

import (
	"context"
	"encoding/json"

	"adgateway/gateway/cluster"

	"github.com/nats-io/nats.go"
)

// peers carries messages between gateways over the nodes.
type peers struct {
	conn  *nats.Conn
	inbox chan *nats.Msg
}

const messagesTo = "messages."

func newPeers(name string, urls []string) (*peers, error) {
	conn, err := connect(urls)(nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.NoEcho())
	if err != nil {
		return nil, err
	}
	p := &peers{conn: conn, inbox: make(chan *nats.Msg, 256)}
	for _, subject := range []string{messagesTo + "all", messagesTo + "one." + name} {
		if _, err := conn.ChanSubscribe(subject, p.inbox); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *peers) Close() { p.conn.Close() }

func (p *peers) Send(m cluster.Message) {
	subject := messagesTo + "all"
	if m.To != "" {
		subject = messagesTo + "one." + m.To
	}
	if text, err := json.Marshal(m); err == nil {
		_ = p.conn.Publish(subject, text) // what is lost comes again
	}
}

func (p *peers) Receive(ctx context.Context) (m cluster.Message, ok bool) {
	for {
		select {
		case got := <-p.inbox:
			if json.Unmarshal(got.Data, &m) == nil {
				return m, true
			}
		case <-ctx.Done():
			return m, false
		}
	}
}
