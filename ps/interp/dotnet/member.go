package dotnet

import "errors"

// ErrNoMethod is what an Object's Invoke returns for a method it does not have.
var ErrNoMethod = errors.New("no such method")

// GetMember reads a property of one value: dictionary keys before .NET
// properties, note properties, PSObject, and Count and Length of any scalar.
// found is false when there is none; the evaluator then tries EnumMember over
// Enumerate(v). A getter that fails gives an *ErrorRecord.
func GetMember(v any, name string) (value any, found bool, err error) {
	switch x := v.(type) {
	case nil, Nothing:
		if isCount(name) {
			return int32(0), true, nil
		}
		return nil, false, nil
	case *Hashtable:
		if value, ok := x.memberKey(name); ok {
			return value, true, nil
		}
	case *PSObject:
		if value, ok := x.Props.Get(name); ok {
			return value, true, nil
		}
	case *Instance:
		if value, ok := x.Props.Get(name); ok {
			return value, true, nil
		}
	case *Exception:
		if value, ok := x.Props.Get(name); ok {
			return value, true, nil
		}
	case Object:
		if value, ok := x.Member(name); ok {
			return value, true, nil
		}
	}
	t := TypeOf(v)
	if s := t.find(name, false); s != nil && s.property != nil {
		value, err := s.property.Get(v)
		return value, true, getFailure(err, s.name)
	}
	if EqualFold(name, "PSObject") {
		return &objectView{v}, true, nil
	}
	if isCount(name) && !isCollection(v) {
		return int32(1), true, nil
	}
	return nil, false, nil
}

// memberKey finds a key by a member name: the key itself, or one whose text it is.
func (h *Hashtable) memberKey(name string) (any, bool) {
	if value, ok := h.Get(name); ok {
		return value, true
	}
	if h.Comparer == CompareExact {
		for i := range h.Len() {
			if key, value := h.At(i); key == name {
				return value, true
			}
		}
	}
	return nil, false
}

func isCount(name string) bool { return EqualFold(name, "Count") || EqualFold(name, "Length") }

func getFailure(err error, name string) error {
	e, ok := err.(*Exception)
	if !ok {
		return err
	}
	outer := ExceptionNamed("System.Management.Automation.GetValueInvocationException", `Exception getting "%s": "%s"`, name, e.Message)
	outer.Inner = e
	return NewError(outer, "ExceptionWhenGetting", NotSpecified, nil)
}

// EnumMember is member enumeration: the values of name over the items that have
// it, collections among the values unrolled. found is false when no item has it.
func EnumMember(items []any, name string) (values []any, found bool, err error) {
	return enumMember(items, name, 0)
}

// maxNesting bounds how deep collections inside collections are followed: one
// that holds itself has no end.
const maxNesting = 100

func enumMember(items []any, name string, depth int) (values []any, found bool, err error) {
	if depth > maxNesting {
		return nil, false, &LimitError{"nesting of collections", maxNesting}
	}
	for _, item := range items {
		var value any
		var ok bool
		if isCollection(item) {
			inner, _ := Enumerate(item)
			nested, has, err := enumMember(inner, name, depth+1)
			if err != nil {
				return nil, false, err
			}
			if has {
				values, found = append(values, nested...), true
			}
			continue
		}
		value, ok, err = itemMember(item, name)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			continue
		}
		found = true
		if nested, isList := Enumerate(value); isList {
			values = append(values, nested...)
		} else {
			values = append(values, value)
		}
	}
	return values, found, nil
}

// itemMember is GetMember without the Count and Length that every scalar has.
func itemMember(item any, name string) (any, bool, error) {
	value, ok, err := GetMember(item, name)
	if ok && isCount(name) {
		t := TypeOf(item)
		if t == nil {
			return nil, false, nil
		}
		_, isTable := item.(*Hashtable)
		if s := t.find(name, false); s == nil && !isTable && !hasNote(item, name) {
			return nil, false, nil
		}
	}
	return value, ok, err
}

func hasNote(v any, name string) bool {
	switch x := v.(type) {
	case *PSObject:
		_, ok := x.Props.Get(name)
		return ok
	case *Instance:
		_, ok := x.Props.Get(name)
		return ok
	case Object:
		_, ok := x.Member(name)
		return ok
	default:
		return false
	}
}

// SetMember writes a property: of a dictionary the key.
func SetMember(v any, name string, value any) error {
	value = base(value)
	switch x := v.(type) {
	case nil, Nothing:
		return missingProperty(name)
	case *Hashtable:
		if _, ok := x.Get(name); !ok && x.Type != nil {
			if s := x.Type.find(name, false); s != nil && s.property != nil && s.property.Set != nil {
				return s.property.Set(x, value)
			}
		}
		return SetIndex(x, name, value)
	case *PSObject:
		if _, ok := x.Props.Get(name); ok {
			x.Props.Set(name, value)
			return nil
		}
	case *Instance:
		if _, ok := x.Props.Get(name); ok {
			x.Props.Set(name, value)
			return nil
		}
	case *Exception:
		if _, ok := x.Props.Get(name); ok {
			x.Props.Set(name, value)
			return nil
		}
	case Setter:
		return setFailure(x.SetMember(name, value), name)
	}
	s := TypeOf(v).find(name, false)
	if s == nil || s.property == nil {
		return missingProperty(name)
	}
	if s.property.Set == nil {
		return NewError(setException(name, RuntimeError("PropertyAssignmentException", NotSpecified, nil, "'%s' is a ReadOnly property.", s.name).Exception, false),
			"PropertyAssignmentException", InvalidOperation, nil)
	}
	if t := s.property.Type; t != nil {
		converted, err := Convert(value, t)
		if err != nil {
			return setFailure(err, name)
		}
		value = converted
	}
	return setFailure(s.property.Set(v, value), name)
}

func missingProperty(name string) error {
	inner := RuntimeError("PropertyAssignmentException", InvalidOperation, nil,
		"The property '%s' cannot be found on this object. Verify that the property exists and can be set.", name)
	return NewError(setException(name, inner.Exception, true), "ExceptionWhenSetting", NotSpecified, nil)
}

func setException(name string, inner *Exception, wrap bool) *Exception {
	message := inner.Message
	if wrap {
		message = `Exception setting "` + name + `": "` + message + `"`
	}
	e := NewException(Lookup("System.Management.Automation.SetValueInvocationException"), message)
	e.Inner = inner
	return e
}

func setFailure(err error, name string) error {
	switch e := err.(type) {
	case *Exception:
		return NewError(setException(name, e, true), "ExceptionWhenSetting", NotSpecified, nil)
	case *ErrorRecord:
		return NewError(setException(name, e.Exception, true), "ExceptionWhenSetting", NotSpecified, nil)
	default:
		return err
	}
}

// GetStatic reads [T]::name: a static property or field, or an enumeration's value.
// clock is that of the session.
func GetStatic(t *Type, name string, clock Clock) (value any, found bool, err error) {
	if t.Kind == KindEnum {
		if n, ok := t.valueOf(name); ok {
			return Enum{t, n}, true, nil
		}
		return nil, false, nil
	}
	s := t.find(name, true)
	if s == nil || s.property == nil {
		return nil, false, nil
	}
	value, err = s.property.Get(clock)
	return value, true, getFailure(err, s.name)
}

// SetStatic writes [T]::name.
func SetStatic(t *Type, name string, value any) error {
	s := t.find(name, true)
	if s == nil || s.property == nil || s.property.Set == nil {
		return missingProperty(name)
	}
	return setFailure(s.property.Set(nil, base(value)), name)
}

// HasMethod tells whether the value has a method of that name.
func HasMethod(v any, name string) bool {
	t := TypeOf(v)
	if t == nil {
		return false
	}
	s := t.find(name, false)
	return s != nil && len(s.methods) > 0
}

// CallMethod is $v.name(args). A collection without such a method is called
// item by item. Exceptions of the method come wrapped, as PowerShell has them.
func CallMethod(v any, name string, args []any) (any, error) {
	if base(v) == nil {
		return nil, RuntimeError("InvokeMethodOnNull", InvalidOperation, nil, "You cannot call a method on a null-valued expression.")
	}
	t := TypeOf(v)
	if s := t.find(name, false); s != nil && len(s.methods) > 0 {
		return s.call(v, args, "MethodNotFound")
	}
	if o, ok := v.(Object); ok {
		r, err := o.Invoke(name, args)
		if !errors.Is(err, ErrNoMethod) {
			return r, methodFailure(err, name, len(args))
		}
	}
	if block, ok, _ := GetMember(v, name); ok {
		if o, isBlock := block.(Object); isBlock && !isCount(name) {
			if r, err := o.Invoke("Invoke", args); !errors.Is(err, ErrNoMethod) {
				return r, err
			}
		}
	}
	if isCollection(v) {
		return callEach(v, name, args, 0)
	}
	return nil, methodNotFound(t, name)
}

func methodNotFound(t *Type, name string) error {
	return RuntimeError("MethodNotFound", InvalidOperation, nil,
		"Method invocation failed because [%s] does not contain a method named '%s'.", t.Text(), name)
}

// callEach calls the method of every item; without items there is no method.
func callEach(v any, name string, args []any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, &LimitError{"nesting of collections", maxNesting}
	}
	items, _ := Enumerate(v)
	out := []any{}
	for _, item := range items {
		if item == nil {
			continue
		}
		if !isCollection(item) && !callable(item, name) {
			return nil, methodNotFound(TypeOf(item), name)
		}
		var r any
		var err error
		if isCollection(item) && !HasMethod(item, name) {
			r, err = callEach(item, name, args, depth+1)
		} else {
			r, err = CallMethod(item, name, args)
		}
		if err != nil {
			return nil, err
		}
		if r != Void {
			out = append(out, r)
		}
	}
	if len(items) == 0 {
		return nil, methodNotFound(TypeOf(v), name)
	}
	switch len(out) {
	case 0:
		return Void, nil
	case 1:
		return out[0], nil
	default:
		return &Array{Items: out}, nil
	}
}

func callable(v any, name string) bool {
	if _, ok := v.(Object); ok {
		return true
	}
	return HasMethod(v, name)
}

// CallStatic is [T]::name(args).
func CallStatic(t *Type, name string, args []any) (any, error) {
	if EqualFold(name, "new") {
		return New(t, args)
	}
	s := t.find(name, true)
	if s == nil || len(s.methods) == 0 {
		return nil, methodNotFound(t, name)
	}
	return s.call(nil, args, "MethodNotFound")
}

// New is [T]::new(args) and New-Object.
func New(t *Type, args []any) (any, error) {
	t.ready()
	if t.Kind == KindArray {
		return newArray(t, args)
	}
	if t.constructor == nil {
		return nil, RuntimeError("MethodNotFound", InvalidOperation, nil,
			"Cannot find a constructor. Cannot find an appropriate constructor for type %s.", t.Text())
	}
	return t.constructor.call(nil, args, "ConstructorInvokedThrowException")
}

// newArray is [T[]]::new(n).
func newArray(t *Type, args []any) (any, error) {
	if len(args) != 1 {
		return nil, noOverload("new", len(args))
	}
	n, err := Convert(args[0], TInt32)
	if err != nil {
		return nil, err
	}
	count := int(n.(int32))
	if count < 0 {
		return nil, methodFailure(ExceptionNamed("System.OverflowException", "Arithmetic operation resulted in an overflow."), ".ctor", 1)
	}
	if count > MaxArrayLength {
		return nil, &LimitError{"array length", MaxArrayLength}
	}
	if t == TByteArray {
		return &Bytes{B: make([]byte, count)}, nil
	}
	a := &Array{Elem: t.Elem, Items: make([]any, count)}
	if zero := zeroOf(t.Elem); zero != nil {
		for i := range a.Items {
			a.Items[i] = zero
		}
	}
	return a, nil
}

// zeroOf is default(T).
func zeroOf(t *Type) any {
	switch {
	case t == TString || !t.IsValue() || t.Kind == KindNullable:
		return nil
	case t.Kind == KindEnum:
		return Enum{t, 0}
	case t == TDateTime:
		return DateTime{}
	case t == TTimeSpan:
		return TimeSpan(0)
	case t == TGuid:
		return Guid{}
	}
	v, err := convertNull(t)
	if err != nil {
		return nil
	}
	return v
}
