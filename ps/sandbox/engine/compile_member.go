package engine

import (
	"slices"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// constantName returns the text of a string without variables, otherwise nil.
func constantName(e syntax.Expr) *dotnet.Name {
	if s, ok := e.(*syntax.String); ok {
		return dotnet.NewName(s.Value)
	}
	return nil
}

func (c *compiler) member(e *syntax.Member) exprFn {
	if e.Static {
		return c.staticMember(e)
	}
	return read(c.expr(e.Target), dotnet.NewName(e.Name.Value), (*frame).getMember)
}

// read compiles the reading of a member of target.
func read(
	target exprFn, name *dotnet.Name, get func(f *frame, v any, name *dotnet.Name) (any, error),
) exprFn {
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		return get(f, v, name)
	}
}

// staticMember compiles [T]::name. The name of an enumeration value is a constant.
func (c *compiler) staticMember(e *syntax.Member) exprFn {
	name := dotnet.NewName(e.Name.Value)
	if x, ok := e.Target.(*syntax.TypeExpr); ok {
		if t := staticType(x.Type.String()); t != nil && t.Kind == dotnet.KindEnum {
			if v, err := name.GetStatic(t); err == nil {
				return constant(v)
			}
		}
	}
	return read(c.expr(e.Target), name, (*frame).getStatic)
}

func (f *frame) getStatic(v any, name *dotnet.Name) (any, error) {
	t, ok := v.(*dotnet.Type)
	if !ok {
		return nil, dotnet.Refuse("a static member of a value")
	}
	if t == dotnet.TCulture && name.Is("currentuiculture") {
		return dotnet.NewCulture(f.s.engine.culture()), nil
	}
	if t.Name == "System.Environment" && f.s.engine.opts.Account != (Account{}) {
		account := f.s.engine.opts.Account
		switch {
		case name.Is("username"):
			return account.User, nil
		case name.Is("userdomainname"):
			return account.Domain, nil
		case name.Is("machinename"):
			return account.Machine, nil
		}
	}
	return name.GetStatic(t)
}

// getMember implements $v.name: a member, or the members of a collection's items.
func (f *frame) getMember(v any, name *dotnet.Name) (any, error) {
	if isNull(v) {
		if name.IsCount() {
			return int32(0), nil
		}
		return nil, nil
	}
	if err := dotnet.Prepare(v, name); err != nil {
		return nil, err
	}
	value, found, err := name.Get(v)
	if err != nil || found {
		return value, err
	}
	if o, ok := v.(partialObject); ok {
		return nil, dotnet.Refuse("the property %s of [%s]", name.String(), o.Type().Name)
	}
	if items, ok := dotnet.Enumerate(v); ok {
		values, found, err := name.Enum(items)
		if err != nil {
			return nil, err
		}
		if found {
			return (&collector{items: values}).value(), nil
		}
	}
	return nil, nil
}

func (c *compiler) invoke(e *syntax.Invoke) exprFn {
	call := &methodCall{target: c.expr(e.Target), name: dotnet.NewName(e.Name.Value), args: c.exprs(e.Args),
		at: c.place(e), call: (*frame).callMethod}
	if e.Static {
		call.call = (*frame).callStatic
		c.checkSort(e)
	}
	return call.run
}

// checkSort refuses [array]::Sort() with an argument without a cast, because PowerShell
// infers a generic overload for typed keys, which sorts a copy of other items.
func (c *compiler) checkSort(e *syntax.Invoke) {
	for _, arg := range e.Args {
		if _, cast := arg.(*syntax.Cast); !cast && lower(e.Name.Value) == "sort" {
			c.refuse(arg, "an argument of Sort() that is not cast to [array] or [System.Collections.IComparer]")
		}
	}
}

// methodCall is a compiled $v.name(args) or [T]::name(args).
type methodCall struct {
	target exprFn
	name   *dotnet.Name
	args   []exprFn
	at     *place
	call   func(f *frame, v any, name *dotnet.Name, args []any) (any, error)
}

func (c *methodCall) run(f *frame) (any, error) {
	v, err := c.target(f)
	if err != nil {
		return nil, err
	}
	args := f.s.args.push(len(c.args))
	defer f.s.args.pop(len(args))
	for i, arg := range c.args {
		v, err := arg(f)
		if err != nil {
			return nil, err
		}
		args[i] = plain(v)
	}
	if err := f.step(c.at); err != nil {
		return nil, err
	}
	result, err := c.call(f, v, c.name, args)
	if err != nil {
		return nil, limitOf(err, c.at)
	}
	if err := f.charge(16 * len(args)); err != nil {
		return nil, err
	}
	return result, f.chargeValue(result)
}

// argumentStack contains the arguments of the running method calls, innermost last. Methods
// do not keep the slice.
type argumentStack struct{ items []any }

func (s *argumentStack) push(n int) []any {
	from := len(s.items)
	if from+n > cap(s.items) { // earlier callers keep the old backing array
		s.items = make([]any, from, 2*(from+n)+16)
	}
	s.items = s.items[:from+n]
	return s.items[from : from+n : from+n]
}

func (s *argumentStack) pop(n int) {
	from := len(s.items) - n
	clear(s.items[from:])
	s.items = s.items[:from]
}

// callMethod implements $v.name(args).
func (f *frame) callMethod(v any, name *dotnet.Name, args []any) (any, error) {
	if isNull(v) {
		return nil, runtimeError("InvokeMethodOnNull", dotnet.InvalidOperation, nil,
			"You cannot call a method on a null-valued expression.")
	}
	if err := dotnet.Prepare(v, name); err != nil {
		return nil, err
	}
	if result, found, err := name.CallOwn(v, args); found {
		return result, err
	}
	return name.Call(v, slices.Clone(args))
}

func (f *frame) callStatic(v any, name *dotnet.Name, args []any) (any, error) {
	t, ok := v.(*dotnet.Type)
	switch {
	case !ok:
		return nil, dotnet.Refuse("a static method of a value")
	case t == dotnet.TScriptBlock && name.Is("create") && len(args) == 1:
		return f.s.newScriptBlock(dotnet.ToText(args[0]))
	}
	if name.Is("new") {
		return dotnet.New(t, args)
	}
	return name.CallStatic(t, args)
}

func (c *compiler) index(e *syntax.Index) exprFn {
	target := c.expr(e.Target)
	if name := constantName(e.Index); name != nil {
		return func(f *frame) (any, error) {
			v, err := target(f)
			if err != nil {
				return nil, err
			}
			return f.getKey(v, name)
		}
	}
	at := c.expr(e.Index)
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		i, err := at(f)
		if err != nil {
			return nil, err
		}
		return f.getIndex(v, i)
	}
}

func (f *frame) getIndex(v, index any) (any, error) {
	if isNull(v) {
		return nil, runtimeError("NullArray", dotnet.InvalidOperation, nil, "Cannot index into a null array.")
	}
	if isNull(index) {
		return nil, runtimeError("NullArrayIndex", dotnet.InvalidOperation, nil,
			"Index operation failed; the array index evaluated to null.")
	}
	if a, ok := v.(*dotnet.Array); ok {
		if i, ok := index.(int32); ok && i >= 0 && int(i) < len(a.Items) {
			return a.Items[i], nil
		}
	}
	value, _, err := dotnet.GetIndex(v, index)
	return f.indexed(value, err)
}

// getKey implements $v['name'].
func (f *frame) getKey(v any, name *dotnet.Name) (any, error) {
	if isNull(v) {
		return f.getIndex(v, nil)
	}
	value, _, err := name.GetKey(v)
	return f.indexed(value, err)
}

// indexed returns the result of an index operation, or no value if the operand cannot be indexed.
func (f *frame) indexed(value any, err error) (any, error) {
	if rec := dotnet.AsRecord(err); rec != nil && rec.ErrorID == "CannotIndex" {
		return dotnet.AutomationNull, nil
	}
	return value, err
}
