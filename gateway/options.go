package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/cluster/here"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/ops"
	"adgateway/gateway/privileged"
	"adgateway/gateway/readiness"
	"adgateway/gateway/required"
	"adgateway/gateway/spool"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// Options configure a server. Runner, Auth and Log are required, and so is every limit and duration
// whose comment does not explain zero. All others are optional.
type Options struct {
	Runner     ps.Runner
	Scripts    []ps.Script      // declarations of the scripts, which the table is checked against
	Operations []*ops.Operation // nil means ops.Table()
	Auth       authn.Authenticator
	Quotas     *identity.Meters // of all callers; if nil, only callers with a quota of their own have one
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

	// Pages returns the pages under /ui/ for people. They may make calls at api once New has returned
	// it. If nil, there are none.
	Pages func(api *Server) Pages

	// Ready checks the server's dependencies, for /readyz. If nil, nothing is checked.
	Ready func(ctx context.Context) []Check

	// EndPoint returns the bindings of connections with the server's certificate, see
	// [negotiate.EndPoint]. If nil, tickets are not bound to connections.
	EndPoint func() []byte

	Streams     int // event streams that may be open at the same time; one caller gets a quarter
	StreamAbove int // bytes of a list above which it is sent while its script runs; zero means 8 MiB
}

// Policy is the part of the settings that may change while the server runs, see [Server.Apply].
type Policy struct {
	call.Policy
	WebPolicy
}

// The options of the parts of a server, by which callers name them.
type (
	Web         = transport.Settings
	Pages       = transport.Pages
	WebPolicy   = transport.WebPolicy
	Version     = transport.Version
	Connections = transport.Connections
	Bodies      = transport.Bodies
	Spool       = spool.Options
	Check       = readiness.Check
	Storage     = call.Storage
	Bounds      = call.Bounds
	Work        = rows.Work // needs a store and a history
	Cluster     = here.Cluster
)

// Options that come from settings have no default here, because the setting has one (see package
// config). The error for a missing option names it.

// complete sets the defaults of the other options, and returns an error if the options cannot be
// used.
func (o *Options) complete() error {
	missing := []error{
		required.Given(map[string]bool{"Runner": o.Runner == nil, "Auth": o.Auth == nil, "Log": o.Log == nil}),
		required.Positive("", map[string]int64{"Streams": int64(o.Streams), "MaxWait": int64(o.MaxWait)}),
		o.Storage.Check(), o.Work.Check(), o.Web.Complete(),
	}
	if o.Operations == nil {
		o.Operations = ops.Table()
	}
	if o.Quotas == nil {
		o.Quotas = identity.NewMeters(identity.Quota{}, nil)
	}
	if o.Member != nil && (o.Kept == nil || o.History == nil || o.Hop == nil) {
		missing = append(missing, errors.New("gateway: a member of a cluster needs a store, a history and the hop"))
	}
	if o.Relay == nil {
		o.Relay = o.Kept
	}
	return errors.Join(missing...)
}
