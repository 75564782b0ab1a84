package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/credentials"
	"adgateway/ps"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/winsvc/events"
	"adgateway/winsvc/host"
)

// CloseWait is how long sessions may take to end after the last request before they
// are killed. Together with http.shutdownTimeout it is less than winsvc.StopWait.
const CloseWait = 3 * time.Second

// reloadEvery is the interval at which the settings file is checked for changes.
const reloadEvery = 500 * time.Millisecond

// ServerOptions configure the gateway to prepare.
type ServerOptions struct {
	Flags   *program.Flags
	Version string
	Stderr  io.Writer    // the log, unless log.file is set
	Dial    servers.Dial // probes servers; nil dials the network; unused by the sandbox
	Event   events.Write // writes to the system's event log; nil if there is none
}

// backend holds the engine and the authenticator of a gateway.
type backend struct {
	name      string // for the header X-Engine
	starter   session.Starter
	real      bool            // starter starts a real PowerShell
	folder    *session.Folder // of the sessions' processes; nil if there is none
	sandbox   bool            // the domain is simulated
	hosts     []string        // the names of this computer in DNS; none for a simulated domain
	people    *People         // signs people in to the pages; nil if nobody can sign in
	dial      servers.Dial    // nil dials the network
	auth      authn.Authenticator
	checks    []func() []gateway.Check // additional readiness checks
	follow    []func(context.Context)  // each runs until its context is done
	shared    *credentials.Credentials // the cluster's credentials; nil if the credentials are in a file
	end       func() error             // called after the last session has ended; may be nil
	endMemory func()                   // restores the garbage collector; nil if it was not tuned
}

// session returns the configuration of the sessions, which includes a rehearsal only for a real PowerShell.
func (b backend) session() session.Config {
	c := session.Config{Starter: b.starter}
	if b.real {
		c.Rehearsal = scripts.Rehearsal
	}
	return c
}

// Server is a gateway with an open listener. Only [Server.Serve] closes it.
type Server struct {
	options  ServerOptions
	live     *config.Live
	log      *logrus.Logger
	closeLog io.Closer
	entries  *entries // the output of the log
	backend  backend
	listener net.Listener
	stack    *Stack
	folder   trust.Folder    // of the gateway's cluster
	identity *trust.Identity // the gateway's identity in its cluster; nil if it is in none
}

// Prepare prepares a gateway on the PowerShell of this computer. All steps that can fail are done before it
// returns; sessions start in the background. Serve must be called with a context derived from ctx.
func Prepare(ctx context.Context, o ServerOptions) (*Server, error) {
	live, err := o.Flags.Load()
	if err != nil {
		return nil, err
	}
	cfg := live.Now()
	s, err := newServer(o, live)
	if err != nil {
		return nil, err
	}
	s.backend = backend{name: "powershell", real: true, dial: o.Dial, hosts: host.Names()}
	if err := CheckStart(ctx, cfg, o.Flags.Path()); err != nil {
		return nil, err
	}
	if s.backend.people, err = domainPeople(cfg.SignIn); err != nil {
		return nil, err
	}
	if err := s.openLog(); err != nil {
		return nil, err
	}
	if err := s.useStore(ctx, program.CredentialFile(cfg.Auth, o.Flags.Path())); err != nil {
		return nil, errors.Join(err, s.closeLog.Close())
	}
	s.openFolder()
	if s.backend.starter, err = PowerShell(cfg.PowerShell, s.backend.folder.Name()); err == nil {
		err = s.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.backend.close(), s.closeLog.Close())
	}
	s.log.WithFields(logrus.Fields{"address": s.Address(), "version": o.Version,
		"settings": o.Flags.Path()}).Info("listening")
	return s, nil
}

func newServer(o ServerOptions, live *config.Live) (s *Server, err error) {
	s = &Server{options: o, live: live}
	s.folder, s.identity, err = program.Joined(live.Now())
	return s, err
}

// shared reports whether the gateway's accounts are in the store of its cluster.
func (s *Server) shared() bool { return s.identity != nil }

// openLog opens the log.
func (s *Server) openLog() (err error) {
	if s.log, s.closeLog, err = program.OpenLog(s.live.Now().Log, s.options.Stderr); err != nil {
		return err
	}
	s.entries = &entries{to: s.log.Out}
	s.log.SetOutput(s.entries)
	program.WarnFormer(s.log, s.live.Now())
	warned, _ := exposed(s.live.Now(), s.options.Flags.Path())
	for _, sentence := range warned {
		s.log.Warn(sentence)
	}
	return nil
}

// openFolder creates the temporary folder of the sessions. If that fails, sessions use the gateway's own.
func (s *Server) openFolder() {
	folder, err := session.NewFolder()
	if err != nil {
		s.log.WithError(err).Warn("the sessions use the system's temporary folder, where killed ones may leave " +
			"files")
		return
	}
	if folder.Removed > 0 {
		s.log.WithField("folders", folder.Removed).Info(
			"temporary folders of gateways that were killed were removed")
	}
	s.backend.folder = folder
}

// open opens the listener and builds the stack. After an error only the log is open.
func (s *Server) open(ctx context.Context) error {
	cfg := s.live.Now()
	s.backend.endMemory = useMemory(cfg.Memory)
	listener, err := Listen(ctx, cfg)
	if err != nil {
		return explainListen(ctx, cfg.HTTP.Listen, err)
	}
	s.listener = listener
	s.stack, err = New(ctx, Options{
		Settings: cfg, Auth: s.backend.auth, Log: s.log,
		Engine: s.backend.name, Version: gateway.Version{Version: s.options.Version},
		Session: func(ps.Lane) session.Config { return s.backend.session() },
		Dial:    s.backend.dial,
		Event:   s.options.Event,
		Hosts:   s.backend.hosts,
		Sandbox: s.backend.sandbox, People: s.backend.people,
		Checks: s.checks, LostEntries: s.entries.lost.Load,
		Membership: Membership{s.folder, s.identity}, Store: host.Certificates(), Shared: s.backend.shared,
		KeyGroup: KeyGroup,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return nil
}

func (b backend) close() error {
	var err error
	if b.endMemory != nil {
		b.endMemory()
	}
	if b.end != nil {
		err = b.end()
	}
	return errors.Join(err, b.folder.Close())
}

// checks are the readiness checks of the settings and of the backend.
func (s *Server) checks() []gateway.Check {
	check := gateway.Check{Name: "settings", OK: true}
	if err := s.live.Fault(); err != nil {
		check.Degraded, check.Reason = true, "The settings have mistakes; those before stay in force. "+
			program.OneLine(err)
	}
	checks := []gateway.Check{check, s.entries.check()}
	for _, more := range s.backend.checks {
		checks = append(checks, more()...)
	}
	return checks
}

// Serve serves until ctx is done and then closes the server.
func (s *Server) Serve(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { s.live.Watch(watching, reloadEvery, s.reloaded) })
	watchers.Go(func() { s.reloadOnSignal(watching) })
	watchers.Go(func() { s.serveSelf(watching) })
	for _, follow := range s.backend.follow {
		watchers.Go(func() { follow(watching) })
	}
	serving, end := context.WithCancel(ctx)
	watchers.Go(func() {
		select {
		case <-s.stack.Grown():
			end()
		case <-serving.Done():
		}
	})
	err := s.stack.Gateway.Run(serving, s.listener)
	end()
	stop()
	watchers.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseWait)
	defer cancel()
	err = errors.Join(err, s.stack.Close(closing), s.backend.close())
	if err != nil {
		s.log.WithError(err).Error("stopped")
	} else {
		s.log.Info("stopped")
	}
	if err = errors.Join(err, s.closeLog.Close()); err == nil && ctx.Err() == nil {
		return errAgain // Gateway.Run ended without an error, which happens only when the state has changed
	}
	return err
}

// errAgain means that the server must be prepared again because its state in the cluster has changed.
var errAgain = errors.New("the log of the cluster begins: the gateway is made again")

// Run serves until ctx is done. It prepares the server again whenever that is needed.
func Run(ctx context.Context, s *Server, prepare func(context.Context) (*Server, error)) error {
	for {
		err := s.Serve(ctx)
		if !errors.Is(err, errAgain) {
			return err
		}
		if s, err = prepare(ctx); err != nil {
			return err
		}
	}
}

// URL returns the base URL of the API.
func (s *Server) URL() string { return Scheme(s.live.Now()) + "://" + s.Address() }

// Address returns the address that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Settings returns the settings in effect. They must not be modified.
func (s *Server) Settings() *config.Settings { return s.live.Now() }

// Log returns the server's log.
func (s *Server) Log() *logrus.Logger { return s.log }

// useStore makes the credential file the server's authenticator.
func (s *Server) useStore(ctx context.Context, file authn.File) error {
	store, err := s.openAccounts(ctx, file, false)
	if err != nil {
		return err
	}
	s.backend.auth = store
	return nil
}

// openAccounts opens the credential file and follows its changes. It creates the file if it is missing. Until
// an account exists, nobody can call unless others is set; the first token is accepted as soon as it is
// created.
func (s *Server) openAccounts(ctx context.Context, file authn.File, others bool) (*authn.Store, error) {
	c := s.live.Now().Auth
	if s.shared() {
		s.backend.shared = sharedCredentials(file, c, s.log)
	} else if err := createStore(ctx, file); err != nil {
		return nil, fmt.Errorf("credentials: %s cannot be written: %w", file.Path, err)
	}
	store, err := openStore(file, s.backend.shared, c, s.log, s.options.Event)
	if err != nil {
		return nil, err
	}
	if store.Empty() && !s.shared() && !others {
		s.log.Warn(noCredentials)
	}
	s.backend.follow = append(s.backend.follow, store.Run)
	s.backend.checks = append(s.backend.checks, func() []gateway.Check { return storeChecks(store, others) })
	return store, nil
}
