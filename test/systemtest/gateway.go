package systemtest

import (
	"context"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
)

// Number returns the value of an environment variable, or otherwise if the variable is not set. Such
// variables are meant for longer runs by hand.
func Number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// Serve runs a gateway on an address until ctx ends, for tests with gateways in separate
// processes. It calls listening as soon as the gateway listens.
func Serve(ctx context.Context, o app.Options, address string, listening func(net.Addr)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return ServeOn(ctx, o, listener, listening)
}

// ServeOn is Serve with a listener, which it closes.
func ServeOn(ctx context.Context, o app.Options, listener net.Listener, listening func(net.Addr)) error {
	stack, err := app.New(ctx, o)
	if err != nil {
		_ = listener.Close()
		return err
	}
	listening(listener.Addr())
	err = stack.Gateway.Run(ctx, listener)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	if closed := stack.Close(closing); err == nil {
		err = closed
	}
	return err
}
