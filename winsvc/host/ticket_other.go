//go:build !windows

package host

import (
	"context"
	"errors"
)

// AcceptTicket is not supported here.
func AcceptTicket(context.Context, Ticket) (Accepted, error) {
	return Accepted{}, errors.ErrUnsupported
}
