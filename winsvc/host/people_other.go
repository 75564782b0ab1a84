//go:build !windows

package host

import (
	"context"
	"errors"
)

// LogOn is not supported here.
func LogOn(ctx context.Context, _, _ string, _ []byte) (Logon, error) {
	return limited(ctx, func() (Logon, error) { return Logon{}, errors.ErrUnsupported })
}

// GroupsOf is not supported here.
func GroupsOf(ctx context.Context, _ string) (Logon, error) {
	return limited(ctx, func() (Logon, error) { return Logon{}, errors.ErrUnsupported })
}

// SIDOf is not supported here.
func SIDOf(string) (string, error) { return "", errors.ErrUnsupported }
