package interp

import (
	"adgateway/ps/interp/dotnet"
	"adgateway/ps/syntax"
)

// memberName compiles the name after a dot: constant, or computed.
func (c *compiler) memberName(e syntax.Expr) (name string, run exprFn) {
	if s, ok := e.(*syntax.String); ok {
		return s.Value, nil
	}
	return "", c.expr(e)
}

func evalName(f *frame, name string, run exprFn) (string, error) {
	if run == nil {
		return name, nil
	}
	v, err := run(f)
	if err != nil {
		return "", err
	}
	return dotnet.ToText(v), nil
}

func (c *compiler) member(e *syntax.Member) exprFn {
	name, dynamic := c.memberName(e.Name)
	target := c.expr(e.Target)
	if e.Static {
		return func(f *frame) (any, error) {
			v, err := target(f)
			if err != nil {
				return nil, err
			}
			name, err := evalName(f, name, dynamic)
			if err != nil {
				return nil, err
			}
			return f.getStatic(v, name)
		}
	}
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		name, err := evalName(f, name, dynamic)
		if err != nil {
			return nil, err
		}
		return f.getMember(v, name)
	}
}

func (f *frame) getStatic(v any, name string) (any, error) {
	t, ok := v.(*dotnet.Type)
	if !ok {
		t = dotnet.TypeOf(v)
	}
	if t == nil {
		return nil, nil
	}
	value, found, err := dotnet.GetStatic(t, name, f.s.engine.opts.Now)
	if err != nil {
		return nil, err
	}
	if !found && f.scope.strictMode() >= 2 {
		return nil, propertyNotFound(name)
	}
	return value, nil
}

func propertyNotFound(name string) *dotnet.ErrorRecord {
	text := "The property '" + name + "' cannot be found on this object. Verify that the property exists."
	return dotnet.NewError(dotnet.NewException(exceptionType("System.Management.Automation.PropertyNotFoundException"), text),
		"PropertyNotFoundStrict", dotnet.NotSpecified, nil)
}

// getMember is $v.name: a member, or of a collection the members of its items.
func (f *frame) getMember(v any, name string) (any, error) {
	if isNull(v) {
		if f.scope.strictMode() >= 2 && !isCount(name) {
			return nil, propertyNotFound(name)
		}
		if isCount(name) {
			return int32(0), nil
		}
		return nil, nil
	}
	value, found, err := dotnet.GetMember(v, name)
	if err != nil || found {
		return value, err
	}
	if items, ok := dotnet.Enumerate(v); ok {
		values, found, err := dotnet.EnumMember(items, name)
		if err != nil {
			return nil, err
		}
		if found {
			return (&collector{items: values}).value(), nil
		}
	}
	if f.scope.strictMode() >= 2 {
		return nil, propertyNotFound(name)
	}
	return nil, nil
}

func isCount(name string) bool {
	switch lower(name) {
	case "count", "length":
		return true
	}
	return false
}

func (c *compiler) invoke(e *syntax.Invoke) exprFn {
	name, dynamic := c.memberName(e.Name)
	args := c.exprs(e.Args)
	if e.Static {
		return c.invokeStatic(e, name, dynamic, args)
	}
	target := c.expr(e.Target)
	at := c.place(e)
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		name, err := evalName(f, name, dynamic)
		if err != nil {
			return nil, err
		}
		values, err := evalArgs(f, args)
		if err != nil {
			return nil, err
		}
		if err := f.step(at); err != nil {
			return nil, err
		}
		result, err := f.callMethod(v, name, values)
		if err != nil {
			return nil, limitOf(err, at)
		}
		if err := f.charge(16 * len(values)); err != nil {
			return nil, err
		}
		return result, f.chargeValue(result)
	}
}

func evalArgs(f *frame, args []exprFn) ([]any, error) {
	if len(args) == 0 {
		return nil, nil
	}
	values := make([]any, len(args))
	for i, arg := range args {
		v, err := arg(f)
		if err != nil {
			return nil, err
		}
		values[i] = plain(v)
	}
	return values, nil
}

// callMethod is $v.name(args): a method, of a collection the methods of its
// items, or the ForEach and Where every collection has.
func (f *frame) callMethod(v any, name string, args []any) (any, error) {
	if isNull(v) {
		return nil, runtimeError("InvokeMethodOnNull", dotnet.InvalidOperation, nil, "You cannot call a method on a null-valued expression.")
	}
	old := f.s.current
	f.s.current = f
	result, err := f.dispatch(v, name, args)
	f.s.current = old
	return result, err
}

func (f *frame) dispatch(v any, name string, args []any) (any, error) {
	if o, ok := v.(*dotnet.Instance); ok && o.Type == dotnet.TRegex && len(args) > 0 {
		if err := f.guardRegex(args[0]); err != nil {
			return nil, err
		}
		if len(args) >= 2 && lower(name) == "replace" {
			with, err := f.guardText(args[0], args[1])
			if err != nil {
				return nil, err
			}
			args[1] = with
		}
	}
	if block, ok := v.(*ScriptBlock); ok {
		return block.Invoke(name, args)
	}
	if !dotnet.HasMethod(v, name) {
		switch lower(name) {
		case "foreach":
			return f.forEachMethod(v, args)
		case "where":
			return f.whereMethod(v, args)
		}
		if items, ok := dotnet.Enumerate(v); ok && len(items) > 0 && anyHasMethod(items, name) {
			out := collector{f: f}
			for _, item := range items {
				result, err := f.callMethod(item, name, args)
				if err != nil {
					return nil, err
				}
				if result != dotnet.AutomationNull {
					out.items = append(out.items, result)
				}
			}
			return out.value(), nil
		}
	}
	return dotnet.CallMethod(v, name, args)
}

func anyHasMethod(items []any, name string) bool {
	for _, item := range items {
		if !isNull(item) && dotnet.HasMethod(item, name) {
			return true
		}
	}
	return false
}

func (c *compiler) invokeStatic(e *syntax.Invoke, name string, dynamic exprFn, args []exprFn) exprFn {
	target := c.expr(e.Target)
	at := c.place(e)
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		name, err := evalName(f, name, dynamic)
		if err != nil {
			return nil, err
		}
		values, err := evalArgs(f, args)
		if err != nil {
			return nil, err
		}
		if err := f.step(at); err != nil {
			return nil, err
		}
		t, ok := v.(*dotnet.Type)
		if !ok {
			if t = dotnet.TypeOf(v); t == nil {
				return nil, runtimeError("InvokeMethodOnNull", dotnet.InvalidOperation, nil, "You cannot call a method on a null-valued expression.")
			}
		}
		result, err := f.callStatic(t, name, values)
		if err != nil {
			return nil, err
		}
		return result, f.chargeValue(result)
	}
}

func (f *frame) callStatic(t *dotnet.Type, name string, args []any) (any, error) {
	if t == dotnet.TScriptBlock && lower(name) == "create" && len(args) == 1 {
		return f.s.newScriptBlock(dotnet.ToText(args[0]))
	}
	old := f.s.current
	f.s.current = f
	defer func() { f.s.current = old }()
	if lower(name) == "new" {
		return dotnet.New(t, args)
	}
	if t == dotnet.TRegex && len(args) > 0 {
		if err := f.guardRegex(args[0]); err != nil {
			return nil, err
		}
	}
	if t == dotnet.TRegex && len(args) >= 3 && lower(name) == "replace" {
		with, err := f.guardText(args[0], args[2])
		if err != nil {
			return nil, err
		}
		args[2] = with
	}
	return dotnet.CallStatic(t, name, args)
}

func (c *compiler) index(e *syntax.Index) exprFn {
	target, at := c.expr(e.Target), c.expr(e.Index)
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
		return nil, runtimeError("NullArrayIndex", dotnet.InvalidOperation, nil, "Index operation failed; the array index evaluated to null.")
	}
	if a, ok := v.(*dotnet.Array); ok {
		if i, ok := index.(int32); ok && i >= 0 && int(i) < len(a.Items) {
			return a.Items[i], nil
		}
	}
	value, found, err := dotnet.GetIndex(v, index)
	if err != nil {
		return nil, err
	}
	if !found && f.scope.strictMode() >= 3 {
		if _, keyed := v.(*dotnet.Hashtable); !keyed {
			return nil, dotnet.AsRecord(dotnet.NewException(exceptionType("System.IndexOutOfRangeException"), "Index was outside the bounds of the array."))
		}
	}
	return value, nil
}
