package remote

import (
	"context"
	"fmt"
	"io"
	"os"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
)

// exitLost is the exit code of a process that cannot reach the server or has
// lost the connection to it.
const exitLost = 70

// Engine is the main function of a stand-in process: it runs the sandbox's PowerShell on the given streams,
// with the modules of the server that the environment names, if any, and returns the exit code. args are
// PowerShell's own and must end in -Command -. Engine removes its variables from the environment. The
// process must exit when Engine returns, because a goroutine still reads the input if that has not ended.
func Engine(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	address, key := take(AddressVariable), take(KeyVariable)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var modules []*engine.Module
	var lost <-chan struct{}
	culture := ""
	if key != "" {
		client, err := Dial(ctx, address, key, sandbox.Declarations())
		if err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return exitLost
		}
		defer client.Close()
		modules, culture, lost = client.Modules(), client.Culture(), client.Done()
	}
	ended := make(chan int, 1)
	go func() {
		ended <- sandbox.Serve(ctx, args, engine.Console{Stdin: stdin, Stdout: stdout, Stderr: stderr}, culture,
			modules...)
	}()
	select {
	case code := <-ended:
		return code
	case <-lost:
		return exitLost
	case <-ctx.Done():
		return exitLost
	}
}

// take returns the value of a variable and removes it, so that child processes do not inherit it.
func take(name string) string {
	value := os.Getenv(name)
	_ = os.Unsetenv(name) // fails only for malformed names
	return value
}
