// Package remotetest runs stand-in processes that fail on purpose, for tests of the code that starts and
// uses them.
//
// [Engine] is [remote.Engine] with the faults in [FaultVariable] injected into its start and its streams.
package remotetest

import (
	"context"
	"fmt"
	"io"
	"os"

	"adgateway/ps/sandbox/remote"
)

// Engine runs [remote.Engine] with the faults in [FaultVariable], which it removes from the
// environment. It returns the exit code. Some faults end the process themselves.
func Engine(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fault, err := parseFaults(os.Getenv(FaultVariable))
	_ = os.Unsetenv(FaultVariable) // fails only for malformed names
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return startCode
	}
	if code, over := fault.atStart(ctx); over {
		return code
	}
	if fault.has(noModule) { // without a key the process does not connect to the server
		_ = os.Unsetenv(remote.KeyVariable)
	}
	stdin, stdout, stderr = fault.wrap(stdin, stdout, stderr)
	return remote.Engine(ctx, args, stdin, stdout, stderr)
}
