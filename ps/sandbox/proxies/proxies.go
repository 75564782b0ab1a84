// Package proxies generates modules with which a real PowerShell runs the gateway's scripts on the sandbox.
// The functions of these modules have the parameters of the cmdlets. The real binder binds the parameters,
// and the sandbox runs the calls (package ps/sandbox/remote).
//
// # Tour
//
//   - [Modules] returns the modules with the commands that scripts use; [Module.Text]
//     has their functions, generated from the tables of cmdlets (function.go)
//   - shared.ps1: code shared by the functions
//   - sandbox.cs, types.go: what functions cannot do, for Add-Type: the wire,
//     types that only the modules have, methods that throw
//   - [Write] writes them to files; [Starter] starts a PowerShell that finds them
//
// # Two halves
//
// The text of the functions stays within the grammar of ps/syntax, so that tests can run it on the sandbox's
// own engine, with Go types in place of those in sandbox.cs. Only sandbox.cs and the lines of [Module.Script]
// that compile it are outside of the grammar.
//
// # How values are shaped
//
// Objects of the directory have types with the names and the inheritance of the module's types; their
// properties are note properties. Identities convert from text, GUID and SID. A CIM instance has the type
// names of a real one, but its .NET type is a separate one, because the system may already have a type of
// that name. Parameters for CIM instances have this separate type, too. Enumerations have the module's names
// and numbers. A SID is a SecurityIdentifier where the system has that type, and otherwise a stand-in with
// Value.
//
// The functions differ from the cmdlets in three ways. Error ids end in the name of the function where ids of
// the directory module end in the name of a class. Objects are emitted only when the command has ended. A
// null text becomes an empty text.
package proxies

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
)

//go:embed shared.ps1
var shared string

//go:embed sandbox.cs
var kit string

// Module is a module for a real PowerShell.
type Module struct {
	Name, Version string
	commands      []*engine.Command
}

// Modules returns the sandbox's modules with the commands that the scripts call. A command
// that is missing in the sandbox is an error.
func Modules(scripts []ps.Script) ([]Module, error) {
	wanted := map[string]bool{}
	for _, script := range scripts {
		for _, name := range script.Commands {
			wanted[name] = true
		}
	}
	var modules []Module
	for _, declared := range sandbox.Declarations() {
		m := Module{Name: declared.Name, Version: declared.Version}
		for _, c := range declared.Commands {
			if wanted[c.Decl.Name] {
				m.commands = append(m.commands, c)
				delete(wanted, c.Decl.Name)
			}
		}
		slices.SortFunc(m.commands, func(a,
			b *engine.Command) int {
			return strings.Compare(a.Decl.Name, b.Decl.Name)
		})
		modules = append(modules, m)
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("the sandbox has no %v", wanted)
	}
	return modules, nil
}

// Commands returns the names of the module's commands.
func (m Module) Commands() []string {
	var names []string
	for _, c := range m.commands {
		names = append(names, c.Decl.Name)
	}
	return names
}

// Text returns the functions of the module, within the grammar of ps/syntax.
func (m Module) Text() string {
	var text strings.Builder
	text.WriteString(shared)
	for _, c := range m.commands {
		text.WriteString("\n" + moduleForm.Function(c.Decl))
	}
	return text.String()
}

// Script returns the module file: the lines that compile the types, followed by Text.
func (m Module) Script() string {
	return "# The commands of " + m.Name + " for a sandbox of adgateway. Made, not to be changed.\n\n" +
		"if ($null -eq ('AdGateway.Sandbox.Kit' -as [type])) {\n" +
		"    Add-Type -IgnoreWarnings -TypeDefinition @'\n" + Types() +
		"'@\n}\n[AdGateway.Sandbox.Link]::Open()\n\n" + m.copies() + m.Text()
}

// CopyFunction is the function of the scripts that copies a CIM instance. Objects of the sandbox are not
// CIM instances, so its module, which is imported after the scripts are defined, replaces the function.
const (
	CopyFunction = "Copy-GatewayInstance"
	copyModule   = "DnsServer"
)

// copies returns the function that copies objects, if the module has such objects.
func (m Module) copies() string {
	if m.Name != copyModule {
		return ""
	}
	return "# A copy of an object of this module, as [ciminstance]::new() makes one of a CIM instance.\n" +
		"function " + CopyFunction + " {\n    [CmdletBinding()]\n" +
		"    param([Parameter(Mandatory)] [object] $Instance)\n" +
		"    [AdGateway.Sandbox.Copy]::new($Instance)\n}\n\n"
}

// exports returns the names of the functions that the module exports.
func (m Module) exports() []string {
	names := m.Commands()
	if m.copies() != "" {
		names = append(names, CopyFunction)
	}
	return names
}

// Manifest returns the module manifest.
func (m Module) Manifest() string {
	return "@{\n    RootModule        = '" + m.Name + ".psm1'\n    ModuleVersion     = '" + m.Version + "'\n" +
		"    PowerShellVersion = '5.1'\n    FunctionsToExport = @('" + strings.Join(m.exports(), "', '") + "')\n" +
		"    CmdletsToExport   = @()\n    VariablesToExport = @()\n    AliasesToExport   = @()\n}\n"
}

// Write writes the modules to a folder that is to be added to PSModulePath.
func Write(dir string, modules []Module) error {
	var faults []error
	for _, m := range modules {
		folder := filepath.Join(dir, m.Name)
		faults = append(faults, os.MkdirAll(folder, 0o700),
			os.WriteFile(filepath.Join(folder, m.Name+".psd1"), []byte(m.Manifest()), 0o600),
			os.WriteFile(filepath.Join(folder, m.Name+".psm1"), []byte(m.Script()), 0o600))
	}
	return errors.Join(faults...)
}
