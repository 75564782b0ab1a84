package winsvc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"
)

// serviceManager is the service manager of Windows.
type serviceManager struct{}

func newNative() native { return serviceManager{} }

func (serviceManager) Elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

// with opens the service with the rights that do needs, for as long as do runs.
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

func (serviceManager) Change(commandLine, account, password string) error {
	return with(windows.SC_MANAGER_CONNECT, windows.SERVICE_ALL_ACCESS, func(s *mgr.Service) error {
		config, err := s.Config()
		if err != nil {
			return err
		}
		config.BinaryPathName = commandLine
		config.ServiceStartName = account // empty: stays
		config.Password = password        // empty: stays
		config.DisplayName = displayName
		config.Description = description
		config.StartType = mgr.StartAutomatic
		config.DelayedAutoStart = true
		return s.UpdateConfig(config)
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

// AddEventSource adds the source of the event log where it is missing.
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

// endedByManager is a context that only the service manager's requests end. Go
// makes SIGTERM of CTRL_LOGOFF_EVENT and CTRL_SHUTDOWN_EVENT, which Windows sends
// to services too, the one when anybody logs off. Whoever listens to it would
// stop serving while the manager has the service as running.
func endedByManager(ctx context.Context) context.Context {
	if service.Interactive() {
		return ctx
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	return context.WithoutCancel(ctx)
}
