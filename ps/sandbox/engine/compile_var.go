package engine

import (
	"fmt"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// variable compiles the reading of a variable.
func (c *compiler) variable(v *syntax.Variable) exprFn {
	name, sym := v.Name, intern(v.Name)
	switch lower(v.Scope) {
	case "env":
		return func(f *frame) (any, error) {
			if text, ok := f.s.envVars[lower(name)]; ok {
				return text, nil
			}
			return nil, nil
		}
	case "script":
		return func(f *frame) (any, error) {
			if x := f.scope.script().own(sym); x != nil {
				return x.value, nil
			}
			return nil, nil
		}
	}
	if refusedVariables[sym.key()] {
		c.refuse(v, "the variable $"+name)
	}
	if read := automatic(sym.key()); read != nil {
		return read
	}
	return func(f *frame) (any, error) {
		if x := f.scope.find(sym); x != nil {
			return x.value, nil
		}
		return nil, nil
	}
}

// assignTo compiles the writing to the target of an assignment.
func (c *compiler) assignTo(target syntax.Expr) func(f *frame, v any) error {
	switch t := target.(type) {
	case *syntax.Variable:
		return c.assignVariable(t)
	case *syntax.Member:
		return c.assignMember(t)
	case *syntax.Index:
		return c.assignIndex(t)
	}
	panic(fmt.Sprintf("engine: no target of an assignment: %T", target))
}

func (c *compiler) assignVariable(v *syntax.Variable) func(f *frame, v any) error {
	name, sym := v.Name, intern(v.Name)
	scopeName := lower(v.Scope)
	if scopeName == "env" {
		c.refuse(v, "an assignment to an environment variable")
	}
	if sym.key() == "null" {
		return func(*frame, any) error { return nil }
	}
	if automatic(sym.key()) != nil || refusedVariables[sym.key()] {
		c.refuse(v, "an assignment to $"+name)
	}
	c.assigns(sym)
	return func(f *frame, value any) error {
		sc := f.scope
		if scopeName == "script" {
			sc = f.scope.script()
		}
		if x := sc.own(sym); x != nil {
			return f.store(x, value)
		}
		if sc == f.s.global || sc.home != nil {
			if err := f.charge(64); err != nil {
				return err
			}
		}
		sc.add(sym, name, value)
		return nil
	}
}

// store assigns to an existing variable. A constant rejects the value, and a typed variable converts it.
func (f *frame) store(x *variable, value any) error {
	if x.constant {
		return dotnet.Refuse("an assignment to $%s", x.name)
	}
	if checked := x.checked; checked != nil {
		if checked.typ != nil {
			converted, err := f.convertVariable(value, checked.typ)
			if err != nil {
				return err
			}
			value = converted
		}
		if e := checked.set.check(value); e != nil {
			return dotnet.Refuse("a value of $%s that its ValidateSet does not have", x.name)
		}
	}
	x.value = value
	return nil
}

// convertVariable converts a value assigned to a typed variable.
func (f *frame) convertVariable(v any, t *dotnet.Type) (any, error) {
	converted, err := f.convert(plain(v), t)
	if asPS(err) != nil {
		return nil, dotnet.Refuse("a value that a variable of type [%s] does not take", t.Display())
	}
	return converted, err
}

func (c *compiler) assignMember(t *syntax.Member) func(f *frame, v any) error {
	name, target := dotnet.NewName(t.Name.Value), c.expr(t.Target)
	if t.Static {
		c.refuse(t, "an assignment to a static member")
	}
	return func(f *frame, value any) error {
		object, err := target(f)
		if err != nil {
			return err
		}
		return name.Set(object, value)
	}
}

func (c *compiler) assignIndex(t *syntax.Index) func(f *frame, v any) error {
	target, index, name := c.expr(t.Target), c.expr(t.Index), constantName(t.Index)
	return func(f *frame, value any) error {
		object, err := target(f)
		if err != nil {
			return err
		}
		i, err := index(f)
		if err != nil {
			return err
		}
		if isNull(object) {
			return runtimeError("NullArray", dotnet.InvalidOperation, nil, "Cannot index into a null array.")
		}
		if err := f.charge(32); err != nil {
			return err
		}
		if name != nil {
			return name.SetKey(object, value)
		}
		return dotnet.SetIndex(object, plain(i), value)
	}
}

// assignment compiles an assignment. Its value is the assigned value.
func (c *compiler) assignment(s *syntax.Assignment) exprFn {
	at := c.place(s)
	value, write := c.value(s.Value), c.assignTo(s.Target)
	if s.Op == syntax.Assign {
		return func(f *frame) (any, error) {
			v, err := value(f)
			if err != nil {
				return nil, err
			}
			if err := write(f, v); err != nil {
				return nil, fail(err, at)
			}
			f.s.ok = true
			return v, nil
		}
	}
	read, op := c.expr(s.Target), syntax.Add
	if s.Op == syntax.AssignSub {
		op = syntax.Sub
	}
	if t, ok := s.Target.(*syntax.Variable); ok && t.Scope == "" {
		read = c.ownVariable(t)
	}
	apply, _ := dotnet.Operator(op.String())
	fast := intOperators[op]
	return func(f *frame) (any, error) {
		old, err := read(f)
		if err != nil {
			return nil, fail(err, at)
		}
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		next, done := any(nil), false
		if a, b, ok := int32s(old, v); ok {
			next, done = fast(a, b)
		}
		if !done {
			if next, err = apply(old, v); err != nil {
				return nil, fail(err, at)
			}
			if err := f.chargeValue(next); err != nil {
				return nil, limitOf(err, at)
			}
		}
		if err := write(f, next); err != nil {
			return nil, fail(err, at)
		}
		f.s.ok = true
		return next, nil
	}
}

// ownVariable compiles the left side of += and -=, which PowerShell reads only in the current scope.
func (c *compiler) ownVariable(v *syntax.Variable) exprFn {
	sym := intern(v.Name)
	return func(f *frame) (any, error) {
		if x := f.scope.own(sym); x != nil {
			return x.value, nil
		}
		return nil, nil
	}
}
