// Package cmdlets declares the names that scripts may use: the cmdlets of the
// ActiveDirectory and DnsServer modules as Microsoft's public reference
// describes them, the built-in commands and aliases of PowerShell, and the .NET
// types with their members.
//
// It has three users: the check of scripts (package scripts), the engine of the
// sandbox (ps/sandbox/engine), and the tables that implement the cmdlets there
// (ps/sandbox/adcmd, ps/sandbox/dnscmd). The cmdlets are what the documentation
// claims, not what was observed on Windows.
//
// # Tour
//
//   - [Lookup] finds a cmdlet of either module by name; [Module] lists one module.
//   - [Cmdlet.Find] finds a parameter as PowerShell does: by exact name or alias,
//     otherwise by an unambiguous prefix.
//   - [Cmdlet.Writes] reports whether a cmdlet may change something.
//   - [Cmdlet.AvailableIn] and [Param.AvailableIn] report which versions have it.
//   - [LookupClass] returns a class of the object model and its LDAP attributes.
//   - [Builtins] lists the commands of PowerShell itself, [AliasTarget] resolves
//     an alias.
//   - [LookupType] finds a .NET type, [InstanceMembers] the members of a name.
//
// The cmdlets are in the .ndjson files under data, generated from the contract
// files under testdata by "go test ./ps/cmdlets -run TestDataIsCurrent -update".
// Each line is one cmdlet, decoded on first use. data/members.txt is generated
// from the type registry of the engine.
//
// # Where the documentation contradicts itself
//
// The SYNTAX of a set decides whether a parameter is mandatory and its position; for switches the parameter
// table does (SYNTAX cannot show a mandatory switch). If a page marks no default set, DefaultSet is empty: a
// call that fits several sets is then ambiguous. A Remove cmdlet that supports confirmation prompts even if
// its page does not say so (facts A36). A parameter is missing in versions older than the release that its
// description names.
package cmdlets

import (
	"slices"
	"strings"
)

// Names of the modules. Only the cmdlets that scripts use are declared of the last two.
const (
	ActiveDirectory = "ActiveDirectory"
	DnsServer       = "DnsServer"
	LAPS            = "LAPS"
	Diagnostics     = "Microsoft.PowerShell.Diagnostics"
)

// Modules returns the names of the modules.
func Modules() []string { return []string{ActiveDirectory, DnsServer, LAPS, Diagnostics} }

// AllSets is PowerShell's name for the only parameter set of a command without named sets.
const AllSets = "__AllParameterSets"

// Docsets are the Windows Server versions of the reference, oldest first.
var Docsets = []string{"2016", "2019", "2022", "2025"}

// Cmdlet is one cmdlet. It is shared by all callers and must not be modified.
type Cmdlet struct {
	Name   string // "Get-ADUser"
	Module string // one of [Modules]

	// DefaultSet is the set that is used if the arguments fit several sets. It is the only set if there is just
	// one, and empty if the documentation marks none.
	DefaultSet string
	// Sets are the names of the parameter sets in the order of the page, or [AllSets] alone if
	// the page names none.
	Sets   []string
	Params []*Param // sorted by name, without the common parameters

	// SupportsShouldProcess means that Params include -WhatIf and -Confirm.
	SupportsShouldProcess bool
	// PromptsByDefault means that the ConfirmImpact of the cmdlet is High, so it prompts unless
	// -Confirm:$false is given.
	PromptsByDefault bool
	// ForceSkipsPrompt means that -Force is documented to suppress the prompt.
	ForceSkipsPrompt bool

	Outputs []string // type names as documented, with or without namespace
	// MissingIn are the [Docsets] that do not document the cmdlet.
	MissingIn []string
	// NotWorkingWith are the notes of the page, such as "readOnlyDomainController".
	NotWorkingWith []string
}

// Param is one parameter of a cmdlet. It must not be modified.
type Param struct {
	Name    string
	Type    string   // without the namespace: "String[]", "SwitchParameter", "ADUser"
	Aliases []string // without the dash
	// Values are the accepted names of an enumeration or a validated set; nil if
	// the page lists none.
	Values []string
	// Codes are the numbers of Values, in the same order; nil if not documented.
	Codes []int64
	// LDAPName is the attribute that the parameter sets; "" if not documented.
	LDAPName string
	// Identifiers are the accepted forms of an identity; nil if not documented.
	Identifiers []string
	Wildcard    bool    // documented as accepting wildcards
	PerSet      []InSet // one entry per set of the parameter, in the order of Sets
	// MissingIn are the [Docsets] that document the cmdlet but not this parameter.
	MissingIn []string
}

// InSet describes how a parameter behaves in a parameter set.
type InSet struct {
	Set            string
	Mandatory      bool
	Position       int // order among the positional parameters of the set; -1: by name only
	ByValue        bool
	ByPropertyName bool
}

// Lookup finds a cmdlet by name, ignoring case.
func Lookup(name string) (*Cmdlet, bool) {
	e, ok := load().byName[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	return e.cmdlet(), true
}

// Must is Lookup for a cmdlet that is known to be declared. It panics if it is not.
func Must(name string) *Cmdlet {
	c, ok := Lookup(name)
	if !ok {
		panic("cmdlets: no declaration of " + name)
	}
	return c
}

// Module lists the cmdlets of a module, sorted by name, or nil if the module is unknown. It
// ignores the case of name.
func Module(name string) []*Cmdlet {
	for _, m := range load().modules {
		if strings.EqualFold(m.name, name) {
			out := make([]*Cmdlet, len(m.entries))
			for i, e := range m.entries {
				out[i] = e.cmdlet()
			}
			return out
		}
	}
	return nil
}

// Verb returns the part of the name before the dash.
func (c *Cmdlet) Verb() string {
	verb, _, _ := strings.Cut(c.Name, "-")
	return verb
}

// Writes reports whether the cmdlet may change something, judged by its verb.
func (c *Cmdlet) Writes() bool {
	switch c.Verb() {
	case "Get", "Test", "Search":
		return false
	}
	return true
}

// AvailableIn reports whether a version's documentation includes the cmdlet. It returns false for an unknown
// version.
func (c *Cmdlet) AvailableIn(docset string) bool { return available(c.MissingIn, docset) }

// AvailableIn reports whether a version's documentation includes the parameter.
func (p *Param) AvailableIn(docset string) bool { return available(p.MissingIn, docset) }

func available(missing []string, docset string) bool {
	return slices.Contains(Docsets, docset) && !slices.Contains(missing, docset)
}

// Param finds a parameter by its full name or an alias, ignoring case. It returns
// nil if there is none.
func (c *Cmdlet) Param(name string) *Param {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	for _, p := range c.Params {
		for _, a := range p.Aliases {
			if strings.EqualFold(a, name) {
				return p
			}
		}
	}
	return nil
}

// Find returns the parameters that a written name can mean. That is the parameter with that name or alias or,
// if there is none, all parameters with a name or alias that starts with it. If there are several, the name
// is ambiguous.
func (c *Cmdlet) Find(written string) []*Param {
	if p := c.Param(written); p != nil {
		return []*Param{p}
	}
	var out []*Param
	for _, p := range c.Params {
		if p.begins(written) {
			out = append(out, p)
		}
	}
	return out
}

func (p *Param) begins(prefix string) bool {
	if hasPrefixFold(p.Name, prefix) {
		return true
	}
	for _, a := range p.Aliases {
		if hasPrefixFold(a, prefix) {
			return true
		}
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	return prefix != "" && len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// In returns the behavior of the parameter in a set, or false if the parameter does not belong to the set.
func (p *Param) In(set string) (InSet, bool) {
	for _, s := range p.PerSet {
		if strings.EqualFold(s.Set, set) {
			return s, true
		}
	}
	return InSet{Position: -1}, false
}

// IsSwitch reports whether the parameter is a switch.
func (p *Param) IsSwitch() bool { return p.Type == "SwitchParameter" }
