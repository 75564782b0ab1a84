package engine

import (
	"strings"
	"unique"

	"adgateway/ps/sandbox/engine/dotnet"
)

// symbol is a variable name, interned in lower case and compared by identity.
type symbol = unique.Handle[string]

func intern(name string) symbol { return unique.Make(strings.ToLower(name)) }

// Symbols of the variables that the engine itself reads or writes.
var (
	symErrorAction = intern("ErrorActionPreference")
	symDebug       = intern("DebugPreference")
	symWarning     = intern("WarningPreference")
	symVerbose     = intern("VerbosePreference")
	symConfirm     = intern("ConfirmPreference")
	symWhatIf      = intern("WhatIfPreference")
)

// constraint converts values that are assigned to a typed or validated variable.
type constraint struct {
	typ *dotnet.Type
	set *validateSet
}

type variable struct {
	sym      symbol
	name     string
	value    any
	checked  *constraint
	constant bool
}

// scope is one level of variables and functions. Look-ups continue in the parent, which is
// the scope of the caller.
type scope struct {
	parent *scope
	vars   []variable
	index  map[symbol]int32 // of vars, once there are more than indexFrom
	funcs  map[string]*function

	call *blockStage // the call that the scope belongs to
	home *module     // the module whose outermost scope this is; otherwise nil

	under    any // $_
	hasUnder bool
}

// indexFrom is the number of variables that justifies an index. Building one costs as much
// as many linear searches of a few variables.
const indexFrom = 24

// own returns a variable of this scope itself, or nil. The pointer is valid until a variable is added.
func (sc *scope) own(sym symbol) *variable {
	if sc.index != nil {
		if i, ok := sc.index[sym]; ok {
			return &sc.vars[i]
		}
		return nil
	}
	for i := range sc.vars {
		if sc.vars[i].sym == sym {
			return &sc.vars[i]
		}
	}
	return nil
}

// find returns a variable of this scope or of the nearest caller with that variable, or nil.
func (sc *scope) find(sym symbol) *variable {
	for up := sc; up != nil; up = up.parent {
		if v := up.own(sym); v != nil {
			return v
		}
	}
	return nil
}

// add creates a variable that does not exist yet in this scope.
func (sc *scope) add(sym symbol, name string, value any) *variable {
	sc.vars = append(sc.vars, variable{sym: sym, name: name, value: value})
	at := len(sc.vars) - 1
	switch {
	case sc.index != nil:
		sc.index[sym] = int32(at)
	case len(sc.vars) > indexFrom:
		sc.index = make(map[symbol]int32, 2*indexFrom)
		for i := range sc.vars {
			sc.index[sc.vars[i].sym] = int32(i)
		}
	}
	return &sc.vars[at]
}

// set writes a variable of this scope, ignoring its constraint, and creates it if needed.
func (sc *scope) set(sym symbol, name string, value any) {
	if v := sc.own(sym); v != nil {
		v.value = value
		return
	}
	sc.add(sym, name, value)
}

// dollarUnder returns $_ of the innermost block that has one.
func (sc *scope) dollarUnder() any {
	for up := sc; up != nil; up = up.parent {
		if up.hasUnder {
			return up.under
		}
	}
	return nil
}

// function returns a function by its lower-case name, or nil.
func (sc *scope) function(key string) *function {
	for up := sc; up != nil; up = up.parent {
		if fn, ok := up.funcs[key]; ok {
			return fn
		}
	}
	return nil
}

func (sc *scope) setFunction(key string, fn *function) {
	if sc.funcs == nil {
		sc.funcs = map[string]*function{}
	}
	sc.funcs[key] = fn
}

func (sc *scope) setUnder(v any) (old any, had bool) {
	old, had = sc.under, sc.hasUnder
	sc.under, sc.hasUnder = v, true
	return old, had
}

func (sc *scope) restoreUnder(old any, had bool) { sc.under, sc.hasUnder = old, had }

// script returns the scope of $script: variables.
func (sc *scope) script() *scope {
	for sc.parent != nil && sc.home == nil {
		sc = sc.parent
	}
	return sc
}
