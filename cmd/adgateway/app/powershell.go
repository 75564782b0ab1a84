package app

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"adgateway/gateway/config"
	"adgateway/ps/session"
)

// PowerShell returns the starter for the PowerShell of the settings. temp is
// the temporary folder of its processes, or "" for the folder of this process.
func PowerShell(c config.PowerShell, temp string) (session.Starter, error) {
	path, err := FindPowerShell(c.Path, runtime.GOOS, exec.LookPath)
	if err != nil {
		return nil, err
	}
	return session.Local{Path: path, Arguments: c.Arguments, Temp: temp}, nil
}

// FindPowerShell returns the path of the executable: the path in the settings if set, otherwise "" on
// Windows, where it stands for Windows PowerShell, and the path of pwsh elsewhere. system is a GOOS value;
// look finds an executable as [exec.LookPath] does.
func FindPowerShell(path, system string, look func(string) (string, error)) (string, error) {
	switch {
	case path != "":
		found, err := look(path)
		if err != nil {
			return "", fmt.Errorf("powershell.path: %s cannot be run; set the path of powershell.exe or pwsh: %w",
				path, innermost(err))
		}
		return found, nil
	case system == "windows":
		return "", nil
	}
	found, err := look("pwsh")
	if err != nil {
		return "", errors.New("no PowerShell was found: 'pwsh' is not in the PATH. Install PowerShell 7 or set " +
			"powershell.path; " +
			"a gateway for a real domain runs on a Windows computer with RSAT, because the modules ActiveDirectory " +
			"and DnsServer are part of Windows. " +
			"To try the whole API over a simulated domain, run 'adgateway sandbox'")
	}
	return found, nil
}

// innermost returns the system's own error without its wrappers.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		if _, ok := inner.(syscall.Errno); ok || errors.Unwrap(inner) == nil {
			return inner
		}
		err = inner
	}
	return err
}
