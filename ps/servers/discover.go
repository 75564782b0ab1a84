package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
)

const (
	discoverScript = "Get-GatewayServer"
	discoverLimit  = 30 * time.Second
	maxHostName    = 255
	discoverTries  = 3 // number of attempts if the sessions die

	// notListed is the code of the script's warning that it found only the first domain controller.
	notListed = "not_listed"
)

// pinned returns the pinned server of a group, after pinning one if necessary. It returns an error if no
// server answers. A server that has been idle is probed before a write, because a write that has started
// cannot be repeated.
func (s *Servers) pinned(ctx context.Context, g *group, write bool) (string, error) {
	g.follow(ctx)
	host, silent := g.current()
	if host != "" && write && silent >= s.cfg.Verify {
		if g.probe(ctx, host) {
			g.heard(host)
			return host, nil
		}
		g.leave(ctx, host, host+" does not accept connections")
		host, _ = g.current()
	}
	if host == "" {
		patience, cancel := context.WithTimeout(ctx, s.cfg.MaxWait)
		defer cancel()
		s.find(patience, g)
		host, _ = g.current()
		if host == "" && ctx.Err() == nil && patience.Err() != nil {
			return "", &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: s.cfg.MaxWait,
				Message: "the domain controllers are still being discovered", Cause: s.cfg.Starting()}
		}
	}
	unusable := g.unusable()
	switch {
	case host != "" && unusable == "":
		return host, nil
	case ctx.Err() != nil:
		return "", &ps.Error{Kind: ps.KindCancelled, Outcome: ps.OutcomeNone, Message: "the caller left",
			Cause: context.Cause(ctx)}
	}
	reason := g.status().Reason
	if reason == "" {
		reason = "no " + g.kind + " is known"
	}
	return "", &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, Message: reason,
		RetryAfter: s.cfg.Retry}
}

// find discovers candidates if none are known, and pins one of them.
func (s *Servers) find(ctx context.Context, g *group) {
	g.mu.Lock()
	none := len(g.candidates) == 0 && time.Since(g.tried) >= s.cfg.Retry
	g.mu.Unlock()
	if none && !g.fixed {
		s.discover(ctx, false)
	}
	g.establish(ctx)
}

// discovering describes the discovery in progress.
func (s *Servers) discovering() string {
	text := "the domain controllers are being discovered"
	if why := s.cfg.Starting(); why != nil {
		text += ": " + why.Error()
	}
	return text
}

// discover asks the directory for its domain controllers. Only one discovery runs at a time. Concurrent
// callers wait for that discovery and share its outcome. The discovery continues if the caller that started
// it leaves.
func (s *Servers) discover(ctx context.Context, force bool) {
	s.mu.Lock()
	done := s.discovery
	if done == nil && s.ctx.Err() == nil {
		done = make(chan struct{})
		s.discovery = done
		s.discoveries.Go(func() {
			if why := s.cfg.Starting(); why != nil {
				s.cfg.Log("the discovery of the domain controllers waits for a session",
					map[string]any{"reason": why.Error()})
			}
			s.refresh(s.ctx, force)
			s.mu.Lock()
			s.discovery = nil
			s.mu.Unlock()
			close(done)
		})
	}
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}

// refresh runs a discovery and updates the candidates of the groups that are not
// fixed.
func (s *Servers) refresh(ctx context.Context, force bool) {
	found, warnings, err := s.ask(ctx, force)
	for tries := 1; err != nil && ps.AsError(err).Kind == ps.KindDied && tries < discoverTries; tries++ {
		found, warnings, err = s.ask(ctx, force)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.undiscovered(ps.AsError(err))
		}
		return
	}
	s.cfg.Debug("the domain controllers were discovered",
		func() map[string]any { return map[string]any{"found": described(found)} })
	s.warn(warnings)
	s.setPause(s.cfg.Retry)
	partial := slices.ContainsFunc(warnings, func(w ps.Warning) bool { return w.Code == notListed })
	if !s.directory.fixed {
		s.directory.setOthers(hostNames(found,
			func(c Candidate) bool { return !c.Writable && (c.ADWS == nil || *c.ADWS) }), partial)
	}
	for g, hosts := range map[*group][]string{
		s.directory: hostNames(found, func(c Candidate) bool { return c.Writable && (c.ADWS == nil || *c.ADWS) }),
		s.dns:       hostNames(found, func(c Candidate) bool { return c.IsDNS == nil || *c.IsDNS }),
	} {
		if !g.fixed {
			g.setCandidates(hosts, partial)
		}
	}
}

// warn stores the warnings of a discovery, and logs them if they have changed.
func (s *Servers) warn(warnings []ps.Warning) {
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.Message)
	}
	s.mu.Lock()
	news := !slices.Equal(s.warnings, texts)
	s.warnings = texts
	s.mu.Unlock()
	switch {
	case news && len(texts) > 0:
		s.cfg.Log("not every domain controller can be used", map[string]any{"error": strings.Join(texts, " ")})
	case news:
		s.cfg.Log("the last discovery had no warnings", map[string]any{})
	}
}

// described formats candidates for the log.
func described(found []Candidate) string {
	text, _ := json.Marshal(found) // strings and booleans only: it cannot fail
	return string(text)
}

// undiscovered records why a discovery failed and when to try again. If there was no session, the next
// attempt is made when the runner expects to have one. Requests may try earlier, because an attempt is cheap
// and the failure is not the directory's.
func (s *Servers) undiscovered(e *ps.Error) {
	tried, pause := time.Now(), s.cfg.Retry
	if e.Kind == ps.KindDied || e.Kind == ps.KindUnavailable {
		tried = time.Time{}
		if e.RetryAfter > 0 {
			pause = min(pause, e.RetryAfter)
		}
	}
	s.setPause(pause)
	why, news := "the domain controllers could not be discovered: "+e.Error(), false
	for _, g := range []*group{s.directory, s.dns} {
		news = g.undiscovered(why, tried) || news
	}
	if news {
		s.cfg.Log("the domain controllers could not be discovered", map[string]any{"error": e.Error()})
	}
}

// undiscovered records why there are no candidates, and reports whether the
// reason is new.
func (g *group) undiscovered(why string, tried time.Time) (news bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.fixed:
		return false
	case len(g.candidates) > 0:
		return true // the known servers are kept
	}
	news = g.reason != why
	g.reason, g.tried, g.discovered = why, tried, false
	return news
}

func (s *Servers) setPause(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.pause = d }

func (s *Servers) nextPause() time.Duration { s.mu.Lock(); defer s.mu.Unlock(); return s.pause }

// ask runs the discovery script and returns its records and warnings.
func (s *Servers) ask(ctx context.Context, force bool) ([]Candidate, []ps.Warning, error) {
	script, known := s.cfg.Script(discoverScript)
	if !known {
		return nil, nil, fmt.Errorf("there is no script %s", discoverScript)
	}
	req := ps.Request{ID: "discovery", Script: discoverScript, Lane: ps.Directory, Limit: discoverLimit,
		Wait: s.cfg.SessionWait, Args: ps.Args{}}
	if _, declared := script.Param("Force"); declared {
		req.Args["Force"] = ps.Bool(force)
	}
	if host, _ := s.directory.current(); host != "" && s.directory.unusable() == "" {
		if _, declared := script.Param(argServer); declared {
			req.Args[argServer] = ps.Text(host)
		}
	}
	var found []Candidate
	req.Records = ps.Collect(&found)
	result, err := s.cfg.Runner.Run(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	return found, result.Warnings, nil
}

// hostNames returns the distinct names of the matching candidates, in order.
func hostNames(found []Candidate, fits func(Candidate) bool) []string {
	var names []string
	for _, c := range found {
		name := strings.TrimSuffix(c.HostName, ".")
		same := func(other string) bool { return strings.EqualFold(other, name) }
		if name == "" || len(name) > maxHostName || !fits(c) || slices.ContainsFunc(names, same) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// keep maintains the pinned servers until ctx is done. It pins a server at the start and when the pinned one
// is lost, probes suspects, repeats the discovery, and returns to preferred servers.
func (s *Servers) keep(ctx context.Context) {
	defer close(s.done)
	back := time.NewTicker(s.cfg.Return)
	defer back.Stop()
	refresh := time.NewTicker(s.cfg.Refresh)
	defer refresh.Stop()
	var look <-chan time.Time // nil without a shared choice
	if s.cfg.Shared != nil {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	groups := []*group{s.directory, s.dns}
	s.first(ctx)
	retry := time.NewTimer(s.nextPause())
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
			for _, g := range groups {
				if host, _ := g.current(); host == "" || g.unusable() != "" && g.unknown() {
					s.lost(ctx, g)
				}
			}
			retry.Reset(s.nextPause())
		case <-s.cfg.Started:
			for _, g := range groups {
				if g.unknown() {
					s.lost(ctx, g)
				}
			}
		case <-look:
			for _, g := range groups {
				g.look(ctx)
			}
		case <-back.C:
			for _, g := range groups {
				g.better(ctx)
			}
		case <-refresh.C:
			if !s.directory.fixed || !s.dns.fixed {
				s.discover(ctx, false)
				for _, g := range groups {
					g.leaveUndiscovered(ctx)
				}
			}
		case host := <-s.directory.suspects:
			s.directory.check(ctx, host)
		case host := <-s.dns.suspects:
			s.dns.check(ctx, host)
		}
	}
}

// first pins both servers at the start.
func (s *Servers) first(ctx context.Context) {
	if !s.directory.fixed || !s.dns.fixed {
		s.discover(ctx, false)
	}
	s.directory.establish(ctx)
	s.dns.establish(ctx)
}

// lost handles a group without a pinned server. It starts a new discovery and pins a server.
func (s *Servers) lost(ctx context.Context, g *group) {
	if !g.fixed {
		s.discover(ctx, true)
	}
	g.establish(ctx)
}

// check probes a suspect and, if it does not answer, pins another server.
func (g *group) check(ctx context.Context, host string) {
	if pin, _ := g.current(); pin == host && !g.probe(ctx, host) {
		g.leave(ctx, host, host+" does not accept connections")
	}
}

// leaveUndiscovered unpins a server that the last discovery did not find. A server that several gateways
// share stays pinned.
func (g *group) leaveUndiscovered(ctx context.Context) {
	if g.cfg.Shared != nil {
		return
	}
	g.mu.Lock()
	pin, known := g.pin, slices.Contains(g.candidates, g.pin)
	g.mu.Unlock()
	if pin != "" && !known {
		g.leave(ctx, pin, pin+" is not among the discovered servers any more")
	}
}
