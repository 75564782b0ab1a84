package engine

import (
	"slices"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// memberName is the name after a dot: a constant, or computed.
type memberName struct {
	fixed *dotnet.Name
	run   exprFn
}

func (c *compiler) memberName(e syntax.Expr) memberName {
	if name := constantName(e); name != nil {
		return memberName{fixed: name}
	}
	return memberName{run: c.expr(e)}
}

// constantName is the text of a string without variables, else nil.
func constantName(e syntax.Expr) *dotnet.Name {
	if s, ok := e.(*syntax.String); ok {
		return dotnet.NewName(s.Value)
	}
	return nil
}

func (m *memberName) eval(f *frame) (*dotnet.Name, error) {
	if m.fixed != nil {
		return m.fixed, nil
	}
	v, err := m.run(f)
	if err != nil {
		return nil, err
	}
	return dotnet.NewName(dotnet.ToText(v)), nil
}

func (c *compiler) member(e *syntax.Member) exprFn {
	if e.Static {
		return c.staticMember(e)
	}
	member, target := c.memberName(e.Name), c.expr(e.Target)
	return member.of(target, (*frame).getMember)
}

// of compiles the reading of the name on what target gives.
func (m memberName) of(target exprFn, read func(f *frame, v any, name *dotnet.Name) (any, error)) exprFn {
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		name, err := m.eval(f)
		if err != nil {
			return nil, err
		}
		return read(f, v, name)
	}
}

// staticMember compiles [T]::name; a name of an enumeration is a constant.
func (c *compiler) staticMember(e *syntax.Member) exprFn {
	member, target := c.memberName(e.Name), c.expr(e.Target)
	if x, ok := e.Target.(*syntax.TypeExpr); ok && member.fixed != nil {
		if t := staticType(typeText(x.Type)); t != nil && t.Kind == dotnet.KindEnum {
			if v, found, err := member.fixed.GetStatic(t, nil); found && err == nil {
				return constant(v)
			}
		}
	}
	return member.of(target, (*frame).getStatic)
}

func (f *frame) getStatic(v any, name *dotnet.Name) (any, error) {
	t, ok := v.(*dotnet.Type)
	if !ok {
		t = dotnet.TypeOf(v)
	}
	if t == nil {
		return nil, nil
	}
	if t == dotnet.TCulture && (name.Is("currentuiculture") || name.Is("currentculture")) {
		return dotnet.NewCulture(f.s.engine.culture()), nil
	}
	value, found, err := name.GetStatic(t, f.s.engine.opts.Now)
	if err != nil {
		return nil, err
	}
	if !found && f.scope.strictMode() >= 2 {
		return nil, propertyNotFound(name)
	}
	return value, nil
}

func propertyNotFound(name *dotnet.Name) *dotnet.ErrorRecord {
	text := "The property '" + name.String() + "' cannot be found on this object. Verify that the property exists."
	return dotnet.NewError(dotnet.NewException(exceptionType("System.Management.Automation.PropertyNotFoundException"), text),
		"PropertyNotFoundStrict", dotnet.NotSpecified, nil)
}

// getMember is $v.name: a member, or of a collection the members of its items.
func (f *frame) getMember(v any, name *dotnet.Name) (any, error) {
	if isNull(v) {
		if f.scope.strictMode() >= 2 && !name.IsCount() {
			return nil, propertyNotFound(name)
		}
		if name.IsCount() {
			return int32(0), nil
		}
		return nil, nil
	}
	value, found, err := name.Get(v)
	if err != nil || found {
		return value, err
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
	if f.scope.strictMode() >= 2 {
		return nil, propertyNotFound(name)
	}
	return nil, nil
}

func (c *compiler) invoke(e *syntax.Invoke) exprFn {
	if e.Static {
		return c.invokeStatic(e)
	}
	call := &methodCall{member: c.memberName(e.Name), args: c.exprs(e.Args), at: c.place(e)}
	target := c.expr(e.Target)
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		values := f.s.args.push(len(call.args))
		result, err := call.run(f, v, values)
		f.s.args.pop(len(values))
		return result, err
	}
}

// methodCall is $v.name(args) without $v.
type methodCall struct {
	member memberName
	args   []exprFn
	at     *place
}

// run calls the method of v; the values of the arguments come into values.
func (c *methodCall) run(f *frame, v any, values []any) (any, error) {
	name, err := c.prepare(f, values)
	if err != nil {
		return nil, err
	}
	result, err := f.callMethod(v, name, values)
	if err != nil {
		return nil, limitOf(err, c.at)
	}
	if err := f.charge(16 * len(values)); err != nil {
		return nil, err
	}
	return result, f.chargeValue(result)
}

// prepare evaluates the name and the arguments.
func (c *methodCall) prepare(f *frame, values []any) (*dotnet.Name, error) {
	name, err := c.member.eval(f)
	if err != nil {
		return nil, err
	}
	for i, arg := range c.args {
		v, err := arg(f)
		if err != nil {
			return nil, err
		}
		values[i] = plain(v)
	}
	return name, f.step(c.at)
}

// argumentStack is the room for the arguments of the method calls that run, the
// innermost last: methods do not keep the slice.
type argumentStack struct{ room []any }

func (s *argumentStack) push(n int) []any {
	from := len(s.room)
	if from+n > cap(s.room) { // who pushed before goes on with the old room
		s.room = make([]any, from, 2*(from+n)+16)
	}
	s.room = s.room[:from+n]
	return s.room[from : from+n : from+n]
}

func (s *argumentStack) pop(n int) {
	from := len(s.room) - n
	clear(s.room[from:])
	s.room = s.room[:from]
}

// callMethod is $v.name(args): a method, of a collection the methods of its
// items, or the ForEach and Where every collection has.
func (f *frame) callMethod(v any, name *dotnet.Name, args []any) (any, error) {
	if isNull(v) {
		return nil, runtimeError("InvokeMethodOnNull", dotnet.InvalidOperation, nil, "You cannot call a method on a null-valued expression.")
	}
	old := f.s.current
	f.s.current = f
	result, err := f.dispatch(v, name, args)
	f.s.current = old
	return result, err
}

func (f *frame) dispatch(v any, name *dotnet.Name, args []any) (any, error) {
	if o, ok := v.(*dotnet.Instance); ok && o.Type == dotnet.TRegex && len(args) > 0 {
		if err := f.guardRegex(args[0]); err != nil {
			return nil, err
		}
		if len(args) >= 2 && name.Is("replace") {
			with, err := f.guardText(args[0], args[1])
			if err != nil {
				return nil, err
			}
			args[1] = with
		}
	}
	if block, ok := v.(*ScriptBlock); ok {
		result, err := block.Invoke(name.String(), slices.Clone(args))
		if pe := asPS(err); pe != nil && (name.Is("invoke") || name.Is("invokereturnasis")) {
			return nil, dotnet.MethodFailure(pe.rec.Exception, name.String(), len(args))
		}
		return result, err
	}
	if result, found, err := name.CallOwn(v, args); found {
		return result, err
	}
	switch {
	case name.Is("foreach"):
		return f.forEachMethod(v, args)
	case name.Is("where"):
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
	return name.Call(v, slices.Clone(args))
}

func anyHasMethod(items []any, name *dotnet.Name) bool {
	for _, item := range items {
		if !isNull(item) && name.HasMethod(item) {
			return true
		}
	}
	return false
}

func (c *compiler) invokeStatic(e *syntax.Invoke) exprFn {
	call := &methodCall{member: c.memberName(e.Name), args: c.exprs(e.Args), at: c.place(e)}
	target := c.expr(e.Target)
	return func(f *frame) (any, error) {
		v, err := target(f)
		if err != nil {
			return nil, err
		}
		values := f.s.args.push(len(call.args))
		result, err := call.runStatic(f, v, values)
		f.s.args.pop(len(values))
		return result, err
	}
}

// runStatic is run of [T]::name(args).
func (c *methodCall) runStatic(f *frame, v any, values []any) (any, error) {
	name, err := c.prepare(f, values)
	if err != nil {
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

func (f *frame) callStatic(t *dotnet.Type, name *dotnet.Name, args []any) (any, error) {
	if t == dotnet.TScriptBlock && name.Is("create") && len(args) == 1 {
		return f.s.newScriptBlock(dotnet.ToText(args[0]))
	}
	old := f.s.current
	f.s.current = f
	result, err := f.dispatchStatic(t, name, args)
	f.s.current = old
	return result, err
}

func (f *frame) dispatchStatic(t *dotnet.Type, name *dotnet.Name, args []any) (any, error) {
	if name.Is("new") {
		return dotnet.NewFor(f.s.Context, t, args)
	}
	if t == dotnet.TRegex && len(args) > 0 {
		if err := f.guardRegex(args[0]); err != nil {
			return nil, err
		}
	}
	if t == dotnet.TRegex && len(args) >= 3 && name.Is("replace") {
		with, err := f.guardText(args[0], args[2])
		if err != nil {
			return nil, err
		}
		args[2] = with
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
		return nil, runtimeError("NullArrayIndex", dotnet.InvalidOperation, nil, "Index operation failed; the array index evaluated to null.")
	}
	if a, ok := v.(*dotnet.Array); ok {
		if i, ok := index.(int32); ok && i >= 0 && int(i) < len(a.Items) {
			return a.Items[i], nil
		}
	}
	value, found, err := dotnet.GetIndex(v, index)
	return f.indexed(v, value, found, err)
}

// getKey is $v['name'].
func (f *frame) getKey(v any, name *dotnet.Name) (any, error) {
	if isNull(v) {
		return f.getIndex(v, nil)
	}
	value, found, err := name.GetKey(v)
	return f.indexed(v, value, found, err)
}

// indexed is what an index has found; beyond the bounds is an error in the strictest mode only.
func (f *frame) indexed(v, value any, found bool, err error) (any, error) {
	if rec := dotnet.AsRecord(err); rec != nil && rec.ErrorID == "CannotIndex" && f.scope.strictMode() < 2 {
		return dotnet.AutomationNull, nil
	}
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
