package engine

import (
	"context"

	"adgateway/ps/sandbox/engine/dotnet"
)

// Host implements a [Call] for a caller outside of this process, which has bound the parameters and receives
// the results. Its methods correspond to the methods of Call. WriteError and Throw receive the record as the
// body created it; the caller adds the command's class and the position.
type Host interface {
	Context() context.Context
	Name() string
	Set() string
	Bound(name string) (v any, ok bool)
	BoundNames() []string
	Write(v any) error
	WriteError(rec *dotnet.ErrorRecord) error
	WriteWarning(text string) error
	WriteVerbose(text string) error
	Throw(rec *dotnet.ErrorRecord) error
	ShouldProcess(target string) (bool, error)
}

// ProcessOn runs the body of the command for a host, which must not be nil, and
// returns its error.
func (c *Command) ProcessOn(h Host) error { return c.Process(&Call{host: h}) }
