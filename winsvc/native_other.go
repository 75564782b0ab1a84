//go:build !windows

package winsvc

import (
	"context"

	"github.com/kardianos/service"
)

// newNative returns nil: there are no Windows services.
func newNative(Service) native { return nil }

func run(_ *handler, manager service.Service, _ Service, _ context.Context) error {
	return manager.Run()
}
