package dotnet

// Nothing is the type of AutomationNull: what a pipeline without output gives.
// It behaves like nil everywhere, but enumerates to no items.
type Nothing struct{}

// AutomationNull is "no output"; Void, the result of a method without result, is the same.
var (
	AutomationNull any = Nothing{}
	Void               = AutomationNull
)

// Char is System.Char: one UTF-16 unit.
type Char uint16

// TimeSpan is a length of time in ticks of 100 ns.
type TimeSpan int64

// DateTimeKind says what a DateTime is relative to.
type DateTimeKind uint8

// The kinds of DateTime.
const (
	Unspecified DateTimeKind = iota
	UTC
	Local
)

// DateTime is System.DateTime: ticks of 100 ns since 0001-01-01.
type DateTime struct {
	Ticks int64
	Kind  DateTimeKind
}

// Guid is System.Guid in the order of ToByteArray (and of AD's objectGUID).
type Guid [16]byte

// Version is System.Version; -1 marks a part that is not there.
type Version struct{ Major, Minor, Build, Revision int32 }

// Enum is a value of an enumeration.
type Enum struct {
	Type  *Type
	Value int64
}

// Array is T[] for every T but byte.
type Array struct {
	Elem  *Type // nil means object
	Items []any
}

// Bytes is byte[].
type Bytes struct{ B []byte }

// List is List<T>, ArrayList, Stack<T>, Queue<T>, Collection<T> and the key and
// value collections of dictionaries: its Type says which. The top of a Stack is last.
type List struct {
	Type  *Type
	Items []any
}

// Ref is [ref]$variable.
type Ref struct {
	Get func() any
	Set func(any) error
}

// PSObject is a PSCustomObject: ordered, case-insensitive note properties.
type PSObject struct {
	Props     Props
	TypeNames []string // extra names in front of PSCustomObject (PSTypeName)
}

// Instance is an object of a module (ADUser, CimInstance, ...): a type and
// ordered, case-insensitive properties that Go code sets.
type Instance struct {
	Type  *Type
	Props Props
	Text  string // what ToString gives; empty: the type's name
	Data  any    // for the type's own methods
}

// DictionaryEntry is one pair of a Hashtable's enumerator.
type DictionaryEntry struct {
	Key, Value any
	Type       *Type // nil: System.Collections.DictionaryEntry; else KeyValuePair<K,V>
}

// SecureString holds a secret; it prints as its type name.
type SecureString struct{ secret string }

// NewSecureString makes one from clear text.
func NewSecureString(clear string) *SecureString { return &SecureString{secret: clear} }

// Reveal gives the clear text.
func (s *SecureString) Reveal() string { return s.secret }

// PSCredential is a user name with a password.
type PSCredential struct {
	UserName string
	Password *SecureString
}
