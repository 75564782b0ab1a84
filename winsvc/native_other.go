//go:build !windows

package winsvc

import (
	"context"

	"github.com/kardianos/service"
)

// newNative returns nil: there are no Windows services.
func newNative() native { return nil }

// endedByManager returns ctx: other service managers stop a service with a signal.
func endedByManager(ctx context.Context) context.Context { return ctx }

func run(_ *handler, s service.Service) error { return s.Run() }
