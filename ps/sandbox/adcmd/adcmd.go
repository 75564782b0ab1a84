// Package adcmd implements the sandbox's ActiveDirectory module: a table of cmdlets over the simulated
// directory (package ps/sandbox/directory). It contains only the cmdlets and parameters that the gateway's
// scripts use.
//
// # Tour
//
// [Module] builds the module for an engine. Each cmdlet is a row: its name, its body and the parameters it
// supports. Its documented contract (parameter sets, types, positions) comes from package ps/cmdlets.
//
//   - commands.go: the tables of cmdlets
//   - get.go: the reading cmdlets
//   - class.go, property.go: object classes and their properties, by friendly
//     and LDAP name; computed properties; default property sets
//   - identity.go, connection.go: -Identity, -Server, -Credential
//   - change.go, account.go: parameters to attribute changes and account bits
//   - create.go, object.go, member.go: the writing cmdlets
//   - domain.go: the domain, its controllers, the root DSE
//   - errors.go, texts.go: Win32 codes to exception types, error ids and
//     categories (facts D.1), and the module's own messages
//   - entry.go: DirectoryEntry, for attributes written over LDAP
//   - types.go, sid.go, value.go: the .NET types, and conversion of values
//     between the directory and the engine
//
// # Simulated behavior
//
// A user is created in three steps and is left behind disabled if a later step fails (facts E2); protection
// is two access control entries (facts E37); adding an existing member succeeds silently (facts E25);
// identities resolve as described in facts C16 and facts C17. Messages are in the culture of [Options]; error
// ids and codes are not localized (facts D3).
//
// # Known differences
//
// A parameter that the cmdlet's row does not list is never ignored, but rejected by name with
// System.NotSupportedException. Examples are -Instance, and -Filter, whose language resolves variables of the
// session and needs special escaping (facts C9, C10). A credential is checked but does not change what the
// caller may do.
package adcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Options configure the module.
type Options struct {
	// Domain is the directory; it must not be nil.
	Domain *directory.Domain
	// Culture is the language of messages: "en-US" (the default) or "de-DE".
	Culture string
	// Location is the time zone of DateTime values, which are in local time (facts B26). Nil means time.Local.
	Location *time.Location
	// Account owns the ADWS connections of all sessions. ADWS limits the connections per
	// account and controller (facts D19). Without an account there is no limit.
	Account string
	// Skew is how far the domain's clock is ahead of the caller's.
	Skew time.Duration
	// Gate, if not nil, is called before each command with the controller's name. It waits while the controller
	// is slow, and reports whether the caller reaches the controller.
	Gate func(ctx context.Context, controller string) (caller string, reached bool)
}

// The module's properties as shown by Get-Module.
const (
	ModuleName    = "ActiveDirectory"
	ModuleVersion = "1.0.1.0"
	moduleGUID    = "43c15630-959c-49e4-a977-758c5cc93408"
)

// Module returns the module. It is safe for concurrent use by any number of
// engines and sessions.
func Module(o Options) *engine.Module {
	h := &host{Options: o, classes: newClasses(o.Domain.Schema())}
	if h.Location == nil {
		h.Location = time.Local
	}
	m := &engine.Module{Name: ModuleName, Version: ModuleVersion, GUID: moduleGUID,
		Types: append([]*dotnet.Type{tSID}, order...)}
	m.Types = append(m.Types, entryTypes(h)...)
	for _, row := range allCommands() {
		m.Commands = append(m.Commands, row.command(h))
	}
	return m
}

// host is the state shared by all commands of one module.
type host struct {
	Options
	classes map[string]*class
}

// command is one cmdlet: a row of a table.
type command struct {
	name  string
	class string // class of the objects it works on, e.g. "ADUser"
	run   func(*call) error
	// params are the parameters that the body supports, in addition to commonParams and attrs.
	params []string
	// sets means that the cmdlet has parameters that set attributes.
	sets bool
	// attrs are the parameters that set attributes, see attributeParams.
	attrs []string
}

// commonParams are supported by every command that declares them.
var commonParams = []string{"AuthType", "Credential", "Server", "Identity", "Confirm", "WhatIf"}

const commandClass = namespace + "Commands."

func (row command) command(h *host) *engine.Command {
	decl := cmdlets.Must(row.name)
	if row.sets {
		row.attrs = attributeParams(decl)
	}
	called := func(ic *engine.Call) *call {
		return &call{Call: ic, h: h, row: &row, writes: decl.Writes(), class: h.classes[row.class]}
	}
	return engine.NewCommand(declaration(decl), commandClass+strings.ReplaceAll(row.name, "-", ""),
		slices.Concat(commonParams, row.params, row.attrs),
		func(ic *engine.Call, param string) error {
			return called(ic).notSupported("the sandbox does not support -" + param + " of " + row.name)
		},
		func(ic *engine.Call) error {
			c := called(ic)
			if err := c.connect(); err != nil {
				return err
			}
			defer c.free()
			return row.run(c)
		})
}

// call is one invocation of a command.
type call struct {
	*engine.Call
	h      *host
	row    *command
	dc     *directory.DC
	class  *class
	free   func() // releases the connection of the command; may be called again
	writes bool
	// catalog is true if -Server names a global catalog.
	catalog bool
	target  any // the object that the command acts on, for error records
}

func (c *call) ctx() context.Context { return c.Context() }
