package dotnet

// Nothing is the type of AutomationNull: the value of a pipeline without output.
// It behaves like nil everywhere, but enumerates to no items.
type Nothing struct{}

// AutomationNull means "no output". Void, the result of a method without result, is the same.
var (
	AutomationNull any = Nothing{}
	Void               = AutomationNull
)

// Char is System.Char: one UTF-16 unit.
type Char uint16

// TimeSpan is a duration in ticks of 100 ns.
type TimeSpan int64

// DateTimeKind is the time zone of a DateTime.
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

// Guid is System.Guid in the byte order of ToByteArray (and of AD's objectGUID).
type Guid [16]byte

// Version is System.Version. -1 marks a missing part.
type Version struct{ Major, Minor, Build, Revision int32 }

// Enum is a value of an enumeration.
type Enum struct {
	Type  *Type
	Value int64
}

// Array is T[] for every T except byte.
type Array struct {
	Elem  *Type // nil means object
	Items []any
}

// Bytes is byte[].
type Bytes struct{ B []byte }

// List is List<T>, ArrayList, Collection<T> or the key collection of a dictionary, depending on its Type.
type List struct {
	Type  *Type
	Items []any

	// Wrapped is set by New-Object. PowerShell cannot make an array of a List[object] that
	// a command has wrapped.
	Wrapped bool

	owner *Hashtable // the dictionary of a key collection
	// counts changes that keep the length; with an owner, the owner's version when Items was read
	version int
}

// current returns the current items. Keys and values follow their dictionary.
func (l *List) current() []any {
	if l.owner != nil && l.version != l.owner.version {
		l.read()
	}
	return l.Items
}

func (l *List) read() {
	l.version = l.owner.version
	l.Items = l.owner.Keys()
}

// PSObject is a PSCustomObject: ordered, case-insensitive note properties.
type PSObject struct {
	Props     Props
	TypeNames []string // additional names before PSCustomObject (PSTypeName)
}

// Instance is an object of a module (ADUser, CimInstance, ...): a type and
// ordered, case-insensitive properties that Go code sets.
type Instance struct {
	Type  *Type
	Props Props
	Text  string // result of ToString; empty means the type's name
	Data  any    // for the type's own methods
}

// SecureString contains a secret. It prints as its type name.
type SecureString struct {
	secret string
}

// NewSecureString returns a SecureString of a clear text.
func NewSecureString(clear string) *SecureString { return &SecureString{secret: clear} }

// Reveal returns the clear text.
func (s *SecureString) Reveal() string { return s.secret }

// PSCredential is a user name with a password.
type PSCredential struct {
	UserName string
	Password *SecureString
}

// base converts "no output" to nil.
func base(v any) any {
	if _, ok := v.(Nothing); ok {
		return nil
	}
	return v
}

// NewArray returns an object[] that uses the slice.
func NewArray(items ...any) *Array { return &Array{Items: items} }

// OneItem returns an object[] of one item.
func OneItem(item any) *Array {
	a := &struct {
		Array
		room [1]any
	}{room: [1]any{item}}
	a.Items = a.room[:]
	return &a.Array
}

// ElemType returns the element type, or object if none is set.
func (a *Array) ElemType() *Type {
	if a.Elem == nil {
		return TObject
	}
	return a.Elem
}

// NewInstance returns an object of a type with pairs of name and value.
func NewInstance(t *Type, pairs ...any) *Instance {
	i := &Instance{Type: t}
	setPairs(&i.Props, pairs)
	return i
}

func setPairs(p *Props, pairs []any) {
	p.Grow(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		p.Set(name, pairs[i+1])
	}
}

// EnumOf returns a value of an enumeration by name; it panics if there is none.
func EnumOf(t *Type, name string) Enum {
	v, ok := t.valueOf(name)
	if !ok {
		panic("dotnet: " + t.Name + " has no value " + name)
	}
	return Enum{t, v}
}
