package app

import (
	"crypto/tls"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/credentials"
	"adgateway/gateway/identity"
	"adgateway/gateway/keep"
	"adgateway/gateway/keyring"
	"adgateway/gateway/ops"
	"adgateway/gateway/tlscert"
	"adgateway/ps"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/winsvc/events"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
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

	// Now is the clock by which the gateways of a cluster compare; nil: time.Now.
	Now func() time.Time

	// Clock is what the time of a store goes by that no other gateway shares. Its wall clock is
	// also the one by which jobs begin. Zero: the clocks of the system.
	Clock keep.ClockSources

	// Format is the newest format of shared values that the gateway reads; zero: [keep.Newest].
	Format int

	// Event writes an entry to the system's event log; nil: there is none.
	Event events.Write

	Store tlscert.Store // the system's certificate store; nil if it has none

	// KeyGroup protects the key of what a cluster shares for a group of the domain; nil: the
	// system cannot.
	KeyGroup func(name string) (keyring.Wrapper, error)
	// Folder is that of the cluster of this gateway, and Identity what it proves its name with;
	// nil: it is in no cluster with a log.
	Folder   trust.Folder
	Identity *trust.Identity

	// Shared are the credentials that Auth takes from the store of the cluster; nil: it does not.
	Shared *credentials.Credentials

	Sandbox bool    // the domain is a simulated one
	People  *People // nil: nobody signs in to the pages with an account of the domain

	// LostEntries returns how many log entries could not be written. It may be nil.
	LostEntries func() int64

	Collectors []prometheus.Collector // additional metrics
	// Checks returns additional readiness checks for /readyz. It may be nil.
	Checks func() []gateway.Check
}

// People are who signs in to the pages with an account of the domain.
type People struct {
	Directory signin.Directory
	Roles     []signin.Role
	Domains   []string // whose accounts may sign in; none: any
	// ByName reports that Directory cannot tell whether an account may still log on; the
	// API is asked for it by name then.
	ByName bool
	Hint   string // how to sign in, shown on the page
}

// spoolMost returns the bytes that temporary files may take; negative: there are none.
func spoolMost(h config.HTTP) int64 {
	if h.MaxSpool == 0 {
		return -1
	}
	return int64(h.MaxSpool) << 20
}

// quota is what everything may do that has no quota of its own.
func quota(c config.Auth) identity.Quota {
	return identity.Quota{
		Rate: identity.Rate(c.Rate), Concurrency: c.Concurrency,
		DeletionsPerHour: c.DeletionsPerHour, PasswordResetsPerHour: c.PasswordResetsPerHour,
		ChangesPerHour: c.ChangesPerHour,
	}
}

func policy(settings *config.Settings) gateway.Policy {
	h := settings.HTTP
	return gateway.Policy{
		Dialect: identity.Dialect(h.Dialect), AllowSecretsInQuery: h.AllowSecretsInQuery,
		RequireGuard: scopes(h.RequireGuard), RequireKey: scopes(h.RequireKey),
		Origins: h.AllowedOrigins, TrustedProxies: h.TrustedProxies,
		ReadLimit: h.ReadTimeout, ListLimit: h.ListTimeout, WriteLimit: h.WriteTimeout,
		SettleLimit: h.SettleTimeout, SettlePause: h.SettlePause,
		BulkLimit: settings.Limits.BulkDelete, StaleDays: settings.Limits.StaleDays, GuardedGroups: settings.Limits.GuardedGroups, Grace: h.ShutdownTimeout,
		PlanLife: settings.Plans.Life, PlansOfOthers: settings.Plans.OtherCaller,
		Protocols: protocols(settings),
	}
}

func scopes(names []string) []identity.Scope {
	all := make([]identity.Scope, len(names))
	for i, name := range names {
		all[i] = identity.Scope(name)
	}
	return all
}

func protocols(settings *config.Settings) ops.ProtocolSettings {
	s := ops.ProtocolSettings{ChallengeTTL: settings.ACME.TTL, ChallengeZones: settings.ACME.Zones, Budget: settings.External.Budget}
	for _, account := range settings.ACME.Accounts {
		s.Accounts = append(s.Accounts, ops.AcmeAccount(account))
	}
	return s
}

// jobLimits returns the limits of jobs.
func jobLimits(c config.Jobs) gateway.JobLimits {
	limits := gateway.JobLimits{
		MaxItems: c.MaxItems, MaxBytes: int64(c.MaxBytes) << 20, Running: c.Running, PerCaller: c.PerCaller,
		Share: float64(c.Share) / 100, Rate: c.Rate, Keep: c.Keep, Secrets: c.Secrets == config.SecretsSealed,
	}
	if c.Rate == 0 {
		limits.Rate = -1
	}
	return limits
}

func connections(h config.HTTP, config *tls.Config) gateway.Connections {
	return gateway.Connections{
		TLS:           config,
		HeaderTimeout: h.HeaderTimeout, BodyTimeout: h.BodyTimeout, SendTimeout: h.SendTimeout, IdleTimeout: h.IdleTimeout,
		Total: h.MaxConnections, PerAddress: h.MaxConnectionsPerAddress,
	}
}
