package remote

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
)

// dialWait bounds how long a process may take to reach the server.
const dialWait = 10 * time.Second

// exitLost is the exit code of a process that lost the server, or never had it.
const exitLost = 70

// Engine is the life of a stand-in process: the sandbox's PowerShell on these
// streams, with the modules of the server that the environment names, or none.
// args are PowerShell's own and must end in -Command -. It takes its variables
// out of the environment, returns the exit code, and leaves a goroutine behind
// when it ends before its input does: the process is to end then.
func Engine(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	address, key, switches := take(AddressVariable), take(KeyVariable), take(FaultVariable)
	fault, err := parseFaults(switches)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return exitLost
	}
	if code, over := fault.atStart(ctx); over {
		return code
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var modules []*engine.Module
	var lost <-chan struct{}
	culture, now := "", time.Now
	if key != "" {
		dialing, stop := context.WithTimeout(ctx, dialWait)
		client, err := Dial(dialing, address, key, sandbox.Declarations())
		stop()
		if err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return exitLost
		}
		defer client.Close()
		modules, culture, now, lost = client.Modules(), client.Culture(), client.Now, client.Done()
	}
	if fault.has(noModule) {
		modules = nil
	}
	in, out, errs := fault.wrap(stdin, stdout, stderr)
	ended := make(chan int, 1)
	go func() {
		ended <- sandbox.Serve(ctx, args, engine.Console{Stdin: in, Stdout: out, Stderr: errs}, culture, now, modules...)
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

// take reads a variable and removes it, so that nothing the process starts has it.
func take(name string) string {
	value := os.Getenv(name)
	_ = os.Unsetenv(name) // fails for malformed names only
	return value
}
