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

// recovery is how long Windows waits before it starts the service again, after
// the first, the second and every later failure.
var recovery = []time.Duration{5 * time.Second, 30 * time.Second, time.Minute}

// recoveryReset is after how long without a failure counting starts anew.
const recoveryReset = 24 * time.Hour

const (
	pollWait  = 250 * time.Millisecond
	startWait = 30 * time.Second
)

var (
	errNotInstalled = fmt.Errorf("the service is not installed; run 'adgateway service install': %w", service.ErrNotInstalled)
	errElevation    = errors.New(notElevated)
)

// Registration is the service as it is to be.
type Registration struct {
	Executable string   // its full path; empty: the one that runs
	Arguments  []string // that make it run as the service
	Account    string   // see [ParseAccount]
	Password   string   // of a user; never shown
}

// Manager installs and controls the service. Use [NewManager].
type Manager struct {
	open   func(*service.Config) (service.Service, error)
	native native
	exists func(path string) bool
	poll   time.Duration
}

// native is what kardianos/service cannot do. Errors of Windows come as they
// are; errNotInstalled says that there is no such service.
type native interface {
	Elevated() bool
	Find() (registered, error)
	// Change sets the account with its password (empty: they stay) and the command
	// line; what else a service of ours has (description, delayed automatic start,
	// time to stop before a shutdown) is set, too.
	Change(commandLine, account, password string) error
	// Recover has Windows start the service again after failures, also after one
	// that it reported itself.
	Recover(delays []time.Duration, reset time.Duration) error
	AddEventSource() error
	Stop() error // asks it to stop and does not wait
}

// registered is the service as Windows knows it.
type registered struct {
	CommandLine string
	Arguments   []string // of it
	Account     string
	Delayed     bool // started automatically, after other services
	State       State
}

var errNotWindows = errors.New("the service is for Windows. Here run 'adgateway serve' under this system's own service manager, " +
	"such as a systemd unit with ExecStart=/usr/local/bin/adgateway serve --config /etc/adgateway/adgateway.yaml")

// NewManager fails away from Windows; the error says what to use there.
func NewManager() (*Manager, error) {
	windows := newNative()
	if windows == nil {
		return nil, errNotWindows
	}
	m := &Manager{
		open:   func(c *service.Config) (service.Service, error) { return service.New(nil, c) },
		native: windows,
		poll:   pollWait,
		exists: func(path string) bool { _, err := os.Stat(path); return !errors.Is(err, os.ErrNotExist) },
	}
	_, err := m.service(Registration{})
	return m, err
}

func (m *Manager) service(r Registration) (service.Service, error) {
	s, err := m.open(&service.Config{
		Name: Name, DisplayName: displayName, Description: description,
		Executable: r.Executable, Arguments: r.Arguments, UserName: r.Account,
		Option: service.KeyValue{"Password": r.Password, "DelayedAutoStart": true},
	})
	if err != nil {
		return nil, noManager(err)
	}
	return s, nil
}

// Install registers the service, or changes the one that is there; what it did
// comes back as lines to show.
func (m *Manager) Install(r Registration) ([]string, error) {
	if r.Executable == "" {
		var err error
		if r.Executable, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	account, kind, err := ParseAccount(r.Account)
	switch {
	case err != nil:
		return nil, err
	case kind != UserAccount && r.Password != "":
		return nil, fmt.Errorf("%s is a %s, which has no password to give", account, kind)
	case !m.native.Elevated():
		return nil, errElevation
	case !m.exists(r.Executable):
		return nil, fmt.Errorf("%s is not there", r.Executable)
	}
	keep := r.Account == ""
	r.Account = account
	old, err := m.native.Find()
	var done []string
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		done, err = m.create(r, kind)
	case err == nil:
		done, err = m.update(r, kind, old, keep)
	}
	if err != nil {
		return done, explain(err)
	}
	if err := m.native.Recover(recovery, recoveryReset); err != nil {
		return done, fmt.Errorf("the actions after failures cannot be set: %w", explain(err))
	}
	return append(done, "after a failure Windows starts it again after "+strings.Join(texts(recovery), ", ")), nil
}

// Arguments are those of the service that is installed; none while it is not.
func (m *Manager) Arguments() ([]string, error) {
	found, err := m.native.Find()
	if errors.Is(err, service.ErrNotInstalled) {
		return nil, nil
	}
	return found.Arguments, explain(err)
}

func (m *Manager) create(r Registration, kind AccountKind) ([]string, error) {
	if kind == UserAccount && r.Password == "" {
		return nil, fmt.Errorf("%s is a user: its password is needed", r.Account)
	}
	s, err := m.service(r)
	if err != nil {
		return nil, err
	}
	if err := s.Install(); err != nil {
		return nil, err
	}
	if err := m.native.Change(commandLine(r), "", ""); err != nil { // what kardianos/service does not set
		return nil, err
	}
	return []string{fmt.Sprintf("service %s is installed; it runs as %s (%s) and starts with Windows, after other services", Name, r.Account, kind)}, nil
}

// update changes what differs; keep says that the account stays.
func (m *Manager) update(r Registration, kind AccountKind, old registered, keep bool) ([]string, error) {
	if keep || strings.EqualFold(old.Account, r.Account) && r.Password == "" {
		r.Account = ""
	} else if kind == UserAccount && r.Password == "" {
		return nil, fmt.Errorf("%s is a user: its password is needed", r.Account)
	}
	line := commandLine(r)
	if err := m.native.Change(line, r.Account, r.Password); err != nil {
		return nil, err
	}
	done := []string{fmt.Sprintf("service %s was installed already and is updated", Name)}
	if old.CommandLine != line {
		done = append(done, fmt.Sprintf("it runs %s; before: %s", line, old.CommandLine))
	}
	if r.Account != "" {
		done = append(done, fmt.Sprintf("it runs as %s; before: %s", r.Account, old.Account))
	}
	if !old.Delayed {
		done = append(done, "it starts with Windows again, after other services")
	}
	if old.State == Running {
		done = append(done, "it still runs as before: 'adgateway service restart' puts this in force")
	}
	if err := m.native.AddEventSource(); err != nil {
		return done, fmt.Errorf("the event log's source cannot be set: %w", err)
	}
	return done, nil
}

// Uninstall stops the service and removes it with its source in the event log.
func (m *Manager) Uninstall(ctx context.Context) error {
	state, err := m.installed()
	if err != nil {
		return err
	}
	if state != Stopped {
		if err := m.Stop(ctx); err != nil {
			return err
		}
	}
	s, err := m.service(Registration{})
	if err != nil {
		return err
	}
	if err := s.Uninstall(); err != nil {
		if _, gone := m.native.Find(); errors.Is(gone, service.ErrNotInstalled) {
			return nil // only its source in the event log was not there any more
		}
		return explain(err)
	}
	return nil
}

// Start starts the service and waits until it runs.
func (m *Manager) Start(ctx context.Context) error {
	state, err := m.installed()
	if err != nil || state == Running {
		return err
	}
	if state == Stopping { // it cannot be started before it has stopped
		if err := m.await(ctx, StopWait+5*time.Second, Stopped, Stopping); err != nil {
			return err
		}
	}
	if state != Starting {
		s, err := m.service(Registration{})
		if err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return explain(err)
		}
	}
	return m.await(ctx, startWait, Running, Starting)
}

// Stop asks the service to stop and waits until it has.
func (m *Manager) Stop(ctx context.Context) error {
	state, err := m.installed()
	if err != nil || state == Stopped {
		return err
	}
	if state == Starting { // it takes no request yet
		if err := m.await(ctx, startWait, Running, Starting); err != nil {
			return err
		}
	}
	if state != Stopping { // then it takes none any more
		// kardianos/service would wait for ever.
		if err := m.native.Stop(); err != nil && !errors.Is(err, errnoCannotAccept) {
			return explain(err)
		}
	}
	return m.await(ctx, StopWait+5*time.Second, Stopped, Running, Stopping)
}

// Restart stops the service where it runs, and starts it.
func (m *Manager) Restart(ctx context.Context) error {
	if err := m.Stop(ctx); err != nil {
		return err
	}
	return m.Start(ctx)
}

// await waits for a state; any but those on the way there is a failure.
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
			return errors.New(failedToStart)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service is still %s after %s", state, wait)
		case <-time.After(m.poll):
		}
	}
}

// installed is the service's state; not being installed is an error.
func (m *Manager) installed() (State, error) {
	state, _, err := m.Status()
	if err == nil && state == NotInstalled {
		err = errNotInstalled
	}
	return state, err
}

// Status asks the service manager; it needs no special rights on Windows, where
// kardianos/service would ask for those to start and stop.
// problems are what keeps the service from running as it was installed.
func (m *Manager) Status() (state State, problems []string, err error) {
	found, err := m.native.Find()
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		return NotInstalled, nil, nil
	case err != nil:
		return Unknown, nil, fmt.Errorf("the service manager gives no answer: %w", explain(err))
	}
	if path := executableOf(found.CommandLine); !m.exists(path) {
		problems = append(problems, fmt.Sprintf("its executable %s is not there any more: run 'adgateway service install' from where it is now", path))
	}
	if !found.Delayed {
		problems = append(problems, "it does not start with Windows after other services: run 'adgateway service install' to set this right")
	}
	return found.State, problems, nil
}

// commandLine quotes as CommandLineToArgvW reads it. Paths hold no quotation
// mark, and only a trailing backslash before one would be read as an escape.
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

// executableOf is the first word of a command line.
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
