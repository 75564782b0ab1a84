package winsvc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"adgateway/winsvc/host"
)

// serviceManager implements native with the service manager of Windows.
type serviceManager struct{ of Service }

func newNative(of Service) native { return serviceManager{of} }

func (serviceManager) Elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

// with opens the service with the given rights, calls do and closes the service.
func (m serviceManager) with(managerRights, serviceRights uint32, do func(*mgr.Service) error) error {
	manager, err := windows.OpenSCManager(nil, nil, managerRights)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	name, err := windows.UTF16PtrFromString(m.of.Name)
	if err != nil {
		return err
	}
	handle, err := windows.OpenService(manager, name, serviceRights)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return ErrNotInstalled
	}
	if err != nil {
		return err
	}
	s := &mgr.Service{Name: m.of.Name, Handle: handle}
	defer func() { _ = s.Close() }()
	return do(s)
}

func (m serviceManager) Find() (found registered, err error) {
	err = m.with(windows.SC_MANAGER_CONNECT, windows.SERVICE_QUERY_CONFIG|windows.SERVICE_QUERY_STATUS,
		func(s *mgr.Service) error {
			config, err := host.ServiceConfig(s)
			if err != nil {
				return err
			}
			status, err := s.Query()
			if err != nil {
				return err
			}
			found = registered{
				CommandLine: config.BinaryPathName,
				Account:     config.ServiceStartName,
				Arguments:   argumentsOf(config.BinaryPathName),
				Start:       startTypes[config.StartType],
				State:       states[status.State],
			}
			if found.Start == Automatic && config.DelayedAutoStart {
				found.Start = Delayed
			}
			actions, err := s.RecoveryActions()
			found.Recovers = len(actions) > 0
			if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
				return nil
			}
			return err
		})
	return found, err
}

var states = map[svc.State]State{
	svc.Stopped: Stopped, svc.StartPending: Starting, svc.StopPending: Stopping, svc.Running: Running,
	svc.ContinuePending: Running, svc.PausePending: Running, svc.Paused: Running,
}

var startTypes = map[uint32]StartType{mgr.StartAutomatic: Automatic, mgr.StartManual: Manual,
	mgr.StartDisabled: Disabled}

func (serviceManager) DomainController() bool {
	const verNTDomainController = 2 // winnt.h
	return windows.RtlGetVersion().ProductType == verNTDomainController
}

func (serviceManager) GrantLogon(account string) error { return host.AllowServiceLogon(account) }

// The times within which a starting or stopping service must report progress. A start may be slow on a
// computer that has just been switched on.
const (
	startHint = 30 * time.Second
	stopHint  = 5 * time.Second
)

// argumentsOf returns the words of a command line without the executable, or nil if it cannot be parsed.
func argumentsOf(line string) []string {
	words, err := windows.DecomposeCommandLine(line)
	if err != nil || len(words) == 0 {
		return nil
	}
	return words[1:]
}

// Create registers the service. Change sets its start type and texts.
func (m serviceManager) Create(commandLine, account, password string) error {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CREATE_SERVICE)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	var texts [4]*uint16
	for i, s := range []string{m.of.Name, commandLine, account, password} {
		if texts[i], err = text(s); err != nil {
			return err
		}
	}
	handle, err := windows.CreateService(manager, texts[0], texts[0], windows.SERVICE_ALL_ACCESS,
		windows.SERVICE_WIN32_OWN_PROCESS,
		mgr.StartManual, mgr.ErrorNormal, texts[1], nil, nil, nil, texts[2], texts[3])
	if err != nil {
		return err
	}
	return windows.CloseServiceHandle(handle)
}

// optional adds a warning if err is ERROR_INVALID_LEVEL, which means that this version of Windows does not
// support a setting of services. It returns any other error.
func optional(warnings *[]string, setting string, err error) error {
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		*warnings = append(*warnings, fmt.Sprintf("this Windows does not support %s (%v)", setting, err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	return nil
}

// text returns a UTF-16 string. For an empty text it returns nil, which means that a value stays unchanged.
func text(s string) (*uint16, error) {
	if s == "" {
		return nil, nil
	}
	return windows.UTF16PtrFromString(s)
}

func (m serviceManager) Change(c change) (warnings []string, err error) {
	start := map[StartType]uint32{"": windows.SERVICE_NO_CHANGE, Delayed: mgr.StartAutomatic,
		Automatic: mgr.StartAutomatic, Manual: mgr.StartManual, Disabled: mgr.StartDisabled}[c.Start]
	var texts [5]*uint16
	for i, s := range []string{c.CommandLine, c.Account, c.Password, m.of.display, m.of.description} {
		if texts[i], err = text(s); err != nil {
			return nil, err
		}
	}
	err = m.with(windows.SC_MANAGER_CONNECT, windows.SERVICE_ALL_ACCESS, func(s *mgr.Service) error {
		// records a failed start in the system's event log
		err := windows.ChangeServiceConfig(s.Handle, windows.SERVICE_NO_CHANGE, start, mgr.ErrorNormal,
			texts[0], nil, nil, nil, texts[1], texts[2], texts[3])
		if err != nil {
			return err
		}
		about := windows.SERVICE_DESCRIPTION{Description: texts[4]}
		err = windows.ChangeServiceConfig2(s.Handle, windows.SERVICE_CONFIG_DESCRIPTION,
			(*byte)(unsafe.Pointer(&about)))
		if err := optional(&warnings, "a description", err); err != nil {
			return err
		}
		if c.Start == Delayed || c.Start == Automatic {
			var delayed windows.SERVICE_DELAYED_AUTO_START_INFO
			if c.Start == Delayed {
				delayed.IsDelayedAutoStartUp = 1
			}
			err = windows.ChangeServiceConfig2(s.Handle, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO,
				(*byte)(unsafe.Pointer(&delayed)))
			if err := optional(&warnings, "a delayed start", err); err != nil {
				return err
			}
		}
		// SERVICE_PRESHUTDOWN_INFO; the default is 10 seconds
		wait := uint32((StopWait + 5*time.Second).Milliseconds())
		err = windows.ChangeServiceConfig2(s.Handle, windows.SERVICE_CONFIG_PRESHUTDOWN_INFO,
			(*byte)(unsafe.Pointer(&wait)))
		return optional(&warnings, "time to stop before a shutdown", err)
	})
	return warnings, err
}

func (m serviceManager) Recover(delays []time.Duration, reset time.Duration) (warnings []string, err error) {
	var actions []mgr.RecoveryAction
	for _, delay := range delays {
		actions = append(actions, mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: delay})
	}
	err = m.with(windows.SC_MANAGER_CONNECT, windows.SERVICE_ALL_ACCESS, func(s *mgr.Service) error {
		if err := optional(&warnings, "recovery actions",
			s.SetRecoveryActions(actions, uint32(reset.Seconds()))); err != nil {
			return err
		}
		return optional(&warnings, "recovery after errors that the service reports",
			s.SetRecoveryActionsOnNonCrashFailures(true))
	})
	return warnings, err
}

// AddEventSource registers the event log source if it is missing.
func (m serviceManager) AddEventSource() error {
	key := `SYSTEM\CurrentControlSet\Services\EventLog\Application\` + m.of.Name
	existing, err := registry.OpenKey(registry.LOCAL_MACHINE, key, registry.QUERY_VALUE)
	if err == nil {
		return existing.Close()
	}
	return eventlog.InstallAsEventCreate(m.of.Name, eventlog.Error|eventlog.Warning|eventlog.Info)
}

func (m serviceManager) Stop() error {
	err := m.with(windows.SC_MANAGER_CONNECT, windows.SERVICE_STOP|windows.SERVICE_QUERY_STATUS,
		func(s *mgr.Service) error {
			_, err := s.Control(svc.Stop)
			return err
		})
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return nil
	}
	return err
}

// endedByManager returns a context that only the service manager ends. Go converts CTRL_LOGOFF_EVENT and
// CTRL_SHUTDOWN_EVENT to SIGTERM. Windows also sends these events to services, the former whenever any user
// logs off. A service that reacted to them would stop while the manager considers it running.
func endedByManager(ctx context.Context) context.Context {
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	return context.WithoutCancel(ctx)
}

// run asks the service manager whether it started this process, instead of guessing from the
// session or the parent process. If it did not, run runs in the foreground.
func run(h *handler, manager service.Service, s Service, foreground context.Context) error {
	p := &program{handler: h}
	err := svc.Run(s.Name, p)
	if errors.Is(err, windows.ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) {
		h.ctx, h.cancel = context.WithCancel(foreground)
		h.events = service.ConsoleLogger
		return manager.Run()
	}
	return errors.Join(err, p.failed)
}

// program implements [svc.Handler]. Unlike kardianos/service, it reports how long starting and stopping may
// take. It also accepts the pre-shutdown notification, which leaves time to finish running requests, because
// only 5 seconds remain after the shutdown notification itself.
type program struct {
	*handler
	failed error // error of the start; valid after svc.Run
}

func (p *program) Execute(
	_ []string, requests <-chan svc.ChangeRequest, states chan<- svc.Status,
) (specific bool, code uint32) {
	const accepted = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptPreShutdown
	pending := svc.Status{State: svc.StartPending, WaitHint: uint32(startHint.Milliseconds())}
	states <- pending
	p.ctx, p.cancel = context.WithCancel(endedByManager(p.ctx))
	answered := p.answer(requests, states)
	p.failed = p.start(time.Second, func(checkpoint uint32) {
		pending.CheckPoint = checkpoint
		states <- pending
	})
	answered()
	if p.failed != nil {
		return true, 1
	}
	states <- svc.Status{State: svc.Running, Accepts: accepted}
	for request := range requests {
		switch request.Cmd {
		case svc.Interrogate:
			states <- request.CurrentStatus
		case svc.Stop, svc.Shutdown, svc.PreShutdown:
			pending := svc.Status{State: svc.StopPending, WaitHint: uint32(stopHint.Milliseconds())}
			states <- pending
			go func() { // an unreceived request would block the manager's thread
				for range requests {
				}
			}()
			p.stop(time.Second, func(checkpoint uint32) {
				pending.CheckPoint = checkpoint
				states <- pending
			})
			return false, 0
		}
	}
	return false, 0
}

// answer reports the state to the manager until end is called. While a service starts, the manager can only
// ask for its state. A request that is not received would block the manager's thread.
func (p *program) answer(requests <-chan svc.ChangeRequest, states chan<- svc.Status) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case request := <-requests:
				states <- request.CurrentStatus
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
