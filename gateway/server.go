// Package gateway is the HTTP side: it takes requests, hands each to a
// [ps.Runner] and answers with an envelope.
//
// A request passes these stations. [routes] finds the operation by method and
// path, before gin, because gin can neither match fixed parts in any case nor
// take a network with a slash as one value. The middleware gives the request an
// id, a log line, headers and a net for panics. One generic handler then serves
// every operation: authenticate, collect the values of path, query and body,
// bind them by the operation's row, run its script, answer. What goes wrong is
// a [failure] with one of the API's codes; [failureOf] maps errors of scripts
// by number and type, never by message.
//
// The package knows operations only as rows (package ops) and PowerShell only
// as a Runner.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// Options are what a server is made of. Runner, Auth and Log must be given; of
// everything else the zero value is a sensible choice.
type Options struct {
	Runner     ps.Runner
	Scripts    []ps.Script      // what the scripts declare; the table is checked against them
	Operations []*ops.Operation // nil: ops.Table()
	Auth       auth.Authenticator
	// Certificates finds callers by client certificates; nil: none counts.
	Certificates Certificates
	Log          *logrus.Logger
	Audit        *audit.Log // records what is changed or refused; nil: nothing does

	HideDocs bool // neither /openapi.json nor /docs

	Engine  string  // what answers: "sandbox" or "powershell" (default)
	Version Version // shown by /version
	// Ready tells the state of what the server needs, for /readyz. Nil: nothing
	// is checked.
	Ready func(ctx context.Context) []Check

	// Metrics is what /metrics tells; the server adds its own. Nil: only those.
	Metrics     *prometheus.Registry
	OpenMetrics bool // clients on this machine read the metrics without a credential

	Policy    Policy
	BodyLimit int64 // bytes of a request's body; zero: 1 MiB

	Connections Connections

	// Stopping is called when the server begins to stop and lets what runs end, so
	// that the Runner can refuse what has not begun. Nil: nothing is.
	Stopping func()

	streamAbove int // of tests, which would take long with the usual
}

// Policy is what may change while the server runs, see [Server.Apply]. Of
// everything in it the zero value is a sensible choice.
type Policy struct {
	Dialect             auth.Dialect // default of principals without one; empty: standard
	AllowSecretsInQuery bool         // accept Password in the query (old clients)
	Origins             []string     // values of the Origin header that are let through
	TrustedProxies      []string     // addresses or networks whose X-Forwarded-For is believed

	ReadLimit   time.Duration // longest run of a read; zero: 30 s
	ListLimit   time.Duration // of a list; zero: 5 min
	WriteLimit  time.Duration // of a change; zero: 1 min
	SettleLimit time.Duration // of finding out what became of a change that was cut off; zero: 5 s
	SettlePause time.Duration // how long it must stay as it is to count as so; zero: 1 s
	BulkLimit   int           // objects that one bulk removal may take; zero: 50
	Grace       time.Duration // how long running requests may finish at the end; zero: 15 s
}

// Version is what /version tells.
type Version struct {
	Version string
	Commit  string
	Built   string
}

// Check is one line of /readyz. The reason is for callers with ops:read only.
type Check struct {
	Name   string
	OK     bool
	Reason string
}

func (o *Options) complete() error {
	var missing []error
	for name, absent := range map[string]bool{"Runner": o.Runner == nil, "Auth": o.Auth == nil, "Log": o.Log == nil} {
		if absent {
			missing = append(missing, fmt.Errorf("gateway: option %s is missing", name))
		}
	}
	if o.Operations == nil {
		o.Operations = ops.Table()
	}
	if o.Engine == "" {
		o.Engine = "powershell"
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.BodyLimit <= 0 {
		o.BodyLimit = 1 << 20
	}
	if o.streamAbove <= 0 {
		o.streamAbove = streamAbove
	}
	o.Connections.complete()
	return errors.Join(missing...)
}

func (p *Policy) complete() {
	if p.Dialect == "" {
		p.Dialect = auth.Standard
	}
	for limit, standard := range map[*time.Duration]time.Duration{
		&p.ReadLimit: 30 * time.Second, &p.ListLimit: 5 * time.Minute, &p.WriteLimit: time.Minute, &p.Grace: 15 * time.Second,
		&p.SettleLimit: 5 * time.Second, &p.SettlePause: time.Second,
	} {
		if *limit <= 0 {
			*limit = standard
		}
	}
	p.SettlePause = min(p.SettlePause, p.SettleLimit/2) // there must be time for a second reading
	if p.BulkLimit <= 0 {
		p.BulkLimit = 50
	}
}

// Server serves the API. It is safe for concurrent use.
type Server struct {
	Options
	routes  *routes
	scripts map[string]ps.Script
	meters  *meters
	now     atomic.Pointer[view]
}

// A view is the server under one policy. A request sees one from start to end.
type view struct {
	policy  Policy // never changed
	proxies proxies
	handler http.Handler
}

// New makes a server. The error joins every fault of the options and of the
// operation table.
func New(options Options) (*Server, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if faults := ops.Check(options.Operations, options.Scripts); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s := &Server{Options: options, routes: newRoutes(options.Operations), scripts: map[string]ps.Script{}, meters: newMeters()}
	for _, script := range options.Scripts {
		s.scripts[script.Name] = script
	}
	if err := s.meters.register(s.Metrics); err != nil {
		return nil, err
	}
	if err := s.Apply(options.Policy); err != nil {
		return nil, err
	}
	return s, nil
}

// Apply puts a policy in force for the requests that come from now on. With an
// error the one before stays.
func (s *Server) Apply(policy Policy) error {
	policy.complete()
	next := &view{policy: policy}
	engine, err := s.engine(&next.policy)
	if err != nil {
		return err
	}
	if next.proxies, err = parseProxies(policy.TrustedProxies); err != nil {
		return err
	}
	next.handler = next.proxies.locate(s.routes.normalise(engine))
	s.now.Store(next)
	return nil
}

// engine builds the router: middleware, operations, the operational endpoints.
func (s *Server) engine(policy *Policy) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	if err := engine.SetTrustedProxies(nil); err != nil { // the client is found by proxies.client
		return nil, fmt.Errorf("gateway: %w", err)
	}
	engine.Use(s.receive(policy), endpoint(recoverPanic), endpoint(secure))
	engine.NoRoute(endpoint(s.noRoute))
	engine.HandleMethodNotAllowed = true // of the operational endpoints; gin sets Allow
	engine.NoMethod(endpoint(noMethod))
	for _, op := range s.Operations {
		engine.Handle(op.Method, op.Path, endpoint(s.serve(op)))
	}
	probing := []string{http.MethodGet, http.MethodHead} // many load balancers and monitors ask with HEAD
	engine.Match(probing, "/healthz", endpoint(s.healthz))
	engine.Match(probing, "/readyz", endpoint(s.readyz))
	engine.GET("/metrics", endpoint(s.metrics()))
	engine.GET("/version", endpoint(s.version))
	s.addDocs(engine)
	return engine, nil
}

// Handler is the whole server as a handler.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.now.Load().handler.ServeHTTP(w, r) })
}

// Run serves on the listener, with TLS where the options have it, until ctx is
// done, lets running requests finish for the time of grace, and returns; so it
// does when the listener fails. It closes the listener and all connections. The
// error is nil when ctx ended it and all requests were answered.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server, limited := s.httpServer(), s.listen(listener)
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") } // the certificate is in TLSConfig
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(limited) }()
	var fault error
	select {
	case err := <-failed:
		fault = fmt.Errorf("gateway: serve: %w", err)
		failed <- nil
	case <-ctx.Done():
	}
	if s.Stopping != nil {
		s.Stopping()
	}
	// Also when no new connection can be taken, what runs is let end.
	allowed := s.now.Load().policy.Grace
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), allowed)
	defer cancel()
	if err := server.Shutdown(grace); errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close() // what is left is cut off; the error says so
		fault = errors.Join(fault, fmt.Errorf("gateway: requests that still ran after %s (http.shutdownTimeout) were cut off", allowed))
	}
	<-failed // Serve has returned
	return fault
}
