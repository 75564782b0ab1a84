package scripts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"adgateway/ps"
	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// Fault is a mistake in a script.
type Fault struct {
	File    string
	Pos     syntax.Pos
	Message string
	Suggest string // the nearest known name; empty if none is near
}

// Error returns the fault on one line: file:line:column: message (suggestion?).
func (f Fault) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Pos.Line, f.Pos.Column, f.Message)
	if f.Suggest != "" {
		text += " (" + f.Suggest + "?)"
	}
	return text
}

// CheckOptions lists the commands, variables and types that a script may use in addition to the built-in
// commands, the cmdlets of the two modules and the types of package cmdlets.
type CheckOptions struct {
	Prelude  []ps.Source // loaded before the script, so that its functions and variables are known
	Commands []string    // other commands; their parameters are not checked
	Types    []string    // other types, or known types whose static members are not checked
}

// Check returns the mistakes in a script, in the order of the text, without running the script. It finds text
// outside the subset, unknown and aliased commands, arguments that do not fit the command in every documented
// version of Windows Server, unknown types, attributes, static members and methods, and variables that are
// read but never assigned. It does not check properties, because the properties of a directory object depend
// on its schema and on the call that read it. If a script does not parse, Check returns only its syntax
// errors.
func Check(script ps.Source, o CheckOptions) []Fault { return NewChecker(o).Check(script) }

// Checker checks several scripts with the same options and reads their preludes only once. It is not safe for
// concurrent use.
type Checker struct{ preludes *library }

// NewChecker returns a checker.
func NewChecker(o CheckOptions) *Checker { return &Checker{newLibrary(o)} }

// Check is like the function [Check]. Scripts do not see the functions and variables of other scripts.
func (c *Checker) Check(script ps.Source) []Fault {
	l := &library{
		options: c.preludes.options, texts: slices.Clone(c.preludes.texts),
		functions: maps.Clone(c.preludes.functions), variables: maps.Clone(c.preludes.variables),
	}
	t := l.add(script.Name, script.Text)
	if t == nil {
		return l.broken
	}
	l.link()
	return l.check(t)
}

// check reports the faults of one text of the library.
func (l *library) check(t *text) []Fault {
	faults := slices.Concat(l.callFaults(t), l.nameFaults(t), l.variableFaults(t))
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Pos.Offset - b.Pos.Offset })
	return slices.Compact(faults)
}

// fault returns a fault at a node.
func (t *text) fault(at syntax.Node, suggest, format string, args ...any) Fault {
	return Fault{File: t.file, Pos: at.Extent().From, Message: fmt.Sprintf(format, args...), Suggest: suggest}
}

// callFaults checks the calls of a text, and the names of the functions it defines.
func (l *library) callFaults(t *text) []Fault {
	var faults []Fault
	for _, c := range t.calls {
		faults = append(faults, l.faultsOf(t, c)...)
	}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			if target, alias := cmdlets.AliasTarget(f.Name); alias {
				faults = append(faults, t.fault(f, "",
					"the function %s would never be called: the alias of %s takes precedence", f.Name, target))
			}
		}
		return true
	})
	return faults
}

// commandNames lists every known command, sorted.
func (l *library) commandNames() []string {
	names := slices.Clone(l.options.Commands)
	for _, module := range cmdlets.Modules() {
		for _, cmdlet := range cmdlets.Module(module) {
			names = append(names, cmdlet.Name)
		}
	}
	for _, f := range l.functions {
		names = append(names, f.command.Name)
	}
	for _, b := range cmdlets.Builtins() {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return names
}

// nearest returns the candidate with the smallest edit distance to a name, or the first of several such
// candidates. It returns "" if no candidate is near. It never returns the name itself.
func nearest(name string, candidates []string) string {
	const longest = 100 // no known name is longer
	if len(name) > longest {
		return ""
	}
	lower := strings.ToLower(name)
	best, bound := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if abs(len(c)-len(name)) >= bound {
			continue
		}
		if d := levenshtein.ComputeDistance(lower, strings.ToLower(c)); d > 0 && d < bound {
			best, bound = c, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
