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
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/here"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/forward"
	"adgateway/gateway/history"
	"adgateway/gateway/idempotency"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/meters"
	"adgateway/gateway/names"
	"adgateway/gateway/ops"
	"adgateway/gateway/plan"
	"adgateway/gateway/privileged"
	"adgateway/gateway/quota"
	"adgateway/gateway/settle"
	"adgateway/gateway/spool"
	"adgateway/gateway/store"
	"adgateway/gateway/transport"
	"adgateway/gateway/ui/figures"
	"adgateway/ps"
)

// Options configure a server. Runner, Auth and Log are required, and so is every limit and duration
// whose comment does not explain zero. All others are optional.
type Options struct {
	Runner     ps.Runner
	Scripts    []ps.Script      // declarations of the scripts, with which the table is compared
	Operations []*ops.Operation // nil means ops.Table()
	Auth       authn.Authenticator
	Quotas     *identity.Meters // quotas of all callers; if nil, only callers with their own quota have one
	Log        *logrus.Logger
	Audit      *audit.Log // records changes and refusals; nil if nothing is recorded
	Policy     Policy

	// Guarded returns protected objects in addition to the objects in the policy. It may be nil.
	Guarded func() privileged.Set

	Wall    func() time.Time // wall clock for jobs with a start time; nil means time.Now
	MaxWait time.Duration    // how long a run may wait for a session

	// Stopping is called when the server stops and waits for running requests, so the Runner can
	// refuse new runs. It may be nil.
	Stopping func()

	HTTP
	Storage
	Work
	Cluster
}

// HTTP configures the server's HTTP side.
type HTTP struct {
	Web

	// Pages returns the pages under /ui/ for people. They may make calls at api only after New has returned. If
	// Pages is nil, there are no pages.
	Pages func(api *Server) Pages

	// Ready checks the server's dependencies, for /readyz. If nil, nothing is checked.
	Ready func(ctx context.Context) []Check

	// EndPoint returns the bindings of connections with the server's certificate, see
	// [negotiate.EndPoint]. If nil, tickets are not bound to connections.
	EndPoint func() []byte

	Streams     int // event streams that may be open at the same time; one caller gets a quarter
	StreamAbove int // bytes of a list above which it is sent while its script runs; zero means 8 MiB
}

// Storage configures the data that the server stores for its callers.
type Storage struct {
	Kept    *store.Sealed    // stores plans and calls with an Idempotency-Key; if nil, these are refused
	KeyLife time.Duration    // how long calls are kept
	History *changes.History // history of changes; nil if none is kept
	Bounds  Bounds           // limits for the stored data
}

// Work configures jobs. They need a store and a history.
type Work struct {
	Lists     rows.Limits
	Jobs      jobs.Limits
	LaneReady func(ps.Lane) bool // whether a lane has a session that jobs can use; nil means always
	Sessions  map[ps.Lane]int    // sessions of each lane, of which jobs may use a share
}

// Cluster connects the server to its cluster.
type Cluster struct {
	// Member is this gateway in a cluster with a single writer, or nil outside of a cluster. Only the
	// leading gateway makes changes and answers reads of the gateways' own data.
	Member   *cluster.Member
	NameHold time.Duration // how long a name that was assigned at one controller is not assigned at another
	// Hop configures how the other gateways send calls to the leader. New sets its Observe. It is
	// required with a Member.
	Hop         *hop.Options
	ClusterName string // shown by GET /api/Cluster
	// Relay is the store for data that every gateway of the cluster may write, whether or not it
	// leads. Nil means Kept.
	Relay *store.Sealed
}

// Pages serves the pages for people, and decides who may use them.
type Pages interface {
	http.Handler
	// Rights is an [authn.People].
	Rights(ctx context.Context, sid string) ([]*identity.Principal, error)
	// Tickets returns an authenticator of people by Kerberos tickets, or nil if tickets are not
	// accepted.
	Tickets() authn.Tickets
}

// Bounds limit the stored data of callers. The sizes are required.
type Bounds struct {
	Plans int64        // bytes of all plans; one caller gets a quarter
	Keys  int64        // bytes of all stored calls with keys; one caller gets a quarter
	Room  *bounds.Room // room left on the disk; if nil, no call is refused for lack of space
	Spool *bounds.Room // room left on the disk of the temporary files; nil for no limit
}

// Policy is the part of the settings that may change while the server runs, see [Server.Apply].
type Policy struct {
	call.Policy
	WebPolicy
}

// Names for the options and the policy of HTTP, so that callers need not import package transport.
type (
	Web         = transport.Settings
	WebPolicy   = transport.WebPolicy
	Version     = transport.Version
	Check       = transport.Check
	Connections = transport.Connections
	Bodies      = transport.Bodies
	Spool       = spool.Options
)

// sandboxEngine is the engine whose secrets are made up.
const sandboxEngine = "sandbox"

// Server serves the API. It is safe for concurrent use.
type Server struct {
	Options
	web            *transport.Server
	parameterNames []string      // parameter names of all operations
	calls          *call.Service // makes all calls
	meters         *meters.Meters
	here           here.Gateway
	hour           figures.Hour
	streams        *call.Streams // event streams
	cursors        call.Cursors
	stopping       context.Context // done when the server stops
	stop           context.CancelFunc
	history        *history.Service
	pages          Pages                       // nil if there are none
	forwarder      *forward.Forwarder          // nil outside of a cluster
	jobs           *jobs.Manager               // nil if there are none
	current        atomic.Pointer[call.Policy] // immutable; each call uses one policy throughout
}

// New returns a server. The error joins all faults of the options and of the operation table.
func New(options Options) (*Server, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if faults := ops.Check(options.Operations, options.Scripts); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s := &Server{
		Options: options, meters: meters.New(),
		parameterNames: call.ParameterNames(options.Operations),
		streams:        call.NewStreams(options.Streams),
	}
	s.here = here.Gateway{
		Member: options.Member, Cluster: options.ClusterName, Kept: options.Kept, Lanes: s.usableLanes,
	}
	if options.Hop != nil {
		s.here.Name = options.Hop.Gateway
	}
	s.calls = &call.Service{
		Table:  call.NewTable(options.Operations, options.Scripts),
		Runner: options.Runner, Log: options.Log, Audit: options.Audit, Kept: options.Kept,
		Guarded:     options.Guarded,
		Reveals:     call.Reveals{Unaudited: options.Engine == sandboxEngine, Ended: s.meters.Revealed},
		StreamAbove: options.StreamAbove, Gateways: s.here.Serving, History: options.History,
		Room: options.Bounds.Room, Clustered: s.clustered(), Policy: s.current.Load,
	}
	if options.History != nil {
		s.calls.Amend = history.Removals{History: options.History, Log: options.Log}.In
		s.cursors.Sum = options.History.Sum
	}
	s.calls.Local = call.Local{
		Handlers: map[string]call.Handler{
			"caller.show": call.WhoAmI, "plan.get": call.ShowPlan(s.calls), "cluster.show": s.here.Show,
		},
		Streamers: map[string]call.Streamer{},
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.history = history.New(history.Options{
		History: options.History, Operations: options.Operations, Cursors: s.cursors, Streams: s.streams,
		Settler: settle.Settler{Runner: options.Runner, Scripts: s.calls.Scripts},
		Do:      s.calls.Do, Stopping: s.stopping.Done(),
	})
	s.register(s.history.Local())
	if err := s.openKept(); err != nil {
		return nil, err
	}
	if s.Member != nil {
		s.calls.Names = names.New(names.Options{
			Store: s.store(), History: s.History, Operation: s.operationOf, Hold: s.NameHold, Log: s.Log,
		})
	}
	if err := s.openWriter(); err != nil {
		return nil, err
	}
	if err := s.openJobs(); err != nil {
		return nil, err
	}
	if faults := s.calls.Local.Check(options.Operations); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if err := s.meters.Register(s.Metrics, s.streams); err != nil {
		return nil, err
	}
	if err := meters.RegisterPlans(s.Metrics, s.calls.Plans); err != nil {
		return nil, err
	}
	if keys := s.calls.Keys; keys != nil {
		if err := meters.RegisterKeys(s.Metrics, keys); err != nil {
			return nil, err
		}
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

// openKept opens the data stored for callers, if there is a store.
func (s *Server) openKept() (err error) {
	if s.Kept == nil {
		return nil
	}
	s.calls.Ledger = quota.NewLedger(s.Kept, s.clustered())
	keys := idempotency.Limits{Bytes: s.Bounds.Keys, Room: s.Bounds.Room}
	s.calls.Keys = idempotency.New(s.Kept, s.KeyLife, s.History, keys)
	plans := plan.Limits{Bytes: s.Bounds.Plans, Room: s.Bounds.Room}
	if s.calls.Plans, err = plan.Open(context.Background(), s.Kept, s.Operations, plans); err != nil {
		return fmt.Errorf("plans that were kept: %w", err)
	}
	return nil
}

// Apply changes the policy for all later requests. If it fails, the policy stays as it was.
func (s *Server) Apply(policy Policy) error {
	if err := policy.check(); err != nil {
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
		Ready:   s.checks, Features: s.features(), Settings: s.Web, Answered: s.answered,
		Stopping: func() {
			s.stop()
			if s.Stopping != nil {
				s.Stopping()
			}
		},
	}
	options.Bodies.List = s.Lists.MaxBytes
	options.Spool.Share = s.Bounds.Spool.Passing(s.Spool.Most)
	if s.Pages != nil {
		s.pages = s.Pages(s)
		options.Pages, options.Tickets = s.pages, s.pages.Tickets()
		options.EndPoint = func(r *http.Request) []byte { return forward.EndPointOf(r, s.EndPoint) }
	}
	if s.Member != nil {
		s.forwarder = s.newForwarder()
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
		checks = append(checks, s.clusterCheck())
	}
	if s.Audit != nil {
		checks = append(checks, auditCheck(s.Audit))
	}
	return checks
}

// features lists the features of this gateway.
func (s *Server) features() []string {
	features := []string{"dryRun", "etag", "bin"}
	if s.Kept != nil {
		features = append(features, "plan", "key")
	}
	if s.History != nil {
		features = append(features, "changes", "feed")
	}
	if s.jobs != nil {
		features = append(features, "jobs")
	}
	return features
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

// operationOf returns the operation with the given id, or nil if there is none.
func (s *Server) operationOf(id string) *ops.Operation { return ops.Find(s.Operations, id) }
