package sandbox

import (
	"context"
	"fmt"

	"adgateway/ps/sandbox/engine"
)

// Serve runs the PowerShell of a process that was started with these arguments and has this process ID. Its
// streams may be elsewhere. Serve runs the lines of the console's input until the input ends, a line calls
// exit or ctx is done, and returns the exit code. While it waits for a line, it notices that ctx is done only
// when the input ends. Without modules, only the language is available.
func Serve(
	ctx context.Context, args []string, pid int, console engine.Console, culture string,
	modules ...*engine.Module,
) int {
	if err := checkArguments(args); err != nil {
		if console.Stderr != nil {
			_, _ = fmt.Fprintln(console.Stderr, err) // a failure could not be reported anywhere
		}
		return badArguments
	}
	options := engineOptions(culture, modules)
	options.PID = pid
	return newHost(engine.NewEngine(options).NewSession(console)).run(ctx)
}

// badArguments is PowerShell's exit code for unknown arguments.
const badArguments = 64
