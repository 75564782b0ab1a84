package host

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

// firstWindows11 is the first build of Windows 11, which the registry calls Windows 10.
const firstWindows11 = 22000

// ReadSystem describes the operating system.
func ReadSystem() (System, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Windows NT\CurrentVersion`, registry.QUERY_VALUE)
	if err != nil {
		return System{}, fmt.Errorf("the version of Windows: %w", err)
	}
	defer key.Close()
	name, _, nameErr := key.GetStringValue("ProductName")
	kind, _, kindErr := key.GetStringValue("InstallationType") // "Server", "Server Core", "Client"
	edition, _, editionErr := key.GetStringValue("EditionID")  // "ServerStandard", "Core" is Home
	if err := errors.Join(nameErr, kindErr, editionErr); err != nil {
		return System{}, fmt.Errorf("the version of Windows: %w", err)
	}
	s := System{Windows: true, Name: name, Build: int(windows.RtlGetVersion().BuildNumber),
		Server: kind != "Client"}
	s.Home = !s.Server && strings.HasPrefix(edition, "Core")
	if !s.Server && s.Build >= firstWindows11 {
		s.Name = strings.Replace(s.Name, "Windows 10", "Windows 11", 1)
	}
	s.Domain, err = joinedDomain()
	return s, err
}

// joinedDomain returns the domain that this computer has joined, or "".
func joinedDomain() (string, error) {
	var name *uint16
	var status uint32
	if err := windows.NetGetJoinInformation(nil, &name, &status); err != nil {
		return "", fmt.Errorf("membership in a domain: %w", err)
	}
	defer func() { _ = windows.NetApiBufferFree((*byte)(unsafe.Pointer(name))) }() // the memory is not shared
	if status != windows.NetSetupDomainName {
		return "", nil
	}
	return windows.UTF16PtrToString(name), nil
}

var getConsoleWindow = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow")

// HasConsole reports whether this process has a console.
func HasConsole() bool {
	window, _, _ := getConsoleWindow.Call()
	return window != 0
}

func elevated() bool { return windows.GetCurrentProcessToken().IsElevated() }

var startTypes = map[uint32]string{mgr.StartAutomatic: "automatic", mgr.StartManual: "manual",
	mgr.StartDisabled: "disabled"}

// ReadService reads a service from the service manager, without special rights.
func ReadService(name string) (Service, error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return Service{}, err
	}
	defer func() { _ = windows.CloseServiceHandle(manager) }() // opened for reading
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return Service{}, err
	}
	handle, err := windows.OpenService(manager, text, windows.SERVICE_QUERY_CONFIG|windows.SERVICE_QUERY_STATUS)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return Service{}, nil
	}
	if err != nil {
		return Service{}, err
	}
	s := &mgr.Service{Name: name, Handle: handle}
	defer func() { _ = s.Close() }() // opened for reading
	config, err := ServiceConfig(s)
	if err != nil {
		return Service{}, err
	}
	status, err := s.Query()
	if err != nil {
		return Service{}, err
	}
	found := Service{
		Installed: true, Running: status.State == svc.Running, Account: config.ServiceStartName,
		Start: startTypes[config.StartType], Program: programOf(config.BinaryPathName),
	}
	found.AccountID, _ = sidOf(config.ServiceStartName) // callers report a missing SID
	if config.StartType == mgr.StartAutomatic && config.DelayedAutoStart {
		found.Start += ", delayed"
	}
	actions, err := s.RecoveryActions()
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	for _, action := range actions {
		if action.Type == mgr.ServiceRestart {
			found.Restarts++
		}
	}
	found.OnErrors, err = s.RecoveryActionsOnNonCrashFailures()
	return found, err
}

// programOf returns the first word of a command line.
func programOf(line string) string {
	words, err := windows.DecomposeCommandLine(line)
	if err != nil || len(words) == 0 {
		return line
	}
	return words[0]
}

// ExecutionPolicy returns the execution policy that a group policy sets for an edition of PowerShell,
// "Desktop" or "Core", or "" if no group policy sets it. The policy of the computer takes precedence over the
// policy of the user.
func ExecutionPolicy(edition string) (string, error) {
	path := `SOFTWARE\Policies\Microsoft\Windows\PowerShell`
	if edition == "Core" {
		path = `SOFTWARE\Policies\Microsoft\PowerShellCore`
	}
	for _, root := range []registry.Key{registry.LOCAL_MACHINE, registry.CURRENT_USER} {
		key, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		enabled, _, enabledErr := key.GetIntegerValue("EnableScripts")
		policy, _, policyErr := key.GetStringValue("ExecutionPolicy")
		_ = key.Close() // opened for reading
		switch {
		case enabledErr == nil && enabled == 0:
			return "Restricted", nil
		case enabledErr == nil && policyErr == nil:
			return policy, nil
		}
	}
	return "", nil
}

// Names returns the names of this computer, the fully qualified one first.
func Names() []string {
	var names []string
	for _, format := range []uint32{windows.ComputerNameDnsFullyQualified, windows.ComputerNameDnsHostname} {
		var size uint32
		_ = windows.GetComputerNameEx(format, nil, &size) // returns the size
		buffer := make([]uint16, size)
		if size == 0 || windows.GetComputerNameEx(format, &buffer[0], &size) != nil {
			continue
		}
		names = append(names, windows.UTF16ToString(buffer))
	}
	return names
}
