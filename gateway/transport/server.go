package transport

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

	"adgateway/gateway/accesslog"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/readiness"
	"adgateway/gateway/required"
	"adgateway/gateway/spool"
)

// Calls is the interface that package transport needs for making calls. It must be safe for concurrent use.
type Calls interface {
	// Do makes a call. The answer names the change that the call has made, if any, even if Do fails.
	// If it fails after the sink has taken records, the records are incomplete.
	Do(ctx context.Context, c call.Call, to call.Sink) (call.Answer, error)
	// Together returns the roles in which a row is called. For a list, it merges roles as far as
	// the result stays the same.
	Together(op *ops.Operation, roles []*identity.Principal) []*identity.Principal
	// Subscribe sends the events of a call until they end or the caller leaves. An error means that no event was
	// sent.
	Subscribe(ctx context.Context, c call.Call, to call.Events) error
	// Refuse records that a call was refused before it could be made, and returns the error.
	Refuse(c call.Call, err error) error
}

// Options configure a server. Calls, Auth, Quotas, Log and Metrics are required.
type Options struct {
	Calls      Calls
	Operations []*ops.Operation
	Callers
	Log *logrus.Logger
	Hop *Hop // nil outside of a cluster

	Pages Pages // the pages for people, under /ui/; may be nil

	Features []string // for /version: features that older gateways would ignore
	// Ready checks the server's dependencies for /readyz. It may be nil.
	Ready func(ctx context.Context) []readiness.Check

	Settings

	// Answered is called after each request for an operation, with the status, and the error or nil.
	// It must be safe for concurrent use.
	Answered func(op *ops.Operation, status int, err error)

	// Stopping is called when the server stops and waits for running requests.
	Stopping func()
}

// Settings are a server's options for what it shows and how much it accepts.
type Settings struct {
	HideDocs bool    // do not serve /openapi.json and /docs
	Engine   string  // "sandbox" or "powershell" (default)
	Version  Version // for /version

	// Metrics is served by /metrics, together with the server's own metrics. It may be nil.
	Metrics     *prometheus.Registry
	OpenMetrics bool // whether clients on this machine may read the metrics without a credential

	Bodies      Bodies
	Spool       spool.Options
	Connections Connections
	KeepAlive   time.Duration // how long a stream of events may be silent; zero means 15 s
}

// Sandbox reports whether the domain and its secrets are simulated.
func (s *Settings) Sandbox() bool { return s.Engine == "sandbox" }

// Complete sets the defaults of values that have no setting. It returns an error that names missing
// limits.
func (s *Settings) Complete() error {
	s.Engine = cmp.Or(s.Engine, "powershell")
	if s.Metrics == nil {
		s.Metrics = prometheus.NewRegistry()
	}
	return errors.Join(
		required.Positive("Bodies.", map[string]int64{"Memory": s.Bodies.Memory}),
		required.Positive("Connections.", s.Connections.Limits()),
	)
}

// Pages serves the pages for people, and decides who may use them.
type Pages interface {
	http.Handler
	// Rights is an [authn.People].
	Rights(ctx context.Context, sid string) ([]*identity.Principal, error)
	// Tickets returns an authenticator of people by Kerberos tickets, or nil if tickets are not
	// accepted. It is called once.
	Tickets() authn.Tickets
}

// Callers configures authentication and quotas. Auth and Quotas are required.
type Callers struct {
	Auth   authn.Authenticator
	Quotas *identity.Meters // of all callers
	// EndPoint returns the bindings of a client's TLS connection, see [negotiate.EndPoint]. It returns
	// none if they are unknown. It is required if the pages accept tickets.
	EndPoint func(*http.Request) []byte
}

// standardBody is the size of a body in bytes where no other limit was given.
const standardBody = 1 << 20

// Bodies limit the bodies of requests, in bytes.
type Bodies struct {
	Limit  int64 // for one body, in bytes; zero means 1 MiB
	List   int64 // limit for one body that an operation takes as a whole
	Memory int64 // for the bodies of all running requests together
}

// Hop describes how calls pass between the gateways of a cluster.
type Hop struct {
	Gateway string // name of this gateway, for the log

	// Clean removes the headers that only other gateways may send.
	Clean func(http.Header)
	// From returns the gateway that forwarded the call of a context, and the id of the request at that
	// gateway. It returns false if the call came from a client.
	From func(context.Context) (gateway, requestID string, came bool)
	// Forward returns a handler that forwards calls to the leading gateway, and passes calls that run
	// here to next. A call that the leader does not answer is passed to next as returned by [Unled].
	Forward func(next http.Handler) http.Handler
	// Leads reports whether this gateway leads.
	Leads func() bool
}

// WebPolicy is the part of the configuration that may change while a server runs, see [Server.Apply].
type WebPolicy struct {
	Dialect             identity.Dialect // for principals without one
	AllowSecretsInQuery bool             // accept secrets in the query, for old clients
	Origins             []string         // origins whose pages may call the API
	TrustedProxies      []string         // addresses or networks whose X-Forwarded-For is trusted
	Grace               time.Duration    // for running requests when the server stops; required
}

// check returns an error if requests cannot be served under the policy.
func (p *WebPolicy) check() error {
	err := required.Positive("Policy.", map[string]int64{"Grace": int64(p.Grace)})
	if p.Dialect != identity.Standard && p.Dialect != identity.Classic {
		err = errors.Join(err, fmt.Errorf("gateway: option Policy.Dialect: %q is no dialect", p.Dialect))
	}
	return err
}

// Version is the build shown by /version.
type Version struct {
	Version string
	Commit  string
	Built   string
}

// Server serves the API over HTTP. It is safe for concurrent use.
type Server struct {
	Options
	routes         *routes
	parameterNames []string
	meters         *meters
	bodies         *bodies
	turns          *turns // turns for reading lists
	spooler        *Spooler
	tickets        authn.Tickets                       // verifies Kerberos tickets; nil if none are accepted
	stopping       context.Context                     // done when the server stops, which ends event streams
	stop           context.CancelFunc                  // cancels stopping
	proven         *lru.Cache[netip.Prefix, time.Time] // times of the last valid credential, by host
	current        atomic.Pointer[view]
}

// view is the server under one policy. A request uses one view throughout.
type view struct {
	policy  WebPolicy // immutable
	proxies Proxies
	handler http.Handler
}

// New returns a server. [Server.Apply] must be called before the server is used.
func New(options Options) (*Server, error) {
	accesslog.Adopt(options.Log)
	options.KeepAlive = cmp.Or(options.KeepAlive, keepAlive)
	options.Bodies.Limit = cmp.Or(options.Bodies.Limit, standardBody)
	s := &Server{
		Options: options, routes: newRoutes(options.Operations),
		parameterNames: call.ParameterNames(options.Operations),
		meters:         newMeters(), bodies: newBodies(options.Bodies.Memory), turns: newTurns(),
	}
	if s.Pages != nil {
		s.tickets = s.Pages.Tickets()
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.spooler = &Spooler{spool.New(options.Spool, func(err error) {
		s.Log.WithError(err).Warn("no temporary file can be used for a list (http.spoolFolder): clients that " +
			"read slowly hold their session")
	})}
	s.proven, _ = lru.New[netip.Prefix, time.Time](provenHosts) // fails only for sizes < 1
	return s, s.meters.register(s.Metrics)
}

// Apply changes the policy for later requests. If it fails, the policy is unchanged.
func (s *Server) Apply(policy WebPolicy) error {
	if err := policy.check(); err != nil {
		return err
	}
	next := &view{policy: policy}
	engine, err := s.engine(&next.policy)
	if err != nil {
		return err
	}
	if next.proxies, err = ParseProxies(policy.TrustedProxies); err != nil {
		return err
	}
	var handler http.Handler = engine
	if s.Hop != nil {
		handler = s.Hop.Forward(engine)
	}
	next.handler = s.routes.arrive(next.proxies, handler)
	s.current.Store(next)
	return nil
}

// engine builds the router: middleware, operations, the operational endpoints.
func (s *Server) engine(policy *WebPolicy) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	if err := engine.SetTrustedProxies(nil); err != nil { // proxies.Client finds the client
		return nil, fmt.Errorf("gateway: %w", err)
	}
	engine.Use(s.receive(policy), endpoint(recoverPanic), endpoint(secure))
	engine.NoRoute(endpoint(s.noRoute))
	engine.HandleMethodNotAllowed = true // for the operational endpoints; gin sets Allow
	engine.NoMethod(endpoint(noMethod))
	for _, op := range s.Operations {
		engine.Match(op.Methods(), op.Path, endpoint(s.serve(op)))
	}
	addRead(engine, "/healthz", endpoint(s.healthz))
	addRead(engine, "/readyz", endpoint(s.readyz))
	addRead(engine, "/metrics", endpoint(s.metrics()))
	addRead(engine, "/version", endpoint(s.version))
	s.addDocs(engine)
	s.addPages(engine)
	return engine, nil
}

// addRead adds a path that is read without a call. HEAD is answered, too, because load balancers and
// monitoring often use it. The HTTP server then discards the body.
func addRead(engine *gin.Engine, path string, handler gin.HandlerFunc) {
	engine.Match([]string{http.MethodGet, http.MethodHead}, path, handler)
}

// Handler returns the handler for clients.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			// net/http does not report whether there was also a Content-Length. If so, a proxy may see a
			// different end of the request (RFC 9112, 6.1).
			w.Header().Set("Connection", "close")
		}
		if s.Hop != nil {
			s.Hop.Clean(r.Header)
		}
		s.current.Load().handler.ServeHTTP(w, r)
	})
}

// Forwarded returns the handler for calls that other gateways forward.
func (s *Server) Forwarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.current.Load().handler.ServeHTTP(w, r)
	})
}

// Run serves on the listener, with TLS if configured, until ctx is done or the
// listener fails. Then it waits for running requests, at most [WebPolicy.Grace], and
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
	s.Stopping()
	// Running requests may finish even if the listener has failed.
	grace := s.current.Load().policy.Grace
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(waiting); errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close() // the error already says that requests were cut off
		fault = errors.Join(fault, fmt.Errorf(
			"gateway: requests still running after %s (http.shutdownTimeout) were cut off", grace))
	}
	<-failed // Serve has returned
	return fault
}
