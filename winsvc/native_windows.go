package winsvc

import (
	"context"
	"errors"
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
)

// serviceManager implements native with the service manager of Windows.
type serviceManager struct{}

func newNative() native { return serviceManager{} }

func (serviceManager) Elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

// with opens the service with these rights for the duration of do.
func with(managerRights, serviceRights uint32, do func(*mgr.Service) error) error {
	manager, err := windows.OpenSCManager(nil, nil, managerRights)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }()
	name, err := windows.UTF16PtrFromString(Name)
	if err != nil {
		return err
	}
	handle, err := windows.OpenService(manager, name, serviceRights)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return errNotInstalled
	}
	if err != nil {
		return err
	}
	s := &mgr.Service{Name: Name, Handle: handle}
	defer func() { _ = s.Close() }()
	return do(s)
}

func (serviceManager) Find() (found registered, err error) {
	err = with(windows.SC_MANAGER_CONNECT, windows.SERVICE_QUERY_CONFIG|windows.SERVICE_QUERY_STATUS, func(s *mgr.Service) error {
		config, err := s.Config()
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
			Delayed:     config.StartType == mgr.StartAutomatic && config.DelayedAutoStart,
			State:       states[status.State],
		}
		return nil
	})
	return found, err
}

var states = map[svc.State]State{
	svc.Stopped: Stopped, svc.StartPending: Starting, svc.StopPending: Stopping, svc.Running: Running,
	svc.ContinuePending: Running, svc.PausePending: Running, svc.Paused: Running,
}

// stopHint is the interval at which a stopping service reports its progress.
const stopHint = 5 * time.Second

// argumentsOf returns the words of a command line after its executable, or none if it
// cannot be parsed.
func argumentsOf(line string) []string {
	words, err := windows.DecomposeCommandLine(line)
	if err != nil || len(words) == 0 {
		return nil
	}
	return words[1:]
}

func (serviceManager) Change(commandLine, account, password string) error {
	return with(windows.SC_MANAGER_CONNECT, windows.SERVICE_ALL_ACCESS, func(s *mgr.Service) error {
		config, err := s.Config()
		if err != nil {
			return err
		}
		config.BinaryPathName = commandLine
		config.ServiceStartName = account // unchanged if empty
		config.Password = password        // unchanged if empty
		config.DisplayName = displayName
		config.Description = description
		config.StartType = mgr.StartAutomatic
		config.DelayedAutoStart = true
		config.ErrorControl = mgr.ErrorNormal // records a failed start in the system's event log
		if err := s.UpdateConfig(config); err != nil {
			return err
		}
		wait := uint32((StopWait + 5*time.Second).Milliseconds()) // SERVICE_PRESHUTDOWN_INFO; the default is 10 seconds
		return windows.ChangeServiceConfig2(s.Handle, windows.SERVICE_CONFIG_PRESHUTDOWN_INFO, (*byte)(unsafe.Pointer(&wait)))
	})
}

func (serviceManager) Recover(delays []time.Duration, reset time.Duration) error {
	var actions []mgr.RecoveryAction
	for _, delay := range delays {
		actions = append(actions, mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: delay})
	}
	return with(windows.SC_MANAGER_CONNECT, windows.SERVICE_ALL_ACCESS, func(s *mgr.Service) error {
		if err := s.SetRecoveryActions(actions, uint32(reset.Seconds())); err != nil {
			return err
		}
		return s.SetRecoveryActionsOnNonCrashFailures(true)
	})
}

// AddEventSource registers the event log source if it is missing.
func (serviceManager) AddEventSource() error {
	const key = `SYSTEM\CurrentControlSet\Services\EventLog\Application\` + Name
	existing, err := registry.OpenKey(registry.LOCAL_MACHINE, key, registry.QUERY_VALUE)
	if err == nil {
		return existing.Close()
	}
	return eventlog.InstallAsEventCreate(Name, eventlog.Error|eventlog.Warning|eventlog.Info)
}

func (serviceManager) Stop() error {
	err := with(windows.SC_MANAGER_CONNECT, windows.SERVICE_STOP|windows.SERVICE_QUERY_STATUS, func(s *mgr.Service) error {
		_, err := s.Control(svc.Stop)
		return err
	})
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return nil
	}
	return err
}

// endedByManager returns a context that only the service manager ends. Go converts
// CTRL_LOGOFF_EVENT and CTRL_SHUTDOWN_EVENT to SIGTERM. Windows sends them to services
// as well, the former whenever anybody logs off; a service that reacted would stop
// while its manager considers it running.
func endedByManager(ctx context.Context) context.Context {
	if service.Interactive() {
		return ctx
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	return context.WithoutCancel(ctx)
}

// run runs the handler under the service manager, or in the foreground of a console.
func run(h *handler, s service.Service) error {
	if service.Interactive() {
		return s.Run()
	}
	p := &program{handler: h}
	return errors.Join(svc.Run(Name, p), p.failed)
}

// program implements [svc.Handler]. In contrast to that of kardianos/service it
// reports how long starting and stopping may take, and accepts the pre-shutdown
// notification, which leaves time to finish running requests; after the shutdown
// notification itself there are only 5 seconds.
type program struct {
	*handler
	failed error // error of the start; valid after svc.Run
}

func (p *program) Execute(_ []string, requests <-chan svc.ChangeRequest, states chan<- svc.Status) (specific bool, code uint32) {
	const accepted = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptPreShutdown
	states <- svc.Status{State: svc.StartPending, WaitHint: uint32(startWait.Milliseconds())}
	if p.failed = p.Start(nil); p.failed != nil {
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
