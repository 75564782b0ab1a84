// Package gateway assembles the parts of the gateway: store, writer, history, jobs, calls, and the
// server that serves them to clients.
//
// Package transport handles HTTP: it finds the operation of a request and its caller, and turns the
// request into a [call.Call]. [call.Service.Do] makes every call and returns a [call.Answer], which
// transport writes as an envelope. A row without a script is answered by the package that owns the
// state: history, jobs/rows.
//
// The package knows operations only as rows (package ops) and PowerShell only as a Runner.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/cluster/here"
	"adgateway/gateway/forward"
	"adgateway/gateway/history"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/meters"
	"adgateway/gateway/ops"
	"adgateway/gateway/readiness"
	"adgateway/gateway/settle"
	"adgateway/gateway/transport"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/write"
)

// Server serves the API. It is safe for concurrent use.
type Server struct {
	Options
	web       *transport.Server
	calls     *call.Service // makes all calls
	meters    *meters.Meters
	here      here.Gateway
	streams   *call.Streams   // event streams
	stopping  context.Context // done when the server stops
	stop      context.CancelFunc
	history   *history.Service
	pages     Pages              // nil if there are none
	forwarder *forward.Forwarder // nil outside of a cluster
	jobs      *rows.Service
	current   atomic.Pointer[call.Policy] // immutable; each call uses one policy throughout
}

// New returns a server. The error joins all faults of the options and of the operation table.
func New(options Options) (*Server, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if faults := ops.Check(options.Operations, options.Scripts); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s := &Server{Options: options, meters: meters.New(), streams: call.NewStreams(options.Streams)}
	s.here = here.Gateway{Cluster: options.Cluster, Kept: options.Kept, Lanes: s.Usable}
	s.stopping, s.stop = context.WithCancel(context.Background())
	if err := s.openParts(); err != nil {
		return nil, err
	}
	if faults := s.calls.Local.Check(options.Operations); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	measured := meters.Parts{
		Streams: s.streams, Plans: s.calls.Plans, Keys: s.calls.Keys, Jobs: s.jobs.Manager,
	}
	if err := s.meters.Register(s.Metrics, measured); err != nil {
		return nil, err
	}
	var err error
	if s.web, err = transport.New(s.overHTTP()); err != nil {
		return nil, err
	}
	if err := s.Apply(options.Policy); err != nil {
		return nil, err
	}
	return s, nil
}

// openParts opens the parts that answer calls: history, jobs, and the service that makes them.
func (s *Server) openParts() (err error) {
	s.calls, err = call.New(call.Options{
		Table:  call.NewTable(s.Operations, s.Scripts),
		Runner: s.Runner, Log: s.Log, Audit: s.Audit, Storage: s.Storage, Guarded: s.Guarded,
		Reveals:     call.Reveals{Unaudited: s.Sandbox(), Ended: s.meters.Revealed},
		StreamAbove: s.StreamAbove, Gateways: s.here.Serving, Policy: s.current.Load,
		Unrecorded: s.meters.Unrecorded,
		Cluster:    write.Cluster{Member: s.Member, Relay: s.Relay, Load: s.load, Stopping: s.stopping},
	})
	if err != nil {
		return err
	}
	var cursors call.Cursors
	if s.History != nil {
		s.calls.Amend = history.Removals{History: s.History, Log: s.Log}.Amend()
		cursors.Sum = s.History.Sum
	}
	s.history = history.New(history.Options{
		History: s.History, Operations: s.Operations, Cursors: cursors, Streams: s.streams,
		Settler: settle.Settler{Runner: s.Runner, Scripts: s.calls.Scripts},
		Do:      s.calls.Do, Stopping: s.stopping.Done(),
	})
	o := rows.Options{
		Clustered: s.Member != nil, Operations: s.Operations, Rights: s.rights, Make: s.Call,
		Read: func(ctx context.Context, c call.Call) (call.Answer, error) {
			return s.calls.Read(ctx, c, s.calls.Policy(), nil)
		},
		History: s.history, Keys: s.calls.Keys, Cursors: cursors, Streams: s.streams, Log: s.Log,
		Room: s.Bounds.Room, Wall: s.Wall, Counts: s.meters, Work: s.Work,
	}
	if s.History != nil {
		o.Store = s.Kept
	}
	if s.jobs, err = rows.New(o); err != nil {
		return err
	}
	s.calls.Local.Handlers["cluster.show"] = s.here.Show
	s.calls.Local.Add(s.history.Local())
	s.calls.Local.Add(s.jobs.Local())
	return nil
}

// Apply changes the policy for all later requests. If it fails, the policy stays as it was.
func (s *Server) Apply(policy Policy) error {
	if err := policy.Policy.Check(); err != nil {
		return err
	}
	if len(policy.RequireKey) > 0 && s.calls.Keys == nil {
		return errors.New("http.requireKey: without a store (store.file) no call can have a key")
	}
	if err := s.web.Apply(policy.WebPolicy); err != nil {
		return err
	}
	s.current.Store(&policy.Policy)
	return nil
}

// overHTTP returns the options for serving the server's calls over HTTP.
func (s *Server) overHTTP() transport.Options {
	options := transport.Options{
		Calls: s.calls, Operations: s.Operations, Log: s.Log,
		Callers: transport.Callers{Auth: s.Auth, Quotas: s.Quotas},
		Ready:   s.checks, Features: s.Storage.Features(s.jobs.Manager != nil), Settings: s.Web,
		Answered: s.meters.Answered,
		Stopping: func() {
			s.stop()
			if s.Stopping != nil {
				s.Stopping()
			}
		},
	}
	options.Bodies.List = s.Lists.MaxBytes
	if s.Pages != nil {
		s.pages = s.Pages(s)
		options.Pages = s.pages
		options.EndPoint = func(r *http.Request) []byte { return forward.EndPointOf(r, s.EndPoint) }
	}
	if s.Member != nil {
		s.forwarder = forward.New(forward.Options{
			Member: s.Member, Hop: *s.Hop, Count: s.meters.Forwarded, Log: s.Log, Pages: s.pages,
			Limit:       func(op *ops.Operation) time.Duration { return s.current.Load().Longest(op) + s.MaxWait },
			SendTimeout: s.Connections.SendTimeout, EndPoint: s.EndPoint,
		})
		id := func(r *http.Request) string { return s.web.RequestID(r) }
		options.Hop = s.forwarder.Hop(id, s.here.Leads)
	}
	return options
}

// checks checks the server's dependencies.
func (s *Server) checks(ctx context.Context) (checks []Check) {
	if s.Ready != nil {
		checks = s.Ready(ctx)
	}
	if s.Member != nil {
		checks = append(checks, s.here.Check())
	}
	if s.Audit != nil {
		checks = append(checks, s.Audit.Readiness())
	}
	return checks
}

// Handler returns the handler for clients.
func (s *Server) Handler() http.Handler { return s.web.Handler() }

// Run serves on the listener, with TLS if configured, until ctx is done or the listener fails. Then it waits
// for running requests, at most [Policy.Grace], and closes the listener and all connections. It returns nil
// if ctx ended and all requests were answered.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	err := s.web.Run(ctx, listener)
	if s.forwarder != nil {
		s.forwarder.Close()
	}
	return err
}

// HopHandler returns the handler of calls that other gateways forward, for [hop.Receiver].
func (s *Server) HopHandler() http.Handler { return s.web.Forwarded() }

// ClusterHandler returns a handler that answers with the state of the cluster, see
// [here.Gateway.ServeHTTP].
func (s *Server) ClusterHandler() http.Handler { return s.here }

// Call makes a call for a part of the gateway itself, see [transport.Server.Call].
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	return s.web.Call(ctx, operation, c)
}

// Readiness implements [frame.API].
func (s *Server) Readiness(ctx context.Context, caller *identity.Principal) (checks []Check, ready bool) {
	return readiness.Shown(s.checks(ctx), caller)
}

// RequiresReason reports whether calls of an operation to a server must give a reason under the
// server's current settings.
func RequiresReason(s *Server, operation string) bool {
	return call.RequiresReason(ops.Find(s.Operations, operation), s.current.Load().RequireReason)
}

// Proved implements [frame.API].
func (s *Server) Proved(r *http.Request) { s.web.Proved(r) }

// LastHour returns the number of answered calls of operations in each minute of the last hour.
func (s *Server) LastHour() []figures.Minute { return s.meters.LastHour() }

// ClientOf returns the address of a request's client, see [transport.ClientOf].
func ClientOf(r *http.Request) netip.Addr { return transport.ClientOf(r) }

// Writer returns the server's writer, whose background work the owner of the server runs.
func (s *Server) Writer() *write.Writer { return s.calls.Writer }

// Changes returns the service that answers calls about changes.
func (s *Server) Changes() *history.Service { return s.history }

// Jobs returns the service that answers calls about jobs, runs them, and makes the calls of their
// items.
func (s *Server) Jobs() *rows.Service { return s.jobs }

// RunMember runs the background work of a cluster member until ctx ends. In each term of this
// gateway it also calls the functions in leading, with a context that ends with the term, and waits
// until all of them have returned before the next term.
func (s *Server) RunMember(ctx context.Context, leading ...func(ctx context.Context)) {
	s.calls.Writer.RunMember(ctx, append([]func(context.Context){s.runJobsOfTerm}, leading...)...)
}

// runJobsOfTerm runs jobs until the term ends. Most open changes of earlier terms are judged by
// then, so items that have made one need not be called twice.
func (s *Server) runJobsOfTerm(ctx context.Context) {
	if s.here.WaitJudged(ctx) {
		s.jobs.Run(ctx)
	}
}

// load reads the values that the gateway holds in memory again, because other leaders may have
// changed them.
func (s *Server) load(ctx context.Context) error {
	s.calls.Keys.Forget()
	if err := s.calls.Plans.Load(ctx); err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	return s.jobs.Manager.Load(ctx)
}

// rights returns what a caller may do now, see [authn.RightsOf].
func (s *Server) rights(ctx context.Context, id identity.ID) ([]*identity.Principal, error) {
	people := authn.People(nil)
	if s.pages != nil {
		people = s.pages.Rights
	}
	return authn.RightsOf(ctx, s.Auth, people, id)
}
