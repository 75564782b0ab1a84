package syntax

import (
	"strings"
)

// check reports faults in a tree that was parsed without errors. PowerShell also finds these faults before it
// runs anything.
func (p *parser) check(script *Script) {
	c := &checker{p: p, splats: map[*Variable]bool{}}
	c.walk(script)
}

type checker struct {
	p       *parser
	splats  map[*Variable]bool // splats at permitted places
	finally int                // enclosing finally blocks; zero inside of a function or loop
	loops   int                // loops within the innermost finally block
}

func (c *checker) fail(n Node, id string, args ...string) {
	c.p.report(&Error{ID: id, Message: message(id, args), Pos: n.Extent().From})
}

func (c *checker) walk(n Node) {
	c.node(n)
	switch n := n.(type) {
	case *Try:
		c.walk(n.Body)
		if n.Catch != nil {
			c.walk(n.Catch)
		}
		if n.Finally != nil {
			finally, loops := c.finally, c.loops
			c.finally, c.loops = 1, 0
			c.walk(n.Finally)
			c.finally, c.loops = finally, loops
		}
	case *ScriptBlock:
		finally, loops := c.finally, c.loops
		c.finally, c.loops = 0, 0
		children(n, c.walk)
		c.finally, c.loops = finally, loops
	case *ForEach, *For, *While, *DoLoop, *Switch:
		c.loops++
		children(n, c.walk)
		c.loops--
	default:
		children(n, c.walk)
	}
}

func (c *checker) node(n Node) {
	switch n := n.(type) {
	case *Assignment:
		c.target(n.Target)
	case *Unary:
		if n.Op == PostInc || n.Op == PostDec {
			c.stepTarget(n)
		}
	case *Binary:
		c.replacement(n)
	case *Hash:
		c.keys(n)
	case *Command:
		c.arguments(n)
	case *Variable:
		if n.Splat && !c.splats[n] {
			c.fail(n, "SplattingNotPermitted", n.Name)
		}
	case *Cast:
		if _, hash := n.Operand.(*Hash); !hash && strings.EqualFold(n.Type.String(), "ordered") {
			c.fail(n, "OrderedAttributeOnlyOnHashLiteralNode", n.Type.Name)
		}
	case *ParamBlock:
		c.params(n.Params)
	case *Attribute:
		for _, arg := range n.Positional {
			c.constant(arg)
		}
		for _, arg := range n.Named {
			if arg.Value != nil {
				c.constant(arg.Value)
			}
		}
	case *Flow:
		jump := n.Kind == Break || n.Kind == Continue
		if c.finally > 0 && (n.Kind == Return || jump && c.loops == 0) {
			c.fail(n, "ControlLeavingFinally")
		}
	}
}

// target checks the left side of an assignment.
func (c *checker) target(e Expr) {
	switch e := e.(type) {
	case *Variable, *Member, *Index: // a splat is reported as such
	case *Cast:
		c.p.outside(e.From.Offset, "a type before the variable that is assigned", "convert the value")
	case *ArrayLiteral:
		c.p.outside(e.From.Offset, "an assignment to several variables", "assign to one after the other")
	case *Invoke:
		c.p.outside(e.From.Offset, "an assignment to a method call", "assign to a property or to an index")
	case *Paren:
		c.p.outside(e.From.Offset, "parentheses around what is assigned to", "leave them out")
	default:
		c.fail(e, "InvalidLeftHandSide")
	}
}

// stepTarget checks the operand of ++ and --.
func (c *checker) stepTarget(n *Unary) {
	switch n.Operand.(type) {
	case *Variable, *Member, *Index:
	default:
		c.p.outside(n.From.Offset, "the operators ++ and -- on anything but a variable or a property",
			"write it out with = and +")
	}
}

// replacement checks the right operand of -replace, because versions of PowerShell disagree about script
// blocks there.
func (c *checker) replacement(e *Binary) {
	operands, ok := e.Right.(*ArrayLiteral)
	if !ok || e.Op != Replace || len(operands.Items) != 2 {
		return
	}
	if with, block := operands.Items[1].(*ScriptBlockExpr); block {
		c.p.outside(with.From.Offset, "a script block behind -replace",
			"call [regex]::Replace with it: Windows PowerShell would put in the block's text")
	}
}

func (c *checker) keys(h *Hash) {
	seen := map[string]bool{}
	for _, entry := range h.Entries {
		var key string
		switch k := entry.Key.(type) {
		case *String:
			key = k.Value
		default:
			continue
		}
		if seen[strings.ToUpper(key)] {
			c.fail(entry.Key, "DuplicateKeyInHashLiteral", key)
		}
		seen[strings.ToUpper(key)] = true
	}
}

func (c *checker) arguments(cmd *Command) {
	for _, arg := range cmd.Args {
		switch arg := arg.(type) {
		case *Variable:
			c.splats[arg] = true
		case *ArrayLiteral:
			for _, item := range arg.Items {
				if v, ok := item.(*Variable); ok && v.Splat {
					c.splats[v] = true
					c.fail(v, "SplattingNotPermittedInArgumentList", v.Name)
				}
			}
		}
	}
}

func (c *checker) params(params []*Param) {
	seen := map[string]bool{}
	for _, param := range params {
		name := strings.ToUpper(param.Name.Name)
		if seen[name] {
			c.fail(param, "DuplicateFormalParameter", param.Name.Name)
		}
		seen[name] = true
		for _, t := range param.Types {
			if strings.EqualFold(t.String(), "void") {
				c.fail(t, "VoidTypeConstraintNotAllowed")
			}
		}
	}
}

// constant checks an argument of an attribute.
func (c *checker) constant(e Expr) {
	switch e := e.(type) {
	case *Number, *String:
		return
	case *Variable:
		switch strings.ToLower(e.Name) {
		case "true", "false", "null":
			return
		}
	}
	c.fail(e, "ParameterAttributeArgumentNeedsToBeConstantOrScriptBlock")
}
