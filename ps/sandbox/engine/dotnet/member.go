package dotnet

import (
	"context"
	"errors"
)

// ErrNoMethod is returned by Invoke of an Object for an unknown method.
var ErrNoMethod = errors.New("no such method")

// GetMember returns a property of one value. Dictionary keys take precedence over .NET properties and note
// properties, and any scalar has PSObject, Count and Length. found is false if there is none; the evaluator
// then tries EnumMember over Enumerate(v). A failing getter returns an *ErrorRecord.
func GetMember(v any, name string) (value any, found bool, err error) {
	n := MakeName(name)
	return n.Get(v)
}

// Enum implements member enumeration: it returns the values of the member for the items that
// have it, and unrolls collections among them. found is false if no item has it.
func (n *Name) Enum(items []any) (values []any, found bool, err error) {
	if n.IsCount() { // each item has it, too
		return nil, false, Refuse("the member %s of the items of a collection", n.text)
	}
	missing := false
	for _, item := range items {
		if isCollection(item) {
			return nil, false, Refuse("the member %s of a collection of collections", n.text)
		}
		value, ok, err := n.Get(item)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			// PowerShell returns $null for it if another item has the member
			if _, custom := item.(*PSObject); custom {
				missing = true
			}
			continue
		}
		found = true
		if nested, isList := Enumerate(value); isList {
			values = append(values, nested...)
		} else {
			values = append(values, value)
		}
	}
	if found && missing {
		return nil, false, Refuse("the member %s of objects of which some lack it", n.text)
	}
	return values, found, nil
}

// SetMember writes a property, or a key of a dictionary.
func SetMember(v any, name string, value any) error {
	n := MakeName(name)
	return n.Set(v, value)
}

// setFailure returns the error of an assignment to a property whose setter failed with err.
func setFailure(err error, name string) error {
	cause, ok := err.(*Exception)
	if !ok {
		return err
	}
	e := NewException(Lookup("System.Management.Automation.SetValueInvocationException"), `Exception setting "`+name+`": "`+cause.Message+`"`)
	e.Inner = cause
	return NewError(e, "ExceptionWhenSetting", NotSpecified, nil)
}

// HasMethod reports whether the value has a method with the name.
func (n *Name) HasMethod(v any) bool { return n.method(v) != nil }

// method returns the value's own method with the name, or nil.
func (n *Name) method(v any) *slot {
	if s := TypeOf(v).find(n); s != nil && len(s.methods) > 0 {
		return s
	}
	return nil
}

// CallMethod implements $v.name(args); v must not be nil. Exceptions of the method are
// wrapped, as in PowerShell. The method may keep the arguments, but not the slice.
func CallMethod(v any, name string, args []any) (any, error) {
	n := MakeName(name)
	return n.Call(v, args)
}

// CallOwn calls a method of the value's own type. found is false if the type has no such method.
func (n *Name) CallOwn(v any, args []any) (result any, found bool, err error) {
	s := n.method(v)
	if s == nil {
		return nil, false, nil
	}
	result, err = s.call(v, args)
	return result, true, err
}

// Call calls a method of v; see CallMethod.
func (n *Name) Call(v any, args []any) (any, error) {
	if r, found, err := n.CallOwn(v, args); found {
		return r, err
	}
	if o, ok := v.(Object); ok {
		r, err := o.Invoke(n.text, args)
		if !errors.Is(err, ErrNoMethod) {
			return r, methodFailure(err, n.text, len(args))
		}
	}
	return nil, refuseMember(TypeOf(v), n.text)
}

// refuseMember returns the error for a member that the sandbox does not support.
func refuseMember(t *Type, name string) error {
	return Refuse("the member %s of [%s]", name, t.Display())
}

// CallStatic implements [T]::name(args).
func (n *Name) CallStatic(t *Type, args []any) (any, error) {
	if n.Is("new") {
		return New(t, args)
	}
	s := t.findStatic(n)
	if s == nil || len(s.methods) == 0 {
		return nil, refuseMember(t, n.text)
	}
	return s.call(nil, args)
}

// ContextUser is implemented by the Data of instances whose members do cancellable work.
type ContextUser interface {
	// UseContext sets the source of the context for later calls.
	UseContext(current func() context.Context)
}

// Preparer is implemented by the Data of instances that PowerShell's adapter prepares before
// it looks up any member, even one of Object.
type Preparer interface {
	// Prepare returns an error if the instance cannot be used.
	Prepare() error
}

// Prepare is called before a member of v is looked up. It fails in the same way as PowerShell's look-up,
// regardless of the member.
func Prepare(v any, name *Name) error {
	o, ok := v.(*Instance)
	if !ok {
		return nil
	}
	p, ok := o.Data.(Preparer)
	if !ok {
		return nil
	}
	err := p.Prepare()
	var cause *Exception
	if !errors.As(err, &cause) {
		return err
	}
	thrown := ExceptionNamed("System.Management.Automation.ExtendedTypeSystemException",
		"The following exception occurred while retrieving member \"%s\": \"%s\"", name.String(), cause.Message)
	thrown.Inner = cause
	thrown.Record = NewError(thrown, "CatchFromBaseGetMember", NotSpecified, nil)
	return thrown.Record
}

// NewFor is like New, for a run. An instance whose Data is a [ContextUser] gets its context from current.
func NewFor(current func() context.Context, t *Type, args []any) (any, error) {
	v, err := New(t, args)
	if o, ok := v.(*Instance); ok && err == nil {
		if user, ok := o.Data.(ContextUser); ok {
			user.UseContext(current)
		}
	}
	return v, err
}

// New implements [T]::new(args) and New-Object.
func New(t *Type, args []any) (any, error) {
	t.ready()
	if t.constructor == nil {
		return nil, refuseMember(t, "new")
	}
	return t.constructor.call(nil, args)
}
