package dotnet

// Kind says what sort of type a Type is.
type Kind uint8

// The kinds of types.
const (
	KindClass Kind = iota
	KindStruct
	KindEnum
	KindInterface
	KindArray
	KindNullable
)

// Func is the body of a method or constructor. The arguments have been
// converted to the types of the signature. self is nil for statics. An error is
// an *Exception (a .NET exception; the caller wraps it) or an *ErrorRecord.
// A method without result returns Void.
type Func func(self any, args []any) (any, error)

// Member is one row of a type: a property (Get, perhaps Set) or one overload
// of a method (Call). Sig lists the parameter types as text, separated by
// commas: "string,int", "params object[]", "ref int". Rows of the same name are
// overloads; the first that fits best wins.
type Member struct {
	Name string
	Sig  string
	Get  func(self any) (any, error)
	Set  func(self, value any) error
	Call Func

	params []param // parsed Sig
}

// EnumValue is one name of an enumeration.
type EnumValue struct {
	Name  string
	Value int64
}

// Class declares a type.
type Class struct {
	Name       string   // full name
	Aliases    []string // accelerators: "int"
	Base       *Type    // nil: System.Object (or System.ValueType, System.Enum)
	Implements []string // full names of interfaces
	Kind       Kind
	Under      *Type // underlying type of an enumeration, nil: Int32
	Flags      bool  // enumeration of bits
	Values     []EnumValue
	New        []Member // constructors: Sig and Call
	Static     []Member
	Members    []Member
}

// Property is a row for a read-only property.
func Property(name string, get func(self any) (any, error)) Member {
	return Member{Name: name, Get: get}
}

// Method is a row for one overload of a method.
func Method(name, sig string, call Func) Member {
	return Member{Name: name, Sig: sig, Call: call}
}
