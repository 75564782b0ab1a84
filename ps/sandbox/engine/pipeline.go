package engine

import (
	"regexp"
	"slices"
	"sync/atomic"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// stage is a command in a pipeline. end runs the command. A stage that takes input is a receiver, and
// receives all input before end is called. A stage pushes its output into the next stage.
type stage interface{ end() error }

// receiver is a stage that accepts the objects of a pipeline.
type receiver interface {
	stage
	process(v any) error
}

// stageNode is the position of a stage in a pipeline, and the sink of the previous stage.
type stageNode struct {
	run   *pipelineRun
	stage stage
	inv   *invocation
}

// pipelineRun is one run of a pipeline with several commands.
type pipelineRun struct {
	nodes   []*stageNode
	failure error // of a stage that received input
}

func (n *stageNode) write(v any) error {
	err := n.stage.(receiver).process(v)
	switch e := err.(type) {
	case nil:
		return nil
	case *LimitError, *DefectError, *ExitError, *dotnet.Refused:
		return err
	case *pipelineStopped:
		if e.p == n.run {
			return err
		}
	}
	n.run.failure = err
	return &pipelineStopped{n.run}
}

// execute ends the stages in order, after feeding the first one.
func (r *pipelineRun) execute(feed func() error) error {
	settle := func(err error) error {
		if e, ok := err.(*pipelineStopped); ok && e.p == r {
			return r.failure
		}
		return err
	}
	if err := feed(); err != nil {
		return settle(err)
	}
	for _, n := range r.nodes {
		if err := n.stage.end(); err != nil {
			return settle(err)
		}
	}
	return nil
}

// element is a compiled stage of a pipeline.
type element struct {
	command *commandCode
	expr    exprFn // only for the first element
	at      *place
}

// pipeline compiles a pipeline.
func (c *compiler) pipeline(p *syntax.Pipeline) stmtFn {
	elements := make([]element, len(p.Elements))
	for i, e := range p.Elements {
		switch e := e.(type) {
		case *syntax.ExprElement:
			if len(p.Elements) == 1 {
				return c.expressionStatement(e.Expr)
			}
			elements[i] = element{expr: c.expr(e.Expr), at: c.place(e)}
		case *syntax.Command:
			elements[i] = element{command: c.command(e), at: c.place(e)}
		}
	}
	if len(elements) == 1 {
		return singleCommand(&elements[0])
	}
	at := c.place(p)
	return func(f *frame, out sink) error { return runPipeline(f, elements, out, at) }
}

func singleCommand(e *element) stmtFn {
	return func(f *frame, out sink) error {
		inv, err := e.command.invocation(f, false)
		if err != nil {
			return err
		}
		st, err := e.command.stage(inv, out)
		if err != nil {
			return fail(err, e.at)
		}
		err = st.end()
		f.s.ok = err == nil && !inv.hadError
		if err != nil {
			return fail(err, e.at)
		}
		f.s.spare.completed(inv, st)
		return nil
	}
}

func runPipeline(f *frame, elements []element, out sink, at *place) error {
	if len(elements) > f.s.limits.PipelineDepth {
		return &LimitError{Limit: "PipelineDepth", Line: at.line()}
	}
	commands, run := elements, &pipelineRun{}
	feed := func() error { return nil }
	if first := elements[0]; first.expr != nil {
		input, err := first.expr(f)
		if err != nil {
			return fail(err, first.at)
		}
		commands = elements[1:]
		feed = func() error { return emit(run.nodes[0], input) }
	}
	for i := range commands {
		inv, err := commands[i].command.invocation(f, i > 0 || len(commands) < len(elements))
		if err != nil {
			return fail(err, commands[i].at)
		}
		run.nodes = append(run.nodes, &stageNode{run: run, inv: inv})
	}
	for i, n := range run.nodes {
		target := out
		if i+1 < len(run.nodes) {
			target = run.nodes[i+1]
		}
		st, err := commands[i].command.stage(n.inv, target)
		if err != nil {
			return fail(err, commands[i].at)
		}
		n.stage = st
	}
	for _, n := range run.nodes {
		if st, ok := n.stage.(*blockStage); ok && st.line != nil {
			if err := st.start(); err != nil {
				return fail(err, n.inv.at)
			}
		}
	}
	err := run.execute(feed)
	f.s.ok = err == nil && !slices.ContainsFunc(run.nodes, func(n *stageNode) bool { return n.inv.hadError })
	if err != nil {
		return fail(err, at)
	}
	for _, n := range run.nodes {
		f.s.spare.completed(n.inv, n.stage)
	}
	return nil
}

// argCode is one compiled argument.
type argCode struct {
	name    string
	hasName bool
	value   exprFn // nil for a name alone
	splat   bool
	at      *place
	valueAt *place
	meant   *atomic.Pointer[meaning] // cache of lookUp, nil without a name
}

// meaning caches the parameter that a name resolved to, with its command. A call site
// usually calls the same command each time.
type meaning struct {
	sig   *signature
	param *param
}

// lookUp returns the parameter of a signature that the argument names by its
// full name or an alias, or nil.
func (a *argCode) lookUp(sig *signature) *param {
	if last := a.meant.Load(); last != nil && last.sig == sig {
		return last.param
	}
	p := sig.param(a.name)
	if p != nil {
		a.meant.Store(&meaning{sig, p})
	}
	return p
}

// commandCode is a compiled call.
type commandCode struct {
	name     string // as written; empty for an expression
	key      string
	refused  bool // key is a refused alias
	nameExpr exprFn
	dot      bool // dot-sourced: runs in the caller's scope
	args     []argCode
	at       *place
}

func (c *compiler) command(cmd *syntax.Command) *commandCode {
	code := &commandCode{dot: cmd.Operator == syntax.CallDot, at: c.place(cmd)}
	if s, ok := cmd.Name.(*syntax.String); ok && s.Value != "" {
		code.name, code.key = s.Value, lower(s.Value)
		if full, ok := c.aliases[code.key]; ok {
			code.key = lower(full)
		}
		code.refused = refusedAliases[code.key]
	} else {
		code.nameExpr = c.expr(cmd.Name)
	}
	for _, arg := range cmd.Args {
		switch a := arg.(type) {
		case *syntax.CommandParam:
			x := argCode{name: a.Name, hasName: true, at: c.place(a), meant: new(atomic.Pointer[meaning])}
			if a.Value != nil {
				c.numberArgument(a.Value)
				x.value, x.valueAt = c.expr(a.Value), c.place(a.Value)
			}
			code.args = append(code.args, x)
		case *syntax.Variable:
			code.args = append(code.args, argCode{value: c.expr(a), splat: a.Splat, at: c.place(a)})
		case syntax.Expr:
			c.numberArgument(a)
			code.args = append(code.args, argCode{value: c.expr(a), at: c.place(a)})
		}
	}
	return code
}

// numberArgument refuses a number whose text the tree does not keep as written. A parameter
// of type string must receive 007, not 7.
func (c *compiler) numberArgument(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.String:
		if e.Quote == syntax.BareWord && otherNumber.MatchString(e.Value) {
			c.refuse(e, "the number "+e.Value)
		}
	case *syntax.Number:
		if e.Text != dotnet.ToText(e.Value) {
			c.refuse(e, "the number "+e.Text+" as an argument: write it in parentheses")
		}
	}
}

// otherNumber matches words that are numbers in PowerShell but not in this engine.
var otherNumber = regexp.MustCompile(`(?i)^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+|0x[0-9a-f]+|0b[01]+)(e[-+]?[0-9]+)?(u?[lsy]|[und])?([kmgtp]b)?$`)

// invocation finds the command and evaluates the arguments.
func (code *commandCode) invocation(f *frame, hasPipe bool) (*invocation, error) {
	if err := f.step(code.at); err != nil {
		return nil, err
	}
	inv := f.s.spare.invocation()
	inv.f, inv.at, inv.hasPipe, inv.called = f, code.at, hasPipe, code.name
	if err := code.callee(f, inv); err != nil {
		return nil, err
	}
	if err := code.arguments(f, inv); err != nil {
		return nil, err
	}
	return inv, nil
}

// callee resolves the target of a call: a script block, or a command by name.
func (code *commandCode) callee(f *frame, inv *invocation) error {
	key, refused := code.key, code.refused
	if code.nameExpr != nil {
		v, err := code.nameExpr(f)
		if err != nil {
			return err
		}
		if block, ok := v.(*ScriptBlock); ok {
			code, err := block.code.ready()
			if err != nil {
				return err
			}
			inv.block, inv.sig, inv.home = code, code.sig, block.home
			return nil
		}
		inv.called = dotnet.ToText(v)
		if inv.called == "" {
			return fail(runtimeError("BadExpression", dotnet.InvalidOperation, nil,
				"The expression after '&' in a pipeline element produced an object that was not valid. It must result "+
					"in a command name, a script block, or a CommandInfo object."), code.at)
		}
		key = lower(inv.called)
		refused = refusedAliases[key]
	}
	if refused {
		return fail(dotnet.Refuse("the alias %s", inv.called), inv.at)
	}
	return f.findCommand(key, inv)
}

// stage binds the arguments and returns the stage of the call.
func (code *commandCode) stage(inv *invocation, out sink) (stage, error) {
	takes := inv.command != nil && inv.command.takesInput
	if inv.block != nil {
		takes = inv.block.process && inv.sig.advanced && !code.dot
	}
	if inv.hasPipe && !takes {
		return nil, dotnet.Refuse("pipeline input to %s", inv.sig.name)
	}
	if inv.block != nil {
		return newBlockStage(inv, inv.block, out, code.dot)
	}
	if err := inv.bind(); err != nil {
		return nil, err
	}
	return inv.command.make(inv, out)
}

// arguments evaluates the arguments. Splatted ones come last, because written arguments take precedence.
func (code *commandCode) arguments(f *frame, inv *invocation) error {
	if len(code.args) == 0 {
		return nil
	}
	args := f.s.spare.argumentList(len(code.args))
	var late []argument
	for i := range code.args {
		a := &code.args[i]
		args = append(args, argument{name: a.name, hasName: a.hasName, at: a.at, valueAt: a.valueAt})
		arg := &args[len(args)-1]
		if a.hasName {
			arg.param = a.lookUp(inv.sig)
		}
		if a.value == nil {
			continue
		}
		v, err := a.value(f)
		if err != nil {
			return fail(err, code.at)
		}
		if !a.splat {
			arg.hasValue, arg.value = true, plain(v)
			continue
		}
		args = args[:len(args)-1]
		table, ok := v.(*dotnet.Hashtable)
		if !ok && !isNull(v) {
			return fail(dotnet.Refuse("splatting of anything but a hashtable"), a.at)
		}
		if ok {
			if late == nil {
				late = f.s.spare.argumentList(table.Len())
			}
			late = appendSplat(late, table, a.at)
		}
	}
	inv.args = append(args, late...)
	f.s.spare.release(late)
	inv.argList = inv.args
	return nil
}

// appendSplat adds the entries of a splatted dictionary.
func appendSplat(args []argument, table *dotnet.Hashtable, at *place) []argument {
	for i := range table.Len() {
		key, value := table.At(i)
		args = append(args, argument{name: dotnet.ToText(key), hasName: true, hasValue: true, splat: true,
			value: plain(value), at: at})
	}
	return args
}

// spare contains the memory of completed calls, which later calls of the session use again. Only a call
// that has succeeded leaves its memory, because an error may refer to it.
type spare struct {
	calls     []*invocation
	stages    []*blockStage
	arguments [][]argument
	outputs   []*collector
}

// take removes the last item of a list and returns it, or the zero value if the list is empty.
func take[T any](list *[]T) (item T) {
	if last := len(*list) - 1; last >= 0 {
		item = (*list)[last]
		*list = (*list)[:last]
	}
	return item
}

// invocation returns an empty invocation.
func (s *spare) invocation() *invocation {
	if inv := take(&s.calls); inv != nil {
		return inv
	}
	return &invocation{}
}

// stage returns an empty stage with capacity for n variables.
func (s *spare) stage(n int) *blockStage {
	st := take(&s.stages)
	if st == nil {
		st = &blockStage{}
	}
	if cap(st.own.vars) < n {
		st.own.vars = make([]variable, 0, n)
	}
	return st
}

// completed reclaims the memory of a successful call.
func (s *spare) completed(inv *invocation, st stage) {
	if called, ok := st.(*blockStage); ok {
		if called.kept {
			return
		}
		sc := &called.own
		clear(sc.vars)
		clear(sc.index)
		*called = blockStage{own: scope{vars: sc.vars[:0], index: sc.index}}
		s.stages = append(s.stages, called)
	}
	clear(inv.values)
	*inv = invocation{values: inv.values[:0], bound: indexSet{more: inv.bound.more[:0]}}
	s.calls = append(s.calls, inv)
}

// argumentList returns an empty list with capacity for at least n arguments.
func (s *spare) argumentList(n int) []argument {
	if list := take(&s.arguments); cap(list) >= n {
		return list
	}
	return make([]argument, 0, max(n, 8))
}

// release reclaims a list whose arguments have been bound or copied.
func (s *spare) release(list []argument) {
	const most = 64 // longer lists are not kept
	if cap(list) == 0 || cap(list) > most {
		return
	}
	clear(list)
	s.arguments = append(s.arguments, list[:0])
}

// output returns an empty collector.
func (s *spare) output(f *frame) *collector {
	c := take(&s.outputs)
	if c == nil {
		c = &collector{}
	}
	c.f = f
	return c
}

// collected reclaims a collector after its output has become a value. A list of several items is now part of
// that value.
func (s *spare) collected(c *collector) {
	*c = collector{}
	s.outputs = append(s.outputs, c)
}
