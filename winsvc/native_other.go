//go:build !windows

package winsvc

import (
	"context"

	"github.com/kardianos/service"
)

// newNative is nil: there is no service of Windows.
func newNative() native { return nil }

// endedByManager is ctx: a service manager here ends a service by a signal.
func endedByManager(ctx context.Context) context.Context { return ctx }

func run(_ *handler, s service.Service) error { return s.Run() }
