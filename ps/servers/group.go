package servers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/ps"
)

// group contains the servers of one kind, one of which is pinned.
type group struct {
	cfg   *Config
	lane  ps.Lane
	kind  string   // for messages
	ports []string // all must accept connections
	fixed bool     // the candidates come from settings

	moving chan struct{} // semaphore: full while a server is being pinned

	mu         sync.Mutex
	common     common // the state that concerns the shared choice
	candidates []string
	discovered bool     // a discovery succeeded, even if it found no candidates
	others     []string // never pinned: read-only domain controllers
	pin        string
	since      time.Time
	last       time.Time // time of the pinned server's last response
	tried      time.Time // time when no candidate answered
	failovers  int
	reason     string
	rejections map[string]time.Time // time when a server last rejected the gateway's account
	suspects   chan string          // servers for keep to probe
}

func newGroup(cfg *Config, lane ps.Lane, kind string, ports, candidates []string) *group {
	return &group{
		cfg: cfg, lane: lane, kind: kind, ports: ports,
		fixed:      len(candidates) > 0,
		discovered: len(candidates) > 0,
		candidates: slices.Clone(candidates),
		moving:     make(chan struct{}, 1),
		since:      time.Now(),
		rejections: map[string]time.Time{},
		suspects:   make(chan string, 1),
	}
}

func (g *group) status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Status{Pinned: g.pin, Since: g.since, Candidates: slices.Clone(g.candidates), Failovers: g.failovers,
		Reason: g.reason}
	if len(g.candidates) > 0 {
		s.Preferred = g.candidates[0]
	}
	s.Warnings, s.Unusable = g.unlisted(), g.common.unusable
	if s.Unusable != "" {
		s.Reason = s.Unusable
	}
	if s.Rejected = g.allReject(); s.Rejected {
		s.Reason = "every " + g.kind + " rejects the credentials of the gateway's service account"
	}
	return s
}

// current returns the pinned server, or "" if there is none, and the time since its last response.
func (g *group) current() (string, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pin, time.Since(g.last)
}

// unknown reports whether the candidates have not been discovered yet.
func (g *group) unknown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.discovered
}

// heard records a response of a server.
func (g *group) heard(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.rejections, host)
	if g.pin == host {
		g.last, g.common.failed = time.Now(), 0
	}
}

// rejectionAge is the time for which a rejection counts.
const rejectionAge = time.Minute

// reject records that a server rejected the gateway's account.
func (g *group) reject(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rejections[host] = time.Now()
}

// rejects reports whether a server has recently rejected the account. The caller holds mu.
func (g *group) rejects(host string) bool {
	at, known := g.rejections[host]
	return known && time.Since(at) < rejectionAge
}

// allReject reports whether every candidate has recently rejected the account. The caller holds mu.
func (g *group) allReject() bool {
	return len(g.candidates) > 0 &&
		!slices.ContainsFunc(g.candidates, func(h string) bool { return !g.rejects(h) })
}

func (g *group) rejectedByAll() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.allReject()
}

// unrejected returns the first candidate that answers and has not recently rejected the
// account, or "" if there is none.
func (g *group) unrejected(ctx context.Context) string {
	return g.firstUp(ctx, func(h string) bool { return !g.rejected(h) })
}

// replace pins other in place of host, if host is still pinned.
func (g *group) replace(ctx context.Context, host, other, why string) {
	if !g.lock(ctx) {
		return
	}
	defer g.unlock()
	if pin, _ := g.current(); pin == host {
		g.set(other, why)
	}
}

// suspect asks keep to probe a server.
func (g *group) suspect(host string) {
	select {
	case g.suspects <- host:
	default:
	}
}

// setCandidates stores the result of a discovery. keep unpins a server that is no longer a
// candidate. A partial result does not remove known servers.
func (g *group) setCandidates(hosts []string, partial bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if partial {
		hosts = union(hosts, g.candidates)
	}
	g.candidates, g.discovered = hosts, true
	g.tried = time.Time{}
}

// setOthers stores the discovered servers that are never pinned. A partial result does not
// remove known servers.
func (g *group) setOthers(hosts []string, partial bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if partial {
		hosts = union(hosts, g.others)
	}
	g.others = hosts
}

// union returns a followed by the hosts of b that are not in a.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, host := range b {
		if !slices.ContainsFunc(all, func(h string) bool { return strings.EqualFold(h, host) }) {
			all = append(all, host)
		}
	}
	return all
}

// lock acquires the right to pin a server. It returns false if ctx ends first.
func (g *group) lock(ctx context.Context) bool {
	select {
	case g.moving <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *group) unlock() { <-g.moving }

// leave pins another server because host does not answer, unless another caller has already pinned one. It
// reports whether a server other than host is pinned now. If no other server answers, host is kept as long as
// it accepts connections. Gateways that share the choice leave a server only together.
func (g *group) leave(ctx context.Context, host, why string) bool {
	if g.cfg.Shared != nil {
		return g.disappointed(ctx, host, why)
	}
	if !g.lock(ctx) {
		return false
	}
	defer g.unlock()
	if pin, _ := g.current(); pin != host {
		return pin != ""
	}
	next := g.firstUp(ctx, func(h string) bool { return h != host })
	if ctx.Err() != nil {
		return false
	}
	if next == "" && g.probe(ctx, host) {
		return false
	}
	g.set(next, why)
	return next != ""
}

// establish pins the first candidate that answers. It does nothing while the candidates are unknown, or
// shortly after an attempt in which no candidate answered.
func (g *group) establish(ctx context.Context) string {
	if !g.lock(ctx) {
		return ""
	}
	defer g.unlock()
	g.mu.Lock()
	pin, again := g.pin, g.discovered && time.Since(g.tried) >= g.cfg.Retry
	g.mu.Unlock()
	if pin != "" || !again {
		return pin
	}
	host := g.firstUp(ctx, func(string) bool { return true })
	if host == "" && ctx.Err() != nil {
		return ""
	}
	if g.cfg.Shared == nil {
		g.set(host, "")
		return host
	}
	if host != "" {
		g.agree(ctx, host)
	} else if pin, _ = g.current(); pin == "" { // no other caller has pinned one meanwhile
		g.set("", "")
	}
	pin, _ = g.current()
	return pin
}

// better pins the first candidate that answers and is preferred to the pinned server. It unpins the pinned
// server if that is no longer a candidate. Only keep calls better.
func (g *group) better(ctx context.Context) {
	if g.cfg.Shared != nil || !g.lock(ctx) { // a shared choice stays
		return
	}
	defer g.unlock()
	g.mu.Lock()
	pin, at := g.pin, slices.Index(g.candidates, g.pin)
	g.mu.Unlock()
	if pin == "" || at == 0 {
		return
	}
	host := g.firstUp(ctx, func(h string) bool {
		return at < 0 || g.before(h, pin)
	})
	if host != "" {
		g.set(host, "a preferred server answers again")
	}
}

func (g *group) before(a, b string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Index(g.candidates, a) < slices.Index(g.candidates, b)
}

// firstUp returns the first candidate that answers and that may accepts.
func (g *group) firstUp(ctx context.Context, may func(string) bool) string {
	g.mu.Lock()
	candidates := slices.Clone(g.candidates)
	g.mu.Unlock()
	candidates = slices.DeleteFunc(candidates, func(h string) bool { return !may(h) })
	up := g.probeAll(ctx, candidates)
	for i, host := range candidates {
		if up[i] {
			return host
		}
	}
	return ""
}

// set pins a server, or none if host is empty. The caller must have called lock.
func (g *group) set(host, why string) {
	g.mu.Lock()
	tell := g.replaced(host, why)
	g.mu.Unlock()
	tell()
}

// replaced is like set, for callers that hold mu. They must call tell after releasing mu.
func (g *group) replaced(host, why string) (tell func()) {
	now := time.Now()
	before := g.pin
	g.pin, g.since, g.last, g.reason = host, now, now, why
	switch {
	case host == "":
		g.tried = now
		g.reason = fmt.Sprintf("no %s of %s accepts connections on port %s", g.kind, listed(g.candidates),
			strings.Join(g.ports, " and "))
		if why != "" {
			g.reason += "; before: " + why
		}
	case before != "" && before != host:
		g.failovers++
	}
	if host == before {
		return func() {}
	}
	message := g.kind + " pinned"
	if host == "" {
		message = "no " + g.kind + " answers"
	}
	fields := map[string]any{"server": host, "before": before, "reason": g.reason}
	if before != "" {
		fields["event"] = "failover"
	}
	return func() { g.cfg.Log(message, fields) }
}

func listed(hosts []string) string {
	if len(hosts) == 0 {
		return "none known"
	}
	return strings.Join(hosts, ", ")
}

// reach returns the servers that answer now and those that do not. In each list the candidates come first, in
// order of preference.
func (g *group) reach(ctx context.Context) (up, down []string) {
	candidates := g.known()
	for i, ok := range g.probeAll(ctx, candidates) {
		if ok {
			up = append(up, candidates[i])
		} else {
			down = append(down, candidates[i])
		}
	}
	return up, down
}

// known returns all known servers.
func (g *group) known() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Concat(g.candidates, g.others)
}

// probeAll probes hosts in parallel.
func (g *group) probeAll(ctx context.Context, hosts []string) []bool {
	up := make([]bool, len(hosts))
	var probes sync.WaitGroup
	for i, host := range hosts {
		probes.Go(func() { up[i] = g.probe(ctx, host) })
	}
	probes.Wait()
	return up
}

// probe reports whether every port of a server accepts connections in time.
func (g *group) probe(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.ProbeTimeout)
	defer cancel()
	for _, port := range g.ports {
		conn, err := g.cfg.Dial(ctx, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			g.cfg.Debug("a server accepts no connection", func() map[string]any {
				return map[string]any{"kind": g.kind, "server": host, "port": port, "cause": err.Error()}
			})
			return false
		}
		_ = conn.Close()
	}
	return true
}
