package dotnet

import "strings"

// call calls the first overload whose parameters accept the arguments unchanged or widened.
// PowerShell would convert more, and has more overloads, so all other calls are refused.
func (s *slot) call(self any, args []any) (any, error) {
	for i, a := range args {
		args[i] = base(a)
	}
	for _, m := range s.methods {
		bound, ok := m.bind(args)
		if !ok {
			continue
		}
		r, err := m.Call(self, bound)
		return r, methodFailure(err, s.callName(), len(args))
	}
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = display(a)
	}
	return nil, Refuse("the method %s(%s) of [%s]", s.name, strings.Join(types, ", "), s.owner.Display())
}

func (s *slot) callName() string {
	if s.name == "new" {
		return ".ctor"
	}
	return s.name
}

// bind returns the arguments in the types of the parameters. ok is false if they do not fit.
func (m *Member) bind(args []any) (bound []any, ok bool) {
	if m.variadic {
		items, ok := spread(args, m.params[0].Elem)
		return []any{items}, ok
	}
	if len(args) != len(m.params) {
		return nil, false
	}
	copied := false
	for i, arg := range args {
		v, ok := widen(arg, m.params[i])
		if !ok {
			return nil, false
		}
		if !copied && v != arg {
			args, copied = append([]any(nil), args...), true
		}
		if copied {
			args[i] = v
		}
	}
	return args, true
}

// spread collects the arguments for a "params T[]".
func spread(args []any, elem *Type) (*Array, bool) {
	if len(args) == 1 {
		if array, ok := args[0].(*Array); ok && array.Elem == elem {
			args = array.Items
		}
	}
	out := &Array{Elem: elem, Items: make([]any, len(args))}
	for i, arg := range args {
		v, ok := widen(arg, elem)
		if !ok {
			return nil, false
		}
		out.Items[i] = v
	}
	return out, true
}

// widen returns an argument for a parameter of type t. It must already have that type, or be
// convertible without loss.
func widen(arg any, t *Type) (any, bool) {
	from := TypeOf(arg)
	switch {
	case from == nil:
		return nil, t == TObject
	case from == t || t == TObject || from.AssignableTo(t):
		return arg, true
	case from == TString && t == TChar && Length(arg.(string)) == 1:
		return UnitAt(arg.(string), 0), true
	case from == TString && t.Kind == KindEnum:
		v, err := Convert(arg, t)
		return v, err == nil
	case t == TInt64 || t == TDouble || t == TInt32:
		i, whole := asInt64(arg)
		if !whole || isNumber(arg) != whole {
			return nil, false
		}
		v, ok := numberTo(i, t)
		return v, ok
	}
	return nil, false
}

// isBlock reports whether a value is a script block.
func isBlock(v any) bool {
	o, ok := v.(Object)
	return ok && o.Type() == TScriptBlock
}

// methodFailure wraps the exception of a called method.
func methodFailure(err error, name string, count int) error {
	if e, ok := err.(*Exception); ok {
		return MethodFailure(e, name, count)
	}
	return err
}

// MethodFailure returns the error of a method that ended with e.
func MethodFailure(e *Exception, name string, count int) *ErrorRecord {
	outer := ExceptionNamed(automation+"MethodInvocationException",
		`Exception calling "%s" with "%d" argument(s): "%s"`, name, count, e.Message)
	outer.Inner = e
	r := NewError(outer, e.Type.ShortName(), NotSpecified, nil)
	outer.Record = r
	return r
}
