package engine

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// FaultKind says what a [Fault] is about.
type FaultKind string

// The kinds of faults.
const (
	FaultSyntax    FaultKind = "syntax"    // the text does not parse, or is outside the subset
	FaultCommand   FaultKind = "command"   // no such command
	FaultAlias     FaultKind = "alias"     // an alias, which scripts must not use
	FaultParameter FaultKind = "parameter" // no such parameter, an ambiguous or doubled one, a value it never takes
	FaultSet       FaultKind = "set"       // no parameter set fits, or a mandatory parameter is missing
	FaultType      FaultKind = "type"      // no such type or attribute
	FaultVariable  FaultKind = "variable"  // read, but never assigned
)

// Fault is one thing wrong in a script.
type Fault struct {
	File    string
	Pos     syntax.Pos
	Kind    FaultKind
	Message string
	Suggest string // what was probably meant; empty when nothing is near
}

// String is the fault in one line: file:line:column: message (suggestion).
func (f Fault) String() string {
	text := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Pos.Line, f.Pos.Column, f.Message)
	if f.Suggest != "" {
		text += " (" + f.Suggest + "?)"
	}
	return text
}

// Source is a script: the name it goes by in messages, and its text.
type Source struct{ Name, Text string }

// CheckOptions is what a script may count on.
type CheckOptions struct {
	Prelude   []Source          // run before in the same session: their functions and variables are known
	Cmdlets   []*cmdlets.Cmdlet // of the modules that are imported
	Functions []string          // other functions, of unknown parameters
	Variables []string          // variables the host sets
	Types     []string          // types of the modules
}

// Check looks at a whole script without running it and reports every fault, in
// the order of the text: unknown commands, parameters and types, calls that no
// parameter set fits, variables that are never assigned. A text that does not
// parse has its syntax faults only.
func Check(script Source, o CheckOptions) []Fault {
	tree, errs := syntax.Parse(script.Name, script.Text)
	if len(errs) > 0 {
		faults := make([]Fault, len(errs))
		for i, e := range errs {
			faults[i] = Fault{File: script.Name, Pos: e.Pos, Kind: FaultSyntax, Message: e.Message}
		}
		return faults
	}
	ch := newChecker(o)
	for _, source := range o.Prelude {
		if tree, errs := syntax.Parse(source.Name, source.Text); len(errs) == 0 {
			ch.learn(tree)
		}
	}
	ch.learn(tree)
	ch.src, ch.c = tree.Source, &compiler{src: tree.Source}
	ch.unit(tree.Block, nil, nil)
	sort.SliceStable(ch.faults, func(i, j int) bool { return ch.faults[i].Pos.Offset < ch.faults[j].Pos.Offset })
	return slices.Compact(ch.faults)
}

type checker struct {
	src       *syntax.Source
	c         *compiler
	functions map[string]*signature // nil: parameters unknown
	names     map[string]string     // functions and cmdlets as they are spelt
	cmdlets   map[string]*cmdlets.Cmdlet
	globals   map[string]bool // variables, in lower case
	types     map[string]bool
	faults    []Fault
}

func newChecker(o CheckOptions) *checker {
	ch := &checker{functions: map[string]*signature{}, names: map[string]string{}, cmdlets: map[string]*cmdlets.Cmdlet{}, globals: maps.Clone(knownVariables()), types: map[string]bool{}}
	for key, c := range builtins() {
		ch.names[key] = c.name
	}
	for _, decl := range o.Cmdlets {
		key := lower(decl.Name)
		ch.cmdlets[key], ch.names[key] = decl, decl.Name
	}
	for _, name := range o.Functions {
		ch.functions[lower(name)], ch.names[lower(name)] = nil, name
	}
	for _, name := range o.Variables {
		ch.globals[lower(name)] = true
	}
	for _, name := range o.Types {
		ch.types[lower(name)] = true
	}
	for _, name := range []string{"ordered", "pscustomobject", "ref", "console", "system.console"} {
		ch.types[name] = true
	}
	return ch
}

func (ch *checker) fault(n syntax.Node, kind FaultKind, suggest, format string, args ...any) {
	ch.faults = append(ch.faults, Fault{File: ch.src.Name, Pos: n.Extent().From, Kind: kind, Message: fmt.Sprintf(format, args...), Suggest: suggest})
}

// learn takes a script's functions and the variables of its outermost scope.
func (ch *checker) learn(script *syntax.Script) {
	c := &compiler{src: script.Source}
	syntax.Walk(script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			name, _ := functionName(n.Name)
			code := &blockCode{src: script.Source, params: n.Params}
			if n.Body.Param != nil {
				code.params, code.attrs = n.Body.Param.Params, n.Body.Param.Attributes
			}
			ch.functions[lower(name)], ch.names[lower(name)] = c.signature(code, name), name
		case *syntax.Command:
			if name, ok := functionItem(n); ok {
				ch.functions[lower(name)], ch.names[lower(name)] = nil, name
			}
		case *syntax.Variable:
			if s := lower(n.Scope); s == "global" || s == "script" {
				return true
			}
		}
		return true
	})
	outer := assignedIn(script.Block, nil)
	for name := range outer.local {
		ch.globals[name] = true
	}
	for name := range outer.global {
		ch.globals[name] = true
	}
	syntax.Walk(script, func(n syntax.Node) bool {
		if def, ok := n.(*syntax.FunctionDef); ok {
			for name := range assignedIn(def.Body, def.Params).global {
				ch.globals[name] = true
			}
		}
		return true
	})
}

// functionItem is the name in Set-Item function:NAME.
func functionItem(cmd *syntax.Command) (string, bool) {
	name, ok := cmd.Name.(*syntax.String)
	if !ok || !strings.EqualFold(name.Value, "Set-Item") {
		return "", false
	}
	for _, arg := range cmd.Args {
		if s, ok := arg.(*syntax.String); ok && strings.HasPrefix(lower(s.Value), "function:") {
			name, _ := functionName(s.Value)
			return name, true
		}
	}
	return "", false
}

// assigned are the variables one block assigns, and the keys of dictionaries it
// makes for splatting.
type assigned struct {
	outer  *assigned
	local  map[string]bool
	global map[string]bool
	keys   map[string][]*syntax.String
}

func (a *assigned) has(name string) bool {
	for up := a; up != nil; up = up.outer {
		if up.local[name] {
			return true
		}
	}
	return false
}

// assignedIn collects what a block assigns, functions inside left out.
func assignedIn(b *syntax.ScriptBlock, params []*syntax.Param) *assigned {
	a := &assigned{local: map[string]bool{}, global: map[string]bool{}, keys: map[string][]*syntax.String{}}
	for _, p := range params {
		a.local[lower(p.Name.Name)] = true
	}
	syntax.Walk(b, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			return false
		case *syntax.Param:
			a.local[lower(n.Name.Name)] = true
		case *syntax.ForEach:
			a.target(n.Var)
		case *syntax.Assignment:
			a.target(n.Target)
			a.dictionary(n)
		case *syntax.Unary:
			switch n.Op {
			case syntax.PreInc, syntax.PreDec, syntax.PostInc, syntax.PostDec:
				a.target(n.Operand)
			}
		case *syntax.Command:
			a.command(n)
		}
		return true
	})
	return a
}

func (a *assigned) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Variable:
		name := lower(e.Name)
		switch lower(e.Scope) {
		case "global", "script":
			a.global[name] = true
		case "", "local", "private", "variable":
			a.local[name] = true
		}
	case *syntax.Cast:
		a.target(e.Operand)
	case *syntax.ArrayLiteral:
		for _, item := range e.Items {
			a.target(item)
		}
	}
}

// dictionary notes the keys that a variable meant for splatting gets.
func (a *assigned) dictionary(n *syntax.Assignment) {
	switch t := n.Target.(type) {
	case *syntax.Variable:
		p, ok := n.Value.(*syntax.Pipeline)
		if !ok || len(p.Elements) != 1 {
			return
		}
		x, ok := p.Elements[0].(*syntax.ExprElement)
		if !ok {
			return
		}
		e := x.Expr
		if cast, ok := e.(*syntax.Cast); ok {
			e = cast.Operand
		}
		if h, ok := e.(*syntax.Hash); ok {
			for _, entry := range h.Entries {
				if key, ok := entry.Key.(*syntax.String); ok {
					a.keys[lower(t.Name)] = append(a.keys[lower(t.Name)], key)
				}
			}
		}
	case *syntax.Index:
		v, ok := t.Target.(*syntax.Variable)
		key, isText := t.Index.(*syntax.String)
		if ok && isText {
			a.keys[lower(v.Name)] = append(a.keys[lower(v.Name)], key)
		}
	case *syntax.Member:
		v, ok := t.Target.(*syntax.Variable)
		key, isText := t.Name.(*syntax.String)
		if ok && isText && !t.Static {
			a.keys[lower(v.Name)] = append(a.keys[lower(v.Name)], key)
		}
	}
}

// variableParams are the parameters that name a variable to write.
var variableParams = []string{"errorvariable", "ev", "warningvariable", "wv", "informationvariable", "iv", "outvariable", "ov"}

// command notes the variables a call makes: -ErrorVariable, Set-Variable.
func (a *assigned) command(cmd *syntax.Command) {
	note := func(n syntax.Node) {
		if s, ok := n.(*syntax.String); ok {
			a.local[strings.TrimPrefix(lower(s.Value), "+")] = true
		}
	}
	called, _ := cmd.Name.(*syntax.String)
	sets := called != nil && (strings.EqualFold(called.Value, "Set-Variable") || strings.EqualFold(called.Value, "New-Variable"))
	for i, arg := range cmd.Args {
		p, ok := arg.(*syntax.CommandParam)
		if !ok {
			if sets && i == 0 {
				note(arg)
			}
			continue
		}
		if slices.Contains(variableParams, lower(p.Name)) || sets && strings.EqualFold(p.Name, "Name") {
			if p.Value != nil {
				note(p.Value)
			} else if i+1 < len(cmd.Args) {
				note(cmd.Args[i+1])
			}
		}
	}
}

// nearest finds the candidate that was probably meant.
func nearest(name string, candidates []string) string {
	best, bound := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if len(c)-len(name) >= bound || len(name)-len(c) >= bound {
			continue
		}
		if d := levenshtein.ComputeDistance(lower(name), lower(c)); d < bound {
			best, bound = c, d
		}
	}
	return best
}
