package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/winsvc/host"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

const (
	// closeWait is for sessions to end after the last request; then they are
	// killed. With http.shutdownTimeout it stays below winsvc.StopWait.
	closeWait = 3 * time.Second
	// reloadEvery is how often the settings file is looked at.
	reloadEvery = 500 * time.Millisecond
)

func serveCommand() *cobra.Command {
	f := settingFlags{fallback: defaultSettingsFile()}
	f.amend = f.places
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API with the PowerShell of this computer",
		Long: "Serves the API with the PowerShell of this computer and its modules\n" +
			"ActiveDirectory and DnsServer. Settings are read from --config, by default\n" + f.fallback + ".",
		Example: "  adgateway serve\n  adgateway serve --config adgateway.yaml --log-level debug",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := prepareServe(c.Context(), &f, c.ErrOrStderr(), nil)
			if err != nil {
				return err
			}
			return s.serve(c.Context())
		},
	}
	f.addTo(c, commonSpellings...)
	return c
}

// backend is what a gateway runs on: PowerShell, or the sandbox.
type backend struct {
	name    string // for X-Engine
	starter session.Starter
	dial    servers.Dial // nil: the network
	auth    auth.Authenticator
	checks  func() []gateway.Check // more lines of /readyz; nil: none
	follow  func(context.Context)  // runs beside the gateway until its context is done; nil: nothing
	end     func() error           // after the last session; nil: nothing
}

// server is a gateway that listens and is about to serve.
type server struct {
	live     *config.Live
	log      *logrus.Logger
	closeLog io.Closer
	backend  backend
	listener net.Listener
	stack    *app.Stack
}

// prepareServe makes everything ready that must be before the service counts as
// started; sessions start meanwhile. dial is that of the backend.
func prepareServe(ctx context.Context, f *settingFlags, stderr io.Writer, dial servers.Dial) (*server, error) {
	live, err := f.load()
	if err != nil {
		return nil, err
	}
	settings := live.Now()
	starter, err := powerShell(settings.PowerShell)
	if err != nil {
		return nil, err
	}
	s := &server{live: live, backend: backend{name: "powershell", starter: starter, dial: dial}}
	if s.log, s.closeLog, err = openLog(settings.Log, stderr); err != nil {
		return nil, err
	}
	if err := s.credentials(ctx, storeFile(settings.Auth, f.path())); err != nil {
		return nil, errors.Join(err, s.closeLog.Close())
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.closeLog.Close())
	}
	s.log.WithFields(logrus.Fields{"address": s.listener.Addr().String(), "version": buildVersion(), "settings": f.path()}).Info("listening")
	return s, nil
}

// credentials opens the store of tokens and users. Without one the gateway
// starts and lets nobody in; it follows the store, so that the first token is
// taken at once.
func (s *server) credentials(ctx context.Context, file auth.File) error {
	if _, err := os.Lstat(file.Path); errors.Is(err, fs.ErrNotExist) {
		if err := file.Edit(ctx, func(*auth.Document) error { return nil }); err != nil {
			return fmt.Errorf("credentials: %s cannot be written: %w", file.Path, err)
		}
	}
	store, err := openStore(file, s.live.Now().Auth, s.log)
	if err != nil {
		return err
	}
	if store.Empty() {
		s.log.Warn(noCredentials)
	}
	s.backend.auth, s.backend.follow = store, store.Run
	s.backend.checks = func() []gateway.Check { return storeChecks(store) }
	return nil
}

func powerShell(settings config.PowerShell) (session.Starter, error) {
	path, err := findPowerShell(settings.Path, runtime.GOOS, exec.LookPath)
	if err != nil {
		return nil, err
	}
	return session.Local{Path: path, Arguments: settings.Arguments}, nil
}

// findPowerShell finds the executable: the one that is set, on Windows its own
// Windows PowerShell (path empty), elsewhere pwsh.
func findPowerShell(path, system string, look func(string) (string, error)) (string, error) {
	switch {
	case path != "":
		found, err := look(path)
		if err != nil {
			return "", fmt.Errorf("powershell.path: %s cannot be run; give the path of powershell.exe or pwsh: %w", path, innermost(err))
		}
		return found, nil
	case system == "windows":
		return "", nil
	}
	found, err := look("pwsh")
	if err != nil {
		return "", errors.New("there is no PowerShell: 'pwsh' is not in the PATH. Install PowerShell 7 or set powershell.path; " +
			"the modules ActiveDirectory and DnsServer are part of Windows, so that a gateway for a real domain runs on a Windows computer with RSAT. " +
			"'adgateway sandbox' serves the whole API over a simulated domain, here and now")
	}
	return found, nil
}

// innermost is what the system says, without the names that are around it.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		if _, ok := inner.(syscall.Errno); ok || errors.Unwrap(inner) == nil {
			return inner
		}
		err = inner
	}
	return err
}

// open opens the listener and builds the stack. It closes what it opened when it fails.
func (s *server) open(ctx context.Context) error {
	settings := s.live.Now()
	listener, err := app.Listen(settings)
	if err != nil {
		err = explainListen(ctx, settings.HTTP.Listen, err)
	} else {
		s.listener = listener
		s.stack, err = app.New(ctx, app.Options{
			Settings: settings, Auth: s.backend.auth, Log: s.log,
			Engine: s.backend.name, Version: gateway.Version{Version: buildVersion()},
			Session: func(ps.Lane) session.Config { return session.Config{Starter: s.backend.starter} },
			Dial:    s.backend.dial,
			Checks:  s.checks,
			Store:   host.Certificates(),
		})
		if err != nil {
			err = errors.Join(err, listener.Close())
		}
	}
	if err != nil {
		err = errors.Join(err, s.backend.close())
	}
	return err
}

func (b backend) close() error {
	if b.end == nil {
		return nil
	}
	return b.end()
}

// checks are lines of /readyz.
func (s *server) checks() []gateway.Check {
	settings := gateway.Check{Name: "settings", OK: true}
	if err := s.live.Fault(); err != nil {
		settings.OK, settings.Reason = false, "The settings have mistakes; those before stay in force. "+oneLine(err)
	}
	checks := []gateway.Check{settings}
	if s.backend.checks != nil {
		checks = append(checks, s.backend.checks()...)
	}
	return checks
}

// serve serves until ctx is done and ends everything that open and it started.
func (s *server) serve(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	watchers.Go(func() { s.live.Watch(watching, reloadEvery, s.reloaded) })
	watchers.Go(func() { s.reloadOnSignal(watching) })
	if s.backend.follow != nil {
		watchers.Go(func() { s.backend.follow(watching) })
	}
	err := s.stack.Gateway.Run(ctx, s.listener)
	stop()
	watchers.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	err = errors.Join(err, s.stack.Close(closing), s.backend.close())
	if err != nil {
		s.log.WithError(err).Error("ended")
	} else {
		s.log.Info("ended")
	}
	return errors.Join(err, s.closeLog.Close())
}

func (s *server) reloadOnSignal(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.stack.RefreshCertificate()
			s.reloaded(s.live.Reload())
		}
	}
}

// reloaded puts new settings in force and tells what came of a reload.
func (s *server) reloaded(change config.Change, err error) {
	if err != nil {
		s.log.WithField("faults", oneLine(err)).Error("the settings have mistakes; those before stay in force")
		return
	}
	now := s.live.Now()
	if err := s.stack.Apply(now); err != nil {
		s.log.WithError(err).Error("the new settings cannot be put in force")
		return
	}
	if len(change.Applied) > 0 {
		s.log.WithField("keys", strings.Join(change.Applied, ", ")).Info("the settings were read again; these are in force now")
	} else {
		s.log.Info("the settings were read again; nothing that takes effect at once has changed")
	}
	tuneLog(s.log, now.Log)
	if len(change.Waiting) > 0 {
		s.log.WithField("keys", strings.Join(change.Waiting, ", ")).Warn("these changed settings take effect at the next start: restart needed")
	}
}

// Windows' own codes of what listening fails with; the syscall package has other
// numbers for these names there.
const (
	windowsInUse     syscall.Errno = 10048
	windowsForbidden syscall.Errno = 10013
)

// portTaken and portForbidden tell why listening failed.
func portTaken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windowsInUse)
}

func portForbidden(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, windowsForbidden)
}

// explainListen says who holds the port and what to do.
func explainListen(ctx context.Context, address string, err error) error {
	const elsewhere = "listen elsewhere (setting http.listen, flag --listen)"
	switch {
	case portTaken(err):
		holder := "another process"
		if name := host.PortHolder(ctx, address); name != "" {
			holder = name
		}
		return fmt.Errorf("%s is taken by %s: stop that, or %s: %w", address, holder, elsewhere, err)
	case portForbidden(err):
		return fmt.Errorf("%s may not be used: the port is reserved or needs more rights "+
			"(on Windows 'netsh int ipv4 show excludedportrange tcp' lists reserved ones); %s: %w", address, elsewhere, err)
	case errors.As(err, new(*net.OpError)):
		return fmt.Errorf("http.listen: %s cannot be listened on: take an address of this computer, such as 127.0.0.1, or 0.0.0.0 for all of them: %w", address, err)
	default:
		return err
	}
}

// url is where the API is.
func (s *server) url() string { return app.Scheme(s.live.Now()) + "://" + s.listener.Addr().String() }
