// Package winsvc is the gateway as a Windows service, through
// kardianos/service. It knows nothing of the gateway itself; away from Windows
// the same commands speak to the service manager of that system.
package winsvc

import (
	"errors"
	"fmt"

	"github.com/kardianos/service"
)

// Name is the name of the service.
const Name = "adgateway"

// State is what the service manager says of the service.
type State string

// The states.
const (
	NotInstalled State = "not installed"
	Running      State = "running"
	Stopped      State = "stopped"
	Unknown      State = "unknown"
)

// Status asks the service manager. It needs no special rights on Windows.
func Status() (State, error) {
	s, err := service.New(nil, config())
	if err != nil {
		return Unknown, fmt.Errorf("no service manager that is known runs here: %w", err)
	}
	return state(s.Status())
}

func state(status service.Status, err error) (State, error) {
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		return NotInstalled, nil
	case err != nil:
		return Unknown, fmt.Errorf("the service manager gives no answer: %w", err)
	case status == service.StatusRunning:
		return Running, nil
	case status == service.StatusStopped:
		return Stopped, nil
	default:
		return Unknown, nil
	}
}

func config() *service.Config {
	return &service.Config{
		Name:        Name,
		DisplayName: "Active Directory gateway",
		Description: "Manages Active Directory, Windows DNS and computers over HTTP.",
	}
}
