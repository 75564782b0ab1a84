package engine

import (
	"slices"
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
)

// function is a function in a scope.
type function struct {
	name string
	code *blockCode
	home *module // module of the function; if nil, the function runs in the scopes of its caller
}

// functionName splits a name such as global:NAME into name and scope.
func functionName(written string) (name, scopeName string) {
	if scopeName, name, ok := strings.Cut(written, ":"); ok {
		return name, lower(scopeName)
	}
	return written, ""
}

// defineFunction puts a function into a scope.
func (s *Session) defineFunction(sc *scope, scopeName string, fn *function) {
	if scopeName == "global" {
		sc = s.global
	}
	sc.setFunction(lower(fn.name), fn)
}

// underName returns the block with the name of a function, which its errors contain.
func (b *blockCode) underName(name string) *blockCode {
	if b.later != nil {
		return &blockCode{src: b.src, at: b.at, later: sync.OnceValues(func() (*blockCode, error) {
			code, err := b.later()
			if err != nil {
				return nil, err
			}
			return code.underName(name), nil
		})}
	}
	if b.sig.name == name {
		return b
	}
	code, sig := *b, *b.sig
	sig.name, sig.class = name, name
	code.sig = &sig
	return &code
}

// blockStage runs a function or script block as a stage. It contains the whole state of the
// call.
type blockStage struct {
	inv    *invocation
	code   *blockCode
	frame  frame
	own    scope // unused if the block runs in the caller's scope
	out    sink
	dot    bool
	line   *lineState        // bindings of the command line; nil unless objects arrive from a pipeline
	bound  *dotnet.Hashtable // $PSBoundParameters, created on first use
	errors *dotnet.List      // of -ErrorVariable; may be nil
	kept   bool              // a value of the script may refer to the call
}

// boundParameters returns $PSBoundParameters of the call that a scope belongs to.
func (sc *scope) boundParameters() any {
	for up := sc; up != nil; up = up.parent {
		if up.call != nil {
			return up.call.boundParameters()
		}
	}
	return nil
}

func (st *blockStage) boundParameters() any {
	if st.bound == nil {
		st.bound = &dotnet.Hashtable{Type: dotnet.TParameters}
		for _, p := range st.inv.sig.params {
			if st.inv.bound.has(p.index) {
				v := st.inv.values[p.index]
				if p.isSwitch() {
					v = dotnet.NewSwitch(dotnet.Truthy(v))
				}
				st.bound.Set(p.name, v)
			}
		}
	}
	return st.bound
}

// newBlockStage binds the arguments and prepares the block's scope. If dot is set, the block
// runs in the caller's scope.
func newBlockStage(inv *invocation, code *blockCode, out sink, dot bool) (*blockStage, error) {
	if err := inv.bind(); err != nil {
		return nil, err
	}
	st := inv.f.s.spare.stage(code.vars)
	st.inv, st.code, st.out, st.dot = inv, code, out, dot
	if inv.hasPipe {
		st.line = &lineState{values: slices.Clone(inv.values), bound: inv.bound.clone(), flags: inv.flags}
	}
	f := inv.f
	sc := f.scope
	if !dot {
		sc = &st.own
		sc.parent, sc.call = around(f.s, inv.home, f.scope), st
	}
	frame, err := f.child(sc, inv.at)
	if err != nil {
		return nil, err
	}
	st.frame = frame
	return st, st.setParams()
}

// setParams creates the variables of the parameters, including defaults.
func (st *blockStage) setParams() error {
	inv := st.inv
	own := inv.sig.params[:inv.sig.own]
	for _, p := range own {
		switch {
		case inv.bound.has(p.index):
			if err := st.setParam(p, inv.values[p.index]); err != nil {
				return err
			}
		case p.def == nil:
			if err := st.setUnbound(p); err != nil {
				return err
			}
		}
	}
	for _, p := range own {
		if p.def != nil && !inv.bound.has(p.index) {
			if err := st.setDefault(p); err != nil {
				return err
			}
		}
	}
	if inv.sig.advanced {
		st.setCommon()
	}
	return nil
}

// setDefault sets a parameter to its default value.
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

// setUnbound creates the variable of a parameter without argument and default. It gets the
// zero value of its type.
func (st *blockStage) setUnbound(p *param) error {
	t, err := st.inv.resolve(p)
	if err != nil {
		return err
	}
	var v any
	switch t {
	case dotnet.TString:
		v = ""
	case dotnet.TBool:
		v = false
	case dotnet.TSwitch:
		v = dotnet.NewSwitch(false)
	case dotnet.TInt32:
		v = int32(0)
	case dotnet.TInt64:
		v = int64(0)
	}
	st.declare(p, t, v)
	return nil
}

// declare sets the variable of a parameter. The variable keeps the parameter's type, so
// values assigned later are converted.
func (st *blockStage) declare(p *param, t *dotnet.Type, v any) {
	sc := st.frame.scope
	x := sc.own(p.sym)
	if x == nil {
		x = sc.add(p.sym, p.name, v)
	} else {
		x.value = v
	}
	if t != nil && t != dotnet.TObject && t != dotnet.TSwitch || p.set != nil {
		if x.checked = p.checked; p.checked == nil {
			x.checked = &constraint{typ: t, set: p.set}
		}
	}
}

func (st *blockStage) setParam(p *param, v any) error {
	t, err := st.inv.resolve(p)
	if err != nil {
		return err
	}
	if t == dotnet.TSwitch {
		v = dotnet.NewSwitch(dotnet.Truthy(v))
	}
	st.declare(p, t, v)
	return nil
}

// setCommon turns common parameters into preference variables of the scope.
func (st *blockStage) setCommon() {
	inv := st.inv
	if !inv.commons {
		return
	}
	sc := st.frame.scope
	for _, p := range inv.sig.params[inv.sig.own:] {
		if !inv.bound.has(p.index) {
			continue
		}
		v := inv.values[p.index]
		switch p.key {
		case "erroraction":
			sc.set(symErrorAction, "ErrorActionPreference", v)
		case "warningaction":
			sc.set(symWarning, "WarningPreference", v)
		case "confirm":
			level := "None"
			if dotnet.Truthy(v) {
				level = "Low"
			}
			sc.set(symConfirm, "ConfirmPreference", level)
		case "errorvariable":
			st.errors = &dotnet.List{Type: dotnet.TArrayList}
		case "whatif":
			sc.set(symWhatIf, "WhatIfPreference", dotnet.Truthy(v))
		case "verbose":
			sc.set(symVerbose, "VerbosePreference", shown(v))
		case "debug":
			sc.set(symDebug, "DebugPreference", shown(v))
		}
	}
}

// shown returns the preference that -Verbose or -Debug sets.
func shown(v any) string {
	if dotnet.Truthy(v) {
		return "Continue"
	}
	return "SilentlyContinue"
}

// start runs the begin block.
func (st *blockStage) start() error {
	if st.code.begin == nil {
		return nil
	}
	return st.run(st.code.begin)
}

// end runs the block, unless the pipeline has already run it for each of its objects.
func (st *blockStage) end() error {
	defer st.keepErrors()
	if st.line == nil {
		if err := st.start(); err != nil {
			return err
		}
		if err := st.run(st.code.body); err != nil {
			return err
		}
	}
	if st.code.end == nil {
		return nil
	}
	return st.run(st.code.end)
}

// run runs a part of the block in the stage's frame.
func (st *blockStage) run(body stmtFn) error {
	s := st.frame.s
	if s.running.nested >= s.limits.CallDepth {
		return &LimitError{Limit: "CallDepth", Line: st.inv.at.line()}
	}
	s.running.nested++
	sc := st.frame.scope
	call := sc.call
	sc.call = st
	leave := enter(s, sc)
	errors := s.running.watching
	if st.errors != nil {
		s.running.watching = append(s.running.watching, st.errors)
	}
	err := body(&st.frame, st.out)
	s.running.watching = errors
	leave()
	sc.call = call
	s.running.nested--
	if err == flowReturn {
		return nil
	}
	return err
}

// lineState contains the bindings of the command line. Each object of the pipeline is bound
// in addition to them.
type lineState struct {
	values []any
	bound  indexSet
	flags  uint64
}

// process binds an object of the pipeline and runs the block for it. If binding fails, it reports an error,
// and the pipeline continues with the next object.
func (st *blockStage) process(v any) error {
	inv := st.inv
	if err := inv.f.step(inv.at); err != nil {
		return err
	}
	inv.values, inv.bound, inv.flags = slices.Clone(st.line.values), st.line.bound.clone(), st.line.flags
	st.bound = nil
	if err := st.bindInput(v); err != nil {
		pe := asPS(err)
		if pe == nil {
			return err
		}
		pe.rec.Target = v
		return inv.writeError(pe.rec)
	}
	if err := st.setParams(); err != nil {
		return err
	}
	sc := st.frame.scope
	old, had := sc.setUnder(v)
	err := st.run(st.code.body)
	sc.restoreUnder(old, had)
	return err
}

// bindInput binds an object of the pipeline. It tries the whole object without conversion, its properties
// without conversion, and both again with conversion, each first in the default parameter set.
func (st *blockStage) bindInput(v any) error {
	inv := st.inv
	any := false
	ways := []struct{ name, coerce bool }{{false, false}, {true, false}, {false, true}, {true, true}}
	for _, how := range ways {
		bound, err := st.bindInputHow(v, how.name, how.coerce)
		if err != nil {
			return err
		}
		any = any || bound
	}
	if !any {
		return inv.cannotBind("InputObjectNotBound", nil, "The input object cannot be bound to any parameters "+
			"for the command either because the command does not take pipeline input or the input and its "+
			"properties do not match any of the parameters that take pipeline input.")
	}
	if inv.flags == 0 {
		return inv.ambiguousSet()
	}
	err := inv.chooseSet()
	if pe := asPS(err); pe != nil && strings.HasPrefix(pe.rec.ErrorID, "MissingMandatoryParameter") {
		_, names, _ := strings.Cut(strings.TrimSuffix(pe.rec.Exception.Message, "."), "parameters: ")
		return inv.cannotBind("InputObjectMissingMandatory", nil, "The input object cannot be bound because it "+
			"did not contain the information required to bind all mandatory parameters:  "+names)
	}
	return err
}

// bindInputHow tries one way of binding. It tries the default set first, if that is still
// possible, and the other sets if nothing was bound there.
func (st *blockStage) bindInputHow(v any, byName, coerce bool) (bound bool, err error) {
	inv := st.inv
	valid, def := inv.flags, inv.sig.defaultSet
	if def != 0 && valid&def != 0 {
		if bound, err = st.bindInputIn(v, byName, coerce, def); bound || err != nil {
			return bound, err
		}
		valid &^= def
	}
	return st.bindInputIn(v, byName, coerce, valid)
}

func (st *blockStage) bindInputIn(v any, byName, coerce bool, flags uint64) (any bool, err error) {
	inv := st.inv
	for _, p := range inv.sig.params {
		if inv.bound.has(p.index) || !takesInput(p, byName, flags) {
			continue
		}
		value := v
		if byName {
			found := false
			if value, found, err = propertyFor(v, p); err != nil || !found {
				if err != nil {
					return any, err
				}
				continue
			}
		}
		ok, err := inv.bindParam(p, &argument{value: value, at: inv.at}, coerce)
		if err != nil {
			return any, err
		}
		any = any || ok
	}
	return any, nil
}

// takesInput reports whether a parameter accepts objects of a pipeline, or their properties
// if byName is set, in one of the sets.
func takesInput(p *param, byName bool, flags uint64) bool {
	return slices.ContainsFunc(p.sets, func(s inSet) bool {
		return s.of(flags) && (byName && s.byName || !byName && s.byValue)
	})
}

// propertyFor returns the property of an object with the name, or an alias, of a parameter.
func propertyFor(v any, p *param) (value any, found bool, err error) {
	switch v.(type) {
	case *dotnet.PSObject, *dotnet.Instance:
	case nil, string, bool, int32, int64, dotnet.DateTime, dotnet.Guid:
		return nil, false, nil // properties of these types, such as Length, do not bind to parameters here
	default:
		return nil, false, dotnet.Refuse("properties of [%s] as parameters", dotnet.TypeOf(v).Display())
	}
	for _, name := range append([]string{p.name}, p.aliases...) {
		for _, info := range dotnet.Properties(v) {
			if dotnet.EqualFold(info.Name, name) {
				return info.Value(), true, nil
			}
		}
	}
	return nil, false, nil
}
