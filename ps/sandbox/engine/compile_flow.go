package engine

import (
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

func (c *compiler) functionDef(s *syntax.FunctionDef) stmtFn {
	name, scopeName := functionName(s.Name)
	code := c.scriptBlock(s.Body, name)
	return func(f *frame, _ sink) error {
		f.s.defineFunction(f.scope, scopeName, &function{name: name, code: code, home: f.scope.script().home})
		return nil
	}
}

func (c *compiler) ifStatement(s *syntax.If) stmtFn {
	type clause struct {
		cond func(f *frame) (bool, error)
		body stmtFn
	}
	clauses := make([]clause, len(s.Clauses))
	for i, cl := range s.Clauses {
		clauses[i] = clause{c.condition(cl.Cond), c.block(cl.Body)}
	}
	var otherwise stmtFn
	if s.Else != nil {
		otherwise = c.block(s.Else)
	}
	return func(f *frame, out sink) error {
		for i := range clauses {
			yes, err := clauses[i].cond(f)
			if err != nil {
				return err
			}
			if yes {
				return clauses[i].body(f, out)
			}
		}
		if otherwise != nil {
			return otherwise(f, out)
		}
		return nil
	}
}

// loopControl interprets the error of a loop's body. stop means that the loop ends.
func loopControl(err error) (stop bool, out error) {
	switch err {
	case nil, flowContinue:
		return false, nil
	case flowBreak:
		return true, nil
	}
	return true, err
}

// forEachLoop is a compiled foreach statement without its collection.
type forEachLoop struct {
	assign    func(f *frame, v any) error
	body      stmtFn
	at, varAt *place
}

func (c *compiler) forEach(s *syntax.ForEach) stmtFn {
	var in, copied exprFn
	if x := loneExpr(s.In); x != nil {
		if array, ok := x.Expr.(*syntax.ArrayExpr); ok {
			copied = c.blockValue(array.Body)
		}
	}
	_, assigns := s.In.(*syntax.Assignment)
	command := loneExpr(s.In) == nil && !assigns
	if copied == nil && !command {
		in = c.value(s.In)
	}
	loop := &forEachLoop{assign: c.assignTo(s.Var), body: c.block(s.Body), at: c.place(s), varAt: c.place(s.Var)}
	if copied != nil {
		return loop.overCopy(copied, c.place(loneExpr(s.In)))
	}
	if command {
		return loop.overOutput(c.statement(s.In), c.place(s.In))
	}
	return func(f *frame, out sink) error {
		v, err := in(f)
		if err != nil {
			return err
		}
		if isNull(v) {
			return nil
		}
		return loop.run(f, out, dotnet.EnumerateAny(v), dotnet.Watch(v))
	}
}

// overCopy runs foreach ($x in @(value)) without building the array.
func (l *forEachLoop) overCopy(value exprFn, at *place) stmtFn {
	return func(f *frame, out sink) error {
		v, err := value(f)
		if err != nil {
			return fail(err, at)
		}
		var buf [8]any
		items, err := f.copied(v, buf[:0])
		if err != nil {
			return fail(err, at)
		}
		return l.run(f, out, items, unchanged)
	}
}

// overOutput runs foreach ($x in command). The output of the command is a list, even if it is a single null.
func (l *forEachLoop) overOutput(run stmtFn, at *place) stmtFn {
	return func(f *frame, out sink) error {
		written := collector{f: f}
		if err := run(f, &written); err != nil {
			return err
		}
		if len(written.items) == 1 {
			if _, many := dotnet.Enumerate(written.items[0]); many {
				return fail(dotnet.Refuse(
					"foreach over a command that writes a collection as one object; assign it first"), at)
			}
		}
		return l.run(f, out, written.items, unchanged)
	}
}

func unchanged() bool { return false }

func (l *forEachLoop) run(f *frame, out sink, items []any, changed func() bool) error {
	for _, item := range items {
		if changed() {
			break
		}
		if err := f.step(l.at); err != nil {
			return err
		}
		if err := l.assign(f, item); err != nil {
			return err
		}
		if stop, err := loopControl(l.body(f, out)); stop || err != nil {
			return err
		}
	}
	if changed() {
		return fail(dotnet.CollectionModified(), l.varAt)
	}
	return nil
}

func (c *compiler) forLoop(s *syntax.For) stmtFn {
	var init, next exprFn
	var cond func(f *frame) (bool, error)
	if s.Init != nil {
		init = c.quiet(s.Init)
	}
	if s.Cond != nil {
		cond = c.condition(s.Cond)
	}
	if s.Next != nil {
		next = c.quiet(s.Next)
	}
	body := c.block(s.Body)
	at := c.place(s)
	return func(f *frame, out sink) error {
		if init != nil {
			if _, err := init(f); err != nil {
				return err
			}
		}
		for {
			if err := f.step(at); err != nil {
				return err
			}
			if cond != nil {
				if yes, err := cond(f); err != nil || !yes {
					return err
				}
			}
			if stop, err := loopControl(body(f, out)); stop || err != nil {
				return err
			}
			if next != nil {
				if _, err := next(f); err != nil {
					return err
				}
			}
		}
	}
}

// quiet compiles a statement whose output is discarded, such as the parts of a for loop.
func (c *compiler) quiet(s syntax.Statement) exprFn {
	run := c.statement(s)
	return func(f *frame) (any, error) { return nil, run(f, dropper{}) }
}

func (c *compiler) while(s *syntax.While) stmtFn {
	cond := c.condition(s.Cond)
	body := c.block(s.Body)
	at := c.place(s)
	return func(f *frame, out sink) error {
		for {
			if err := f.step(at); err != nil {
				return err
			}
			if yes, err := cond(f); err != nil || !yes {
				return err
			}
			if stop, err := loopControl(body(f, out)); stop || err != nil {
				return err
			}
		}
	}
}

func (c *compiler) doLoop(s *syntax.DoLoop) stmtFn {
	cond := c.condition(s.Cond)
	body := c.block(s.Body)
	at := c.place(s)
	until := s.Until
	return func(f *frame, out sink) error {
		for {
			if err := f.step(at); err != nil {
				return err
			}
			if stop, err := loopControl(body(f, out)); stop || err != nil {
				return err
			}
			if yes, err := cond(f); err != nil || yes == until {
				return err
			}
		}
	}
}

// flow compiles return, throw, exit, break and continue.
func (c *compiler) flow(s *syntax.Flow) stmtFn {
	switch s.Kind {
	case syntax.Return:
		return c.returnStatement(s)
	case syntax.Throw:
		return c.throw(s)
	case syntax.Exit:
		return c.exit(s)
	}
	leave := flowBreak
	if s.Kind == syntax.Continue {
		leave = flowContinue
	}
	return func(*frame, sink) error { return leave }
}

func (c *compiler) returnStatement(s *syntax.Flow) stmtFn {
	if s.Value == nil {
		return func(*frame, sink) error { return flowReturn }
	}
	run := c.statement(s.Value)
	return func(f *frame, out sink) error {
		if err := run(f, out); err != nil {
			return err
		}
		return flowReturn
	}
}

func (c *compiler) exit(s *syntax.Flow) stmtFn {
	code := func(*frame) (any, error) { return int32(0), nil }
	if s.Value != nil {
		code = c.value(s.Value)
	}
	return func(f *frame, _ sink) error {
		v, err := code(f)
		if err != nil {
			return err
		}
		n, err := dotnet.Convert(v, dotnet.TInt32)
		if err != nil {
			n = int32(0)
		}
		return &ExitError{Code: int(n.(int32))}
	}
}

func (c *compiler) throw(s *syntax.Flow) stmtFn {
	at := c.place(s)
	if s.Value == nil {
		return func(f *frame, _ sink) error {
			if n := len(f.s.catching); n > 0 {
				return &psError{rec: f.s.catching[n-1], thrown: true}
			}
			return f.thrown(dotnet.ThrowValue("ScriptHalted"), at)
		}
	}
	value := c.value(s.Value)
	return func(f *frame, _ sink) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		return f.thrown(dotnet.ThrowValue(v), at)
	}
}

// thrown returns the error of a throw statement.
func (f *frame) thrown(rec *dotnet.ErrorRecord, at *place) error {
	locate(rec, at)
	return &psError{rec: rec, thrown: true}
}

func (c *compiler) try(s *syntax.Try) stmtFn {
	body := c.block(s.Body)
	var catch, finally stmtFn
	if s.Catch != nil {
		catch = c.block(s.Catch.Body)
	}
	if s.Finally != nil {
		finally = c.block(s.Finally)
	}
	at := c.place(s)
	run := func(f *frame, out sink) error {
		if catch == nil {
			return body(f, out)
		}
		f.s.inTry++
		err := body(f, out)
		f.s.inTry--
		if pe := asPS(err); pe != nil {
			return f.catch(catch, pe.rec, out)
		}
		return err
	}
	if finally == nil {
		return run
	}
	return func(f *frame, out sink) error {
		err := run(f, out)
		if limit := f.stopped(err); limit != nil {
			return limit
		}
		if after := finally(f, out); after != nil {
			return fail(after, at)
		}
		return err
	}
}

// catch runs a catch block with $_ as the record.
func (f *frame) catch(body stmtFn, rec *dotnet.ErrorRecord, out sink) error {
	old, had := f.scope.setUnder(rec)
	f.s.catching = append(f.s.catching, rec)
	err := body(f, out)
	f.s.catching = f.s.catching[:len(f.s.catching)-1]
	f.scope.restoreUnder(old, had)
	return err
}

// stopped returns err if it must end the run before finally blocks, otherwise nil.
func (f *frame) stopped(err error) error {
	switch err.(type) {
	case *LimitError, *DefectError, *dotnet.LimitError, *dotnet.Refused:
		return err
	}
	return nil
}
