//go:build !windows

package host

import (
	"errors"
	"os"
)

// ReadSystem describes the operating system.
func ReadSystem() (System, error) { return otherSystem(), nil }

// ReadService is not supported here.
func ReadService(string) (Service, error) { return Service{}, errors.ErrUnsupported }

// ExecutionPolicy is not supported here.
func ExecutionPolicy(string) (string, error) { return "", errors.ErrUnsupported }

// BrowserPolicies is not supported here.
func BrowserPolicies() ([]BrowserPolicy, error) { return nil, errors.ErrUnsupported }

// HasConsole reports whether this process has a console.
func HasConsole() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return terminal.Close() == nil
}

func elevated() bool { return os.Geteuid() == 0 }

// Names returns the names of this computer.
func Names() []string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	return []string{name}
}
