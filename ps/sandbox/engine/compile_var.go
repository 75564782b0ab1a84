package engine

import (
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// variable compiles the reading of a variable.
func (c *compiler) variable(v *syntax.Variable) exprFn {
	switch lower(v.Scope) {
	case "":
		return c.plainVariable(v)
	case "global", "script":
		sym, name := intern(v.Name), v.Name
		if read := automatic(sym.Value()); read != nil {
			return read
		}
		return func(f *frame) (any, error) {
			if x := f.s.global.own(sym); x != nil {
				return x.value, nil
			}
			return f.undefined(name)
		}
	case "local", "private":
		sym, name := intern(v.Name), v.Name
		return func(f *frame) (any, error) {
			if x := f.scope.own(sym); x != nil {
				return x.value, nil
			}
			return f.undefined(name)
		}
	case "env":
		name := v.Name
		return func(f *frame) (any, error) {
			if text, ok := f.s.env(name); ok {
				return text, nil
			}
			return nil, nil
		}
	case "function":
		key := lower(v.Name)
		return func(f *frame) (any, error) {
			if fn := f.scope.function(key); fn != nil {
				return &ScriptBlock{s: f.s, code: fn.code}, nil
			}
			return nil, nil
		}
	case "variable":
		plain := *v
		plain.Scope = ""
		return c.plainVariable(&plain)
	}
	return c.refuseExpr(v)
}

func (c *compiler) plainVariable(v *syntax.Variable) exprFn {
	sym, name := intern(v.Name), v.Name
	if read := automatic(sym.Value()); read != nil {
		return read
	}
	return func(f *frame) (any, error) {
		for sc := f.scope; sc != nil; sc = sc.parent {
			if x := sc.own(sym); x != nil && (sc == f.scope || x.options&varPrivate == 0) {
				return x.value, nil
			}
		}
		return f.undefined(name)
	}
}

// undefined is the value of a variable that was never set.
func (f *frame) undefined(name string) (any, error) {
	if f.scope.strictMode() >= 1 {
		return nil, runtimeError("VariableIsUndefined", dotnet.InvalidOperation, name, "The variable '$%s' cannot be retrieved because it has not been set.", name)
	}
	return nil, nil
}

// automatic gives the reader of a variable that the evaluator itself keeps, nil
// for all others.
func automatic(key string) exprFn {
	switch key {
	case "true":
		return constant(true)
	case "false":
		return constant(false)
	case "null":
		return constant(nil)
	case "_", "psitem":
		return func(f *frame) (any, error) { return f.scope.dollarUnder(), nil }
	case "?":
		return func(f *frame) (any, error) { return f.s.ok, nil }
	case "args":
		return func(f *frame) (any, error) { return f.scope.calling().arguments(), nil }
	case "input":
		return func(f *frame) (any, error) { return f.scope.calling().inputObjects(), nil }
	case "psboundparameters":
		return func(f *frame) (any, error) { return f.scope.calling().boundParameters(), nil }
	case "pscmdlet":
		return func(f *frame) (any, error) { return f.scope.psCmdlet(), nil }
	case "myinvocation":
		return func(f *frame) (any, error) { return f.scope.calling().invocationInfo(f), nil }
	}
	return nil
}

// assignTo compiles the writing of a target.
func (c *compiler) assignTo(target syntax.Expr) func(f *frame, v any) error {
	switch t := target.(type) {
	case *syntax.Variable:
		return c.assignVariable(t, nil)
	case *syntax.Cast:
		return c.assignCast(t)
	case *syntax.Member:
		return c.assignMember(t)
	case *syntax.Index:
		return c.assignIndex(t)
	case *syntax.ArrayLiteral:
		return c.assignList(t)
	case *syntax.Paren:
		if p, ok := t.Inner.(*syntax.Pipeline); ok && len(p.Elements) == 1 {
			if x, ok := p.Elements[0].(*syntax.ExprElement); ok {
				return c.assignTo(x.Expr)
			}
		}
	}
	refuse := c.refuseStatement(target)
	return func(f *frame, _ any) error { return refuse(f, nil) }
}

// assignCast is [T]$x = value: the variable converts from then on.
func (c *compiler) assignCast(t *syntax.Cast) func(f *frame, v any) error {
	ref := c.typeRef(t.Type)
	if v, ok := t.Operand.(*syntax.Variable); ok {
		return c.assignVariable(v, ref)
	}
	inner := c.assignTo(t.Operand)
	return func(f *frame, v any) error {
		typ, err := ref(f)
		if err != nil {
			return err
		}
		if v, err = f.convert(v, typ); err != nil {
			return err
		}
		return inner(f, v)
	}
}

func (c *compiler) assignVariable(v *syntax.Variable, ref typeRef) func(f *frame, v any) error {
	name, sym := v.Name, intern(v.Name)
	scopeName := lower(v.Scope)
	switch sym.Value() {
	case "null":
		return func(*frame, any) error { return nil }
	case "_", "psitem":
		return func(f *frame, v any) error {
			f.scope.setUnder(v)
			return nil
		}
	case "true", "false", "?", "psboundparameters", "pscmdlet":
		return func(*frame, any) error { return notWritable(name) }
	case "args":
		return func(f *frame, v any) error {
			if call := f.scope.calling(); call != nil {
				call.args = dotnet.EnumerateAny(v)
				if call.inv != nil {
					call.inv.names = indexSet{}
				}
			}
			return nil
		}
	}
	if scopeName == "env" {
		return func(f *frame, v any) error { f.s.setEnv(name, v); return nil }
	}
	if scopeName == "function" {
		return func(f *frame, v any) error { return f.s.setFunctionItem(f.scope, name, v) }
	}
	c.assigns(sym)
	return func(f *frame, value any) error {
		sc := f.scope
		if scopeName == "global" || scopeName == "script" {
			sc = f.s.global
		}
		var typ *dotnet.Type
		if ref != nil {
			t, err := ref(f)
			if err != nil {
				return err
			}
			typ = t
		}
		x := sc.own(sym)
		if x == nil {
			if len(name) > 0 && sc == f.s.global {
				if err := f.charge(64); err != nil {
					return err
				}
			}
			if typ == nil {
				x = sc.add(sym, name, value)
			} else {
				converted, err := f.convertVariable(value, typ)
				if err != nil {
					return err
				}
				x = sc.add(sym, name, converted)
				x.checked = &constraint{typ: typ}
			}
			if scopeName == "private" {
				x.options |= varPrivate
			}
			return nil
		}
		return f.store(sc, x, value, typ)
	}
}

// store writes an existing variable: read-only ones refuse, typed ones convert.
func (f *frame) store(sc *scope, x *variable, value any, typ *dotnet.Type) error {
	if x.options&(varReadOnly|varConstant) != 0 {
		return notWritable(x.name)
	}
	checked := x.checked
	if typ != nil {
		checked = &constraint{typ: typ}
	}
	if checked != nil {
		sym := x.sym
		if checked.typ != nil {
			converted, err := f.convertVariable(value, checked.typ)
			if err != nil {
				return err
			}
			value = converted
		}
		for _, check := range checked.validators {
			if err := check.validate(f, value); err != nil {
				return validateSet(x.name, err)
			}
		}
		if x = sc.own(sym); x == nil {
			return nil
		}
		x.checked = checked
	}
	x.value = value
	return nil
}

func notWritable(name string) error {
	return dotnet.NewError(dotnet.NewException(exceptionType("System.Management.Automation.SessionStateUnauthorizedAccessException"),
		"Cannot overwrite variable "+name+" because it is read-only or constant."), "VariableNotWritable", dotnet.WriteError, name)
}

// convertVariable converts what is assigned to a typed variable.
func (f *frame) convertVariable(v any, t *dotnet.Type) (any, error) {
	converted, err := f.convert(plain(v), t)
	if err == nil {
		return converted, nil
	}
	pe := asPS(err)
	if pe == nil {
		return nil, err
	}
	outer := dotnet.NewException(exceptionType("System.Management.Automation.ArgumentTransformationMetadataException"), pe.rec.Exception.Message)
	outer.Inner = innerCast(pe.rec.Exception)
	return nil, dotnet.NewError(outer, "RuntimeException", dotnet.MetadataError, nil)
}

// innerCast is the PSInvalidCastException in a failed conversion.
func innerCast(e *dotnet.Exception) *dotnet.Exception {
	for x := e; x != nil; x = x.Inner {
		if x.Type.Name == "System.Management.Automation.PSInvalidCastException" {
			return x
		}
	}
	return e
}

func validateSet(name string, err error) error {
	pe := asPS(err)
	if pe == nil {
		return err
	}
	outer := dotnet.NewException(exceptionType("System.Management.Automation.ValidationMetadataException"),
		"The variable cannot be validated because the value is not a valid value for the "+name+" variable.")
	outer.Inner = pe.rec.Exception
	return dotnet.NewError(outer, "ValidateSetFailure", dotnet.MetadataError, nil)
}

func (c *compiler) assignMember(t *syntax.Member) func(f *frame, v any) error {
	member := c.memberName(t.Name)
	target := c.expr(t.Target)
	static := t.Static
	return func(f *frame, value any) error {
		object, err := target(f)
		if err != nil {
			return err
		}
		name, err := member.eval(f)
		if err != nil {
			return err
		}
		value = plain(value)
		if static {
			typ, _ := object.(*dotnet.Type)
			if typ == nil {
				return propertyNotFound(name)
			}
			return name.SetStatic(typ, value)
		}
		if isNull(object) {
			return runtimeError("PropertyNotFound", dotnet.InvalidOperation, nil, "The property '%s' cannot be found on this object. Verify that the property exists and can be set.", name)
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
			return name.SetKey(object, plain(value))
		}
		return dotnet.SetIndex(object, plain(i), plain(value))
	}
}

// assignList is $a, $b = values: the last target takes what is left.
func (c *compiler) assignList(t *syntax.ArrayLiteral) func(f *frame, v any) error {
	targets := make([]func(f *frame, v any) error, len(t.Items))
	for i, item := range t.Items {
		targets[i] = c.assignTo(item)
	}
	return func(f *frame, value any) error {
		items := dotnet.EnumerateAny(value)
		for i, target := range targets {
			var v any
			switch {
			case i >= len(items):
			case i == len(targets)-1 && len(items) > len(targets):
				v = dotnet.NewArray(append([]any(nil), items[i:]...)...)
			default:
				v = items[i]
			}
			if err := target(f, v); err != nil {
				return err
			}
		}
		return nil
	}
}

var assignOperators = map[syntax.AssignOp]syntax.BinaryOp{
	syntax.AssignAdd: syntax.Add, syntax.AssignSub: syntax.Sub, syntax.AssignMul: syntax.Mul,
	syntax.AssignDiv: syntax.Div, syntax.AssignMod: syntax.Mod,
}

// assignment compiles an assignment; its value is what was assigned.
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
	read := c.expr(s.Target)
	op := assignOperators[s.Op]
	apply, ok := dotnet.Operator(operatorNames[op])
	if !ok {
		return c.refuseExpr(s)
	}
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
		if fast != nil {
			if a, ok := old.(int32); ok {
				if b, ok := v.(int32); ok {
					next, done = fast(a, b)
				}
			}
		}
		if !done {
			if op == syntax.Add {
				v = f.addend(old, v)
			}
			if next, err = apply(plain(old), plain(v)); err != nil {
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
