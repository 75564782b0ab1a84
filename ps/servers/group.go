package servers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// A group is the servers of one kind, of which one is pinned.
type group struct {
	cfg   *Config
	kind  string   // for people
	ports []string // all must accept a connection
	fixed bool     // the candidates come from settings

	moving chan struct{} // holds a token while another server is being pinned

	mu         sync.Mutex
	candidates []string
	discovered bool     // the candidates are known, even when there are none
	others     []string // that are only asked where all are: read-only ones
	pin        string
	since      time.Time
	last       time.Time // when the pinned server was last heard of
	tried      time.Time // when all candidates were last tried in vain
	failovers  int
	reason     string
	suspects   chan string // servers that keep is to probe
}

func newGroup(cfg *Config, kind string, ports, candidates []string) *group {
	return &group{
		cfg: cfg, kind: kind, ports: ports,
		fixed:      len(candidates) > 0,
		discovered: len(candidates) > 0,
		candidates: slices.Clone(candidates),
		moving:     make(chan struct{}, 1),
		since:      time.Now(),
		suspects:   make(chan string, 1),
	}
}

func (g *group) status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Status{Pinned: g.pin, Since: g.since, Candidates: slices.Clone(g.candidates), Failovers: g.failovers, Reason: g.reason}
	if len(g.candidates) > 0 {
		s.Preferred = g.candidates[0]
	}
	return s
}

// current returns the pinned server, empty when there is none, and for how long
// it was silent.
func (g *group) current() (string, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pin, time.Since(g.last)
}

// heard notes that a server has answered.
func (g *group) heard(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pin == host {
		g.last = time.Now()
	}
}

// suspect asks keep to probe a server.
func (g *group) suspect(host string) {
	select {
	case g.suspects <- host:
	default:
	}
}

// setCandidates takes the outcome of a discovery. A pinned server that is not
// among them any more is left at the next opportunity.
func (g *group) setCandidates(hosts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.candidates, g.discovered = hosts, true
	g.tried = time.Time{}
}

// setOthers takes those of a discovery that are never pinned.
func (g *group) setOthers(hosts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.others = hosts
}

// lock takes the token of who moves the group; false: ctx is done.
func (g *group) lock(ctx context.Context) bool {
	select {
	case g.moving <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *group) unlock() { <-g.moving }

// leave pins another server because host does not answer, unless that has been
// done already. It tells whether another one than host is pinned now. A server
// that accepts connections after all is kept when there is no other.
func (g *group) leave(ctx context.Context, host, why string) bool {
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

// establish pins the first candidate that answers. It does not try again what
// was tried in vain a moment ago, and nothing before the candidates are known.
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
	g.set(host, "")
	return host
}

// better pins the first candidate before the pinned one that answers again, and
// leaves a server that is no candidate any more. Only keep calls it.
func (g *group) better(ctx context.Context) {
	if !g.lock(ctx) {
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

// firstUp returns the first candidate that may be taken and answers.
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

// set pins a server, or none. The caller holds the token.
func (g *group) set(host, why string) {
	g.mu.Lock()
	now := time.Now()
	before := g.pin
	g.pin, g.since, g.last, g.reason = host, now, now, why
	switch {
	case host == "":
		g.tried = now
		g.reason = fmt.Sprintf("no %s of %s accepts connections on port %s", g.kind, listed(g.candidates), strings.Join(g.ports, " and "))
		if why != "" {
			g.reason += "; before: " + why
		}
	case before != "" && before != host:
		g.failovers++
	}
	reason := g.reason
	g.mu.Unlock()
	if host != before {
		message := g.kind + " pinned"
		if host == "" {
			message = "no " + g.kind + " answers"
		}
		g.cfg.Log(message, map[string]any{"server": host, "before": before, "reason": reason})
	}
}

func listed(hosts []string) string {
	if len(hosts) == 0 {
		return "none known"
	}
	return strings.Join(hosts, ", ")
}

// reach tells which servers answer now and which do not: the candidates, in
// order, then the others.
func (g *group) reach(ctx context.Context) (up, down []string) {
	g.mu.Lock()
	candidates := slices.Concat(g.candidates, g.others)
	g.mu.Unlock()
	for i, ok := range g.probeAll(ctx, candidates) {
		if ok {
			up = append(up, candidates[i])
		} else {
			down = append(down, candidates[i])
		}
	}
	return up, down
}

// probeAll probes all of the hosts at once.
func (g *group) probeAll(ctx context.Context, hosts []string) []bool {
	up := make([]bool, len(hosts))
	var probes sync.WaitGroup
	for i, host := range hosts {
		probes.Go(func() { up[i] = g.probe(ctx, host) })
	}
	probes.Wait()
	return up
}

// probe tells whether every port of a server accepts a connection in time.
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
