package engine

import (
	"context"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// NewCommand returns a command that supports only some of its declared parameters. If a caller passes another
// one, the command ends with the error of refuse, which gets the name of that parameter.
func NewCommand(
	decl *cmdlets.Cmdlet, class string, supported []string, refuse func(c *Call, param string) error,
	body func(c *Call) error,
) *Command {
	known := map[string]bool{}
	for _, name := range supported {
		known[lower(name)] = true
	}
	return &Command{Decl: decl, Class: class, Process: func(c *Call) error {
		if name := c.firstBeyond(known); name != "" {
			return refuse(c, name)
		}
		return body(c)
	}}
}

// firstBeyond returns the first bound parameter that is not among the known ones, in lower case, or "".
func (c *Call) firstBeyond(known map[string]bool) string {
	if c.host == nil {
		for _, p := range c.inv.sig.params[:c.inv.sig.own] {
			if c.inv.bound.has(p.index) && !known[p.key] {
				return p.name
			}
		}
		return ""
	}
	for _, name := range c.host.BoundNames() {
		if !known[lower(name)] {
			return name
		}
	}
	return ""
}

// Call gives the body of a [Command] its bound parameters and its outputs. It is valid only
// until the body returns, and only on its goroutine.
type Call struct {
	inv  *invocation
	out  sink
	host Host // used instead of the two above if set
}

// Context returns a context that is done when the run is canceled. A slow body must check it.
func (c *Call) Context() context.Context {
	if c.host != nil {
		return c.host.Context()
	}
	return c.inv.f.s.ctx
}

// Name returns the command's own name.
func (c *Call) Name() string {
	if c.host != nil {
		return c.host.Name()
	}
	return c.inv.sig.name
}

// Set returns the name of the chosen parameter set.
func (c *Call) Set() string {
	if c.host != nil {
		return c.host.Set()
	}
	return c.inv.setName()
}

// Bound returns a parameter's value, converted to its declared type: enumerations and listed values
// in the spelling of the declaration, a switch as bool. ok is false if the caller did not pass it.
func (c *Call) Bound(name string) (v any, ok bool) {
	if c.host != nil {
		return c.host.Bound(name)
	}
	return c.inv.boundValue(name)
}

// Has reports whether the caller passed the parameter, even as $null.
func (c *Call) Has(name string) bool {
	_, ok := c.Bound(name)
	return ok
}

// BoundNames returns the parameters that the caller passed, without common ones, in the order of declaration.
func (c *Call) BoundNames() []string {
	if c.host != nil {
		return c.host.BoundNames()
	}
	return c.inv.boundNames()
}

// String returns a parameter as text, or "" if it was not passed or is null.
func (c *Call) String(name string) string {
	v, _ := c.Bound(name)
	return dotnet.ToText(v)
}

// Strings returns a parameter as texts, one per item, or nil if it was not passed or is null.
func (c *Call) Strings(name string) []string {
	v, _ := c.Bound(name)
	if v == nil {
		return nil
	}
	items := dotnet.EnumerateAny(v)
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = dotnet.ToText(item)
	}
	return texts
}

// Bool returns a switch parameter, or false if it was not passed.
func (c *Call) Bool(name string) bool {
	v, _ := c.Bound(name)
	return dotnet.Truthy(v)
}

// Write sends one value down the pipeline, as one object. The body must return
// its error unchanged.
func (c *Call) Write(v any) error {
	if c.host != nil {
		return c.host.Write(v)
	}
	return c.out.write(v)
}

// WriteError reports a non-terminating error, subject to -ErrorAction and
// $ErrorActionPreference. The body must return a non-nil error unchanged, and otherwise
// continues. The command's class is added to the record's id.
func (c *Call) WriteError(rec *dotnet.ErrorRecord) error {
	if c.host != nil {
		return c.host.WriteError(rec)
	}
	return c.inv.writeError(c.inv.qualify(rec))
}

// WriteWarning writes to the warning stream, subject to -WarningAction.
func (c *Call) WriteWarning(text string) error {
	if c.host != nil {
		return c.host.WriteWarning(text)
	}
	return c.inv.warn(text)
}

// WriteVerbose writes to the verbose stream, subject to $VerbosePreference.
func (c *Call) WriteVerbose(text string) error {
	if c.host != nil {
		return c.host.WriteVerbose(text)
	}
	return c.inv.verbose(text)
}

// Throw returns the error with which a body ends the command: a terminating error, like that
// of ThrowTerminatingError. The command's class is added to the record's id.
func (c *Call) Throw(rec *dotnet.ErrorRecord) error {
	if c.host != nil {
		return c.host.Throw(rec)
	}
	return c.inv.terminating(c.inv.qualify(rec))
}

// ShouldProcess reports whether to act on the target. It fails if a prompt would be needed,
// because sessions are not interactive.
func (c *Call) ShouldProcess(target string) (bool, error) {
	if c.host != nil {
		return c.host.ShouldProcess(target)
	}
	return c.inv.shouldProcess(target, c.inv.sig.name)
}
