package scripts

import (
	"maps"
	"slices"
	"strings"

	"adgateway/ps/syntax"
)

// automatic contains the variables that PowerShell sets, in lower case.
var automatic = []string{
	"_", "confirmpreference", "error", "erroractionpreference", "executioncontext", "false", "null", "pid",
	"psboundparameters", "pscmdlet", "psversiontable", "true",
}

// outParameters are the common parameters whose value is the name of a variable to set.
var outParameters = []string{"ErrorVariable", "InformationVariable", "OutVariable", "PipelineVariable",
	"WarningVariable"}

// names maps the lower-case names of variables to their spelling.
type names map[string]string

func (n names) add(name string) { n[strings.ToLower(name)] = name }

func (n names) has(name string) bool {
	_, ok := n[name]
	return ok
}

// variables are the variables that one function assigns.
type variables struct {
	outer *variables // of the enclosing function; nil for a script
	local names      // visible in the function and in functions inside it
	wide  names      // assigned with the scope script or global
}

func (v *variables) has(name string) bool {
	for ; v != nil; v = v.outer {
		if v.local.has(name) {
			return true
		}
	}
	return false
}

// assignedIn collects the variables that a block assigns outside of nested functions.
func assignedIn(block *syntax.ScriptBlock, outer *variables) *variables {
	v := &variables{outer: outer, local: names{}, wide: names{}}
	syntax.Walk(block, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			return false
		case *syntax.Param:
			v.local.add(n.Name.Name)
		case *syntax.ForEach:
			v.assign(n.Var)
		case *syntax.Assignment:
			v.assign(n.Target)
		case *syntax.Unary:
			if n.Op >= syntax.PostInc {
				v.assign(n.Operand)
			}
		case *syntax.Command:
			v.assignedBy(n)
		}
		return true
	})
	return v
}

func (v *variables) assign(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Variable:
		switch strings.ToLower(e.Scope) {
		case "global", "script":
			v.wide.add(e.Name)
		case "", "local", "private", "variable":
			v.local.add(e.Name)
		}
	case *syntax.Cast:
		v.assign(e.Operand)
	case *syntax.ArrayLiteral:
		for _, item := range e.Items {
			v.assign(item)
		}
	}
}

// assignedBy adds the variables that a call sets by name, such as with -ErrorVariable.
func (v *variables) assignedBy(command *syntax.Command) {
	for i, arg := range command.Args {
		p, ok := arg.(*syntax.CommandParam)
		if !ok || !containsFold(outParameters, p.Name) {
			continue
		}
		value := syntax.Node(p.Value)
		if p.Value == nil && i+1 < len(command.Args) {
			value = command.Args[i+1]
		}
		if name, ok := value.(*syntax.String); ok {
			v.local.add(strings.TrimPrefix(name.Value, "+"))
		}
	}
}

// learn adds the variables that a prelude defines for later texts, which are the variables of its outermost
// scope and the scoped variables that its functions assign.
func (l *library) learn(script *syntax.Script) {
	top := assignedIn(script.Block, nil)
	maps.Copy(l.variables, top.local)
	maps.Copy(l.variables, top.wide)
	syntax.Walk(script, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FunctionDef); ok {
			maps.Copy(l.variables, assignedIn(f.Body, nil).wide)
		}
		return true
	})
}

// variableFaults reports the variables of a text that are read but never assigned.
func (l *library) variableFaults(t *text) []Fault {
	c := &variableCheck{library: l, text: t, wide: names{}, targets: map[*syntax.Variable]bool{}}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			maps.Copy(c.wide, assignedIn(n.Body, nil).wide)
		case *syntax.Assignment:
			if n.Op == syntax.Assign {
				c.target(n.Target)
			}
		case *syntax.ForEach:
			c.targets[n.Var] = true
		case *syntax.Param:
			c.targets[n.Name] = true
		}
		return true
	})
	top := assignedIn(t.script.Block, nil)
	maps.Copy(c.wide, top.local) // $script:name
	maps.Copy(c.wide, top.wide)
	c.scope(t.script.Block, nil)
	return c.faults
}

// variableCheck is one pass over the variables of a text.
type variableCheck struct {
	*library
	text    *text
	wide    names                     // set by the text for its functions
	targets map[*syntax.Variable]bool // written, not read
	faults  []Fault
}

// target marks the variables that an assignment writes.
func (c *variableCheck) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.Variable:
		c.targets[e] = true
	}
}

// scope checks the reads in one function, or in a script.
func (c *variableCheck) scope(block *syntax.ScriptBlock, outer *variables) {
	vars := assignedIn(block, outer)
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FunctionDef:
			c.scope(n.Body, vars)
			return false
		case *syntax.Variable:
			if !c.targets[n] {
				c.read(n, vars)
			}
		}
		return true
	}
	syntax.Walk(block, visit)
}

func (c *variableCheck) read(v *syntax.Variable, vars *variables) {
	name := strings.ToLower(v.Name)
	switch strings.ToLower(v.Scope) {
	case "env", "function":
		return
	case "global", "script":
		if c.variables.has(name) || c.wide.has(name) {
			return
		}
	default:
		if vars.has(name) || c.variables.has(name) || c.wide.has(name) || slices.Contains(automatic, name) {
			return
		}
	}
	known := slices.Collect(maps.Values(c.variables))
	for up := vars; up != nil; up = up.outer {
		known = slices.AppendSeq(known, maps.Values(up.local))
	}
	slices.Sort(known)
	suggest := nearest(v.Name, known)
	if suggest != "" {
		suggest = "$" + suggest
	}
	c.faults = append(c.faults, c.text.fault(v, suggest, "the variable $%s is never assigned", v.Name))
}
