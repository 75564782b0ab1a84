// Package adcmd is the ActiveDirectory module of the sandbox: its cmdlets as
// declared tables over the simulated directory (package ps/sandbox/directory).
//
// # Tour
//
// [Module] gives the module for an engine. Each cmdlet is a row: its name, its
// body, the parameters it understands; what the documentation says about it
// (sets, types, positions) comes from package ps/cmdlets.
//
//   - commands.go: the tables of rows
//   - get.go, filter.go: the reading cmdlets, LDAP filters and the filter language
//   - class.go, property.go: classes of objects, their properties by friendly
//     and LDAP name, what is computed, what is shown by default
//   - identity.go, connection.go: what -Identity, -Server and references accept
//   - change.go, account.go: parameters to attribute changes and account bits
//   - create.go, object.go, instance.go, member.go: the writing cmdlets
//   - domain.go: the domain, its controllers, the root DSE, the password policy
//   - errors.go, texts.go: Win32 codes to exception types, ids and categories
//     (facts D.1), and the sentences that are the module's own
//   - entry.go: DirectoryEntry, for attributes that go over LDAP
//   - types.go, sid.go, value.go: the .NET types, and values between the
//     directory and the engine
//
// # What is copied from the real module
//
// A user is created in three steps and stays behind disabled when a later one
// fails (facts E2); protection is two entries in access lists (facts E37);
// adding a present member succeeds silently (facts E25); identities resolve as
// facts C16 and C17 say. Messages are in the culture of [Options], ids and
// codes never are (facts D3).
//
// # Where it knowingly differs
//
// A parameter that no row understands (certificates, authentication policies,
// Kerberos types, templates of the New cmdlets) is refused with
// System.NotSupportedException, never skipped; so are dates and $variables in
// -Filter. A credential is tried, but gives no other rights. An identity that
// is not found ends the pipeline also when it came through the pipeline, where
// the real module reports it and goes on (facts D4).
package adcmd

import (
	"context"
	"strings"
	"time"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Options say over what and in which language the module works.
type Options struct {
	// Domain is the directory; it must not be nil.
	Domain *directory.Domain
	// Culture is the language of messages, "en-US" (also when empty) or "de-DE".
	Culture string
	// Location is the time zone of the DateTime values, which are local (facts
	// B26); nil is time.Local.
	Location *time.Location
	// Account is whose connections the sessions use: each takes one of the few
	// that ADWS gives an account on one controller, from its first command there
	// until the context of its run is done. Empty takes none.
	Account string
}

// ModuleName and ModuleVersion are what Get-Module shows.
const (
	ModuleName    = "ActiveDirectory"
	ModuleVersion = "1.0.1.0"
	moduleGUID    = "43c15630-959c-49e4-a977-758c5cc93408"
)

// Module makes the module. It may serve any number of engines and sessions at once.
func Module(o Options) *engine.Module {
	h := &host{Options: o, classes: newClasses(o.Domain.Schema())}
	if h.Location == nil {
		h.Location = time.Local
	}
	m := &engine.Module{Name: ModuleName, Version: ModuleVersion, GUID: moduleGUID, Types: append([]*dotnet.Type{tSID}, order...)}
	m.Types = append(m.Types, entryTypes(h)...)
	for _, row := range allCommands() {
		m.Commands = append(m.Commands, row.command(h))
	}
	return m
}

// host is what all commands of one module share.
type host struct {
	Options
	classes     map[string]*class
	connections connections
}

// command is one cmdlet: a row of a table.
type command struct {
	name  string
	class string // class of the objects it works on: "ADUser"
	run   func(*call) error
	// params are the parameters the body understands beside the common ones
	// (see commonParams) and those that attributes lists.
	params []string
	// sets: parameters set attributes, as the contract says (see attributeParams).
	sets bool
	// attrs are those parameters.
	attrs []string
}

// commonParams are understood by every command that has them.
var commonParams = []string{"AuthType", "Credential", "Server", "Partition", "Identity", "Confirm", "WhatIf"}

const commandClass = namespace + "Commands."

func (row command) command(h *host) *engine.Command {
	decl, ok := cmdlets.Lookup(row.name)
	if !ok {
		// The rows are fixed; a test looks up each of them.
		panic("adcmd: no contract for " + row.name)
	}
	if row.sets {
		row.attrs = attributeParams(decl)
	}
	known := map[string]bool{} // as they are declared, and in lower case
	for _, list := range [][]string{commonParams, row.params, row.attrs} {
		for _, p := range list {
			known[p], known[strings.ToLower(p)] = true, true
		}
	}
	return &engine.Command{
		Decl:  declaration(decl),
		Class: commandClass + strings.ReplaceAll(row.name, "-", ""),
		Process: func(ic *engine.Call) error {
			c := &call{Call: ic, h: h, row: &row, writes: decl.Writes(), class: h.classes[row.class]}
			for _, name := range ic.BoundNames() {
				if !known[name] && !known[strings.ToLower(name)] {
					return c.notSupported("the sandbox does not know -" + name + " of " + row.name)
				}
			}
			release, err := c.connect()
			if err != nil {
				return err
			}
			defer release()
			if err := row.run(c); err != errSkip {
				return err
			}
			return nil
		},
	}
}

// call is one run of a command.
type call struct {
	*engine.Call
	h      *host
	row    *command
	dc     *directory.DC
	class  *class
	writes bool
	// target is what the command acts on, for error records.
	target any
}

func (c *call) ctx() context.Context { return c.Context() }
