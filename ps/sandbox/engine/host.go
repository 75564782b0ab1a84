package engine

import (
	"context"

	"adgateway/ps/sandbox/engine/dotnet"
)

// Host stands behind a [Call] whose caller is no session of this process: it
// has bound the parameters elsewhere and takes what the body gives. The methods
// mean what those of Call do. WriteError and Throw get the record as the body
// made it: the caller adds the command's class and the place.
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

// ProcessOn runs the body of the command once for a host, which must not be
// nil. The error is what the body returned.
func (c *Command) ProcessOn(h Host) error { return c.Process(&Call{host: h}) }
