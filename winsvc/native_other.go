//go:build !windows

package winsvc

import (
	"context"

	"github.com/kardianos/service"
)

// newNative returns nil: there are no Windows services.
func newNative() native { return nil }

func run(_ *handler, s service.Service, _ context.Context) error { return s.Run() }
