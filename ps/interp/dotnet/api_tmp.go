package dotnet

import "io"

// ---- types ----

// Type is a .NET type. Types are compared by identity.
type Type struct {
	Name string // full name: "System.Int32"
	Base *Type  // nil for System.Object and interfaces
	Kind Kind
	Elem *Type   // element type of an array, value type of a Nullable
	Args []*Type // arguments of a closed generic type
}

type param struct{}

// Define makes a type that Lookup does not know (for example a host's own [Console]).
func Define(c Class) *Type { return nil }

// Register makes a type and lets Lookup find it by its name and aliases. A name
// taken twice panics: it is called while packages start.
func Register(c Class) *Type { return nil }

// Lookup finds a type by its PowerShell name: accelerators, full names, names
// below System, arrays "T[]", generics "List[T]". Not found: nil.
func Lookup(name string) *Type { return nil }

// Array is the type T[] of an element type.
func (t *Type) Array() *Type { return nil }

// ShortName is the name without namespace: "Int32", "Object[]", "List`1".
func (t *Type) ShortName() string { return "" }

// Display is the name as PowerShell writes it in messages: "int", "string[]", "System.Guid".
func (t *Type) Display() string { return "" }

// AssignableTo tells whether a value of type t is one of type base (itself, a base, an interface).
func (t *Type) AssignableTo(base *Type) bool { return false }

// TypeOf is the type of a value; nil for nil.
func TypeOf(v any) *Type { return nil }

// Types that Go code names often.
var (
	TObject, TString, TChar, TBool, TInt32, TInt64, TByte, TSByte, TInt16, TUInt16, TUInt32, TUInt64,
	TDouble, TSingle, TDecimal, TDateTime, TTimeSpan, TGuid, TVersion, TType, TArray, TObjectArray, TStringArray, TByteArray,
	THashtable, TOrderedDictionary, TListObject, TArrayList, TPSObject, TScriptBlock, TSwitch,
	TSecureString, TPSCredential, TErrorRecord, TException, TErrorCategory, TVoid *Type
)

// ---- conversion ----

// Convert casts as [T]$v does.
func Convert(v any, t *Type) (any, error) { return nil, nil }

// TryConvert casts as -as does.
func TryConvert(v any, t *Type) (any, bool) { return nil, false }

// Is is the -is operator: $v -is [t].
func Is(v any, t *Type) bool { return false }

// Truthy is the conversion to bool.
func Truthy(v any) bool { return false }

// ToText is the conversion to string: invariant culture, arrays joined by blanks ($OFS), $null is "".
func ToText(v any) string { return "" }

// ToTextOFS is ToText with another separator for arrays.
func ToTextOFS(v any, ofs string) string { return "" }

// ParseNumber reads a number as PowerShell does in a string or literal: 12, 0x1F, 1kb, 1.5, 1e3, 5L, 10d.
func ParseNumber(text string) (any, bool) { return nil, false }

// Enumerate gives the items of a value that a pipeline or foreach unrolls; ok is
// false for what is passed as one object (strings, dictionaries, scalars, nil).
// The slice may be the value's own storage: read only.
func Enumerate(v any) (items []any, ok bool) { return nil, false }

// EnumerateAny is Enumerate, but a scalar gives one item and nil none.
func EnumerateAny(v any) []any { return nil }

// ---- operators ----

// BinaryFunc computes one binary operator.
type BinaryFunc func(l, r any) (any, error)

// Operator finds a binary operator by its text in lower case: "+", "-", "*", "/",
// "%", "-eq", "-ceq", "-ieq", "-ne", ..., "-like", "-notlike", "-replace", "-split",
// "-join", "-f", "-contains", "-in", "-band", "-shl", "-is", "-as", "..", "-xor".
// Not here: -and/-or (the evaluator short-circuits), -match (see Match).
func Operator(name string) (BinaryFunc, bool) { return nil, false }

// Unary computes "-", "+", "!", "-not", "-bnot", "-split", "-join", ",".
func Unary(op string, v any) (any, error) { return nil, nil }

// Increment is ++ (by 1) and -- (by -1).
func Increment(v any, by int32) (any, error) { return nil, nil }

// Match is -match (negate: -notmatch). With a scalar left side matches is $Matches
// when it matched, else nil (leave $Matches alone); with a collection it is nil.
func Match(l, r any, caseSensitive, negate bool) (result any, matches *Hashtable, err error) {
	return nil, nil, nil
}

// Equal is -eq between scalars (no array filtering).
func Equal(l, r any, caseSensitive bool) bool { return false }

// Compare is -lt/-gt between scalars: negative, zero, positive.
func Compare(l, r any, caseSensitive bool) (int, error) { return 0, nil }

// CompareSort orders as Sort-Object does: culture-aware, nulls first, mixed types by text.
func CompareSort(l, r any, caseSensitive bool) int { return 0 }

// Like is the wildcard match of -like, switch -Wildcard and cmdlet parameters.
func Like(text, pattern string, caseSensitive bool) bool { return false }

// Format is -f.
func Format(format string, args []any) (string, error) { return "", nil }

// ---- members ----

// GetMember reads a property of one value ("Length", hashtable keys, note properties, PSObject).
// found is false when there is none: the evaluator then tries member enumeration
// over Enumerate(v), Count/Length of a scalar is handled here.
func GetMember(v any, name string) (value any, found bool, err error) { return nil, false, nil }

// EnumMember is member enumeration: the values of name over the items that have it.
// found is false when no item has it.
func EnumMember(items []any, name string) (values []any, found bool, err error) {
	return nil, false, nil
}

// SetMember writes a property.
func SetMember(v any, name string, value any) error { return nil }

// GetStatic reads [T]::name.
func GetStatic(t *Type, name string) (value any, found bool, err error) { return nil, false, nil }

// SetStatic writes [T]::name.
func SetStatic(t *Type, name string, value any) error { return nil }

// CallMethod is $v.name(args). Errors are wrapped as PowerShell does.
func CallMethod(v any, name string, args []any) (any, error) { return nil, nil }

// HasMethod tells whether the value has a method of that name.
func HasMethod(v any, name string) bool { return false }

// CallStatic is [T]::name(args).
func CallStatic(t *Type, name string, args []any) (any, error) { return nil, nil }

// New is [T]::new(args) and New-Object.
func New(t *Type, args []any) (any, error) { return nil, nil }

// GetIndex is $v[i]; found is false out of bounds or without such a key (value nil).
func GetIndex(v, index any) (value any, found bool, err error) { return nil, false, nil }

// SetIndex is $v[i] = value.
func SetIndex(v, index, value any) error { return nil }

// PropertyInfo is one property as PSObject.Properties shows it.
type PropertyInfo struct {
	Name  string
	Kind  string // NoteProperty, Property
	Owner any
}

// Properties lists the properties of a value in order.
func Properties(v any) []*PropertyInfo { return nil }

// Value reads the property; a getter that fails gives nil.
func (p *PropertyInfo) Value() any { return nil }

// Object is a value the engine or a host brings along (script blocks, streams).
type Object interface {
	Type() *Type
	// Member reads a property.
	Member(name string) (any, bool)
	// Invoke calls a method; script blocks answer "Invoke".
	Invoke(name string, args []any) (any, error)
}

// Setter is an Object with settable properties.
type Setter interface {
	SetMember(name string, value any) error
}

// Texter is an Object with its own text.
type Texter interface{ Text() string }

// Enumerable is an Object that the pipeline unrolls.
type Enumerable interface{ Enumerate() []any }

// ---- errors ----

// MatchCatch finds the catch clause for an error: types[i] empty is catch-all. It
// gives the record $_ has in that clause; index -1: none fits.
func MatchCatch(rec *ErrorRecord, clauses [][]*Type) (index int, caught *ErrorRecord) { return -1, nil }

// NewException makes an exception of a registered type.
func NewException(t *Type, message string) *Exception { return nil }

// NewError makes an error record.
func NewError(e *Exception, id string, category Category, target any) *ErrorRecord { return nil }

// RuntimeError makes the record of an error of the language: a RuntimeException.
func RuntimeError(id string, category Category, target any, format string, args ...any) *ErrorRecord {
	return nil
}

// ThrowValue is the throw statement: the record for a thrown value.
func ThrowValue(v any) *ErrorRecord { return nil }

// AsRecord turns any error into a record; a *LimitError gives nil.
func AsRecord(err error) *ErrorRecord { return nil }

// ---- JSON ----

// JSONOptions are the parameters of ConvertTo-Json.
type JSONOptions struct {
	Depth          int // 0 is 0; ConvertTo-Json's default is 2
	Compress       bool
	EnumsAsString  bool
	EscapeHTML     bool
	EscapeNonASCII bool
}

// ToJSON is ConvertTo-Json of one value; truncated tells that the depth was exceeded (a warning).
func ToJSON(v any, o JSONOptions) (text string, truncated bool, err error) { return "", false, nil }

// FromJSON is ConvertFrom-Json: objects become *PSObject, arrays Object[], ISO strings DateTime.
func FromJSON(text string) (any, error) { return nil, nil }

// ---- console ----

// LineReader gives standard input by lines; io.EOF at its end.
type LineReader interface{ ReadLine() (string, error) }

// NewConsole makes the type [Console] of a host. It is not registered: the
// evaluator resolves [Console] to it before Lookup.
func NewConsole(in LineReader, out, errOut io.Writer) *Type { return nil }
