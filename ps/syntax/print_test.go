package syntax

import (
	"strings"
)

// Print writes a tree as text again, one statement per line. Parsing the text results in the
// same tree, apart from positions. Comments are not part of a tree.
func Print(n Node) string {
	p := &printer{}
	p.node(n)
	return p.b.String()
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) add(parts ...string) {
	for _, part := range parts {
		p.b.WriteString(part)
	}
}

func (p *printer) line() {
	p.add("\n", strings.Repeat("    ", p.indent))
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Script:
		p.scriptBlock(n.Block)
		p.add("\n")
	case *ScriptBlock:
		p.scriptBlock(n)
	case *ParamBlock:
		p.paramBlock(n)
	case *Param:
		p.param(n)
	case *Attribute:
		p.attribute(n)
	case *TypeName:
		p.add(n.String())
	case *Block:
		p.block(n)
	case Element:
		p.element(n)
	case Statement:
		p.statement(n)
	case Expr:
		p.expr(n)
	default:
		p.part(n)
	}
}

// part writes a node that is only part of another node.
func (p *printer) part(n Node) {
	switch n := n.(type) {
	case *NamedArg:
		p.add(n.Name)
		if n.Value != nil {
			p.add(" = ")
			p.expr(n.Value)
		}
	case *CommandParam:
		p.add("-", n.Name)
		if n.Value != nil {
			p.add(":")
			p.expr(n.Value)
		}
	case *HashEntry:
		p.expr(n.Key)
		p.add(" = ")
		p.statement(n.Value)
	case *IfClause:
		p.add("if (")
		p.statement(n.Cond)
		p.add(") ")
		p.block(n.Body)
	case *SwitchClause:
		p.expr(n.Test)
		p.add(" ")
		p.block(n.Body)
	case *Catch:
		p.add("catch ")
		p.block(n.Body)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *printer) scriptBlock(s *ScriptBlock) {
	if s.Param != nil {
		p.paramBlock(s.Param)
		p.line()
	}
	if s.Begin != nil {
		p.add("begin ")
		p.block(s.Begin)
		p.line()
	}
	if s.Process {
		p.add("process ")
		p.block(s.Body)
		if s.End != nil {
			p.line()
			p.add("end ")
			p.block(s.End)
		}
		return
	}
	p.statements(s.Body)
}

func (p *printer) paramBlock(n *ParamBlock) {
	for _, a := range n.Attributes {
		p.attribute(a)
		p.line()
	}
	p.add("param(")
	p.params(n.Params)
	p.add(")")
}

func (p *printer) params(params []*Param) {
	p.indent++
	for i, param := range params {
		if i > 0 {
			p.add(",")
		}
		p.line()
		p.param(param)
	}
	p.indent--
}

func (p *printer) param(n *Param) {
	for _, a := range n.Attributes {
		p.attribute(a)
		p.add(" ")
	}
	for _, t := range n.Types {
		p.add("[", t.String(), "] ")
	}
	p.variable(n.Name)
	if n.Default != nil {
		p.add(" = ")
		p.expr(n.Default)
	}
}

func (p *printer) attribute(n *Attribute) {
	p.add("[", n.Type.String(), "(")
	p.list(n.Positional)
	for i, arg := range n.Named {
		if i > 0 || len(n.Positional) > 0 {
			p.add(", ")
		}
		p.part(arg)
	}
	p.add(")]")
}

func (p *printer) statements(b *Block) {
	for i, s := range b.Statements {
		if i > 0 {
			p.line()
		}
		p.statement(s)
	}
}

// braced writes a body in braces with its lines indented.
func (p *printer) braced(body func()) {
	p.add("{")
	p.indent++
	p.line()
	body()
	p.indent--
	p.line()
	p.add("}")
}

func (p *printer) block(b *Block) {
	if len(b.Statements) == 0 {
		p.add("{ }")
		return
	}
	p.braced(func() { p.statements(b) })
}

// inline writes statements on one line, for $( ) and @( ).
func (p *printer) inline(b *Block) {
	for i, s := range b.Statements {
		if i > 0 {
			p.add("; ")
		}
		p.statement(s)
	}
}

func (p *printer) list(items []Expr) {
	for i, item := range items {
		if i > 0 {
			p.add(", ")
		}
		p.expr(item)
	}
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *Pipeline:
		for i, e := range s.Elements {
			if i > 0 {
				p.add(" | ")
			}
			p.element(e)
		}
	case *Assignment:
		p.expr(s.Target)
		p.add(" ", [...]string{"=", "+=", "-="}[s.Op], " ")
		p.statement(s.Value)
	case *FunctionDef:
		p.function(s)
	case *If:
		for i, clause := range s.Clauses {
			if i > 0 {
				p.add(" else")
			}
			p.part(clause)
		}
		if s.Else != nil {
			p.add(" else ")
			p.block(s.Else)
		}
	case *Try:
		p.add("try ")
		p.block(s.Body)
		if s.Catch != nil {
			p.add(" ")
			p.part(s.Catch)
		}
		if s.Finally != nil {
			p.add(" finally ")
			p.block(s.Finally)
		}
	case *Flow:
		p.add([...]string{"return", "throw", "exit", "break", "continue"}[s.Kind])
		if s.Value != nil {
			p.add(" ")
			p.statement(s.Value)
		}
	default:
		p.loop(s)
	}
}

func (p *printer) function(f *FunctionDef) {
	p.add("function ", f.Name, " ")
	p.braced(func() { p.scriptBlock(f.Body) })
}

func (p *printer) loop(s Statement) {
	switch s := s.(type) {
	case *ForEach:
		p.add("foreach (")
		p.variable(s.Var)
		p.add(" in ")
		p.statement(s.In)
		p.add(") ")
		p.block(s.Body)
	case *For:
		p.add("for (")
		for i, part := range []Statement{s.Init, s.Cond, s.Next} {
			if i > 0 {
				p.add("; ")
			}
			if part != nil {
				p.statement(part)
			}
		}
		p.add(") ")
		p.block(s.Body)
	case *While:
		p.add("while (")
		p.statement(s.Cond)
		p.add(") ")
		p.block(s.Body)
	case *DoLoop:
		p.add("do ")
		p.block(s.Body)
		p.add([...]string{" while (", " until ("}[b2i(s.Until)])
		p.statement(s.Cond)
		p.add(")")
	case *Switch:
		p.switchLoop(s)
	}
}

func (p *printer) switchLoop(s *Switch) {
	p.add("switch (")
	p.statement(s.Value)
	p.add(") ")
	p.braced(func() {
		for i, c := range s.Clauses {
			if i > 0 {
				p.line()
			}
			p.part(c)
		}
	})
}

func (p *printer) element(e Element) {
	switch e := e.(type) {
	case *ExprElement:
		p.expr(e.Expr)
	case *Command:
		p.add([...]string{"", "& ", ". "}[e.Operator])
		p.expr(e.Name)
		for _, arg := range e.Args {
			p.add(" ")
			p.node(arg)
		}
	}
}
