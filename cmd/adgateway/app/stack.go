// Package app puts the rooms of the gateway together: sessions in a pool,
// servers pinned before it, the HTTP server on top. The commands and the tests
// of the whole project build it the same way.
package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/tlscert"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/scripts"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

// Options say what a stack is made of. All down to Session must
// be given.
type Options struct {
	Settings *config.Settings
	Auth     auth.Authenticator // asked for client certificates, too, where it knows any
	Log      *logrus.Logger
	Engine   string // "sandbox" or "powershell"
	Version  gateway.Version

	// Session gives the Starter for a lane's sessions; the stack adds the rest.
	Session func(ps.Lane) session.Config
	Dial    servers.Dial // probes servers; nil: the network

	Store tlscert.Store // of certificates; nil: this system has none

	Collectors []prometheus.Collector // told at /metrics besides the stack's own
	// Checks are more lines of /readyz; nil: none.
	Checks func() []gateway.Check
}

var _ gateway.Certificates = (*auth.Store)(nil)

// Stack is a running gateway without its listener.
type Stack struct {
	Gateway *gateway.Server
	Pool    *pool.Pool
	Servers *servers.Servers
	Audit   *audit.Log // nil: none

	certificate *certificate
	more        func() []gateway.Check // of the options
	meters      map[ps.Lane]*session.Meter
}

// New builds a stack and starts the first sessions. Close ends it.
func New(ctx context.Context, o Options) (*Stack, error) {
	described, err := scripts.Describe()
	if err != nil {
		return nil, fmt.Errorf("the scripts are faulty:\n%w", err)
	}
	kept, err := newCertificate(o.Settings.TLS, o.Store, o.Log)
	if err != nil {
		return nil, err
	}
	log := logTo(o.Log)
	s := &Stack{certificate: kept, more: o.Checks, meters: map[ps.Lane]*session.Meter{ps.Directory: {}, ps.DNS: {}}}
	s.Pool, err = pool.New(s.poolConfig(o, log))
	if err != nil {
		kept.close()
		return nil, err
	}
	s.Servers, err = servers.New(servers.Config{
		Runner:    s.Pool,
		Script:    lookup(described),
		Dial:      o.Dial,
		Directory: o.Settings.Servers.Controllers,
		DNS:       one(o.Settings.Servers.DNSServer),
		Return:    o.Settings.Servers.ReturnAfter,
		Log:       log, Debug: debugTo(o.Log),
	})
	var registry *prometheus.Registry
	if err == nil {
		s.Audit, err = openAudit(o.Settings.Audit, o.Log)
	}
	if err == nil {
		registry, err = newRegistry(s, o)
	}
	if err == nil {
		s.Gateway, err = gateway.New(s.gatewayOptions(o, described, registry))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// lookup finds a script by its name.
func lookup(described []ps.Script) func(name string) (ps.Script, bool) {
	byName := map[string]ps.Script{}
	for _, script := range described {
		byName[script.Name] = script
	}
	return func(name string) (ps.Script, bool) {
		script, ok := byName[name]
		return script, ok
	}
}

func (s *Stack) poolConfig(o Options, log func(string, map[string]any)) pool.Config {
	c := o.Settings.Pool
	lane := func(name ps.Lane, size int) pool.Lane {
		cfg := o.Session(name)
		cfg.Boot = session.Boot{Prelude: scripts.Prelude(name), Scripts: scripts.Sources(name), Module: scripts.Modules[name]}
		cfg.StartTimeout, cfg.MaxList = c.StartTimeout, int64(c.MaxList)<<20
		cfg.Log, cfg.Meter = log, s.meters[name]
		return pool.Lane{
			Size: size, MaxRequests: c.MaxRequests, MaxAge: c.MaxAge, MaxMemory: int64(c.MaxMemory) << 20,
			Start: func(ctx context.Context) (pool.Session, error) { return started(session.Start(ctx, cfg)) },
		}
	}
	return pool.Config{
		Lanes: map[ps.Lane]pool.Lane{
			ps.Directory: lane(ps.Directory, c.DirectorySessions),
			ps.DNS:       lane(ps.DNS, c.DNSSessions),
		},
		MaxWait: c.MaxWait, Queue: c.MaxQueue, Log: log, Debug: debugTo(o.Log),
	}
}

// started keeps a nil *session.Session from becoming a pool.Session that is not nil.
func started(s *session.Session, err error) (pool.Session, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Stack) gatewayOptions(o Options, described []ps.Script, registry *prometheus.Registry) gateway.Options {
	certificates, _ := o.Auth.(gateway.Certificates) // nil: client certificates name nobody
	return gateway.Options{
		Runner: s.Servers, Audit: s.Audit, HideDocs: !o.Settings.Docs.Enabled, Scripts: described, Auth: o.Auth, Log: o.Log,
		Engine: o.Engine, Version: o.Version, Policy: policy(o.Settings),
		Ready: s.ready, Stopping: s.Pool.Drain,
		Metrics: registry, OpenMetrics: o.Settings.Metrics.OpenOnLoopback,
		Certificates: certificates, Connections: connections(o.Settings.HTTP, s.certificate.config()),
	}
}

func policy(settings *config.Settings) gateway.Policy {
	h := settings.HTTP
	return gateway.Policy{
		Dialect: auth.Dialect(h.Dialect), AllowSecretsInQuery: h.AllowSecretsInQuery,
		Origins: h.AllowedOrigins, TrustedProxies: h.TrustedProxies,
		ReadLimit: h.ReadTimeout, ListLimit: h.ListTimeout, WriteLimit: h.WriteTimeout,
		SettleLimit: h.SettleTimeout, SettlePause: h.SettlePause,
		BulkLimit: settings.Limits.BulkDelete, Grace: h.ShutdownTimeout,
	}
}

// Apply puts those settings in force that may change while the gateway runs.
// With an error those before stay.
func (s *Stack) Apply(settings *config.Settings) error {
	return s.Gateway.Apply(policy(settings))
}

// Close ends all sessions; it waits for running ones as long as ctx allows.
func (s *Stack) Close(ctx context.Context) error {
	s.certificate.close()
	var err error
	if s.Servers != nil {
		err = s.Servers.Close(ctx)
	}
	return errors.Join(err, s.Pool.Close(ctx), s.Audit.Close()) // the audit last: it records what still ran
}

// ready tells, for /readyz, whether requests would be served: sessions of each
// lane, and the servers they ask.
func (s *Stack) ready(context.Context) []gateway.Check {
	stats := s.Pool.Stats()
	controller, dns := s.Servers.Status()
	check := func(name string, ok bool, reason string) gateway.Check {
		return gateway.Check{Name: name, OK: ok, Reason: reason}
	}
	sessions := func(name string, lane ps.Lane) gateway.Check {
		ok, why := stats[lane].Ready()
		return check(name, ok, why)
	}
	checks := append([]gateway.Check{
		sessions("directorySessions", ps.Directory),
		sessions("dnsSessions", ps.DNS),
		check("domainController", controller.Pinned != "", controller.Reason),
		check("dnsServer", dns.Pinned != "", dns.Reason),
	}, s.certificate.checks()...)
	if s.more != nil {
		checks = append(checks, s.more()...)
	}
	return checks
}

func one(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// logTo gives packages that know no logger a function to log with. What tells of
// an error is a warning; what is empty is left out.
func logTo(log *logrus.Logger) func(string, map[string]any) {
	return func(message string, fields map[string]any) {
		maps.DeleteFunc(fields, func(_ string, value any) bool { return value == "" })
		entry := log.WithFields(fields)
		entry.Time = time.Now()
		if fields["error"] != nil {
			entry.Warn(message)
		} else {
			entry.Info(message)
		}
	}
}

// debugTo gives them one for the level debug.
func debugTo(log *logrus.Logger) func(string, func() map[string]any) {
	return func(message string, fields func() map[string]any) {
		if log.IsLevelEnabled(logrus.DebugLevel) {
			log.WithFields(fields()).Debug(message)
		}
	}
}
