package engine

import (
	"fmt"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// exprFn returns the value of an expression or of a statement used as one.
type exprFn func(f *frame) (any, error)

// stmtFn runs a statement and writes its output.
type stmtFn func(f *frame, out sink) error

// compiler compiles the tree of one text to closures.
type compiler struct {
	src     *syntax.Source
	aliases map[string]string // available to the text
	faults  []*syntax.Error   // reasons to refuse the text
	vars    map[symbol]bool   // assigned by the current block
	lines   int               // of the text that come before src
}

// assigns records that the current block assigns a variable.
func (c *compiler) assigns(sym symbol) {
	if c.vars != nil {
		c.vars[sym] = true
	}
}

func (c *compiler) place(n syntax.Node) *place {
	at := n.Extent()
	at.From.Line += c.lines
	return &place{src: c.src, at: at}
}

// blockCode is a compiled script block. It is shared and never changed.
type blockCode struct {
	src   *syntax.Source
	at    syntax.Span
	place *place

	params  []*syntax.Param
	attrs   []*syntax.Attribute
	sig     *signature
	begin   stmtFn // may be nil
	end     stmtFn // may be nil
	body    stmtFn
	process bool // the body runs for each object of the pipeline

	vars int // capacity of its scope: parameters and assigned variables

	// later compiles the block at its first call. Then only src and at of this blockCode are set. It is nil if
	// the block is compiled.
	later func() (*blockCode, error)
}

// text is the result of the block's ToString method.
func (b *blockCode) text() string { return b.src.Slice(b.at) }

// scriptBlock compiles a script block, or the body of a function of that name.
func (c *compiler) scriptBlock(b *syntax.ScriptBlock, name string) *blockCode {
	code := &blockCode{src: c.src, at: b.Span, place: c.place(b)}
	around := c.vars
	c.vars = map[symbol]bool{}
	defer func() { c.vars = around }()
	if b.Param != nil {
		code.params, code.attrs = b.Param.Params, b.Param.Attributes
	}
	if b.Begin != nil {
		code.begin = c.block(b.Begin)
	}
	if b.End != nil {
		code.end = c.block(b.End)
	}
	code.body, code.process = c.block(b.Body), b.Process
	code.sig = c.signature(code, name)
	code.vars = code.sig.own + len(c.vars)
	return code
}

// block compiles a sequence of statements, each with its own error handling.
func (c *compiler) block(b *syntax.Block) stmtFn {
	if b == nil || len(b.Statements) == 0 {
		return func(*frame, sink) error { return nil }
	}
	stmts := make([]stmtFn, len(b.Statements))
	places := make([]*place, len(b.Statements))
	for i, s := range b.Statements {
		stmts[i] = c.statement(s)
		places[i] = c.place(s)
	}
	if len(stmts) == 1 {
		only, at := stmts[0], places[0]
		return func(f *frame, out sink) error {
			if err := f.step(at); err != nil {
				return err
			}
			if err := only(f, out); err != nil {
				return f.statementError(err, at)
			}
			return nil
		}
	}
	return func(f *frame, out sink) error {
		for i, stmt := range stmts {
			if err := f.step(places[i]); err != nil {
				return err
			}
			if err := stmt(f, out); err != nil {
				if err = f.statementError(err, places[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// statement compiles one statement.
func (c *compiler) statement(s syntax.Statement) stmtFn {
	switch s := s.(type) {
	case *syntax.Pipeline:
		return c.pipeline(s)
	case *syntax.Assignment:
		run := c.assignment(s)
		return func(f *frame, _ sink) error {
			_, err := run(f)
			return err
		}
	case *syntax.FunctionDef:
		return c.functionDef(s)
	case *syntax.If:
		return c.ifStatement(s)
	case *syntax.ForEach:
		return c.forEach(s)
	case *syntax.For:
		return c.forLoop(s)
	case *syntax.While:
		return c.while(s)
	case *syntax.DoLoop:
		return c.doLoop(s)
	case *syntax.Switch:
		return c.switchStatement(s)
	case *syntax.Try:
		return c.try(s)
	case *syntax.Flow:
		return c.flow(s)
	}
	panic(fmt.Sprintf("engine: no statement: %T", s))
}

// refuse records a construct that the engine does not support. The text is then refused before it runs.
func (c *compiler) refuse(n syntax.Node, what string) {
	c.faults = append(c.faults, &syntax.Error{ID: syntax.IDOutside, Outside: true, File: c.src.Name,
		Pos:     n.Extent().From,
		Message: "Outside the script subset: " + what + "."})
}

// value compiles a statement used as a value. A single expression keeps its value unchanged;
// the output of any other statement is collected.
func (c *compiler) value(s syntax.Statement) exprFn {
	if e := loneExpr(s); e != nil {
		return c.located(c.expr(e.Expr), e)
	}
	if a, ok := s.(*syntax.Assignment); ok {
		return c.assignment(a)
	}
	run := c.statement(s)
	return func(f *frame) (any, error) {
		out := f.s.spare.output(f)
		if err := run(f, out); err != nil {
			return nil, err
		}
		v := out.value()
		f.s.spare.collected(out)
		return v, nil
	}
}

// loneExpr returns the expression that makes up the whole statement, or nil.
func loneExpr(s syntax.Statement) *syntax.ExprElement {
	if p, ok := s.(*syntax.Pipeline); ok && len(p.Elements) == 1 {
		if e, ok := p.Elements[0].(*syntax.ExprElement); ok {
			return e
		}
	}
	return nil
}

// output compiles a block to the value that make returns for its collected output.
func (c *compiler) output(b *syntax.Block, make func(c *collector) any) exprFn {
	run := c.block(b)
	return func(f *frame) (any, error) {
		out := f.s.spare.output(f)
		if err := run(f, out); err != nil {
			return nil, err
		}
		v := make(out)
		f.s.spare.collected(out)
		return v, nil
	}
}

// located adds the position of n to the errors of an expression.
func (c *compiler) located(run exprFn, n syntax.Node) exprFn {
	at := c.place(n)
	return func(f *frame) (any, error) {
		v, err := run(f)
		if err != nil {
			return nil, fail(err, at)
		}
		return v, nil
	}
}

// condition compiles a statement used as a condition.
func (c *compiler) condition(s syntax.Statement) func(f *frame) (bool, error) {
	if e := loneExpr(s); e != nil {
		return truth(c.located(c.expr(e.Expr), e))
	}
	return truth(c.value(s))
}

func truth(run exprFn) func(f *frame) (bool, error) {
	return func(f *frame) (bool, error) {
		v, err := run(f)
		if err != nil {
			return false, err
		}
		return dotnet.Truthy(v), nil
	}
}

// isStep reports whether an expression is a ++ or --, which has no output.
func isStep(e syntax.Expr) bool {
	u, ok := e.(*syntax.Unary)
	return ok && (u.Op == syntax.PostInc || u.Op == syntax.PostDec)
}

// expressionStatement compiles an expression used as a statement. Its value is emitted,
// except the value of ++ and --.
func (c *compiler) expressionStatement(e syntax.Expr) stmtFn {
	run := c.expr(e)
	if isStep(e) {
		return func(f *frame, _ sink) error {
			_, err := run(f)
			return err
		}
	}
	return func(f *frame, out sink) error {
		v, err := run(f)
		if err != nil {
			return err
		}
		f.s.ok = true
		return emit(out, v)
	}
}
