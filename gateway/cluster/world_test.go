package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
)

// world is a cluster in memory, together with everything that really happens in it. It runs in a bubble of
// testing/synctest, so its times are exact.
type world struct {
	t       *testing.T
	ctx     context.Context
	nodes   *journaltest.Memory
	network *network
	hosts   []*host

	mu     sync.Mutex // guards the fields below
	opened map[string]*truth
	open   map[string]string // open attempts according to the log, by object
	acked  []string          // changes that were reported as made
	ids    int
}

// truth records what really happens to an attempt.
type truth struct {
	object string
	wrote  time.Time // zero if it never wrote
	closed int       // number of times that it was closed
}

// newWorld returns a cluster of gateways a, b, c and so on. No gateway is running.
func newWorld(t *testing.T, size int) *world {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{
		t: t, ctx: ctx, nodes: journaltest.NewMemory(),
		network: &network{inboxes: map[string]chan Message{}, cut: map[string]bool{}},
		opened:  map[string]*truth{}, open: map[string]string{},
	}
	for i := range size {
		w.hosts = append(w.hosts, &host{w: w, name: string(rune('a' + i)), disk: newDisk(w), wall: time.Now})
	}
	t.Cleanup(func() {
		cancel()
		for _, h := range w.hosts {
			h.resume()
			h.kill()
		}
	})
	return w
}

// written returns the attempts that have written.
func (w *world) written() (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, known := range w.opened {
		if !known.wrote.IsZero() {
			ids = append(ids, id)
		}
	}
	return ids
}

// names returns the names of the gateways.
func (w *world) names() (names []string) {
	for _, h := range w.hosts {
		names = append(names, h.name)
	}
	return names
}

// startAll starts all gateways, and waits until one of them leads.
func (w *world) startAll(change ...func(h *host, o *Options)) *host {
	w.t.Helper()
	for _, h := range w.hosts {
		h.start(change...)
	}
	return w.untilLed()
}

// untilLed waits until a gateway is certain to lead, and returns it.
func (w *world) untilLed() (leads *host) {
	w.t.Helper()
	w.until(time.Minute, func() bool {
		leads = w.leader()
		return leads != nil
	})
	return leads
}

// untilReplaced waits until a gateway other than former is certain to lead, and returns it.
func (w *world) untilReplaced(former *host) (leads *host) {
	w.t.Helper()
	w.until(time.Minute, func() bool {
		leads = w.leader()
		return leads != nil && leads != former
	})
	return leads
}

// until waits for a condition for at most the time most.
func (w *world) until(most time.Duration, condition func() bool) (took time.Duration) {
	w.t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		synctest.Wait()
		if condition() {
			return time.Since(start)
		}
		require.Less(w.t, time.Since(start), most, "it does not happen")
	}
}

// leader returns the gateway that is certain to lead, or nil if there is none. It fails the test if
// there are two.
func (w *world) leader() (leads *host) {
	for _, h := range w.hosts {
		p := h.running()
		if p == nil {
			continue
		}
		if _, ok := p.m.Leads(); ok && !h.stoodStill() {
			if leads != nil {
				assert.Fail(w.t, "two gateways lead", "%s and %s", leads.name, h.name)
			}
			leads = h
		}
	}
	return leads
}

// others returns all hosts except one.
func (w *world) others(than *host) (others []*host) {
	for _, h := range w.hosts {
		if h != than {
			others = append(others, h)
		}
	}
	return others
}

// network carries messages between the gateways.
type network struct {
	mu      sync.Mutex
	inboxes map[string]chan Message
	cut     map[string]bool // keys are from+to
	fate    func() (lost bool, delay time.Duration)
	sent    func(m Message)
}

func (n *network) separate(a, b *host, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[a.name+b.name], n.cut[b.name+a.name] = cut, cut
}

func (n *network) send(m Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sent != nil {
		n.sent(m)
	}
	for to, inbox := range n.inboxes {
		if to == m.From.Gateway || n.cut[m.From.Gateway+to] {
			continue
		}
		var delay time.Duration
		if n.fate != nil {
			var lost bool
			if lost, delay = n.fate(); lost {
				continue
			}
		}
		time.AfterFunc(delay+time.Millisecond, func() {
			select {
			case inbox <- m:
			default: // it is full
			}
		})
	}
}

// lossy makes a network lose and delay messages at random.
func (n *network) lossy(r *rand.Rand, loss float64, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = func() (bool, time.Duration) {
		return r.Float64() < loss, time.Duration(r.Int64N(int64(delay) + 1))
	}
}

// host is a machine. Its disk and its clocks outlive the gateway's processes.
type host struct {
	w    *world
	name string
	disk *disk

	mu      sync.Mutex
	process *process
	starts  int
	wall    func() time.Time
	lanes   []string
	gate    chan struct{} // nil unless it is suspended
	frozen  time.Time     // reading of its clocks when it was suspended
	lost    time.Duration // how long its clocks have stood still in total
	resumed time.Time
}

func (h *host) running() *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process
}

func (h *host) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gate != nil {
		return h.frozen
	}
	return time.Now().Add(-h.lost)
}

// suspend stops the host and its clocks.
func (h *host) suspend() {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gate == nil {
		h.gate, h.frozen = make(chan struct{}), now
	}
}

func (h *host) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gate != nil {
		h.lost, h.resumed = time.Since(h.frozen), time.Now()
		close(h.gate)
		h.gate = nil
	}
}

// reaches sets the lanes whose servers the host reaches.
func (h *host) reaches(lanes ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lanes = lanes
}

// stoodStill reports whether the clocks of the host stand still, or did so a moment ago.
func (h *host) stoodStill() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gate != nil || !h.resumed.IsZero() && time.Since(h.resumed) < proofLasts
}

// pass waits while the host is suspended.
func (h *host) pass() {
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// process is a running gateway.
type process struct {
	h       *host
	self    journal.Process
	m       *Member
	client  *journaltest.Client
	ctx     context.Context
	cancel  context.CancelFunc
	ended   sync.WaitGroup
	writer  chan struct{} // contains an element while the store writes
	inbox   chan Message
	judging time.Duration // how long a judgment takes

	mu      sync.Mutex
	locks   map[string]string // attempts of this process by object
	noted   []string
	fails   int // number of judgments that will fail
	opens   int // number of times that reading the open attempts will fail
	foreign []Attempt
}

// start starts the gateway.
func (h *host) start(change ...func(h *host, o *Options)) *process {
	h.starts++
	ctx, cancel := context.WithCancel(h.w.ctx)
	p := &process{
		h: h, self: journal.Process{Gateway: h.name, Start: fmt.Sprint(h.name, h.starts)}, ctx: ctx, cancel: cancel,
		writer: make(chan struct{}, 1), inbox: make(chan Message, 1000), locks: map[string]string{},
		client: h.w.nodes.Client(),
	}
	o := Options{
		Self: p.self, Gateways: h.w.names(), Hop: h.name + ":1", Reads: 1,
		Store: h.disk, Clock: &logTime{disk: h.disk, now: h.now, at: h.now()},
		Peers: peers{p}, Formats: formats{p},
		Now: h.now, Wall: func() time.Time { h.mu.Lock(); wall := h.wall; h.mu.Unlock(); return wall() },
		Lanes: func() []string { h.mu.Lock(); defer h.mu.Unlock(); return h.lanes },
		Note: func(text string, err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.noted = append(p.noted, fmt.Sprint(time.Now().Format("05.000 "), text, " ", err))
		},
	}
	for _, f := range change {
		f(h, &o)
	}
	p.m = New(o)
	h.w.network.mu.Lock()
	h.w.network.inboxes[h.name] = p.inbox
	h.w.network.mu.Unlock()
	h.mu.Lock()
	h.process = p
	h.mu.Unlock()
	p.ended.Go(func() { p.m.Run(ctx, p.log(), attempts{p}) })
	return p
}

// log returns a log that continues from the state on the disk.
func (p *process) log() *journal.Log {
	return journal.New(gated{p.client, p.h}, p.m.Applier(), journaltest.Options())
}

// kill ends the gateway's process, if there is one, in the middle of its work.
func (h *host) kill() {
	h.mu.Lock()
	p := h.process
	h.process = nil
	h.mu.Unlock()
	if p == nil {
		return
	}
	h.w.network.mu.Lock()
	delete(h.w.network.inboxes, h.name)
	h.w.network.mu.Unlock()
	p.cancel()
	p.ended.Wait()
}

type peers struct{ p *process }

func (s peers) Send(m Message) {
	s.p.h.pass()
	if s.p.ctx.Err() == nil {
		s.p.h.w.network.send(m)
	}
}

func (s peers) Receive(ctx context.Context) (Message, bool) {
	select {
	case m := <-s.p.inbox:
		s.p.h.pass()
		return m, true
	case <-ctx.Done():
		return Message{}, false
	}
}

// gated is a stream that stops while its host is suspended.
type gated struct {
	journal.Stream
	h *host
}

func (g gated) Publish(ctx context.Context, expect uint64, message []byte, try int) (uint64, error) {
	g.h.pass()
	defer g.h.pass()
	return g.Stream.Publish(ctx, expect, message, try)
}

func (g gated) Read(ctx context.Context, sequence uint64) ([]byte, error) {
	g.h.pass()
	defer g.h.pass()
	return g.Stream.Read(ctx, sequence)
}

func (g gated) Last(ctx context.Context) (uint64, uint64, error) {
	g.h.pass()
	defer g.h.pass()
	return g.Stream.Last(ctx)
}

func (g gated) Follow(ctx context.Context, after uint64, visit func(uint64, []byte) bool) error {
	g.h.pass()
	return g.Stream.Follow(ctx, after, func(sequence uint64, message []byte) bool {
		g.h.pass()
		return visit(sequence, message)
	})
}
