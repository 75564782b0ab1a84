package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// function is a function of a scope.
type function struct {
	name string
	code *blockCode
}

// functionName splits function:global:NAME or global:NAME.
func functionName(written string) (name, scopeName string) {
	name = written
	for {
		head, tail, ok := strings.Cut(name, ":")
		if !ok {
			return name, scopeName
		}
		switch lower(head) {
		case "function":
		case "global", "script", "local", "private":
			scopeName = lower(head)
		default:
			return name, scopeName
		}
		name = tail
	}
}

// defineFunction puts a function into a scope.
func (s *Session) defineFunction(sc *scope, scopeName string, fn *function) {
	if scopeName == "global" || scopeName == "script" {
		sc = s.global
	}
	sc.setFunction(lower(fn.name), fn)
}

// setFunctionItem is Set-Item function:NAME and $function:NAME = value.
func (s *Session) setFunctionItem(sc *scope, path string, v any) error {
	name, scopeName := functionName(path)
	var code *blockCode
	switch v := v.(type) {
	case *ScriptBlock:
		code = v.code
	case string:
		block, err := s.newScriptBlock(v)
		if err != nil {
			return err
		}
		code = block.(*ScriptBlock).code
	default:
		return runtimeError("NotSupported", dotnet.InvalidArgument, v, "A function needs a script block.")
	}
	s.defineFunction(sc, scopeName, &function{name: name, code: code.underName(name)})
	return nil
}

// underName is the block under the name of a function: its errors carry the name.
func (b *blockCode) underName(name string) *blockCode {
	if b.sig.name == name {
		return b
	}
	copied := *b
	copied.sig = b.sig.renamed(name)
	return &copied
}

func (sig *signature) renamed(name string) *signature {
	copied := *sig
	copied.name, copied.class = name, name
	return &copied
}

// callInfo is what $args, $PSBoundParameters, $MyInvocation and $PSCmdlet tell
// of the call a scope belongs to.
type callInfo struct {
	s      *Session
	inv    *invocation // nil at the top
	at     *place
	args   []any
	input  []any
	table  *dotnet.Hashtable // $PSBoundParameters, once asked for
	cmdlet *cmdletObject     // $PSCmdlet, once asked for
	frame  *frame
	out    sink
}

func (c *callInfo) arguments() any {
	if c == nil {
		return dotnet.NewArray()
	}
	return dotnet.NewArray(c.args...)
}

func (c *callInfo) inputObjects() any {
	if c == nil {
		return dotnet.NewArray()
	}
	return dotnet.NewArray(c.input...)
}

// boundParameters is $PSBoundParameters.
func (c *callInfo) boundParameters() any {
	if c == nil {
		return nil
	}
	if c.table == nil {
		c.table = dotnet.NewHashtable()
		c.table.Type = boundParametersType()
		if c.inv != nil {
			for _, p := range c.inv.sig.params {
				if c.inv.bound.has(p.index) {
					v := c.inv.values[p.index]
					if p.isSwitch() {
						v = dotnet.NewSwitch(dotnet.Truthy(v))
					}
					c.table.Set(p.name, v)
				}
			}
		}
	}
	return c.table
}

// blockStage runs a function or script block as a stage. It is made in one
// piece with all that one call needs.
type blockStage struct {
	inv     *invocation
	code    *blockCode
	frame   frame
	call    callInfo
	own     scope // unless the block runs in the caller's
	out     sink
	hasPipe bool
	dot     bool
	piped   indexSet // parameters that the last pipeline object bound
}

// newBlockStage binds the arguments and prepares the block's scope. dot runs it
// in the caller's scope.
func newBlockStage(inv *invocation, code *blockCode, out sink, hasPipe, dot bool) (*blockStage, error) {
	if err := inv.bind(); err != nil {
		return nil, err
	}
	st, vars := code.room()
	st.inv, st.code, st.out, st.hasPipe, st.dot = inv, code, out, hasPipe, dot
	f := inv.f
	sc := f.scope
	if !dot {
		sc = &st.own
		sc.parent, sc.vars, sc.call = f.scope, vars, &st.call
	}
	frame, err := f.child(sc, inv.sig.name, inv.at)
	if err != nil {
		return nil, err
	}
	st.frame = frame
	st.frame.streams = inv.streams
	st.call = callInfo{s: f.s, inv: inv, at: inv.at, args: inv.rest, frame: &st.frame, out: out}
	return st, st.setParams()
}

// room is an empty stage, and the variables its scope may get.
func (b *blockCode) room() (*blockStage, []variable) {
	const few = 4
	if b.vars > few {
		return &blockStage{}, make([]variable, 0, b.vars)
	}
	small := &struct {
		blockStage
		vars [few]variable
	}{}
	return &small.blockStage, small.vars[:0]
}

// setParams makes the variables of the parameters, defaults included.
func (st *blockStage) setParams() error {
	inv, sc := st.inv, st.frame.scope
	own := inv.sig.params[:inv.sig.own]
	for _, p := range own {
		if inv.bound.has(p.index) {
			if err := st.setParam(p, inv.values[p.index]); err != nil {
				return err
			}
			continue
		}
		if p.def != nil {
			continue
		}
		v, err := st.unset(p)
		if err != nil {
			return err
		}
		sc.add(p.sym, p.name, v)
	}
	for _, p := range own {
		if p.def == nil || inv.bound.has(p.index) {
			continue
		}
		if err := st.setDefault(p); err != nil {
			return err
		}
	}
	if inv.sig.advanced {
		return st.setCommon()
	}
	return nil
}

// setDefault gives a parameter the value of its default.
func (st *blockStage) setDefault(p *param) error {
	v, err := p.def(&st.frame)
	if err != nil {
		return fail(err, p.defAt)
	}
	v = plain(v)
	if t, err := st.inv.resolve(p); err != nil {
		return err
	} else if t != nil && t != dotnet.TSwitch {
		if v, err = st.frame.convertVariable(v, t); err != nil {
			return fail(err, p.defAt)
		}
	}
	return st.setParam(p, v)
}

// reset gives a parameter the value it has when nobody gives one.
func (st *blockStage) reset(p *param) error {
	if p.def != nil {
		return st.setDefault(p)
	}
	v, err := st.unset(p)
	if err != nil {
		return err
	}
	return st.setParam(p, v)
}

// unset is the value of a parameter nobody gave: of value types zero.
func (st *blockStage) unset(p *param) (any, error) {
	t, err := st.inv.resolve(p)
	if err != nil || t == nil {
		return nil, err
	}
	switch t {
	case dotnet.TString:
		return "", nil
	case dotnet.TBool:
		return false, nil
	case dotnet.TSwitch:
		return dotnet.NewSwitch(false), nil
	case dotnet.TInt32:
		return int32(0), nil
	case dotnet.TInt64:
		return int64(0), nil
	case dotnet.TDouble:
		return float64(0), nil
	}
	return nil, nil
}

func (st *blockStage) setParam(p *param, v any) error {
	t, err := st.inv.resolve(p)
	if err != nil {
		return err
	}
	if t == dotnet.TSwitch {
		v = dotnet.NewSwitch(dotnet.Truthy(v))
	}
	sc := st.frame.scope
	x := sc.own(p.sym)
	if x == nil {
		x = sc.add(p.sym, p.name, v)
	} else {
		x.value = v
	}
	if t != nil && t != dotnet.TObject && t != dotnet.TSwitch || len(p.validators) > 0 {
		if x.checked = p.checked; p.checked == nil {
			x.checked = &constraint{typ: t, validators: p.validators}
		}
	}
	return nil
}

// setCommon turns common parameters into preference variables of the scope.
func (st *blockStage) setCommon() error {
	inv := st.inv
	if !inv.commons {
		return nil
	}
	for _, p := range inv.sig.params[inv.sig.own:] {
		if !inv.bound.has(p.index) {
			continue
		}
		v := inv.values[p.index]
		sc := st.frame.scope
		switch p.key {
		case "erroraction":
			sc.set(symErrorAction, "ErrorActionPreference", v)
		case "warningaction":
			sc.set(symWarning, "WarningPreference", v)
		case "informationaction":
			sc.set(symInformation, "InformationPreference", v)
		case "verbose":
			sc.set(symVerbose, "VerbosePreference", onOff(v))
		case "debug":
			sc.set(symDebug, "DebugPreference", onOff(v))
		case "whatif":
			sc.set(symWhatIf, "WhatIfPreference", dotnet.Truthy(v))
		case "confirm":
			level := "None"
			if dotnet.Truthy(v) {
				level = "Low"
			}
			sc.set(symConfirm, "ConfirmPreference", level)
		}
	}
	inv.prepareVariables()
	st.frame.streams = inv.streams
	st.out = inv.tee(st.out)
	st.call.out = st.out
	return nil
}

func onOff(v any) string {
	if dotnet.Truthy(v) {
		return "Continue"
	}
	return "SilentlyContinue"
}

// run runs one of the blocks in the stage's frame.
func (st *blockStage) run(part stmtFn) error {
	if part == nil {
		return nil
	}
	s := st.frame.s
	if s.nested >= s.limits.CallDepth {
		return &LimitError{Limit: "CallDepth", Line: st.inv.at.line()}
	}
	s.nested++
	defer func() { s.nested-- }()
	old := s.current
	s.current = &st.frame
	var oldCall *callInfo
	if st.dot {
		oldCall = st.frame.scope.call
		st.frame.scope.call = &st.call
	}
	err := part(&st.frame, st.out)
	if st.dot {
		st.frame.scope.call = oldCall
	}
	s.current = old
	if err == flowReturn {
		return nil
	}
	return err
}

func (st *blockStage) begin() error { return st.run(st.code.begin) }

func (st *blockStage) process(v any) error {
	if err := st.frame.step(st.inv.at); err != nil {
		return err
	}
	if st.inv.sig.advanced {
		if ok, err := st.bindInput(v); !ok {
			return err
		}
	}
	if st.code.process == nil {
		st.call.input = append(st.call.input, v)
		return nil
	}
	st.call.input = append(st.call.input[:0], v)
	old, had := st.frame.scope.setUnder(v)
	err := st.run(st.code.process)
	if st.dot {
		st.frame.scope.restoreUnder(old, had)
	}
	return err
}

// bindInput binds one pipeline object; an object that does not bind is a
// non-terminating error and skipped.
func (st *blockStage) bindInput(v any) (bool, error) {
	inv := st.inv
	if !inv.sig.byPipeline {
		return false, inv.writeError(asPS(inv.bindingError("ParameterBindingException", "InputObjectNotBound", dotnet.InvalidArgument, nil, nil,
			"The input object cannot be bound to any parameters for the command either because the command does not take pipeline input or the input and its properties do not match any of the parameters that take pipeline input.", v)).rec)
	}
	if err := inv.bindPipeline(v); err != nil {
		pe := asPS(err)
		if pe == nil {
			return false, err
		}
		return false, inv.writeError(pe.rec)
	}
	st.call.table = nil
	for _, p := range inv.sig.params[:inv.sig.own] {
		var err error
		switch {
		case !inv.bound.has(p.index):
			if st.piped.has(p.index) { // what one object bound is not the next one's
				err = st.reset(p)
			}
		case !inv.prePipe.has(p.index) || inv.delayed[p] != nil:
			err = st.setParam(p, inv.values[p.index])
		}
		if err != nil {
			return false, err
		}
	}
	st.piped = inv.bound.clone()
	return true, nil
}

func (st *blockStage) end() error {
	if st.code.process != nil && !st.hasPipe {
		if err := st.run(st.code.process); err != nil {
			return err
		}
	}
	return st.run(st.code.end)
}
