package scripts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// call is one command in a text, with its possible arguments.
type call struct {
	at       *syntax.Command
	function string          // enclosing function; "" in the body of a script
	name     string          // as written
	command  *cmdlets.Cmdlet // nil if unknown
	dynamic  bool            // called through a value: & $block
	piped    bool            // not the first command of its pipeline
	// ways are the possible lists of arguments. There is only one, unless keys of a splatted
	// hashtable depend on conditions.
	ways    [][]argument
	unknown string // reason why ways is incomplete; "" if it is complete
	open    bool   // also receives @PSBoundParameters, whose keys are unknown
}

// argument is one argument of a call.
type argument struct {
	name  string      // without the dash; "" for a positional argument
	value syntax.Node // nil for a parameter without a value
	at    syntax.Node // the name, or the value of a positional argument
}

// readCalls finds all calls in a text. It tracks the possible values of a splatted variable through the
// statements of one function. The function must assign a hashtable literal to the variable and may add only
// constant keys.
func readCalls(script *syntax.Script, command func(name string) *cmdlets.Cmdlet) []*call {
	t := &tracer{command: command, splatted: map[string]bool{}}
	syntax.Walk(script, func(n syntax.Node) bool {
		if v, ok := n.(*syntax.Variable); ok && v.Splat {
			t.splatted[strings.ToLower(v.Name)] = true
		}
		return true
	})
	t.scriptBlock(script.Block, tables{})
	return t.calls
}

// maxWays limits the combinations of keys in a splatted hashtable.
const maxWays = 4096

// table is one possible content of a hashtable: keys in order, with their values.
type table []argument

// with returns the table after an assignment to a key.
func (t table) with(name string, value, at syntax.Node) table {
	out := slices.Clone(t)
	for i, entry := range out {
		if strings.EqualFold(entry.name, name) {
			out[i].value, out[i].at = value, at
			return out
		}
	}
	return append(out, argument{name, value, at})
}

// same reports whether two tables result from the same assignments.
func (t table) same(other table) bool { return slices.Equal(t, other) }

// tables contains the possible hashtables of variables at one point of a text, by lower-case name. A variable
// that is absent has a value other than a known hashtable. A nil map means that the point is unreachable.
type tables map[string][]table

// join merges the states of two paths that meet.
func join(a, b tables) tables {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := tables{}
	for name, some := range a {
		others, both := b[name]
		if !both {
			continue
		}
		all := slices.Clone(some)
		for _, other := range others {
			if !slices.ContainsFunc(all, other.same) {
				all = append(all, other)
			}
		}
		if len(all) <= maxWays {
			out[name] = all
		}
	}
	return out
}

// tracer walks the statements of a text in the order of execution.
type tracer struct {
	command  func(name string) *cmdlets.Cmdlet
	splatted map[string]bool // the variables to track, by name in lower case
	function string
	calls    []*call
}

func (t *tracer) scriptBlock(block *syntax.ScriptBlock, at tables) {
	if block.Param != nil {
		t.nested(block.Param, at)
	}
	if at == nil {
		at = tables{}
	}
	t.block(block.Body, at)
}

func (t *tracer) block(block *syntax.Block, at tables) tables {
	for _, statement := range block.Statements {
		if at == nil {
			at = tables{} // unreachable, but its calls are still read
		}
		at = t.statement(statement, at)
	}
	return at
}

// statement returns the state after a statement. It may modify at.
func (t *tracer) statement(s syntax.Statement, at tables) tables {
	switch s := s.(type) {
	case *syntax.FunctionDef:
		outer := t.function
		t.function = s.Name
		t.scriptBlock(s.Body, tables{})
		t.function = outer
		return at
	case *syntax.Assignment:
		t.nested(s.Value, at)
		t.nested(s.Target, at)
		t.assign(s, at)
		return at
	case *syntax.If:
		var out tables
		for _, clause := range s.Clauses {
			t.nested(clause.Cond, at)
			out = join(out, t.block(clause.Body, maps.Clone(at)))
		}
		if s.Else != nil {
			return join(out, t.block(s.Else, at))
		}
		return join(out, at)
	case *syntax.Switch:
		t.nested(s.Value, at)
		out := maps.Clone(at)
		for _, clause := range s.Clauses {
			t.nested(clause.Test, at)
			out = join(out, t.block(clause.Body, maps.Clone(at)))
		}
		return out
	case *syntax.Try:
		out := t.block(s.Body, maps.Clone(at))
		if s.Catch != nil {
			before := maps.Clone(at)
			if out != nil {
				before = join(before, out)
			}
			out = join(out, t.block(s.Catch.Body, before))
		}
		if s.Finally != nil {
			if out == nil {
				out = at
			}
			return t.block(s.Finally, out)
		}
		return out
	case *syntax.Flow:
		if s.Value != nil {
			t.nested(s.Value, at)
		}
		if s.Kind == syntax.Break || s.Kind == syntax.Continue {
			return at
		}
		return nil
	case *syntax.Pipeline:
		t.pipeline(s, at)
		return at
	}
	return t.loop(s, at)
}

func (t *tracer) loop(s syntax.Statement, at tables) tables {
	var body *syntax.Block
	switch s := s.(type) {
	case *syntax.ForEach:
		t.nested(s.In, at)
		delete(at, strings.ToLower(s.Var.Name))
		body = s.Body
	case *syntax.For:
		for _, part := range []syntax.Statement{s.Init, s.Cond, s.Next} {
			if part != nil {
				t.nested(part, at)
			}
		}
		body = s.Body
	case *syntax.While:
		t.nested(s.Cond, at)
		body = s.Body
	case *syntax.DoLoop:
		t.nested(s.Cond, at)
		body = s.Body
	default:
		return at
	}
	// The state after one iteration is a possible state before the next one. The calls in the loop must be
	// recorded only once.
	before := len(t.calls)
	first := t.block(body, maps.Clone(at))
	t.calls = t.calls[:before]
	at = join(at, first)
	return join(at, t.block(body, maps.Clone(at)))
}

// nested reads the calls inside an expression or a pipeline. Assignments in it
// have no effect outside.
func (t *tracer) nested(n syntax.Node, at tables) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ScriptBlock:
			t.scriptBlock(n, maps.Clone(at))
			return false
		case *syntax.Block:
			t.block(n, maps.Clone(at))
			return false
		case *syntax.Pipeline:
			t.pipeline(n, at)
			return false
		case syntax.Statement:
			t.statement(n, maps.Clone(at))
			return false
		}
		return true
	})
}

func (t *tracer) pipeline(p *syntax.Pipeline, at tables) {
	for i, element := range p.Elements {
		switch element := element.(type) {
		case *syntax.ExprElement:
			t.nested(element.Expr, at)
		case *syntax.Command:
			t.calls = append(t.calls, t.call(element, i > 0, at))
			for _, arg := range element.Args {
				t.nested(arg, at)
			}
		}
	}
}

// call reads one command.
func (t *tracer) call(command *syntax.Command, piped bool, at tables) *call {
	c := &call{at: command, function: t.function, name: commandName(command), piped: piped}
	c.dynamic = c.name == ""
	if !c.dynamic {
		c.command = t.command(c.name)
	}
	ways := [][]argument{nil}
	extend := func(a argument) {
		for i := range ways {
			ways[i] = append(slices.Clip(ways[i]), a)
		}
	}
	for i := 0; i < len(command.Args); i++ {
		switch a := command.Args[i].(type) {
		case *syntax.CommandParam:
			if a.Value != nil {
				extend(argument{a.Name, a.Value, a})
				continue
			}
			if i+1 < len(command.Args) && !isSwitch(c.command, a.Name) {
				if value, ok := command.Args[i+1].(syntax.Expr); ok && !isSplat(value) {
					extend(argument{a.Name, value, a})
					i++
					continue
				}
			}
			extend(argument{a.Name, nil, a})
		case *syntax.Variable:
			if !a.Splat {
				extend(argument{"", a, a})
				continue
			}
			if strings.EqualFold(a.Name, "PSBoundParameters") {
				c.open = true
				continue
			}
			held, known := at[strings.ToLower(a.Name)]
			if !known || len(ways)*len(held) > maxWays {
				c.unknown = fmt.Sprintf("%s is given @%s, which cannot be traced to a hashtable literal of the same "+
					"function with constant keys", c.name, a.Name)
				continue
			}
			var combined [][]argument
			for _, way := range ways {
				for _, entries := range held {
					combined = append(combined, append(slices.Clip(way), entries...))
				}
			}
			ways = combined
		default:
			extend(argument{"", a, a})
		}
	}
	c.ways = ways
	return c
}

func isSplat(e syntax.Expr) bool {
	v, ok := e.(*syntax.Variable)
	return ok && v.Splat
}

// isSwitch reports whether a parameter is a switch, which takes no value after a space.
func isSwitch(command *cmdlets.Cmdlet, name string) bool {
	if command == nil {
		return false
	}
	if found := command.Find(name); len(found) > 0 {
		return len(found) == 1 && found[0].IsSwitch()
	}
	p := common(name)
	return p != nil && p.IsSwitch()
}

// commandName returns the name of a command, or "" if it is called through a value.
func commandName(command *syntax.Command) string {
	if name, ok := command.Name.(*syntax.String); ok {
		return name.Value
	}
	return ""
}

// assign tracks an assignment to a variable or to one of its keys.
func (t *tracer) assign(s *syntax.Assignment, at tables) {
	name, key, isKey := target(s.Target)
	name = strings.ToLower(name)
	if !t.splatted[name] {
		return
	}
	if isKey {
		held, known := at[name]
		switch {
		case !known:
		case key == "" || s.Op != syntax.Assign:
			delete(at, name)
		default:
			var after []table
			for _, entries := range held {
				after = append(after, entries.with(key, s.Value, s.Target))
			}
			at[name] = after
		}
		return
	}
	delete(at, name)
	if hash := hashOf(s.Value); hash != nil && s.Op == syntax.Assign {
		var entries table
		for _, entry := range hash.Entries {
			key, ok := literal(entry.Key)
			if !ok {
				return
			}
			entries = entries.with(key, entry.Value, entry.Key)
		}
		at[name] = []table{entries}
	}
}

// target returns the variable and the key to which an assignment assigns: $name, $name['key'] or $name.key.
// key is "" if the key is not constant.
func target(e syntax.Expr) (name, key string, isKey bool) {
	switch e := e.(type) {
	case *syntax.Variable:
		return e.Name, "", false
	case *syntax.Cast:
		return target(e.Operand)
	case *syntax.Index:
		if v, ok := e.Target.(*syntax.Variable); ok {
			key, _ := literal(e.Index)
			return v.Name, key, true
		}
	case *syntax.Member:
		if v, ok := e.Target.(*syntax.Variable); ok && !e.Static {
			key, _ := literal(e.Name)
			return v.Name, key, true
		}
	}
	return "", "", false
}

// sole returns the expression of which a statement consists, without parentheses, or nil if the statement
// contains more.
func sole(n syntax.Node) syntax.Expr {
	switch n := n.(type) {
	case *syntax.Pipeline:
		if len(n.Elements) == 1 {
			if e, ok := n.Elements[0].(*syntax.ExprElement); ok {
				return sole(e.Expr)
			}
		}
		return nil
	case *syntax.Paren:
		return sole(n.Inner)
	case syntax.Expr:
		return n
	}
	return nil
}

// literal returns the text of a constant string.
func literal(n syntax.Node) (string, bool) {
	if n == nil {
		return "", false
	}
	text, ok := sole(n).(*syntax.String)
	if !ok {
		return "", false
	}
	return text.Value, true
}

// hashOf returns the hashtable literal of a value, with or without a cast, or nil.
func hashOf(n syntax.Node) *syntax.Hash {
	switch e := sole(n).(type) {
	case *syntax.Hash:
		return e
	case *syntax.Cast:
		return hashOf(e.Operand)
	}
	return nil
}
