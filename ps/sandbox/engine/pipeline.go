package engine

import (
	"slices"
	"strings"
	"sync/atomic"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// stage is a command in a pipeline. begin runs once, process for each input,
// end once after the last. What it emits it pushes into the next stage itself.
type stage interface {
	begin() error
	process(v any) error
	end() error
}

// stageNode is a stage and its place in a pipeline; it is the sink of the stage
// before it.
type stageNode struct {
	run   *pipelineRun
	stage stage
	inv   *invocation
	begun bool
}

// begin runs the stage's begin once: in its turn, or before its first input
// when a stage before it emits something in its own begin.
func (n *stageNode) begin() error {
	if n.begun {
		return nil
	}
	n.begun = true
	return n.stage.begin()
}

// pipelineRun is one run of a pipeline of several commands.
type pipelineRun struct {
	nodes   []*stageNode
	failure error // of a stage that was pushed into
}

func (n *stageNode) write(v any) error {
	err := n.begin()
	if err == nil {
		if err = n.stage.process(v); err == nil {
			return nil
		}
	}
	switch e := err.(type) {
	case *stopUpstream, *LimitError, *DefectError, *ExitError, *dotnet.Refused:
		return err
	case *pipelineStopped:
		if e.p == n.run {
			return err
		}
	}
	n.run.failure = err
	return &pipelineStopped{n.run}
}

// execute feeds the first stage and ends all of them in order.
func (r *pipelineRun) execute(feed func(first stage) error) error {
	from := 0
	settle := func(err error) (bool, error) {
		switch e := err.(type) {
		case nil:
			return true, nil
		case *pipelineStopped:
			if e.p == r {
				return false, r.failure
			}
		case *stopUpstream:
			if i := r.indexOf(e.wanted); i >= 0 {
				from = max(from, i)
				return true, nil
			}
		}
		return false, err
	}
	for _, n := range r.nodes {
		if ok, err := settle(n.begin()); !ok {
			return err
		}
	}
	if from == 0 {
		if ok, err := settle(feed(r.nodes[0].stage)); !ok {
			return err
		}
	}
	for i := 0; i < len(r.nodes); i++ {
		if i < from {
			continue
		}
		if ok, err := settle(r.nodes[i].stage.end()); !ok {
			return err
		}
	}
	return nil
}

func (r *pipelineRun) indexOf(n *stageNode) int {
	for i, x := range r.nodes {
		if x == n {
			return i
		}
	}
	return -1
}

// runAlone runs a stage that is no part of a pipeline and has no input.
func runAlone(st stage) error {
	if err := st.begin(); err != nil {
		return err
	}
	return st.end()
}

// redirect is the streams and output a command runs with.
type redirect func(f *frame, out sink) (*streams, sink)

// redirections compiles n>&1 and n>$null.
func redirections(list []*syntax.Redirection) redirect {
	if len(list) == 0 {
		return nil
	}
	return func(f *frame, out sink) (*streams, sink) {
		to := *f.streams
		target := out
		for _, r := range list {
			into := target
			if !r.Merge {
				into = dropper{}
			}
			switch {
			case r.Stream == 1 && !r.Merge:
				target = dropper{}
			case r.Stream == 0:
				for i := streamError; i <= streamInformation; i++ {
					to.merged[i] = into
				}
				if !r.Merge {
					target = dropper{}
				}
			case r.Stream >= streamError && r.Stream <= streamInformation:
				to.merged[r.Stream] = into
			}
		}
		return &to, target
	}
}

// element is a compiled stage of a pipeline.
type element struct {
	command  *commandCode
	expr     exprFn // of the first element only
	redirect redirect
	at       *place
}

// pipeline compiles a pipeline.
func (c *compiler) pipeline(p *syntax.Pipeline) stmtFn {
	elements := make([]element, len(p.Elements))
	for i, e := range p.Elements {
		switch e := e.(type) {
		case *syntax.ExprElement:
			if len(p.Elements) == 1 && len(e.Redirections) == 0 {
				return c.expressionStatement(e.Expr)
			}
			elements[i] = element{expr: c.expr(e.Expr), redirect: redirections(e.Redirections), at: c.place(e)}
		case *syntax.Command:
			elements[i] = element{command: c.command(e), redirect: redirections(e.Redirections), at: c.place(e)}
		default:
			return c.refuseStatement(p)
		}
	}
	if len(elements) == 1 {
		if elements[0].command != nil {
			return singleCommand(&elements[0])
		}
		only := &elements[0]
		return func(f *frame, out sink) error { return only.evaluate(f, out) }
	}
	at := c.place(p)
	return func(f *frame, out sink) error { return runPipeline(f, elements, out, at) }
}

// evaluate runs an expression element, in its redirected streams.
func (e *element) evaluate(f *frame, out sink) error {
	if e.redirect != nil {
		to, target := e.redirect(f, out)
		redirected := *f
		redirected.streams = to
		f, out = &redirected, target
	}
	v, err := e.expr(f)
	if err != nil {
		return fail(err, e.at)
	}
	f.s.ok = true
	return emit(out, v)
}

func singleCommand(e *element) stmtFn {
	return func(f *frame, out sink) error {
		to := f.streams
		if e.redirect != nil {
			to, out = e.redirect(f, out)
		}
		inv, err := e.command.invocation(f, to, false)
		if err != nil {
			return err
		}
		st, err := e.command.stage(inv, out)
		if err != nil {
			return fail(err, e.at)
		}
		err = runAlone(st)
		f.s.ok = err == nil && !inv.hadError
		if err != nil {
			return fail(err, e.at)
		}
		return nil
	}
}

func runPipeline(f *frame, elements []element, out sink, at *place) error {
	if len(elements) > f.s.limits.PipelineDepth {
		return &LimitError{Limit: "PipelineDepth", Line: at.line()}
	}
	commands := elements
	var input any
	if elements[0].expr != nil {
		v, err := elements[0].input(f)
		if err != nil {
			return fail(err, elements[0].at)
		}
		input = v
		commands = elements[1:]
	}
	run := &pipelineRun{nodes: make([]*stageNode, len(commands))}
	for i := range commands {
		run.nodes[i] = &stageNode{run: run}
	}
	targets := make([]sink, len(commands))
	for i := range commands {
		targets[i] = out
		if i+1 < len(commands) {
			targets[i] = run.nodes[i+1]
		}
		to := f.streams
		if commands[i].redirect != nil {
			to, targets[i] = commands[i].redirect(f, targets[i])
		}
		hasPipe := i > 0 || elements[0].expr != nil
		inv, err := commands[i].command.invocation(f, to, hasPipe)
		if err != nil {
			return fail(err, commands[i].at)
		}
		run.nodes[i].inv = inv
	}
	for i, n := range run.nodes {
		st, err := commands[i].command.stage(n.inv, targets[i])
		if err != nil {
			return fail(err, commands[i].at)
		}
		n.stage = st
		n.inv.node(n)
	}
	err := run.execute(func(first stage) error {
		if elements[0].expr == nil {
			return nil
		}
		return emit(sinkFunc(func(v any) error {
			if err := f.step(at); err != nil {
				return err
			}
			return first.process(v)
		}), input)
	})
	f.s.ok = err == nil
	for _, n := range run.nodes {
		f.s.ok = f.s.ok && !n.inv.hadError
	}
	if err != nil {
		return fail(err, at)
	}
	return nil
}

// input evaluates the expression at the start of a pipeline.
func (e *element) input(f *frame) (any, error) {
	if e.redirect == nil {
		return e.expr(f)
	}
	out := collector{f: f}
	if err := e.evaluate(f, &out); err != nil {
		return nil, err
	}
	return out.value(), nil
}

// argCode is one compiled argument.
type argCode struct {
	name    string
	hasName bool
	value   exprFn // nil: a name alone
	splat   bool
	isArgs  bool // @args: names in it stay names
	at      *place
	valueAt *place
	meant   *atomic.Pointer[meaning] // of the name, nil without one
}

// meaning is the parameter that a name meant when it was looked up last, and of
// which command: most calls call the same one each time.
type meaning struct {
	sig   *signature
	param *param
}

// lookUp is the parameter of a signature that the argument names by its full
// name or an alias; nil: none.
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
	name     string // of a plain name, else empty
	key      string
	nameExpr exprFn
	op       syntax.CallOperator
	args     []argCode
	at       *place
	simple   bool // no splats
}

func (c *compiler) command(cmd *syntax.Command) *commandCode {
	code := &commandCode{op: cmd.Operator, at: c.place(cmd), simple: true}
	if s, ok := cmd.Name.(*syntax.String); ok {
		code.name, code.key = s.Value, lower(s.Value)
		if full, ok := c.aliases[code.key]; ok {
			code.key = lower(full)
		}
	} else {
		code.nameExpr = c.expr(cmd.Name)
	}
	for _, arg := range cmd.Args {
		switch a := arg.(type) {
		case *syntax.CommandParam:
			if a.Name == "-" { // "--": what follows are values
				continue
			}
			x := argCode{name: a.Name, hasName: true, at: c.place(a), meant: new(atomic.Pointer[meaning])}
			if a.Value != nil {
				x.value, x.valueAt = c.expr(a.Value), c.place(a.Value)
			}
			code.args = append(code.args, x)
		case *syntax.Variable:
			x := argCode{value: c.expr(a), splat: a.Splat, isArgs: lower(a.Name) == "args", at: c.place(a)}
			code.simple = code.simple && !a.Splat
			code.args = append(code.args, x)
		case syntax.Expr:
			code.args = append(code.args, argCode{value: c.expr(a), at: c.place(a)})
		}
	}
	return code
}

// invocation finds the command and evaluates the arguments.
func (code *commandCode) invocation(f *frame, to *streams, hasPipe bool) (*invocation, error) {
	if err := f.step(code.at); err != nil {
		return nil, err
	}
	inv := &invocation{f: f, at: code.at, streams: to, hasPipe: hasPipe, called: code.name}
	target := any(nil)
	key := code.key
	if code.nameExpr != nil {
		v, err := code.nameExpr(f)
		if err != nil {
			return nil, err
		}
		if _, ok := v.(*ScriptBlock); ok {
			target = v
		} else if info, ok := v.(*commandInfo); ok {
			inv.called, key = info.name, lower(info.name)
		} else if isNull(v) || dotnet.ToText(v) == "" {
			return nil, fail(runtimeError("BadExpression", dotnet.InvalidOperation, nil,
				"The expression after '%s' in a pipeline element produced an object that was not valid. It must result in a command name, a script block, or a CommandInfo object.", code.operatorText()), code.at)
		} else {
			inv.called = dotnet.ToText(v)
			key = lower(inv.called)
		}
	}
	if target == nil {
		found, err := f.findCommand(key, inv.called, code.at)
		if err != nil {
			return nil, err
		}
		target = found
	}
	inv.target(target)
	if err := code.arguments(f, inv); err != nil {
		return nil, err
	}
	return inv, nil
}

func (code *commandCode) operatorText() string {
	if code.op == syntax.CallDot {
		return "."
	}
	return "&"
}

// arguments evaluates what stands after the name. Splatted values follow what
// is written, so that what is written wins.
func (code *commandCode) arguments(f *frame, inv *invocation) error {
	if len(code.args) == 0 {
		return nil
	}
	args := f.s.roomForArguments(len(code.args))
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
		if table, ok := v.(*dotnet.Hashtable); ok {
			late = appendSplat(late, table, a.at)
			continue
		}
		var names indexSet
		if call := f.scope.calling(); a.isArgs && call != nil && call.inv != nil {
			names = call.inv.names
		}
		items := dotnet.EnumerateAny(v)
		for i := 0; i < len(items); i++ {
			arg := argument{hasValue: true, value: items[i], at: a.at}
			if names.has(i) {
				written := dotnet.ToText(items[i])
				arg = argument{name: strings.Trim(written, "-:"), hasName: true, at: a.at}
				if strings.HasSuffix(written, ":") && i+1 < len(items) {
					i++
					arg.hasValue, arg.value = true, items[i]
				}
			}
			args = append(args, arg)
		}
	}
	if late != nil {
		args = append(args, late...)
	}
	inv.args, inv.room = args, args
	return nil
}

// appendSplat adds the entries of a splatted dictionary.
func appendSplat(args []argument, table *dotnet.Hashtable, at *place) []argument {
	args = slices.Grow(args, table.Len())
	for i := range table.Len() {
		key, value := table.At(i)
		args = append(args, argument{name: dotnet.ToText(key), hasName: true, hasValue: true, splat: true, value: plain(value), at: at})
	}
	return args
}

// roomForArguments is an empty list with room for n arguments at least.
func (s *Session) roomForArguments(n int) []argument {
	if last := len(s.argRooms) - 1; last >= 0 {
		room := s.argRooms[last]
		s.argRooms = s.argRooms[:last]
		if cap(room) >= n {
			return room
		}
	}
	return make([]argument, 0, max(n, 8))
}

// keepArguments takes a list that nobody looks at any more, for the next call.
func (s *Session) keepArguments(list []argument) {
	const most = 64 // arguments of a list that is kept
	if cap(list) > most {
		return
	}
	clear(list)
	s.argRooms = append(s.argRooms, list[:0])
}
