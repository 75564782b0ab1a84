package engine

import (
	"strings"
	"unique"

	"adgateway/ps/sandbox/engine/dotnet"
)

// symbol is a variable name, interned in lower case.
type symbol struct {
	id  unique.Handle[string]
	bit uint64 // one bit, by which a scope without the variable is usually recognized
}

func intern(name string) symbol {
	id := unique.Make(strings.ToLower(name))
	return symbol{id: id, bit: 1 << (dotnet.Hash(id.Value()) % 64)}
}

// key returns the name in lower case.
func (s symbol) key() string { return s.id.Value() }

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
	sym      unique.Handle[string]
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
	bits   uint64                          // of the symbols of vars
	index  map[unique.Handle[string]]int32 // of vars, once there are more than indexFrom
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
	if sc.bits&sym.bit == 0 {
		return nil
	}
	if len(sc.vars) > indexFrom {
		if i, ok := sc.index[sym.id]; ok {
			return &sc.vars[i]
		}
		return nil
	}
	for i := range sc.vars {
		if sc.vars[i].sym == sym.id {
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
	sc.vars = append(sc.vars, variable{sym: sym.id, name: name, value: value})
	sc.bits |= sym.bit
	at := len(sc.vars) - 1
	switch {
	case at > indexFrom:
		sc.index[sym.id] = int32(at)
	case at == indexFrom:
		if sc.index == nil {
			sc.index = make(map[unique.Handle[string]]int32, 4*indexFrom)
		}
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
		if up.funcs == nil { // most scopes
			continue
		}
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
