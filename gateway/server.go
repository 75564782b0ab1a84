// Package gateway is the HTTP side: it serves requests by running scripts through a
// [ps.Runner] and answers with an envelope.
//
// A request passes these stages. [routes] finds the operation by method and path,
// before gin, which can neither match literals in any case nor take a network with a
// slash as one value. The first middleware, receive, creates the state of the request
// ([request]) and writes log and metrics when the answer is complete; two others
// recover panics and set headers. The handler in handler.go serves every operation:
// authenticate, authorise, collect the parameters, bind them, run the script, record
// what it announces to change before it does, settle a change that was cut off, record
// the outcome, answer. Errors are a
// [problem.Error] with one of the API's codes; [failureOf] maps errors of scripts by number
// and type, never by message.
//
// The package knows operations only as rows (package ops) and PowerShell only as a
// Runner.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ledger"
	"adgateway/gateway/ops"
	"adgateway/gateway/plans"
	"adgateway/gateway/store"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// Options configure a server. Runner, Auth and Log are required; the zero value of
// every other field selects a default.
type Options struct {
	Runner     ps.Runner
	Scripts    []ps.Script      // declarations, against which the table is checked
	Operations []*ops.Operation // nil: ops.Table()
	Auth       authn.Authenticator
	Quotas     *identity.Meters // of all callers; nil: only those with a quota of their own have one
	Log        *logrus.Logger
	Audit      *audit.Log // records changes and refusals; nil: nothing is recorded

	HideDocs bool // do not serve /openapi.json and /docs

	// Pages returns the pages under /ui/ for people, which send their requests to api.
	// Nil: there are none.
	Pages func(api http.Handler) http.Handler

	Engine  string  // "sandbox" or "powershell" (default)
	Version Version // for /version
	// Ready checks what the server depends on, for /readyz. Nil: nothing is checked.
	Ready func(ctx context.Context) []Check

	// Metrics is served by /metrics; the server registers its own. Nil: only those.
	Metrics     *prometheus.Registry
	OpenMetrics bool // clients on this machine may read the metrics without a credential

	Policy     Policy
	BodyLimit  int64 // bytes of a request's body; zero: 1 MiB
	BodyMemory int64 // bytes of the bodies of all running requests; zero: 64 MiB

	Connections Connections

	SpoolFolder string // of temporary files for what slow clients have not taken of a list; empty: the system's
	SpoolMost   int64  // bytes in these files; zero: 2 GiB, negative: no files

	Streams int // of events that are sent at the same time, of which one caller gets a quarter; zero: 50

	Kept    *store.Sealed // keeps plans, and the calls with an Idempotency-Key; nil: these are refused
	KeyLife time.Duration // for which calls are kept; zero: 24 h

	History *changes.History // of what was changed; nil: none is kept

	// Grants returns which groups give rights now; nil: none. They are guarded.
	Grants func() identity.Grants

	Wall func() time.Time // the wall clock, by which jobs begin at a time; nil: time.Now

	// Member is this gateway in a cluster of one writer; nil: it is in none. Only the gateway
	// that leads makes changes and answers reads of what the gateways keep.
	Member   *cluster.Member
	NameHold time.Duration // for which a name that was given at one controller is not given at another; zero: 4 h
	// Hop says how the others send calls to the one that leads; New sets Observe. It is needed
	// with a Member.
	Hop         *hop.Options
	MaxWait     time.Duration // for which a run may wait for a session; zero: 10 s
	ClusterName string        // shown by GET /api/Cluster
	// Relay is the store for what every gateway of the cluster may write, whether or not it
	// leads; nil: Kept.
	Relay *store.Sealed

	JobLimits JobLimits          // jobs need a store and a history
	LaneReady func(ps.Lane) bool // whether a lane has a session that jobs can use; nil: always
	Sessions  map[ps.Lane]int    // of each lane, of which jobs may use a share; nil: one each

	// Stopping is called when the server stops and waits for running requests, so that
	// the Runner can refuse new runs. It may be nil.
	Stopping func()

	StreamAbove int           // bytes of a list, beyond which it is sent while its script runs; zero: 8 MiB
	KeepAlive   time.Duration // for which a stream of events may be silent; zero: 15 s
}

// Policy is the part of the settings that may change while the server runs, see
// [Server.Apply]. The zero value of every field selects a default.
type Policy struct {
	Dialect             identity.Dialect // for principals without one; empty: standard
	AllowSecretsInQuery bool             // accept secrets in the query, for old clients
	Origins             []string         // origins whose pages may call the API
	TrustedProxies      []string         // addresses or networks whose X-Forwarded-For is trusted

	RequireGuard []identity.Scope // whose changes must have a guard
	RequireKey   []identity.Scope // whose changes must have an Idempotency-Key

	ReadLimit   time.Duration // for one run of a read; zero: 30 s
	ListLimit   time.Duration // for one run of a list; zero: 5 min
	WriteLimit  time.Duration // for one run of a change; zero: 1 min
	SettleLimit time.Duration // for settling a change that was cut off; zero: 5 s
	SettlePause time.Duration // between the two readings that must agree; zero: 1 s
	BulkLimit   int           // objects that one bulk removal may remove; zero: 50
	StaleDays   int           // without a logon after which a computer is stale; zero: 90

	GuardedGroups []string // the groups of the gateway's rights and hosts; empty: those that its accounts are in

	PlanLife      time.Duration // for which a plan can be applied; zero: 30 min
	PlansOfOthers bool          // a credential may apply what another has planned

	Protocols ops.ProtocolSettings // of the rows that speak protocols of others

	Grace time.Duration // for running requests when the server stops; zero: 15 s
}

// Version is the build shown by /version.
type Version struct {
	Version string
	Commit  string
	Built   string
}

// Check is one line of /readyz. The reason is for callers with ops:read only.
type Check struct {
	Name     string
	OK       bool   // as far as this is concerned, requests are served
	Reason   string // why it is not OK, or what is wrong although it is
	Degraded bool   // it is OK, but something is wrong that needs attention

	Lane      ps.Lane // calls of other lanes are not concerned; empty: all are
	NoChanges bool    // only reads are served
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
	if o.Quotas == nil {
		o.Quotas = identity.NewMeters(identity.Quota{}, nil)
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
	if o.BodyMemory <= 0 {
		o.BodyMemory = 64 << 20
	}
	if o.StreamAbove <= 0 {
		o.StreamAbove = streamAbove
	}
	o.Streams, o.MaxWait = cmp.Or(o.Streams, 50), cmp.Or(o.MaxWait, 10*time.Second)
	o.NameHold = cmp.Or(o.NameHold, 4*time.Hour)
	if o.Kept != nil && o.History != nil && o.History.Store() != o.Kept {
		missing = append(missing, errors.New("gateway: the history must be in the store of the keys, so that both are decided at once"))
	}
	if o.Member != nil && (o.Kept == nil || o.History == nil || o.Hop == nil) {
		missing = append(missing, errors.New("gateway: a member of a cluster needs a store, a history and the hop"))
	}
	if o.Relay == nil {
		o.Relay = o.Kept
	}
	o.KeepAlive = cmp.Or(o.KeepAlive, keepAlive)
	o.JobLimits.complete()
	if o.Sessions == nil {
		o.Sessions = map[ps.Lane]int{ps.Directory: 1, ps.DNS: 1}
	}
	o.SpoolMost = cmp.Or(o.SpoolMost, 2<<30)
	o.Connections.complete()
	return errors.Join(missing...)
}

func (p *Policy) complete() {
	if p.Dialect == "" {
		p.Dialect = identity.Standard
	}
	for limit, byDefault := range map[*time.Duration]time.Duration{
		&p.ReadLimit: 30 * time.Second, &p.ListLimit: 5 * time.Minute, &p.WriteLimit: time.Minute, &p.Grace: 15 * time.Second,
		&p.SettleLimit: 5 * time.Second, &p.SettlePause: time.Second,
		&p.PlanLife: 30 * time.Minute,
	} {
		if *limit <= 0 {
			*limit = byDefault
		}
	}
	p.SettlePause = min(p.SettlePause, p.SettleLimit/2) // leaves time for the second reading
	p.Protocols.Complete()
	if p.BulkLimit <= 0 {
		p.BulkLimit = 50
	}
	if p.StaleDays <= 0 {
		p.StaleDays = 90
	}
}

// Server serves the API. It is safe for concurrent use.
type Server struct {
	Options
	routes         *routes
	parameterNames []string
	scripts        map[string]ps.Script
	meters         *meters
	hour           hour
	bodies         *bodies
	spooler        *transport.Spooler
	streams        *transport.Budget // of events
	locks          *locks
	doubts         doubts
	unstored       lateEnds
	paid           paid
	pages          http.Handler // nil: none
	startedAt      time.Time
	before         map[string]bool // changes whose lines were due when a gateway alone was started
	stopping       context.Context // done when the server stops: streams of events end then
	stop           context.CancelFunc
	forwarder      *hop.Forwarder                      // nil: the gateway is in no cluster
	keys           *keys                               // nil: none are kept
	plans          *plans.Plans                        // nil: none are kept
	ledger         *ledger.Ledger                      // nil: the end of the gateway gives back what was spent
	jobs           *jobs.Manager                       // nil: there are none
	proven         *lru.Cache[netip.Prefix, time.Time] // when a valid credential came from a host
	current        atomic.Pointer[view]
}

// view is the server under one policy. A request uses the same view throughout.
type view struct {
	policy  Policy // immutable
	proxies transport.Proxies
	handler http.Handler
}

// New returns a server. The error joins every fault of the options or of the
// operation table.
func New(options Options) (*Server, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if faults := ops.Check(options.Operations, options.Scripts); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s := &Server{
		Options: options, routes: newRoutes(options.Operations), parameterNames: parameterNames(options.Operations),
		startedAt: time.Now(), scripts: map[string]ps.Script{}, meters: newMeters(), bodies: newBodies(options.BodyMemory),
		locks: newLocks(), doubts: doubts{all: map[string]*doubt{}}, streams: transport.NewBudget(int64(options.Streams)),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.spooler = transport.NewSpooler(options.SpoolFolder, options.SpoolMost, func(err error) {
		s.Log.WithError(err).Warn("no temporary file can be used for a list (http.spoolFolder): clients that read slowly hold their session")
	})
	if options.Kept != nil {
		s.ledger = ledger.New(options.Kept)
		s.keys = newKeys(options.Kept, cmp.Or(options.KeyLife, 24*time.Hour))
		var err error
		if s.plans, err = plans.Open(context.Background(), options.Kept); err != nil {
			return nil, fmt.Errorf("plans that were kept: %w", err)
		}
	}
	if err := s.lockLeft(context.Background()); err != nil {
		return nil, fmt.Errorf("changes that were cut off: %w", err)
	}
	if err := s.openJobs(); err != nil {
		return nil, err
	}
	s.proven, _ = lru.New[netip.Prefix, time.Time](provenHosts) // fails only for size < 1
	for _, script := range options.Scripts {
		s.scripts[script.Name] = script
	}
	if options.Pages != nil {
		s.pages = options.Pages(s.Handler())
	}
	if err := s.meters.register(s.Metrics); err != nil {
		return nil, err
	}
	if s.keys != nil {
		if err := s.keys.count.register(s.Metrics); err != nil {
			return nil, err
		}
	}
	if s.Member != nil {
		s.forwarder = s.newForwarder()
	}
	if err := s.Apply(options.Policy); err != nil {
		return nil, err
	}
	return s, nil
}

// Apply changes the policy for requests from now on. If it fails, the policy stays
// as it was.
func (s *Server) Apply(policy Policy) error {
	policy.complete()
	for name, scopes := range map[string][]identity.Scope{"http.requireGuard": policy.RequireGuard, "http.requireKey": policy.RequireKey} {
		for _, scope := range scopes {
			if _, err := authn.ParseScopes([]string{string(scope)}); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if len(policy.RequireKey) > 0 && s.keys == nil {
		return errors.New("http.requireKey: without a store (store.file) no call can have a key")
	}
	next := &view{policy: policy}
	engine, err := s.engine(&next.policy)
	if err != nil {
		return err
	}
	if next.proxies, err = transport.ParseProxies(policy.TrustedProxies); err != nil {
		return err
	}
	next.handler = locate(next.proxies, s.routes.normalise(s.forward(&next.policy, engine)))
	s.current.Store(next)
	return nil
}

// engine builds the router: middleware, operations, the operational endpoints.
func (s *Server) engine(policy *Policy) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	if err := engine.SetTrustedProxies(nil); err != nil { // proxies.client finds the client
		return nil, fmt.Errorf("gateway: %w", err)
	}
	engine.Use(s.receive(policy), endpoint(recoverPanic), endpoint(secure))
	engine.NoRoute(endpoint(s.noRoute))
	engine.HandleMethodNotAllowed = true // for the operational endpoints; gin sets Allow
	engine.NoMethod(endpoint(noMethod))
	for _, op := range s.Operations {
		engine.Match(op.Methods(), op.Path, endpoint(s.serve(op)))
	}
	probing := []string{http.MethodGet, http.MethodHead} // load balancers and monitors often use HEAD
	engine.Match(probing, "/healthz", endpoint(s.healthz))
	engine.Match(probing, "/readyz", endpoint(s.readyz))
	engine.GET("/metrics", endpoint(s.metrics()))
	engine.GET("/version", endpoint(s.version))
	s.addDocs(engine)
	s.addPages(engine)
	return engine, nil
}

// Handler returns the server as a handler of what clients send.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hop.Clean(r.Header)
		s.current.Load().handler.ServeHTTP(w, r)
	})
}

// Run serves on the listener, with TLS if configured, until ctx is done or the
// listener fails. Then it waits for running requests, at most [Policy.Grace], and
// closes the listener and all connections. The error is nil if ctx ended it and all
// requests were answered.
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
	s.stop()
	if s.Stopping != nil {
		s.Stopping()
	}
	// Running requests may finish even if the listener has failed.
	grace := s.current.Load().policy.Grace
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(waiting); errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close() // the error says that requests were cut off
		fault = errors.Join(fault, fmt.Errorf("gateway: requests still running after %s (http.shutdownTimeout) were cut off", grace))
	}
	<-failed // Serve has returned
	if s.forwarder != nil {
		s.forwarder.Close()
	}
	return fault
}
