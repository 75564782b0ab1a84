// Package wincmd implements one cmdlet from each of two further Windows modules for the sandbox:
// Get-LapsADPassword of LAPS, over the simulated directory (package ps/sandbox/directory), and Get-WinEvent
// of Microsoft.PowerShell.Diagnostics, over a stand-in for the security log of the PDC emulator ([Log]).
//
// Package ps/cmdlets declares their parameters. Their output follows Microsoft's documentation (facts S41
// to S45); it was not recorded on Windows. Parameters and queries that the gateway's scripts do not use are
// refused by name, never ignored.
package wincmd

import (
	"context"
	"strings"
	"time"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Options configure the modules.
type Options struct {
	Domain *directory.Domain // must not be nil
	Log    *Log              // must not be nil
	// Account owns the sessions. It is a sAMAccountName, with or without $, and can decrypt
	// data that is encrypted for it or for one of its groups.
	Account  string
	Location *time.Location // of DateTime values; nil means time.Local
	// Gate is like Gate in the options of package adcmd.
	Gate func(ctx context.Context, controller string) (caller string, reached bool)
	// NoLAPS reports whether the host lacks the module LAPS. Nil means that the host has it.
	NoLAPS func() bool
}

// Modules returns the modules. They are safe for concurrent use.
func Modules(o Options) []*engine.Module {
	if o.Location == nil {
		o.Location = time.Local
	}
	return []*engine.Module{
		{Name: cmdlets.LAPS, Version: "1.0.0.0", Types: []*dotnet.Type{tPassword}, Commands: []*engine.Command{
			command("Get-LapsADPassword", "Microsoft.Windows.LAPS.GetLapsADPassword",
				"Identity DomainController IncludeHistory", func(c *engine.Call) error { return getPassword(&o, c) }),
		}},
		{Name: cmdlets.Diagnostics, Version: "7.0.0.0", Types: []*dotnet.Type{tEvent, tProperty}, Commands: []*engine.Command{
			command("Get-WinEvent", "Microsoft.PowerShell.Commands.GetWinEventCommand",
				"ComputerName LogName FilterXPath MaxEvents", func(c *engine.Call) error { return getEvents(&o, c) }),
		}},
	}
}

// Declarations returns the modules without bodies.
func Declarations() []*engine.Module {
	modules := Modules(Options{})
	for _, m := range modules {
		for _, c := range m.Commands {
			c.Process = nil
		}
	}
	return modules
}

// command returns a command that supports the parameters in params.
func command(name, class, params string, body func(*engine.Call) error) *engine.Command {
	return engine.NewCommand(cmdlets.Must(name), class, strings.Fields(params),
		func(c *engine.Call, param string) error { return notSupported(c, "-"+param) }, body)
}

func notSupported(c *engine.Call, what string) error {
	const message = "The sandbox does not support %s of %s."
	e := dotnet.ExceptionNamed("System.NotSupportedException", message, what, c.Name())
	return c.Throw(dotnet.NewError(e, "ParameterNotSupported", dotnet.NotImplemented, what))
}

// controller returns the domain controller with the given name, or nil if there is none or the caller cannot
// reach it.
func (o *Options) controller(ctx context.Context, name string) *directory.DC {
	dc, err := o.Domain.DC(name)
	if err != nil || !dc.Alive() {
		return nil
	}
	if o.Gate != nil {
		if _, reached := o.Gate(ctx, dc.HostName()); !reached {
			return nil
		}
	}
	return dc
}

// local returns a time as a DateTime in local time.
func (o *Options) local(t time.Time) dotnet.DateTime {
	const perSecond, at1970 = int64(10_000_000), int64(621355968000000000)
	_, offset := t.In(o.Location).Zone()
	ticks := (t.Unix()+int64(offset))*perSecond + int64(t.Nanosecond()/100) + at1970
	return dotnet.DateTime{Ticks: ticks, Kind: dotnet.Local}
}
