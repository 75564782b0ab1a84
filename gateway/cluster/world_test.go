package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/keep"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world is a cluster in memory, and what really happens in it. It lives in a bubble of
// testing/synctest, so that its times are exact.
type world struct {
	t       *testing.T
	ctx     context.Context
	nodes   *journaltest.Memory
	network *network
	hosts   []*host

	mu     sync.Mutex // guards the fields below
	opened map[string]*truth
	open   map[string]string // attempts that the log has open, by object
	acked  []string          // changes that were answered as made
	ids    int
}

// truth is what really becomes of an attempt.
type truth struct {
	object string
	wrote  time.Time // zero: never
	closed int       // how often
}

// newWorld returns a cluster of gateways a, b, c ... none of which runs.
func newWorld(t *testing.T, size int) *world {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{
		t: t, ctx: ctx, nodes: journaltest.NewMemory(), network: &network{inboxes: map[string]chan Message{}, cut: map[string]bool{}},
		opened: map[string]*truth{}, open: map[string]string{},
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

// names returns those of the gateways.
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

// untilLed waits until a gateway leads for certain, and returns it.
func (w *world) untilLed() (leads *host) {
	w.t.Helper()
	w.until(time.Minute, func() bool {
		leads = w.leader()
		return leads != nil
	})
	return leads
}

// untilReplaced waits until another gateway than one leads for certain.
func (w *world) untilReplaced(former *host) (leads *host) {
	w.t.Helper()
	w.until(time.Minute, func() bool {
		leads = w.leader()
		return leads != nil && leads != former
	})
	return leads
}

// until waits for a condition, at most for a time.
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

// leader returns the gateway that leads for certain; nil: none. It fails if there are two.
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

// others returns the hosts but one.
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
	cut     map[string]bool // from+to
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

// host is a machine: its disk and its clocks outlive the processes of the gateway.
type host struct {
	w    *world
	name string
	disk *disk

	mu      sync.Mutex
	process *process
	starts  int
	wall    func() time.Time
	lanes   []string
	gate    chan struct{} // nil: it is not suspended
	frozen  time.Time     // reading of its clocks when it was suspended
	lost    time.Duration // for which its clocks stood still
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

// suspend lets the host and its clocks stand still.
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

// reaches sets the lanes whose controllers the host reaches.
func (h *host) reaches(lanes ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lanes = lanes
}

// stoodStill reports whether the clocks of the host stood still just now, or do.
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

// process is a gateway that runs.
type process struct {
	h       *host
	self    journal.Process
	m       *Member
	client  *journaltest.Client
	ctx     context.Context
	cancel  context.CancelFunc
	ended   sync.WaitGroup
	writer  chan struct{} // holds an element while the store writes
	inbox   chan Message
	judging time.Duration // how long that takes

	mu      sync.Mutex
	locks   map[string]string // attempts of this process, by object
	judged  map[string]string // how, by attempt
	noted   []string
	fails   int // how many judgements fail
	opens   int // how many times the open attempts cannot be read
	foreign []Attempt
}

// start starts the gateway.
func (h *host) start(change ...func(h *host, o *Options)) *process {
	h.starts++
	ctx, cancel := context.WithCancel(h.w.ctx)
	p := &process{
		h: h, self: journal.Process{Gateway: h.name, Start: fmt.Sprint(h.name, h.starts)}, ctx: ctx, cancel: cancel,
		writer: make(chan struct{}, 1), inbox: make(chan Message, 1000), locks: map[string]string{}, judged: map[string]string{},
		client: h.w.nodes.Client(),
	}
	o := Options{
		Self: p.self, Gateways: h.w.names(), Hop: h.name + ":1", Reads: 1,
		Store: h.disk, Clock: &logTime{disk: h.disk, now: h.now, at: h.now()}, Peers: peers{p}, Attempts: attempts{p}, Formats: formats{p},
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
	p.ended.Go(func() { p.m.Run(ctx, p.log()) })
	return p
}

// log returns the log as it goes on from what the disk has.
func (p *process) log() *journal.Log {
	return journal.New(gated{p.client, p.h}, p.m.Applier(), journaltest.Options())
}

// kill ends the process of the gateway, if there is one, in the middle of what it does.
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

// gated is a stream that stands still with its host.
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

// step is what a batch of these tests does to an attempt.
type step struct {
	Attempt string          `json:"attempt"`
	Do      string          `json:"do"` // open, close, raced
	Object  string          `json:"object,omitempty"`
	Process journal.Process `json:"process"`
	Limit   time.Duration   `json:"limit,omitempty"`
	How     string          `json:"how,omitempty"`
}

// disk is the store of a gateway.
type disk struct {
	w  *world
	mu sync.Mutex

	point    keep.Point
	time     time.Time
	attempts map[string]*kept
	seen     map[string]Seen
}

type kept struct {
	step
	verdict string // empty: it is open
	raced   []string
}

func newDisk(w *world) *disk {
	return &disk{w: w, attempts: map[string]*kept{}, seen: map[string]Seen{}}
}

func (d *disk) Point() (keep.Point, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.point, nil
}

func (d *disk) Apply(_ context.Context, e *journal.Entry, at keep.Point) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.point, d.time = at, e.Time
	if len(e.Batch) == 0 {
		return nil
	}
	var s step
	if err := json.Unmarshal(e.Batch, &s); err != nil {
		return err
	}
	a := d.attempts[s.Attempt]
	switch s.Do {
	case "open":
		d.attempts[s.Attempt] = &kept{step: s}
	case "close":
		if assert.NotNil(d.w.t, a) {
			assert.Empty(d.w.t, a.verdict, "attempt %s is closed twice", s.Attempt)
			a.verdict = s.How
		}
	case "raced":
		a.raced = append(a.raced, s.How)
	}
	d.w.applied(s)
	return nil
}

// applied notes the first time that an entry is applied anywhere.
func (w *world) applied(s step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.opened[s.Attempt]
	switch {
	case s.Do == "open" && known == nil:
		w.opened[s.Attempt] = &truth{object: s.Object}
		assert.Empty(w.t, w.open[s.Object], "two open attempts on %s", s.Object)
		w.open[s.Object] = s.Attempt
	case s.Do == "close" && known.closed == 0:
		known.closed++
		delete(w.open, known.object)
	}
}

func (d *disk) attempt(id string) *kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.attempts[id]; a != nil {
		c := *a
		return &c
	}
	return nil
}

// logTime is the simplest clock that goes on with the monotonic one.
type logTime struct {
	disk *disk
	now  func() time.Time
	mu   sync.Mutex
	last time.Time
	at   time.Time
}

func (l *logTime) Now() time.Time {
	now := l.now()
	l.disk.mu.Lock()
	stored := l.disk.time
	l.disk.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = l.last.Add(now.Sub(l.at)); l.last.Before(stored) {
		l.last = stored
	}
	l.at = now
	return l.last
}

func (l *logTime) Raise(to time.Time) {
	l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.After(l.last) {
		l.last = to
	}
}

// write stores a step, if allowed says so when nothing else is being stored.
func (p *process) write(s step, allowed func() bool) error {
	select {
	case p.writer <- struct{}{}:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	defer func() { <-p.writer }()
	if !allowed() {
		return errNotAllowed
	}
	batch, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = p.m.Append(p.ctx, batch, p.m.o.Clock.Now())
	return err
}

var errNotAllowed = errors.New("the store has something else")

func always() bool { return true }

// isOpen reports whether the store of the process has an attempt open.
func (p *process) isOpen(id string) bool {
	a := p.h.disk.attempt(id)
	return a != nil && a.verdict == ""
}

// lock takes an object for an attempt, and reports whether it was free.
func (p *process) lock(object, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.locks[object] != "" {
		return false
	}
	for _, a := range p.foreign {
		if k := p.h.disk.attempt(a.ID); k != nil && k.Object == object && k.verdict == "" {
			return false
		}
	}
	p.locks[object] = id
	return true
}

func (p *process) unlock(object string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.locks, object)
}

// What became of a change.
var (
	errBusy    = errors.New("the object is locked")
	errUnknown = errors.New("another gateway judges the change")
)

// change makes a change of an object, whose script writes after a time. It returns nil if
// the change was made and the caller is told so.
func (p *process) change(object string, takes time.Duration) (id string, err error) {
	return p.changeOf(object, takes, nil)
}

// changeOf is change, and sends the id of the attempt when its script may write.
func (p *process) changeOf(object string, takes time.Duration, writes chan<- string) (id string, err error) {
	p.ended.Add(1)
	defer p.ended.Done()
	w := p.h.w
	w.mu.Lock()
	w.ids++
	id = fmt.Sprintf("%s-%d", p.self.Start, w.ids)
	w.mu.Unlock()
	const limit = 15 * time.Second
	run, err := p.m.Begin(limit)
	if err != nil {
		return id, err
	}
	defer run.End()
	if !p.lock(object, id) {
		return id, errBusy
	}
	defer p.unlock(object)
	err = run.Store(func() error {
		return p.write(step{Attempt: id, Do: "open", Object: object, Process: p.self, Limit: limit}, always)
	})
	if err != nil {
		return id, err
	}
	p.h.pass()
	result := "none"
	if p.m.now(); run.Go() == nil {
		p.mayWrite(object, id)
		if writes != nil {
			writes <- id
		}
		for end := time.Now().Add(takes); time.Now().Before(end); p.h.pass() {
			pause(p.ctx, time.Until(end))
			if p.ctx.Err() != nil {
				return id, p.ctx.Err() // it was killed
			}
		}
		w.mu.Lock()
		w.opened[id].wrote = time.Now()
		w.mu.Unlock()
		result = "done"
	}
	err = p.write(step{Attempt: id, Do: "close", How: result}, func() bool { return p.isOpen(id) })
	switch {
	case err == nil && result == "done":
		w.mu.Lock()
		w.acked = append(w.acked, id)
		w.mu.Unlock()
		return id, nil
	case err == nil:
		return id, ErrLate
	case p.ctx.Err() == nil:
		p.m.Report(Report{Attempt: id, Result: []byte(result)})
	}
	return id, errUnknown
}

// mayWrite checks that a script may begin to write.
func (p *process) mayWrite(object, id string) {
	w := p.h.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.h.stoodStill() {
		assert.Equal(w.t, id, w.open[object], "script of %s writes to %s", id, object)
	}
}

// takes counts one down, and reports whether there was one.
func (p *process) takes(n *int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n--
	if *n < 0 {
		*n = 0
		return false
	}
	return true
}

// attempts is what the changes of a process are to its member.
type attempts struct{ p *process }

func (a attempts) Open(context.Context) (open []Attempt, err error) {
	if a.p.takes(&a.p.opens) {
		return nil, errNotAllowed
	}
	d := a.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, k := range d.attempts {
		if k.verdict == "" {
			open = append(open, Attempt{ID: id, Process: k.Process, Limit: k.Limit})
		}
	}
	return open, nil
}

func (a attempts) Lock(open []Attempt) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.foreign = open
}

func (a attempts) Judge(ctx context.Context, attempt Attempt, report *Report) error {
	pause(ctx, a.p.judging)
	if a.p.takes(&a.p.fails) {
		return errNotAllowed
	}
	how := "judged"
	if report != nil {
		how = string(report.Result)
	}
	if !a.p.isOpen(attempt.ID) {
		return nil
	}
	err := a.p.write(step{Attempt: attempt.ID, Do: "close", How: how}, func() bool { return a.p.isOpen(attempt.ID) })
	if errors.Is(err, errNotAllowed) {
		return nil
	}
	return err
}

func (a attempts) Raced(_ context.Context, r Report) error {
	k := a.p.h.disk.attempt(r.Attempt)
	if k == nil || k.verdict != "judged" || len(k.raced) > 0 {
		return nil
	}
	return a.p.write(step{Attempt: r.Attempt, Do: "raced", How: string(r.Result)}, always)
}

// formats keeps them on the disk of the process only.
type formats struct{ p *process }

func (f formats) Seen() map[string]Seen {
	d := f.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := make(map[string]Seen, len(d.seen))
	for name, s := range d.seen {
		seen[name] = s
	}
	return seen
}

func (f formats) See(_ context.Context, gateway string, s Seen) error {
	d := f.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[gateway] = s
	return nil
}

// lossy lets a network lose and delay messages at random.
func (n *network) lossy(r *rand.Rand, loss float64, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = func() (bool, time.Duration) { return r.Float64() < loss, time.Duration(r.Int64N(int64(delay) + 1)) }
}
