package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/store"
)

// Gateway is the name and the address of a gateway in the cluster.
type Gateway struct{ Name, Address string }

// ClientOptions configure a [Client]. All are required.
type ClientOptions struct {
	Gateways []Gateway // in the order in which they are tried; this host's gateway is first

	// TLS returns the settings for a connection to a gateway. They verify the gateway's name, and present the
	// identity of this host's gateway.
	TLS func(gateway string) *tls.Config
}

// Client is a [store.Store] for a command. It reads from and writes to the leading gateway. Any
// gateway on the list may use it, because it has the cluster's key.
type Client struct {
	far   *asker
	guess *guess
}

// NewClient returns a client once the leading gateway has answered. It fails with [store.ErrUnreachable] if
// no leading gateway answers within 5 s.
func NewClient(ctx context.Context, o ClientOptions) (*Client, error) {
	if len(o.Gateways) == 0 {
		return nil, notSent(errors.New("no gateway of the cluster is known"))
	}
	g := &guess{all: o.Gateways, changed: make(chan struct{})}
	far := newAsker(hop.Options{Leader: g, TLS: o.TLS, Waiting: waiting, NotBegun: g.refused})
	c := &Client{guess: g, far: far}
	if _, err := c.ask(ctx, question(tells, nil, nil), readFor, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// guess is a [hop.Leader] that finds the leader by asking each gateway in turn, or the gateway that another
// one names as the leader.
type guess struct {
	all []Gateway

	mu      sync.Mutex // guards the fields below
	at      int
	tried   int // number of gateways tried since the last answer
	changed chan struct{}
}

func (g *guess) Leader() (name, address string, term uint64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[g.at].Name, g.all[g.at].Address, 1, true
}

func (g *guess) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// refused moves on to another gateway. That gateway is asked at once, unless all gateways have been asked.
func (g *guess) refused(gateway, leader string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all[g.at].Name != gateway {
		return // another call has already moved on
	}
	next := (g.at + 1) % len(g.all)
	for i := range g.all {
		if g.all[i].Name == leader && i != g.at {
			next = i
		}
	}
	g.at = next
	if g.tried++; g.tried%len(g.all) != 0 {
		close(g.changed)
		g.changed = make(chan struct{})
	}
}

func (g *guess) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried = 0
}

func (c *Client) ask(
	ctx context.Context, question []byte, limit time.Duration, visit func(part) bool,
) (outcome, error) {
	o, err := c.far.ask(ctx, question, limit, visit)
	if !errors.Is(err, store.ErrUnreachable) {
		c.guess.answered()
	}
	return o, err
}

// Get implements [store.Store].
func (c *Client) Get(ctx context.Context, kind store.Kind, key string) (store.Entry, error) {
	var found *store.Entry
	_, err := c.ask(ctx, question(gets, []string{string(kind), key}, nil), readFor, func(p part) bool {
		found = p.entry
		return true
	})
	switch {
	case err != nil:
		return store.Entry{}, err
	case found == nil:
		return store.Entry{}, fmt.Errorf("%w: %w", store.ErrUnreachable, errMessage)
	}
	return *found, nil
}

// Range implements [store.Store].
func (c *Client) Range(
	ctx context.Context, kind store.Kind, prefix string, visit func(store.Entry) bool,
) error {
	return c.entries(ctx, question(ranges, []string{string(kind), prefix}, nil), visit)
}

// RangeBack implements [store.Store].
func (c *Client) RangeBack(
	ctx context.Context, kind store.Kind, before string, visit func(store.Entry) bool,
) error {
	return c.entries(ctx, question(rangesBack, []string{string(kind), before}, nil), visit)
}

func (c *Client) entries(ctx context.Context, question []byte, visit func(store.Entry) bool) error {
	_, err := c.ask(ctx, question, readFor, func(p part) bool { return p.entry != nil && visit(*p.entry) })
	return err
}

// Log implements [store.Store].
func (c *Client) Log(
	ctx context.Context, log store.Log, after store.Position, visit func(store.Appended) bool,
) error {
	_, err := c.ask(ctx, question(reads, []string{string(log)}, &after), readFor, func(p part) bool {
		return p.appended != nil && visit(*p.appended)
	})
	return err
}

// End implements [store.Store].
func (c *Client) End(ctx context.Context, log store.Log) (store.Position, error) {
	o, err := c.ask(ctx, question(ends, []string{string(log)}, nil), readFor, nil)
	return o.position, err
}

// Apply implements [store.Store]. It fails with [store.ErrUnreachable], and also with
// [store.ErrNotSent] if the changes were certainly not made.
func (c *Client) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	message, err := changing(changes)
	if err != nil {
		return 0, c.far.noted(err)
	}
	o, err := c.ask(ctx, message, applyFor, nil)
	return o.revision, c.far.noted(err)
}

// askAgain is the interval at which a reader of a log looks for new entries.
const askAgain = time.Second

// Appends returns a channel that is closed after a second, or when the client is closed, because a
// client can only find new entries by asking.
func (c *Client) Appends(store.Log) <-chan struct{} {
	soon, end := context.WithCancel(c.far.closing)
	time.AfterFunc(askAgain, end)
	return soon.Done()
}

// Sweep removes nothing, because that is the leader's task.
func (c *Client) Sweep(ctx context.Context) (int, error) {
	return 0, c.far.usable(ctx)
}

// State returns the outcomes of this client's changes.
func (c *Client) State() store.State { return c.far.sent() }

// Now returns the log time that the leader sent last.
func (c *Client) Now() time.Time {
	now, _ := c.far.time() // NewClient has received it
	return now
}

// Close closes the connections. Later calls fail.
func (c *Client) Close() error {
	c.far.close()
	return nil
}
