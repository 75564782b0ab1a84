// Package app runs a gateway as a process. [New] wires the components: PowerShell
// sessions in pools, the domain controller and DNS server they work against, and the
// HTTP server on top. The system tests build a gateway the same way:
//
//	err := app.Check(ctx, settings, store) // reports every mistake in the files, opens nothing
//	listener, err := app.Listen(ctx, settings)
//	stack, err := app.New(ctx, options)
//	err = stack.Gateway.Run(ctx, listener)
//	err = stack.Close(ctx)
//
// [Prepare] makes a gateway from the settings of an installation, on the PowerShell of
// this computer, and [PrepareSandbox] makes one over the simulated domain of the
// sandbox. They report every mistake in the settings and in the files they name before
// the gateway listens. [Server.Serve] then serves until its context is done, follows
// changes of the settings, the credentials and the certificate, and closes everything.
package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/bounds"
	"adgateway/gateway/config"
	"adgateway/gateway/every"
	"adgateway/gateway/identity"
	"adgateway/gateway/quota"
	"adgateway/gateway/webhooks"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/scripts"
)

// Stack is a running gateway without its listener.
type Stack struct {
	Gateway *gateway.Server
	Pool    *pool.Pool
	Servers *servers.Servers
	Audit   *audit.Log   // nil if the audit log is switched off
	Gate    *signin.Gate // nil if there are no pages

	certificate *certificate
	calls       *callEvents            // nil if nothing is written to the event log
	room        *bounds.Room           // the space left on the disk; nil if nothing is written there
	kept        *kept                  // nil if the store is switched off
	evidence    *evidence              // nil if the gateway is alone
	webhooks    *webhooks.Webhooks     // nil if there are none
	extraChecks func() []gateway.Check // Options.Checks
	meters      map[ps.Lane]*session.Meter
	// closed after the first attempt to settle the changes that were interrupted before the start
	settled chan struct{}
	stop    context.CancelFunc // ends watched; nil if New failed
	watched sync.WaitGroup
	handing sync.WaitGroup // hands leadership to another gateway, within a time limit
	started chan struct{}  // receives a value when a directory session has started
	grown   chan struct{}  // closed when the gateway must be closed and opened again
}

// New builds a stack and starts the first sessions in the background.
// ctx bounds only the construction: the stack runs until [Stack.Close].
func New(ctx context.Context, o Options) (*Stack, error) {
	described := scripts.Describe()
	cert, err := newCertificate(ctx, o.Settings.TLS, o.Store, o.Log, o.Event)
	if err != nil {
		return nil, err
	}
	log := logTo(o.Log, o.Event)
	s := &Stack{certificate: cert, extraChecks: o.Checks, started: make(chan struct{}, 1),
		grown: make(chan struct{}), settled: make(chan struct{}),
		meters: map[ps.Lane]*session.Meter{ps.Directory: {}, ps.DNS: {}}}
	s.Pool, err = pool.New(s.poolConfig(o, log))
	if err != nil {
		cert.close()
		return nil, err
	}
	s.room = roomOf(o)
	s.kept, err = openKept(ctx, o)
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	s.Servers, err = servers.New(servers.Config{
		Runner:      s.Pool,
		Shared:      s.kept.choice(log),
		SessionWait: o.Settings.Pool.StartTimeout + startMargin,
		MaxWait:     o.Settings.Pool.MaxWait,
		Starting:    func() error { return s.Pool.Starting(ps.Directory) },
		Started:     s.started,
		Script:      lookup(described),
		Dial:        o.Dial,
		Directory:   o.Settings.Servers.Controllers,
		DNS:         optional(o.Settings.Servers.DNSServer),
		Return:      o.Settings.Servers.ReturnAfter,
		Log:         log, Debug: debugTo(o.Log),
	})
	var registry *prometheus.Registry
	if err == nil {
		s.calls = newCallEvents(o.Event, o.Settings.Audit.EventLog)
		s.Audit, err = openAudit(o, s.calls, s.room)
	}
	if err == nil {
		s.evidence = newEvidence(o, s.kept.relayed(), s.Audit)
		err = attachCredentials(ctx, o, s.kept.relayed())
	}
	if expiring, ok := o.Auth.(authn.Expiring); ok && s.kept != nil {
		expiring.ExpireBy(s.kept.store.Now)
	}
	if err == nil {
		s.webhooks, err = openWebhooks(ctx, o, s.kept)
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
	if j := s.kept.cluster(); j != nil {
		if err := j.Serve(s.Gateway.HopHandler(), s.Gateway.ClusterHandler()); err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
	}
	s.start(context.WithoutCancel(ctx), log)
	return s, nil
}

// start begins the background tasks of a stack.
func (s *Stack) start(ctx context.Context, log func(string, map[string]any)) {
	watching, stop := context.WithCancel(ctx)
	s.stop = stop
	s.watched.Go(func() { s.watch(watching, log) })
	s.watched.Go(func() { s.kept.answerCopies(watching, log) })
	s.watched.Go(func() { s.evidence.run(watching) })
	if j := s.kept.cluster(); j != nil {
		s.watched.Go(func() { j.Run(watching, s.Gateway.Writer().Attempts()) })
		s.watched.Go(func() {
			if j.Grow(watching) {
				close(s.grown)
			}
		})
		if j.Member() != nil {
			s.watched.Go(func() { s.Gateway.RunMember(watching, s.writing(log)...) })
			return
		}
	}
	for _, do := range append(s.writing(log), func(ctx context.Context) { s.settle(ctx, log) },
		s.Gateway.Writer().RunClosing, s.runJobs) {
		s.watched.Go(func() { do(watching) })
	}
}

// writing returns the tasks that only the leading gateway runs. Each runs until its context ends.
func (s *Stack) writing(log func(string, map[string]any)) []func(context.Context) {
	all := []func(context.Context){func(ctx context.Context) { s.kept.sweep(ctx, log) }, s.sendWebhooks}
	if h := s.kept.history(); h != nil {
		all = append(all,
			func(ctx context.Context) { h.RunTrimming(ctx, failing(log, "the oldest changes could not be removed")) },
			func(ctx context.Context) {
				s.Gateway.Changes().RunIndexing(ctx, failing(log, "the history could not be indexed"))
			},
		)
	}
	if db := s.kept.sealed(); db != nil && s.room != nil {
		all = append(all, func(ctx context.Context) {
			quota.KeepUsage(ctx, db, s.room, failing(log, "the usage of the disk by callers could not be kept"))
		})
	}
	if j := s.kept.cluster(); j.Member() != nil {
		all = append(all, s.kept.choices.Run, func(ctx context.Context) { j.RunKeys(ctx, lastingKinds) })
	}
	if s.Gate != nil {
		all = append(all, func(ctx context.Context) {
			every.Do(ctx, tidyEvery, func() { s.Gate.Tidy(ctx) })
		})
	}
	return all
}

// settleAgain is the first pause before interrupted changes are retried, and settleEvery is the longest. The
// first pause is short because the cause may only be that no session has started yet.
const (
	settleAgain = time.Second
	settleEvery = time.Minute
)

// settle determines the outcomes of changes that were interrupted
// when an earlier process ended, until all are settled or ctx ends.
func (s *Stack) settle(ctx context.Context, log func(string, map[string]any)) {
	first := sync.OnceFunc(func() { close(s.settled) })
	defer first()
	for pause := settleAgain; ; pause = min(2*pause, settleEvery) {
		left, err := s.Gateway.Writer().SettleHistory(ctx)
		first()
		if err != nil && ctx.Err() == nil {
			log("changes from before the start could not be settled", map[string]any{"error": err.Error()})
		}
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// runJobs runs jobs until ctx ends. It begins after the first attempt to settle
// interrupted changes, because a repeated undo must find the outcome of the first one.
func (s *Stack) runJobs(ctx context.Context) {
	select {
	case <-s.settled:
		s.Gateway.Jobs().Run(ctx)
	case <-ctx.Done():
	}
}

// Grown returns a channel that is closed when the gateway must be
// closed and opened again because the log of its cluster has begun.
func (s *Stack) Grown() <-chan struct{} { return s.grown }

// startMargin is how much longer a discovery waits than a
// start may take, so that it learns why a start failed.
const startMargin = 5 * time.Second

// lookup returns a function that finds a script by its name.
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
	c, spill := o.Settings.Pool, spillOf(o.Settings, log)
	lane := func(name ps.Lane, size int) pool.Lane {
		cfg := o.Session(name)
		cfg.Boot = session.Boot{Prelude: scripts.Prelude(name), Scripts: scripts.Sources(name),
			Module: scripts.Modules[name]}
		cfg.StartTimeout, cfg.MaxList = c.StartTimeout, int64(c.MaxList)<<20
		cfg.Log, cfg.Meter, cfg.Spill = log, s.meters[name], spill
		return pool.Lane{
			Size: size, MaxRequests: c.MaxRequests, MaxAge: c.MaxAge, MaxMemory: int64(c.MaxMemory) << 20,
			Start: func(ctx context.Context) (pool.Session, error) { return poolSession(session.Start(ctx, cfg)) },
		}
	}
	return pool.Config{
		Lanes: map[ps.Lane]pool.Lane{
			ps.Directory: lane(ps.Directory, c.DirectorySessions),
			ps.DNS:       lane(ps.DNS, c.DNSSessions),
		},
		MaxWait: c.MaxWait, Queue: c.MaxQueue, Log: log, Debug: debugTo(o.Log),
		Started: func(lane ps.Lane) {
			if lane != ps.Directory {
				return
			}
			select {
			case s.started <- struct{}{}:
			default: // already known
			}
		},
	}
}

// poolSession avoids a non-nil pool.Session holding a nil *session.Session.
func poolSession(s *session.Session, err error) (pool.Session, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// gatewayOptions adds the parts of the stack to the options.
func (s *Stack) gatewayOptions(
	o Options, described []ps.Script, registry *prometheus.Registry,
) gateway.Options {
	g := options.Gateway(o.Settings)
	g.Runner, g.Scripts, g.Auth, g.Log, g.Audit = s.Servers, described, o.Auth, o.Log, s.Audit
	g.Engine, g.Version, g.Metrics, g.Pages = o.Engine, o.Version, registry, s.pages(o)
	g.Bounds.Room, g.Spool.Share = s.room, spoolRoomOf(o.Settings).Passing(g.Spool.Most)
	g.Quotas = identity.NewMeters(options.Quota(o.Settings.Auth), s.kept.now())
	g.Guarded = guarded(o, s.certificate, s.kept)
	g.Ready, g.LaneReady = func(context.Context) []gateway.Check { return s.checks() }, s.laneReady
	g.Kept, g.Relay, g.History = s.kept.sealed(), s.kept.relayed(), s.kept.history()
	cluster := s.kept.cluster()
	g.Member, g.Hop, g.ClusterName = cluster.Member(), cluster.Hop(), clusterName(o)
	g.Wall, g.Stopping, g.Connections.TLS = o.Clock.Wall, s.stopping, s.certificate.config()
	g.EndPoint = s.certificate.endPoint
	return g
}

// laneReady reports whether a lane has a session.
func (s *Stack) laneReady(lane ps.Lane) bool {
	ok, _ := s.Pool.Stats()[lane].Ready()
	return ok
}

// Apply puts into effect those settings that may change while the gateway runs. After an error the previous
// settings remain in effect.
func (s *Stack) Apply(settings *config.Settings) error {
	return s.Gateway.Apply(options.Policy(settings))
}

// stopping hands leadership to another gateway and keeps the sessions from beginning further runs.
func (s *Stack) stopping() {
	if j := s.kept.cluster(); j != nil {
		s.handing.Go(func() { j.HandOver(context.Background()) })
	}
	s.Pool.Drain()
}

// Close closes the sessions, waiting for running scripts until ctx ends, and then
// the audit log.
func (s *Stack) Close(ctx context.Context) error {
	s.handing.Wait()
	if s.stop != nil {
		s.stop()
		s.watched.Wait()
	}
	s.certificate.close()
	var err error
	if s.Servers != nil {
		err = s.Servers.Close(ctx)
	}
	// the log is closed last, so that calls that were still running are recorded
	err = errors.Join(err, s.Pool.Close(ctx), s.kept.close(), s.Audit.Close())
	s.calls.close()
	return err
}

// checks are the readiness checks: the sessions of each lane, the servers they
// work against, the certificate, and Options.Checks.
func (s *Stack) checks() []gateway.Check {
	stats := s.Pool.Stats()
	controller, dns := s.Servers.Status()
	check := func(name string, ok bool, reason string) gateway.Check {
		return gateway.Check{Name: name, OK: ok, Reason: reason}
	}
	of := func(lane ps.Lane, c gateway.Check) gateway.Check { c.Lane = lane; return c }
	sessions := func(name string, lane ps.Lane) gateway.Check {
		ok, why := stats[lane].Ready()
		return gateway.Check{Name: name, OK: ok, Reason: why, Degraded: ok && why != "", Lane: lane}
	}
	controllers := of(ps.Directory,
		check("domainController", controller.Pinned != "" && !controller.Rejected && controller.Unusable == "",
			strings.Join(slices.Concat(optional(controller.Reason), controller.Warnings), "; ")))
	controllers.Degraded = controllers.OK && len(controller.Warnings) > 0
	checks := append([]gateway.Check{
		sessions("directorySessions", ps.Directory),
		sessions("dnsSessions", ps.DNS),
		controllers,
		of(ps.DNS, check("dnsServer", dns.Pinned != "" && dns.Unusable == "", dns.Reason)),
	}, slices.Concat(s.certificate.checks(), s.kept.checks(), s.kept.clockChecks(), s.kept.ringChecks(),
		s.evidence.checks(), s.webhookChecks())...)
	if s.extraChecks != nil {
		checks = append(checks, s.extraChecks()...)
	}
	return checks
}

// watchEvery is the interval at which changes of the checks are noticed.
const watchEvery = 2 * time.Second

// watch logs every change of a check until ctx is done.
func (s *Stack) watch(ctx context.Context, log func(string, map[string]any)) {
	before := map[string]gateway.Check{}
	every.Do(ctx, watchEvery, func() {
		for _, check := range s.checks() {
			was, known := before[check.Name]
			before[check.Name] = check
			sound := check.OK && !check.Degraded
			switch {
			case known && was.OK == check.OK && was.Degraded == check.Degraded, !known && sound:
			case sound:
				log("a check of /readyz is passed again", map[string]any{"check": check.Name})
			case check.OK:
				log("degraded: requests are served, but something needs attention",
					map[string]any{"check": check.Name, "error": check.Reason})
			default:
				log("a check of /readyz fails", map[string]any{"check": check.Name, "error": check.Reason})
			}
		}
	})
}

// optional returns a slice that contains only text, or nil if text is empty.
func optional(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
