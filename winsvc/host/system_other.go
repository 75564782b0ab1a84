//go:build !windows

package host

import (
	"errors"
	"os"
)

// ReadSystem tells what runs this computer.
func ReadSystem() (System, error) { return otherSystem(), nil }

// ReadService is not known here.
func ReadService(string) (Service, error) { return Service{}, errors.ErrUnsupported }

// ExecutionPolicy is not known here.
func ExecutionPolicy(string) (string, error) { return "", errors.ErrUnsupported }

func elevated() bool { return os.Geteuid() == 0 }

// Names are what this computer is called.
func Names() []string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	return []string{name}
}
