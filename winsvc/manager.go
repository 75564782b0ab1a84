package winsvc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kardianos/service"
)

// recovery contains the delays before Windows restarts the service after the first, the second and every
// later failure.
var recovery = []time.Duration{5 * time.Second, 30 * time.Second, time.Minute}

// recoveryReset is the time without failures after which Windows resets its failure
// count.
const recoveryReset = 24 * time.Hour

const (
	pollWait = 250 * time.Millisecond
)

// ErrNotInstalled is returned by calls that need an installed service if the service is not installed.
var ErrNotInstalled = service.ErrNotInstalled

var errElevation = errors.New(notElevated)

// Registration describes the service to install.
type Registration struct {
	Executable string   // full path; empty means the running executable
	Arguments  []string // with which Windows starts it
	Account    string   // see [ParseAccount]
	Password   string   // of a user account; never shown
	Reset      bool     // an update also resets start type and recovery actions
	Kept       *Kept    // stored state of a removed service; nil if there is none
	// OnDomainController permits an installation on a domain controller.
	OnDomainController bool
}

// Manager installs and controls the service. Use [NewManager].
type Manager struct {
	of     Service
	open   func(*service.Config) (service.Service, error)
	native native
	exists func(path string) bool
	poll   time.Duration
}

// native contains the functions that kardianos/service does not offer. Errors of Windows are
// returned unchanged. ErrNotInstalled means that the service does not exist.
type native interface {
	Elevated() bool
	Find() (registered, error)
	// Create only registers the service. Change sets the rest.
	Create(commandLine, account, password string) error
	DomainController() bool // this computer is a domain controller
	// Change sets the command line, the account and its password, and the start type, except those that are
	// empty. It also sets the properties that every installation has: the description and the pre-shutdown
	// timeout. The warnings name the settings that this version of Windows does not support.
	Change(c change) (warnings []string, err error)
	// GrantLogon gives an account the right to log on as a service.
	GrantLogon(account string) error
	// Recover makes Windows restart the service after failures, including failures that the
	// service reports itself.
	Recover(delays []time.Duration, reset time.Duration) (warnings []string, err error)
	AddEventSource() error
	Stop() error // requests a stop without waiting for it
}

// registered is the service as registered in Windows.
type registered struct {
	CommandLine string
	Arguments   []string // in CommandLine
	Account     string
	Start       StartType
	Recovers    bool // has recovery actions
	State       State
}

// change describes the changes to a service.
type change struct {
	CommandLine, Account, Password string
	Start                          StartType
}

// StartType determines when Windows starts the service.
type StartType string

// The start types.
const (
	Delayed   StartType = "automatic, delayed"
	Automatic StartType = "automatic"
	Manual    StartType = "manual"
	Disabled  StartType = "disabled"
)

// NewManager returns a manager of a service. On systems other than Windows it returns an error that names the
// alternative.
func NewManager(of Service) (*Manager, error) {
	windows := newNative(of)
	if windows == nil {
		return nil, of.notWindows()
	}
	m := &Manager{
		of:     of,
		open:   func(c *service.Config) (service.Service, error) { return service.New(nil, c) },
		native: windows,
		poll:   pollWait,
		exists: func(path string) bool { _, err := os.Stat(path); return !errors.Is(err, os.ErrNotExist) },
	}
	_, err := m.service()
	return m, err
}

func (m *Manager) service() (service.Service, error) {
	s, err := m.open(&service.Config{Name: m.of.Name})
	if err != nil {
		return nil, noManager(err)
	}
	return s, nil
}

// Install registers the service or updates the existing one. It returns one line of text for each step taken.
func (m *Manager) Install(r Registration) ([]string, error) {
	if r.Executable == "" {
		var err error
		if r.Executable, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	account, kind, err := m.of.ParseAccount(r.Account)
	switch {
	case err != nil:
		return nil, err
	case kind != UserAccount && r.Password != "":
		return nil, fmt.Errorf("%s is a %s, which has no password", account, kind)
	case !m.native.Elevated():
		return nil, errElevation
	case !m.exists(r.Executable):
		return nil, fmt.Errorf("%s does not exist", r.Executable)
	case !r.OnDomainController && m.native.DomainController():
		return nil, errors.New("this computer is a domain controller, so the service's account would have the " +
			"rights of a domain controller: install on a member server, or repeat with --on-domain-controller")
	}
	keep := r.Account == ""
	r.Account = account
	old, err := m.native.Find()
	var done []string
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		if keep && r.Kept != nil && r.Kept.Account != "" {
			if r.Account, kind, err = m.of.ParseAccount(r.Kept.Account); err != nil {
				return nil, fmt.Errorf("the account of the service that was removed: %w", err)
			}
		}
		done, err = m.create(r, kind)
	case err == nil:
		done, err = m.update(r, kind, old, keep)
	}
	if err != nil {
		return done, m.of.explain(err)
	}
	if old.Recovers && !r.Reset {
		return append(done, "what Windows does after a failure is unchanged"), nil
	}
	warnings, err := m.native.Recover(recovery, recoveryReset)
	if err != nil {
		return done, fmt.Errorf("the recovery actions cannot be set: %w", m.of.explain(err))
	}
	done = append(done, "Windows restarts it after a failure, waiting "+strings.Join(texts(recovery), ", "))
	return append(done, warnings...), nil
}

// allowLogon grants the right to log on as a service to accounts whose kind does not imply it, and returns
// lines of text about the result. A failure is only a warning, because a group policy may grant the right.
func (m *Manager) allowLogon(account string, kind AccountKind) []string {
	if kind != UserAccount && kind != ManagedAccount {
		return nil
	}
	if err := m.native.GrantLogon(account); err != nil {
		return []string{fmt.Sprintf(
			"%s could not be given the right 'Log on as a service' (%v): grant it in secpol.msc, Local Policies, "+
				"User Rights Assignment, "+
				"or in the group policy that sets it", account, err)}
	}
	return []string{account + " has the right 'Log on as a service'; a group policy that sets this right has " +
		"to name it, too"}
}

// Arguments returns the arguments of the installed service, or none.
func (m *Manager) Arguments() ([]string, error) {
	found, err := m.native.Find()
	if errors.Is(err, service.ErrNotInstalled) {
		return nil, nil
	}
	return found.Arguments, m.of.explain(err)
}

func (m *Manager) create(r Registration, kind AccountKind) ([]string, error) {
	if kind == UserAccount && r.Password == "" {
		return nil, fmt.Errorf("%s is a user account: its password is required", r.Account)
	}
	if err := m.native.Create(commandLine(r), r.Account, r.Password); err != nil {
		return nil, fmt.Errorf("the service cannot be registered: %w", err)
	}
	if err := m.native.AddEventSource(); err != nil {
		return nil, fmt.Errorf("the event log source cannot be registered: %w", err)
	}
	start := Delayed
	if r.Kept != nil && r.Kept.Start != "" && !r.Reset {
		start = r.Kept.Start
	}
	warnings, err := m.native.Change(change{CommandLine: commandLine(r), Start: start})
	if err != nil {
		return nil, fmt.Errorf("the service was registered, but cannot be configured: %w", err)
	}
	done := []string{fmt.Sprintf("service %s was installed; it runs as %s (%s), start type: %s", m.of.Name,
		r.Account, kind, start)}
	return slices.Concat(done, m.allowLogon(r.Account, kind), warnings), nil
}

// update changes the properties that differ. If keep is set, the account stays unchanged.
func (m *Manager) update(r Registration, kind AccountKind, old registered, keep bool) ([]string, error) {
	if keep || strings.EqualFold(old.Account, r.Account) && r.Password == "" {
		r.Account = ""
	} else if kind == UserAccount && r.Password == "" {
		return nil, fmt.Errorf("%s is a user account: its password is required", r.Account)
	}
	line := commandLine(r)
	c := change{CommandLine: line, Account: r.Account, Password: r.Password}
	if r.Reset {
		c.Start = Delayed
	}
	warnings, err := m.native.Change(c)
	if err != nil {
		return nil, fmt.Errorf("the installed service cannot be changed: %w", err)
	}
	done := []string{fmt.Sprintf("service %s was already installed and has been updated", m.of.Name)}
	if old.CommandLine != line {
		done = append(done, fmt.Sprintf("it runs %s; previously: %s", line, old.CommandLine))
	}
	if r.Account != "" {
		done = append(done, fmt.Sprintf("it runs as %s; previously: %s", r.Account, old.Account))
		done = append(done, m.allowLogon(r.Account, kind)...)
	}
	if c.Start != "" && c.Start != old.Start {
		done = append(done, fmt.Sprintf("start type: %s; previously: %s", c.Start, old.Start))
	}
	done = append(done, warnings...)
	if old.State == Running {
		done = append(done, m.of.filled(
			"the running service is unchanged: apply this with '{name} service restart'"))
	}
	if err := m.native.AddEventSource(); err != nil {
		return done, fmt.Errorf("the event log source cannot be registered: %w", err)
	}
	return done, nil
}

// Uninstall stops the service and removes it and its event log source.
func (m *Manager) Uninstall(ctx context.Context) error {
	state, _, err := m.Status()
	if err == nil && state == NotInstalled {
		err = ErrNotInstalled
	}
	if err != nil {
		return err
	}
	if state != Stopped {
		if err := m.Stop(ctx); err != nil {
			return err
		}
	}
	s, err := m.service()
	if err != nil {
		return err
	}
	if err := s.Uninstall(); err != nil {
		if _, gone := m.native.Find(); errors.Is(gone, service.ErrNotInstalled) {
			return nil // only the event log source was missing
		}
		return m.of.explain(err)
	}
	return nil
}

// Start starts the service and waits until it is running.
func (m *Manager) Start(ctx context.Context) error {
	state, err := m.installed()
	if err != nil || state == Running {
		return err
	}
	if state == Stopping { // a start is possible only after the stop
		if err := m.await(ctx, StopWait+5*time.Second, Stopped, Stopping); err != nil {
			return err
		}
	}
	if state != Starting {
		s, err := m.service()
		if err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return m.of.explain(err)
		}
	}
	return m.await(ctx, m.of.StartWait, Running, Starting)
}

// Stop requests a stop and waits until the service has stopped.
func (m *Manager) Stop(ctx context.Context) error {
	state, err := m.installed()
	if err != nil || state == Stopped {
		return err
	}
	if state == Starting { // it cannot be stopped yet
		if err := m.await(ctx, m.of.StartWait, Running, Starting); err != nil {
			return err
		}
	}
	if state != Stopping { // otherwise a stop has already been requested
		// kardianos/service would wait without a time limit.
		if err := m.native.Stop(); err != nil && !errors.Is(err, errnoCannotAccept) {
			return m.of.explain(err)
		}
	}
	return m.await(ctx, StopWait+5*time.Second, Stopped, Running, Stopping)
}

// Restart stops the service if it is running, and starts it.
func (m *Manager) Restart(ctx context.Context) error {
	if err := m.Stop(ctx); err != nil {
		return err
	}
	return m.Start(ctx)
}

// await waits until the service has the state want. It returns an error if it finds a state that is neither
// want nor in onTheWay.
func (m *Manager) await(ctx context.Context, wait time.Duration, want State, onTheWay ...State) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		state, err := m.installed()
		switch {
		case err != nil:
			return err
		case state == want:
			return nil
		case !slices.Contains(onTheWay, state) && want == Running:
			return errors.New(m.of.filled(failedToStart))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service is still %s after %s", state, wait)
		case <-time.After(m.poll):
		}
	}
}

// installed returns the service's state, or an error if it is not installed.
func (m *Manager) installed() (State, error) {
	state, _, err := m.Status()
	if err == nil && state == NotInstalled {
		err = fmt.Errorf("%w; %s", ErrNotInstalled, m.of.filled("run '{name} service install'"))
	}
	return state, err
}

// Status returns the state of the service, and the problems that keep it from running as installed. It needs
// no special rights, because it does not use kardianos/service, which requests the rights to start and stop
// the service.
func (m *Manager) Status() (state State, problems []string, err error) {
	found, err := m.native.Find()
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		return NotInstalled, nil, nil
	case err != nil:
		return Unknown, nil, fmt.Errorf("the service manager does not respond: %w", m.of.explain(err))
	}
	if path := executableOf(found.CommandLine); !m.exists(path) {
		problems = append(problems, fmt.Sprintf(
			"its executable %s no longer exists: run '%s service install' from its current location", path, m.of.Name))
	}
	if found.Start != Delayed && found.Start != Automatic {
		problems = append(problems, fmt.Sprintf(
			"it does not start with Windows (start type: %s): '%s service install --reset' changes that", found.Start,
			m.of.Name))
	}
	return found.State, problems, nil
}

// commandLine quotes arguments for CommandLineToArgvW. Paths cannot contain quotation marks, so only a
// trailing backslash needs to be escaped.
func commandLine(r Registration) string {
	words := []string{`"` + r.Executable + `"`}
	for _, argument := range r.Arguments {
		if argument == "" || strings.ContainsAny(argument, " \t") {
			trailing := len(argument) - len(strings.TrimRight(argument, `\`))
			argument = `"` + argument + strings.Repeat(`\`, trailing) + `"`
		}
		words = append(words, argument)
	}
	return strings.Join(words, " ")
}

// executableOf returns the first word of a command line.
func executableOf(line string) string {
	if rest, quoted := strings.CutPrefix(line, `"`); quoted {
		path, _, _ := strings.Cut(rest, `"`)
		return path
	}
	path, _, _ := strings.Cut(line, " ")
	return path
}

func texts(delays []time.Duration) []string {
	var all []string
	for _, d := range delays {
		all = append(all, fmt.Sprintf("%.0f s", d.Seconds()))
	}
	return all
}
