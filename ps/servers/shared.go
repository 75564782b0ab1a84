package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
)

// Shared is a choice of servers that several gateways share. With the same server, a change made through one
// gateway is visible through the others, and two gateways cannot create objects of the same name on different
// controllers. It is safe for concurrent use.
type Shared interface {
	// Pinned returns the server of a lane, or "" if none is pinned yet, and the number of the choice. Each new
	// choice has a higher number. Pinned is called for each run.
	Pinned(ctx context.Context, lane ps.Lane) (server string, epoch uint64)
	// Pin pins a server of a lane, unless one is already pinned.
	Pin(ctx context.Context, lane ps.Lane, server string) error
	// Reached records whether this gateway can use the pinned server, and the name of a server that it could use
	// instead, or "".
	Reached(lane ps.Lane, server string, reached bool, other string)
	// Doubted reports whether any other gateway cannot use the pinned server.
	Doubted(lane ps.Lane) bool
}

const (
	lookEvery  = time.Second      // interval at which the shared choice is read
	probeEvery = 5 * time.Second  // interval of probes while the pinned server is silent
	mostFailed = 3                // number of failed runs after which a reachable server counts as unusable
	setAside   = 15 * time.Second // time for which it then counts as unusable
)

// common is a group's view of the shared choice.
type common struct {
	epoch    uint64    // of the pin; 0 means this gateway's own choice
	unusable string    // reason why this gateway cannot use the pinned server; empty if it can
	failed   int       // number of consecutive failed runs on it
	fault    string    // reason why the runs failed
	until    time.Time // time until which the server counts as unusable because of failed runs
}

// follow adopts the server that the gateways have pinned. It returns false if they have not pinned one yet,
// and true if this gateway is alone and so needs no agreement.
func (g *group) follow(ctx context.Context) bool {
	if g.cfg.Shared == nil {
		return true
	}
	host, epoch := g.cfg.Shared.Pinned(ctx, g.lane)
	if host == "" {
		return false
	}
	g.mu.Lock()
	news := epoch > g.common.epoch
	moves := news && host != g.pin
	if news {
		g.common = common{epoch: epoch}
	}
	if !moves {
		g.mu.Unlock()
		return true
	}
	tell := g.replaced(host, "the gateways of the cluster use it")
	g.mu.Unlock()
	tell()
	return true
}

// agree pins host for all gateways. If that is impossible, only this gateway uses host until then.
func (g *group) agree(ctx context.Context, host string) {
	if err := g.cfg.Shared.Pin(ctx, g.lane, host); err == nil && g.follow(ctx) {
		return
	}
	if pin, _ := g.current(); pin == "" {
		g.set(host, "")
	}
}

// look adopts the shared choice and tells the other gateways whether this gateway can use the server.
func (g *group) look(ctx context.Context) {
	agreed := g.follow(ctx)
	host, silent := g.current()
	switch {
	case host == "":
		return
	case !agreed:
		g.agree(ctx, host)
	}
	if silent >= probeEvery || g.unusable() != "" || g.cfg.Shared.Doubted(g.lane) {
		g.examine(ctx, host)
		return
	}
	g.cfg.Shared.Reached(g.lane, host, true, "")
}

// unusable returns the reason why this gateway cannot use the pinned server, or "" if it can.
func (g *group) unusable() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.common.unusable
}

// epoch returns the number of the shared choice that this gateway follows, or 0 if this gateway chose the
// server alone. If the shared choice moves after a run has selected its server, the run's change is refused.
func (g *group) epoch() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.common.epoch
}

// examine probes the pinned server and reports the result to the other gateways. It returns
// whether this gateway can use the server.
func (g *group) examine(ctx context.Context, host string) bool {
	answers := g.probe(ctx, host)
	if ctx.Err() != nil {
		return answers
	}
	g.mu.Lock()
	now := time.Now()
	why := ""
	switch {
	case !answers:
		why = fmt.Sprintf("%s does not accept connections on port %s", host, strings.Join(g.ports, " and "))
	case g.rejects(host):
		why = host + " rejects the credentials of the gateway's service account"
	case now.Before(g.common.until):
		why = g.common.fault
	}
	if g.pin != host {
		g.mu.Unlock()
		return g.unusable() == ""
	}
	before := g.common.unusable
	if g.common.unusable = why; why == "" {
		g.last = now
	}
	g.mu.Unlock()
	other := ""
	if why != "" {
		other = g.firstUp(ctx, func(h string) bool { return !strings.EqualFold(h, host) && !g.rejected(h) })
	}
	g.cfg.Shared.Reached(g.lane, host, why == "", other)
	switch {
	case why != "" && before == "":
		g.cfg.Log("the "+g.kind+" of the cluster cannot be used from here",
			map[string]any{"server": host, "error": why})
	case why == "" && before != "":
		g.cfg.Log("the "+g.kind+" of the cluster can be used again", map[string]any{"server": host})
	}
	return why == ""
}

// disappointed records that a run has failed on the pinned server. The gateways replace a server that most of
// them cannot use. disappointed reports whether they have already replaced this one.
func (g *group) disappointed(ctx context.Context, host, why string) (moved bool) {
	g.follow(ctx)
	g.mu.Lock()
	if moved = g.pin != host; !moved {
		if g.common.failed++; g.common.failed >= mostFailed {
			g.common.fault, g.common.until = host+" accepts connections, but calls fail: "+
				why, time.Now().Add(setAside)
		}
	}
	g.mu.Unlock()
	if !moved {
		g.examine(ctx, host)
	}
	return moved
}

// rejected is like rejects, for callers that do not hold mu.
func (g *group) rejected(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rejects(host)
}

// unlisted returns a warning if the gateways use a server that this gateway's settings do not name. The
// caller must hold mu.
func (g *group) unlisted() []string {
	if g.cfg.Shared == nil || !g.fixed || g.pin == "" ||
		slices.ContainsFunc(g.candidates, func(h string) bool { return strings.EqualFold(h, g.pin) }) {
		return nil
	}
	return []string{fmt.Sprintf("the gateways of the cluster use the %s %s, which the settings of this one "+
		"do not name", g.kind, g.pin)}
}
