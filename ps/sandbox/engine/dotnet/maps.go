package dotnet

// Props is an ordered, case-insensitive map of property names. The zero value
// is empty. It is not safe for concurrent writing.
type Props struct{ t table[string] }

// Get returns a property.
func (p *Props) Get(name string) (any, bool) { return p.get(name, foldHash(name)) }

func (p *Props) get(name string, hash uint32) (any, bool) {
	if i := p.find(name, hash); i >= 0 {
		return p.t.entries[i].value, true
	}
	return nil, false
}

func (p *Props) find(name string, hash uint32) int {
	return p.t.find(hash, func(known string) bool { return EqualFold(known, name) })
}

// Set writes a property, adding it at the end if it is new. The first spelling of a name is kept.
func (p *Props) Set(name string, value any) {
	hash := foldHash(name)
	if i := p.find(name, hash); i >= 0 {
		p.t.entries[i].value = value
		return
	}
	p.t.add(name, hash, value)
}

// Len returns the number of properties.
func (p *Props) Len() int { return len(p.t.entries) }

// At returns the i-th property.
func (p *Props) At(i int) (name string, value any) {
	e := &p.t.entries[i]
	return e.key, e.value
}

// SetAt writes the i-th property.
func (p *Props) SetAt(i int, value any) { p.t.entries[i].value = value }

// Clone copies the map, but not its values.
func (p *Props) Clone() Props { return Props{t: p.t.clone()} }

// Grow reserves capacity for n properties.
func (p *Props) Grow(n int) { p.t.grow(n) }

func hashKey(key any) uint32 {
	switch k := key.(type) {
	case string:
		return foldHash(k)
	case int32:
		return mix(uint64(uint32(k)))
	default:
		return 7 // other kinds of keys are rare and share a chain
	}
}

// equalKeys compares texts ignoring case, and other keys by value.
func equalKeys(a, b any) bool {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return ok && EqualFold(x, y)
	}
	return a == b // all other values are comparable: numbers, structs, pointers
}

func mix(v uint64) uint32 {
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	return uint32(v)
}

// Hashtable is a Hashtable, OrderedDictionary or Dictionary<K,V>, depending on its Type (nil: Hashtable).
// Keys ignore case and keep the order in which they were added. It is not safe for concurrent writing.
type Hashtable struct {
	Type    *Type
	t       table[any]
	version int // counts changes
}

// NewHashtable returns an empty @{}.
func NewHashtable() *Hashtable {
	return &Hashtable{Type: THashtable}
}

// NewOrdered returns an empty [ordered]@{}.
func NewOrdered() *Hashtable {
	return &Hashtable{Type: TOrderedDictionary}
}

// Get returns the value of a key.
func (h *Hashtable) Get(key any) (any, bool) {
	if i := h.find(key); i >= 0 {
		return h.t.entries[i].value, true
	}
	return nil, false
}

func (h *Hashtable) find(key any) int { return h.findHashed(key, hashKey(key)) }

func (h *Hashtable) findHashed(key any, hash uint32) int {
	return h.t.find(hash, func(known any) bool { return equalKeys(known, key) })
}

// Set sets the value of a key, which must not be nil.
func (h *Hashtable) Set(key, value any) { h.setHashed(key, hashKey(key), value) }

func (h *Hashtable) setHashed(key any, hash uint32, value any) {
	h.version++
	if i := h.findHashed(key, hash); i >= 0 {
		h.t.entries[i].value = value
		return
	}
	h.t.add(key, hash, value)
}

// Len returns the number of keys.
func (h *Hashtable) Len() int { return len(h.t.entries) }

// At returns the i-th pair.
func (h *Hashtable) At(i int) (key, value any) {
	e := &h.t.entries[i]
	return e.key, e.value
}

// Keys returns the keys in order. The caller owns the slice.
func (h *Hashtable) Keys() []any {
	keys := make([]any, h.Len())
	for i := range keys {
		keys[i] = h.t.entries[i].key
	}
	return keys
}

// Grow reserves capacity for n keys.
func (h *Hashtable) Grow(n int) { h.t.grow(n) }

// Ordered reports whether the table is an OrderedDictionary, which has positions.
func (h *Hashtable) Ordered() bool { return h.Type == TOrderedDictionary }
