package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/gateway/tlscert"
	"adgateway/ps"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/winsvc/events"
)

// Options configure a [Stack]. The fields up to and including Session are
// required.
type Options struct {
	Settings *config.Settings
	Auth     authn.Authenticator
	Log      *logrus.Logger
	Engine   string // "sandbox" or "powershell"
	Version  gateway.Version

	// Session returns the Starter for a lane's sessions; the stack sets the other fields.
	Session func(ps.Lane) session.Config
	Dial    servers.Dial // probes servers; nil dials the network

	// Now is the wall clock that the gateways of a cluster compare. Nil means time.Now.
	Now func() time.Time

	// Clock is the clock of a store that no other gateway shares. Its wall clock
	// also decides when jobs begin. The zero value means the system's clocks.
	Clock store.ClockSources

	// Format is the newest format of shared values that the gateway reads. Zero means [store.Newest].
	Format int

	// Event writes an entry to the system's event log; nil if there is none.
	Event events.Write

	Store tlscert.Store // the system's certificate store; nil if the system has none

	// KeyGroup protects the key of a cluster's shared data for
	// a group of the domain; nil if the system cannot do that.
	KeyGroup   func(name string) (keyring.Wrapper, error)
	Membership // zero if the gateway is in no cluster

	// Shared are the credentials that Auth reads from the cluster's store; nil if it reads them from elsewhere.
	Shared *credentials.Credentials

	Hosts []string // the names of this computer in DNS; none in the sandbox

	Sandbox bool    // the domain is simulated
	People  *People // if nil, nobody signs in to the pages with a domain account

	// LostEntries returns how many log entries could not be written. It may be nil.
	LostEntries func() int64

	Collectors []prometheus.Collector // additional metrics
	// Checks returns additional readiness checks for /readyz. It may be nil.
	Checks func() []gateway.Check
}

// Membership is the membership of a gateway in a cluster with a log.
type Membership struct {
	Folder   trust.Folder    // the cluster's folder
	Identity *trust.Identity // proves the gateway's name; nil if the gateway is in no cluster
}

// People configure sign-in to the pages with accounts of the domain.
type People struct {
	Directory signin.Directory
	Roles     []signin.Role
	Domains   []string // domains whose accounts may sign in; none: any
	// ByName means that Directory does not know whether an account may still log on. The account is then looked
	// up by name through the API.
	ByName bool
	Hint   string // how to sign in, shown on the page
}
