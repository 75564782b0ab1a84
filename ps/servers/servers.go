package servers

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"
)

// Script parameters that [Servers] sets if the script declares them.
const (
	argServer       = "Server"           // the domain controller
	argComputerName = "ComputerName"     // the DNS server
	argControllers  = "DomainController" // every reachable domain controller
	argUnreached    = "Unreached"        // the unreachable ones
)

// Servers is a [ps.Runner] that runs requests on the pinned servers. It is safe
// for concurrent use.
type Servers struct {
	cfg       Config
	directory *group
	dns       *group

	ctx  context.Context // cancelled by Close
	stop context.CancelFunc
	done chan struct{} // closed when keep returns

	mu          sync.Mutex
	discovery   chan struct{} // closed when the running discovery ends; nil if none runs
	discoveries sync.WaitGroup
	pause       time.Duration // until keep next tries to pin lost servers
}

// New wraps a runner and starts to look for servers. The caller must call
// [Servers.Close].
func New(cfg Config) (*Servers, error) {
	if cfg.Runner == nil || cfg.Script == nil {
		return nil, errors.New("servers: Config needs Runner and Script")
	}
	cfg = cfg.withDefaults()
	s := &Servers{cfg: cfg, done: make(chan struct{}), pause: cfg.Retry}
	s.directory = newGroup(&s.cfg, "domain controller", []string{"9389"}, cfg.Directory)
	s.dns = newGroup(&s.cfg, "DNS server", []string{"53", "135"}, cfg.DNS)
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
		{&c.ProbeTimeout, time.Second}, {&c.Return, 5 * time.Minute}, {&c.Refresh, 15 * time.Minute},
		{&c.Retry, 5 * time.Second}, {&c.Verify, 30 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.byDefault
		}
	}
	if c.Log == nil {
		c.Log = func(string, map[string]any) {}
	}
	if c.Debug == nil {
		c.Debug = func(string, func() map[string]any) {}
	}
	return c
}

// Close stops the search for servers and waits for it to end or for ctx. It does
// not close the wrapped runner, which must outlive it. It may be called more than
// once.
func (s *Servers) Close(ctx context.Context) error {
	s.mu.Lock()
	s.stop() // under the lock, so that no discovery starts afterwards
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
	return s.directory.status(), s.dns.status()
}

// Run passes the pinned servers to the script, as far as it declares parameters
// for them and the caller has not set them. If the server cannot be contacted, the
// next one is pinned and the request is run once more there, provided that no
// records have been delivered and the request is a read, or a write that has
// certainly changed nothing.
func (s *Servers) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	script, known := s.cfg.Script(req.Script)
	if !known {
		return s.cfg.Runner.Run(ctx, req)
	}
	var answered atomic.Bool
	if records := req.Records; records != nil {
		req.Records = func(batch json.RawMessage) error { answered.Store(true); return records(batch) }
	}
	for first := true; ; first = false {
		use, err := s.choose(ctx, req, script)
		if err != nil {
			return nil, err
		}
		result, err := s.cfg.Runner.Run(ctx, use.request(req))
		if err == nil {
			use.answered()
			result.Server = use.host()
			return result, nil
		}
		e := *ps.AsError(err)
		e.Server = use.host()
		again := s.failed(ctx, req, use, &e)
		if !again || !first || answered.Load() || ctx.Err() != nil {
			return nil, &e
		}
		s.cfg.Log("a request is run once more on another server", map[string]any{
			"request": req.ID, "script": req.Script, "away": e.Server})
	}
}

// use holds the servers of one run.
type use struct {
	directory, dns *group // nil if not used
	controller     string
	nameServer     string
	lists          ps.Args
}

// choose picks the servers for a run; its error is a [*ps.Error].
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
	}
	if wants(argComputerName) {
		u.dns = s.dns
		if u.nameServer, err = s.pinned(ctx, s.dns, req.Write); err != nil {
			return nil, err
		}
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
	return req
}

// host returns the server that the result comes from: the DNS server if used.
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

// blame returns the server that an error is about; the group is nil if there is none.
func (u *use) blame(e *ps.Error) (*group, string) {
	if u.dns != nil && (u.directory == nil || !directoryDown(e)) {
		return u.dns, u.nameServer
	}
	return u.directory, u.controller
}

// failed handles the error of a run: it pins another server if this one could not
// be contacted, corrects the outcome where the script could not know it, and
// reports whether the request may be run again.
func (s *Servers) failed(ctx context.Context, req ps.Request, u *use, e *ps.Error) bool {
	g, host := u.blame(e)
	switch {
	case g == nil:
		return false
	case e.Kind == ps.KindTimeout:
		// A timeout does not prove that the server is down; a probe will tell.
		g.suspect(host)
		return false
	case e.Kind != ps.KindScript:
		return false
	case !unreachable(e):
		if e.Type != timeoutType {
			u.answered()
			return false
		}
		g.suspect(host)
		doubt(req, e)
		return false
	}
	doubt(req, e)
	moved := g.leave(ctx, host, e.Error())
	if e.Outcome == ps.OutcomeNone || e.Outcome == "" {
		e.Kind, e.RetryAfter = ps.KindUnavailable, s.cfg.Retry
	}
	return moved && (!req.Write || beforeChange(e))
}
