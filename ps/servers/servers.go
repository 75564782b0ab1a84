package servers

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"
)

// The script parameters that [Servers] sets, if the script declares them.
const (
	argServer       = "Server"           // the domain controller
	argComputerName = "ComputerName"     // the DNS server
	argControllers  = "DomainController" // every reachable domain controller
	argUnreached    = "Unreached"        // unreachable domain controllers
	argKnown        = "KnownController"  // every known domain controller, reachable or not
)

// Servers is a [ps.Runner] that runs requests on the pinned servers. It is safe
// for concurrent use.
type Servers struct {
	cfg       Config
	directory *group
	dns       *group

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	done chan struct{} // closed when keep returns

	mu          sync.Mutex
	discovery   chan struct{} // closed when the running discovery ends; nil if no discovery is running
	discoveries sync.WaitGroup
	pause       time.Duration // until keep next tries to pin lost servers
	warnings    []string      // warnings of the last discovery
}

// New wraps a runner and starts to search for servers. The caller must call [Servers.Close].
func New(cfg Config) (*Servers, error) {
	if cfg.Runner == nil || cfg.Script == nil {
		return nil, errors.New("servers: Config needs Runner and Script")
	}
	cfg = cfg.withDefaults()
	s := &Servers{cfg: cfg, done: make(chan struct{}), pause: cfg.Retry}
	s.directory = newGroup(&s.cfg, ps.Directory, "domain controller", []string{"9389"}, cfg.Directory)
	s.dns = newGroup(&s.cfg, ps.DNS, "DNS server", []string{"53", "135"}, cfg.DNS)
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.keep(s.ctx)
	return s, nil
}

func (c Config) withDefaults() Config {
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	for _, d := range []struct {
		value     *time.Duration
		byDefault time.Duration
	}{
		{&c.MaxWait, 10 * time.Second}, {&c.ProbeTimeout, time.Second}, {&c.Return, 5 * time.Minute}, {&c.Refresh, 15 * time.Minute},
		{&c.Retry, 5 * time.Second}, {&c.Verify, 30 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.byDefault
		}
	}
	if c.Starting == nil {
		c.Starting = func() error { return nil }
	}
	if c.Log == nil {
		c.Log = func(string, map[string]any) {}
	}
	if c.Debug == nil {
		c.Debug = func(string, func() map[string]any) {}
	}
	return c
}

// Close stops the search for servers and waits until the search has ended or ctx is done. It may be called
// more than once. It does not close the wrapped runner, which must not be closed earlier.
func (s *Servers) Close(ctx context.Context) error {
	s.mu.Lock()
	s.stop() // under the lock, so that no discovery starts later
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-s.done
		s.discoveries.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Status returns the state of both kinds of server.
func (s *Servers) Status() (directory, dns Status) {
	directory, dns = s.directory.status(), s.dns.status()
	s.mu.Lock()
	defer s.mu.Unlock()
	directory.Warnings = slices.Concat(s.warnings, directory.Warnings)
	if s.discovery != nil {
		for _, status := range []*Status{&directory, &dns} {
			if status.Pinned == "" && status.Reason == "" {
				status.Reason = s.discovering()
			}
		}
	}
	return directory, dns
}

// Run passes the pinned servers to the script if the script declares parameters for them and the caller has
// not set these parameters. If the server cannot be contacted, Run pins the next server and runs the request
// once more there, provided that no records have been delivered and that the request is a read, or a write
// that has certainly changed nothing.
func (s *Servers) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	script, known := s.cfg.Script(req.Script)
	if !known {
		return s.cfg.Runner.Run(ctx, req)
	}
	var answered atomic.Bool
	if records := req.Records; records != nil {
		req.Records = func(batch json.RawMessage) error { answered.Store(true); return records(batch) }
	}
	rejecting, instead := "", "" // the domain controller that rejected the account, and the one to try instead
	for first := true; ; first = false {
		use, err := s.choose(ctx, req, script)
		if err != nil {
			return nil, err
		}
		if instead != "" {
			use.controller = instead
		}
		result, err := s.cfg.Runner.Run(ctx, use.request(req))
		if err == nil {
			use.answered()
			if instead != "" {
				s.directory.replace(ctx, rejecting, instead,
					rejecting+" rejects the credentials of the gateway's service account")
			}
			result.Server = use.host()
			return result, nil
		}
		e := *ps.AsError(err)
		e.Server = use.host()
		again, other := s.failed(ctx, req, use, &e, first)
		if !again || !first || answered.Load() || ctx.Err() != nil {
			return nil, &e
		}
		rejecting, instead = use.controller, other
		s.cfg.Log("a request is run once more", map[string]any{
			"request": req.ID, "script": req.Script, "server": e.Server, "error": e.Error()})
	}
}

// use contains the servers of one run.
type use struct {
	directory, dns *group // nil if unused
	controller     string
	nameServer     string
	epoch          uint64 // epoch of the pin of the server that produced the result
	lists          ps.Args
}

// choose selects the servers for a run. Its error is a [*ps.Error].
func (s *Servers) choose(ctx context.Context, req ps.Request, script ps.Script) (*use, error) {
	u := &use{lists: ps.Args{}}
	wants := func(arg string) bool {
		_, declared := script.Param(arg)
		_, given := req.Args[arg]
		return declared && !given
	}
	var err error
	if wants(argServer) {
		u.directory = s.directory
		if u.controller, err = s.pinned(ctx, s.directory, req.Write); err != nil {
			return nil, err
		}
		u.epoch = s.directory.epoch()
	}
	if wants(argComputerName) {
		u.dns = s.dns
		if u.nameServer, err = s.pinned(ctx, s.dns, req.Write); err != nil {
			return nil, err
		}
		u.epoch = s.dns.epoch()
	}
	if wants(argControllers) || wants(argUnreached) {
		up, down := s.directory.reach(ctx)
		if wants(argControllers) {
			u.lists[argControllers] = ps.List(up)
		}
		if wants(argUnreached) {
			u.lists[argUnreached] = ps.List(down)
		}
	}
	if wants(argKnown) {
		// waits for the first discovery, because no server is known until then
		_, _ = s.pinned(ctx, s.directory, false)
		u.lists[argKnown] = ps.List(s.directory.known())
	}
	return u, nil
}

// request returns req with the servers added to its arguments.
func (u *use) request(req ps.Request) ps.Request {
	args := make(ps.Args, len(req.Args)+4)
	maps.Copy(args, req.Args)
	maps.Copy(args, u.lists)
	if u.directory != nil {
		args[argServer] = ps.Text(u.controller)
	}
	if u.dns != nil {
		args[argComputerName] = ps.Text(u.nameServer)
	}
	req.Args = args
	if state := req.State; state != nil {
		state = &ps.State{Script: state.Script, Identity: state.Identity, Args: maps.Clone(state.Args)}
		for _, name := range []string{argServer, argComputerName} {
			if _, declared := state.Args[name]; declared {
				state.Args[name] = args[name]
			}
		}
		req.State = state
	}
	if announced := req.Announced; announced != nil {
		req.Announced = func(i ps.Intent) error {
			i.Server, i.PinEpoch = u.host(), u.epoch
			return announced(i)
		}
	}
	return req
}

// host returns the server that produced the result, which is the DNS server if one was used.
func (u *use) host() string {
	if u.dns != nil {
		return u.nameServer
	}
	return u.controller
}

// answered records that the servers have responded.
func (u *use) answered() {
	if u.directory != nil {
		u.directory.heard(u.controller)
	}
	if u.dns != nil {
		u.dns.heard(u.nameServer)
	}
}

// blame returns the server that an error concerns and its group. The group is nil if the error concerns no
// server.
func (u *use) blame(e *ps.Error) (*group, string) {
	if u.dns != nil && (u.directory == nil || !ofDirectory(e)) {
		return u.dns, u.nameServer
	}
	return u.directory, u.controller
}

// failed handles the error of a run. It pins another server if this one could not be contacted, and corrects
// the outcome if the script could not know it. It reports whether the request may be run again, and returns
// the domain controller to use unless that is the pinned one.
func (s *Servers) failed(
	ctx context.Context, req ps.Request, u *use, e *ps.Error, first bool,
) (again bool, instead string) {
	g, host := u.blame(e)
	if g == nil {
		return false, ""
	}
	switch e.Kind {
	case ps.KindScript:
	case ps.KindTimeout:
		// A timeout does not prove that the server is down. A probe will decide.
		g.suspect(host)
		return false, ""
	default:
		return false, ""
	}
	repeatable := !req.Write || beforeChange(e)
	switch causeOf(e) {
	case gone:
		return s.gone(ctx, req, g, host, e) && repeatable, ""
	case broken:
		if !g.probe(ctx, host) {
			return s.gone(ctx, req, g, host, e) && repeatable, ""
		}
		doubt(req, e)
		s.unavailable(e)
		return repeatable, ""
	case rejected:
		return s.rejected(ctx, g, host, e, first && repeatable)
	case slow:
		g.suspect(host)
		doubt(req, e)
		return false, ""
	case busy:
		u.answered()
		return repeatable, ""
	case noLDAP:
		u.answered()
		doubt(req, e)
		return false, ""
	default:
		u.answered()
		return false, ""
	}
}

// gone handles an error of a run that could not contact the server. It reports whether another server is now
// pinned.
func (s *Servers) gone(ctx context.Context, req ps.Request, g *group, host string, e *ps.Error) bool {
	doubt(req, e)
	moved := g.leave(ctx, host, e.Error())
	s.unavailable(e)
	return moved
}

// unavailable converts the error of a run without effect to an error that tells callers to retry.
func (s *Servers) unavailable(e *ps.Error) {
	if e.Outcome == ps.OutcomeNone || e.Outcome == "" {
		e.Kind, e.RetryAfter = ps.KindUnavailable, s.cfg.Retry
	}
}

// rejected handles an error of a run whose server rejected the gateway's account. The fault may lie with that
// server alone, so another server is tried if the request can be repeated. If all servers reject the account,
// the account is at fault.
func (s *Servers) rejected(
	ctx context.Context, g *group, host string, e *ps.Error, repeatable bool,
) (again bool, instead string) {
	g.reject(host)
	if g.cfg.Shared != nil {
		g.examine(ctx, host)
	} else if repeatable {
		if instead = g.unrejected(ctx); instead != "" {
			return true, instead
		}
	}
	if g.rejectedByAll() {
		e.Notes = append(e.Notes, "Every "+g.kind+" rejects the gateway's service account.")
	} else {
		e.Notes = append(e.Notes, "One "+g.kind+" rejected the gateway's service account; others may accept it.")
	}
	return false, ""
}
