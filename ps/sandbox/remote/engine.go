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

// Engine is the main function of a stand-in process: it passes the given streams to a session at the server
// that the environment names, and returns the session's exit code. If the environment names no server, the
// session runs here, without modules. args are PowerShell's own and must end in -Command -. Engine removes
// its variables from the environment. The process must exit when Engine returns, because a goroutine still
// reads the input if that has not ended.
func Engine(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	address, key := take(AddressVariable), take(KeyVariable)
	console := engine.Console{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	if key == "" {
		return sandbox.Serve(ctx, args, os.Getpid(), console, "")
	}
	code, err := relay(ctx, address, &frame{F: "session", Key: key, PID: os.Getpid(), Args: args}, console)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err) // a failure could not be reported anywhere
	}
	return code
}

// take returns the value of a variable and removes it, so that child processes do not inherit it.
func take(name string) string {
	value := os.Getenv(name)
	_ = os.Unsetenv(name) // fails only for malformed names
	return value
}
