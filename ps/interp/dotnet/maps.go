package dotnet

// Props is an ordered, case-insensitive map of property names. The zero value is empty.
type Props struct {
	names  []string
	values []any
}

// Get reads a property.
func (p *Props) Get(name string) (any, bool) { return nil, false }

// Set writes a property, adding it at the end if it is new.
func (p *Props) Set(name string, value any) {}

// Delete removes a property.
func (p *Props) Delete(name string) bool { return false }

// Len counts the properties.
func (p *Props) Len() int { return len(p.names) }

// At gives the i-th property.
func (p *Props) At(i int) (name string, value any) { return p.names[i], p.values[i] }

// Hashtable is Hashtable, OrderedDictionary or Dictionary<K,V>: its Type says
// which. All keep the order in which keys came.
type Hashtable struct {
	Type *Type
}

// NewHashtable makes what the literal @{} makes: keys ignore case.
func NewHashtable() *Hashtable { return &Hashtable{} }

// NewOrdered makes what the literal [ordered]@{} makes: keys ignore case.
func NewOrdered() *Hashtable { return &Hashtable{} }

// Get reads a key.
func (h *Hashtable) Get(key any) (any, bool) { return nil, false }

// Set writes a key.
func (h *Hashtable) Set(key, value any) {}

// Delete removes a key.
func (h *Hashtable) Delete(key any) bool { return false }

// Len counts the keys.
func (h *Hashtable) Len() int { return 0 }

// At gives the i-th pair.
func (h *Hashtable) At(i int) (key, value any) { return nil, nil }

// Clone copies the table, not its values.
func (h *Hashtable) Clone() *Hashtable { return nil }

// Set is HashSet<T>.
type Set struct {
	Type *Type
	keys *Hashtable
}

// Decimal is System.Decimal: 96 bits, a scale of 0 to 28, a sign.
type Decimal struct {
	hi, mid, lo uint32
	flags       uint32
}

// Helpers for making values in Go.

// NewArray makes object[].
func NewArray(items ...any) *Array { return &Array{Items: items} }

// NewList makes List<object>.
func NewList(items ...any) *List { return nil }

// NewPSObject makes a PSCustomObject from pairs of name and value.
func NewPSObject(pairs ...any) *PSObject { return nil }

// NewInstance makes an object of a module type from pairs of name and value.
func NewInstance(t *Type, pairs ...any) *Instance { return nil }

// EnumOf makes an enum value by name; it panics when there is none.
func EnumOf(t *Type, name string) Enum { return Enum{} }
