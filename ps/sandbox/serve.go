package sandbox

import (
	"context"
	"fmt"

	"adgateway/ps/sandbox/engine"
)

// Serve is the life of a process with real standard streams, started with these arguments. It runs
// the lines of the console's input until that ends, a line says exit or ctx is done, and returns
// the exit code. A host that waits for a line notices that ctx is done only when the input ends.
// Without modules only the language is available.
func Serve(ctx context.Context, args []string, console engine.Console, culture string, modules ...*engine.Module) int {
	if err := checkArguments(args); err != nil {
		if console.Stderr != nil {
			_, _ = fmt.Fprintln(console.Stderr, err) // nobody can be told when that fails
		}
		return badArguments
	}
	eng := engine.NewEngine(engineOptions(culture, modules))
	return newHost(eng.NewSession(console)).run(ctx)
}

// badArguments is the exit code of PowerShell for arguments it does not know.
const badArguments = 64
