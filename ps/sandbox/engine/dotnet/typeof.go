package dotnet

// Object is a value that the engine or a host implements (script blocks, streams).
// Implementations are pointers, and values are compared with ==.
type Object interface {
	Type() *Type
	// Member reads a property.
	Member(name string) (any, bool)
	// Invoke calls a method. Script blocks implement "Invoke". For an unknown method it returns ErrNoMethod.
	Invoke(name string, args []any) (any, error)
}

// Predicate is a script block that can run with $_ and $args set.
type Predicate interface {
	InvokeOn(underscore any, args ...any) (any, error)
}

// Setter is an Object with settable properties.
type Setter interface {
	SetMember(name string, value any) error
}

// Texter is an Object that defines its text.
type Texter interface{ Text() string }

// Enumerable is an Object that the pipeline unrolls.
type Enumerable interface{ Enumerate() []any }

// TypeOf returns the type of a value, or nil for $null.
func TypeOf(v any) *Type {
	switch v := v.(type) {
	case nil, Nothing:
		return nil
	case string:
		return TString
	case bool:
		return TBool
	case int32:
		return TInt32
	case int64:
		return TInt64
	case float64:
		return TDouble
	case Char:
		return TChar
	case uint8:
		return TByte
	case int8:
		return TSByte
	case int16:
		return TInt16
	case uint16:
		return TUInt16
	case uint32:
		return TUInt32
	case uint64:
		return TUInt64
	case DateTime:
		return TDateTime
	case TimeSpan:
		return TTimeSpan
	case Guid:
		return TGuid
	case Version:
		return TVersion
	case Enum:
		return v.Type
	case Category:
		return TErrorCategory
	default:
		return typeOfObject(v)
	}
}

func typeOfObject(v any) *Type {
	switch v := v.(type) {
	case *Array:
		return v.ElemType().Array()
	case *Bytes:
		return TByteArray
	case *List:
		return v.Type
	case *Hashtable:
		if v.Type == nil {
			return THashtable
		}
		return v.Type
	case *PSObject:
		return TPSCustomObject
	case *Instance:
		return v.Type
	case *Type:
		return TRuntimeType
	case *Exception:
		return v.Type
	case *ErrorRecord:
		return TErrorRecord
	case *SecureString:
		return TSecureString
	case *PSCredential:
		return TPSCredential
	case Object:
		return v.Type()
	default:
		return TObject
	}
}

// Is implements the -is operator.
func Is(v any, t *Type) bool { return TypeOf(v).AssignableTo(t) }

// Enumerate returns the items of a value that a pipeline or foreach unrolls. ok is false for
// values that are passed as one object (strings, dictionaries, scalars, nil). The slice may
// be the value's own storage and must not be modified.
func Enumerate(v any) (items []any, ok bool) {
	switch v := v.(type) {
	case *Array:
		return v.Items, true
	case *Bytes:
		items = make([]any, len(v.B))
		for i, b := range v.B {
			items[i] = b
		}
		return items, true
	case *List:
		return v.current(), true
	case Nothing:
		return nil, true
	case Enumerable:
		return v.Enumerate(), true
	default:
		return nil, false
	}
}

// EnumerateAny is like Enumerate, except that a scalar yields one item and nil yields none.
func EnumerateAny(v any) []any {
	if items, ok := Enumerate(v); ok {
		return items
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// isCollection reports whether an operator treats a value on its left side as a list.
func isCollection(v any) bool {
	switch v := v.(type) {
	case *Array, *Bytes, *List:
		return true
	case Enumerable:
		_ = v
		return true
	default:
		return false
	}
}

// Truthy implements the conversion to bool.
func Truthy(v any) bool {
	switch v := v.(type) {
	case nil, Nothing:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int32:
		return v != 0
	case Char:
		return v != 0
	case Enum:
		return v.Value != 0
	case *Array:
		return truthyItems(v.Items)
	case *List:
		return truthyItems(v.current())
	case *Bytes:
		return len(v.B) > 1 || len(v.B) == 1 && v.B[0] != 0
	case *Instance:
		if v.Type == TSwitch {
			present, _ := v.Props.Get("IsPresent")
			return present == true
		}
		return true
	}
	if n, ok := asInt64(v); ok {
		return n != 0
	}
	return v != 0.0
}

// truthyItems converts a list to bool. A list with a single item is converted like that item (a nested list
// counts by its length), and a list with several items is true.
func truthyItems(items []any) bool {
	switch len(items) {
	case 0:
		return false
	case 1:
		if isCollection(items[0]) {
			return countOf(items[0]) > 0
		}
		return Truthy(items[0])
	default:
		return true
	}
}
