package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"adgateway/winsvc/host"
)

// Windows reports a failure to listen with its Winsock codes, which differ from the constants of the same
// names in package syscall.
const (
	windowsInUse     syscall.Errno = 10048 // WSAEADDRINUSE
	windowsForbidden syscall.Errno = 10013 // WSAEACCES
)

// PortTaken reports whether listening failed because the port is in use.
func PortTaken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windowsInUse)
}

// PortForbidden reports whether listening failed because the port is reserved or requires more rights.
func PortForbidden(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, windowsForbidden)
}

// freeAddress returns a free address next to one that is taken, or "" if it finds none.
func freeAddress(ctx context.Context, taken string) string {
	host, port, err := net.SplitHostPort(taken)
	number, numberErr := strconv.Atoi(port)
	if err != nil || numberErr != nil {
		return ""
	}
	const tried = 20
	for next := number + 1; next <= min(number+tried, 65535); next++ {
		address := net.JoinHostPort(host, strconv.Itoa(next))
		if listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address); err == nil {
			_ = listener.Close() // nothing was accepted
			return address
		}
	}
	return ""
}

// explainListen adds to err which process uses the port and what to do about it.
func explainListen(ctx context.Context, address string, err error) error {
	const elsewhere = "listen on another address (setting http.listen, flag --listen)"
	switch {
	case PortTaken(err):
		holder := "another process"
		if name := host.PortHolder(ctx, address); name != "" {
			holder = name
		}
		other := elsewhere
		if free := freeAddress(ctx, address); free != "" {
			other = fmt.Sprintf("listen on another address, such as %s (--listen %s, http.listen in the settings, "+
				"or make run LISTEN=%s)", free, free, free)
		}
		return fmt.Errorf("%s is in use by %s: stop it, or %s: %w", address, holder, other, err)
	case PortForbidden(err):
		return fmt.Errorf("%s may not be used: the port is reserved or needs more rights "+
			"(on Windows 'netsh int ipv4 show excludedportrange tcp' lists reserved ports); %s: %w", address,
			elsewhere, err)
	case errors.As(err, new(*net.OpError)):
		return fmt.Errorf("http.listen: cannot listen on %s: use an address of this computer, such as "+
			"127.0.0.1, or 0.0.0.0 for all of them: %w", address, err)
	default:
		return err
	}
}
