// Package cmdlets is what Microsoft's public reference says about the cmdlets of
// the ActiveDirectory and DnsServer modules, as data: names, parameter sets,
// parameters with their types, positions and pipeline input, the Windows Server
// versions that have them, and the classes of the ActiveDirectory object model.
//
// It is what the documentation claims, not what a Windows host was seen to do.
// Three readers share it: the binder of the engine (package ps/sandbox/engine), the
// tables that implement the cmdlets (ps/sandbox/adcmd, ps/sandbox/dnscmd), and the
// static check of scripts (package scripts).
//
// # Tour
//
//   - [Lookup] finds a cmdlet of either module by name; [Module] lists one module.
//   - [Cmdlet.Find] finds a parameter the way PowerShell does: exact name or
//     alias first, then an unambiguous beginning of one.
//   - [Cmdlet.Writes] says whether a cmdlet may change something.
//   - [Cmdlet.AvailableIn] and [Param.AvailableIn] say which versions have it.
//   - [LookupClass] gives a class of the object model and its LDAP attributes.
//
// The data are the two files under data, made from the contract files under
// testdata by "go test ./ps/cmdlets -run TestDataIsCurrent -update". Each line
// is one cmdlet, read when it is first asked for.
//
// # Where the documentation contradicts itself
//
// Whether a parameter is mandatory and at which position follows the SYNTAX of
// the set, for switches the parameter table (SYNTAX cannot show a mandatory
// switch). A page that marks no default set leaves DefaultSet empty: a call that
// fits several sets is then ambiguous. A Remove cmdlet that supports
// confirmation prompts even where its page forgets to say so (facts A36). A
// parameter is missing in versions older than the release its own text names.
package cmdlets

import "strings"

// Names of the two modules.
const (
	ActiveDirectory = "ActiveDirectory"
	DnsServer       = "DnsServer"
)

// AllSets is the name PowerShell gives the only set of a command that names none.
const AllSets = "__AllParameterSets"

// Docsets are the Windows Server versions the reference was compared over, oldest first.
var Docsets = []string{"2016", "2019", "2022", "2025"}

// Cmdlet is one cmdlet. It is shared by all callers and must not be changed.
type Cmdlet struct {
	Name   string // "Get-ADUser"
	Module string // [ActiveDirectory] or [DnsServer]

	// DefaultSet is the set used when the arguments fit several. It is empty
	// when the documentation marks none, and the set's name when there is one only.
	DefaultSet string
	// Sets are the names of the parameter sets in the order of the page; never
	// empty, [AllSets] where the page names no set.
	Sets   []string
	Params []*Param // sorted by name, common parameters left out

	// SupportsShouldProcess: has -WhatIf and -Confirm, both in Params.
	SupportsShouldProcess bool
	// PromptsByDefault: asks before it acts unless -Confirm:$false is given,
	// that is, its ConfirmImpact is High.
	PromptsByDefault bool
	// ForceSkipsPrompt: -Force is documented as going on without the prompt.
	ForceSkipsPrompt bool

	Outputs []string // type names, namespaces kept as printed
	// MissingIn are the members of [Docsets] that do not document the cmdlet.
	MissingIn []string
	// NotWorkingWith are the notes of the page, such as "readOnlyDomainController".
	NotWorkingWith []string
}

// Param is one parameter of a cmdlet. It must not be changed.
type Param struct {
	Name    string
	Type    string   // without the namespace: "String[]", "SwitchParameter", "ADUser"
	Aliases []string // without the dash
	// Values are the names an enumeration or a validated set accepts; nil when
	// the page lists none.
	Values []string
	// Codes are the numbers of Values, index by index; nil when not documented.
	Codes []int64
	// LDAPName is the attribute the parameter sets, "" when the page names none.
	LDAPName string
	// Identifiers are the forms an identity takes, where the page lists them.
	Identifiers []string
	Wildcard    bool    // documented as accepting wildcards
	PerSet      []InSet // one entry for each set the parameter belongs to, in the order of Sets
	// MissingIn are the members of [Docsets] that have the cmdlet but not this parameter.
	MissingIn []string
}

// InSet is how a parameter behaves in one parameter set.
type InSet struct {
	Set            string
	Mandatory      bool
	Position       int // order among the positional parameters of the set, -1: by name only
	ByValue        bool
	ByPropertyName bool
}

// Lookup finds a cmdlet by its name, in any case.
func Lookup(name string) (*Cmdlet, bool) {
	e, ok := load().byName[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	return e.cmdlet(), true
}

// Module lists the cmdlets of a module, sorted by name; nil for an unknown one.
// The name is compared in any case.
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

// Verb is the part of the name before the dash.
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

// AvailableIn reports whether the documentation of a version has the cmdlet.
// An unknown version has nothing.
func (c *Cmdlet) AvailableIn(docset string) bool { return available(c.MissingIn, docset) }

// AvailableIn reports whether the documentation of a version has the parameter.
func (p *Param) AvailableIn(docset string) bool { return available(p.MissingIn, docset) }

func available(missing []string, docset string) bool {
	return contains(Docsets, docset) && !contains(missing, docset)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Param finds a parameter by its whole name or an alias, in any case. It is nil
// when there is none.
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

// Find finds the parameters a written name can mean: the one of that name or
// alias, else all whose name or alias begins so. No result: there is none. More
// than one: the name is ambiguous.
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

// In tells how the parameter behaves in a set, and whether it belongs to it.
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

// HasSet reports whether the cmdlet has a parameter set of that name.
func (c *Cmdlet) HasSet(name string) bool {
	for _, s := range c.Sets {
		if strings.EqualFold(s, name) {
			return true
		}
	}
	return false
}
