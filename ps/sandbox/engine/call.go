package engine

import (
	"context"

	"adgateway/ps/sandbox/engine/dotnet"
)

// Call gives the body of a [Command] its bound parameters and its outputs. It
// is valid until the body returns and only on its goroutine.
type Call struct {
	inv  *invocation
	out  sink
	host Host // in place of the two above
}

// Context is done when the run is cancelled. A body that may take long checks it.
func (c *Call) Context() context.Context {
	if c.host != nil {
		return c.host.Context()
	}
	return c.inv.f.s.ctx
}

// Name is the command's own name.
func (c *Call) Name() string {
	if c.host != nil {
		return c.host.Name()
	}
	return c.inv.sig.name
}

// Set is the name of the parameter set that was chosen.
func (c *Call) Set() string {
	if c.host != nil {
		return c.host.Set()
	}
	return c.inv.setName()
}

// Bound gives a parameter's value, converted to its declared type: enumerations
// and listed values in the spelling of the declaration, a switch as bool. ok is
// false when the caller did not give it.
func (c *Call) Bound(name string) (v any, ok bool) {
	if c.host != nil {
		return c.host.Bound(name)
	}
	return c.inv.boundValue(name)
}

// Has tells whether the caller gave the parameter, be it as $null.
func (c *Call) Has(name string) bool {
	_, ok := c.Bound(name)
	return ok
}

// BoundNames lists the parameters the caller gave, common ones left out, in the
// order of their declaration.
func (c *Call) BoundNames() []string {
	if c.host != nil {
		return c.host.BoundNames()
	}
	return c.inv.boundNames()
}

// String is a parameter as text, "" when it was not given or is null.
func (c *Call) String(name string) string {
	v, _ := c.Bound(name)
	return dotnet.ToText(v)
}

// Strings is a parameter as texts, one for each item; nil when it was not given
// or is null.
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

// Bool is a parameter as a truth value, false when it was not given: of switches.
func (c *Call) Bool(name string) bool {
	v, _ := c.Bound(name)
	return dotnet.Truthy(v)
}

// Write sends one value down the pipeline, as one object. Its error must be
// returned by the body as it is.
func (c *Call) Write(v any) error {
	if c.host != nil {
		return c.host.Write(v)
	}
	return c.out.write(v)
}

// WriteError reports a non-terminating error, subject to -ErrorAction and
// $ErrorActionPreference. The body goes on when it returns nil and returns the
// error as it is otherwise. The command's class is added to the record's id.
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

// WriteVerbose writes to the verbose stream when -Verbose is on.
func (c *Call) WriteVerbose(text string) error {
	if c.host != nil {
		return c.host.WriteVerbose(text)
	}
	return c.inv.verbose(text)
}

// Throw makes the error that a body returns to end the command: the
// terminating error of ThrowTerminatingError. The command's class is added to
// the record's id.
func (c *Call) Throw(rec *dotnet.ErrorRecord) error {
	if c.host != nil {
		return c.host.Throw(rec)
	}
	return c.inv.terminating(c.inv.qualify(rec))
}

// ShouldProcess asks whether to act on the target: false under -WhatIf, an
// error when a prompt would be needed, for sessions are not interactive.
func (c *Call) ShouldProcess(target string) (bool, error) {
	if c.host != nil {
		return c.host.ShouldProcess(target)
	}
	return c.inv.shouldProcess(c.inv.f, target)
}
