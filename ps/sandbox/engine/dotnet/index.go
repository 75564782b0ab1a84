package dotnet

// GetIndex is $v[i]: a negative index counts from the end, an array of indices
// gives an array. found is false out of bounds or without such a key (value nil).
func GetIndex(v, index any) (value any, found bool, err error) { return getIndex(v, index, 0) }

func getIndex(v, index any, depth int) (value any, found bool, err error) {
	if depth > maxNesting {
		return nil, false, &LimitError{"nesting of collections", maxNesting}
	}
	v, index = base(v), base(index)
	switch x := v.(type) {
	case nil:
		return nil, false, RuntimeError("NullArray", InvalidOperation, nil, "Cannot index into a null array.")
	case *Hashtable:
		return x.index(index, depth)
	}
	if many, ok := index.(*Array); ok {
		return indexMany(v, many.Items, depth)
	}
	if i, ok := index.(int32); ok && i >= 0 {
		if s, ok := v.(string); ok && int(i) < len(s) && isASCII(s[:i+1]) {
			return Char(s[i]), true, nil
		}
	}
	seq, ok := sequenceOf(v)
	if !ok {
		if s := TypeOf(v).find(nameItem); s != nil && len(s.methods) > 0 {
			r, err := s.call(v, []any{index})
			return r, err == nil && r != nil, err
		}
		if o, isObject := v.(Object); isObject {
			if r, err := o.Invoke("Item", []any{index}); err == nil {
				return r, r != nil, nil
			}
		}
		if index != nil && (Equal(int32(0), index, false) || Equal(int32(-1), index, false)) {
			return v, true, nil // what is no collection is its own first and last item
		}
		return nil, false, RuntimeError("CannotIndex", InvalidOperation, v, "Unable to index into an object of type \"%s\".", TypeOf(v).Text())
	}
	n, err := Convert(index, TInt32)
	if err != nil {
		return nil, false, err
	}
	i := int(n.(int32))
	if i < 0 {
		i += seq.length
	}
	if i < 0 || i >= seq.length {
		return nil, false, nil
	}
	return seq.at(i), true, nil
}

func indexMany(v any, indices []any, depth int) (any, bool, error) {
	out := make([]any, 0, len(indices))
	for _, i := range indices {
		item, found, err := getIndex(v, i, depth+1)
		if err != nil {
			return nil, false, err
		}
		if found {
			out = append(out, item)
		}
	}
	return &Array{Items: out}, true, nil
}

// sequence is a value with positions: items, bytes or the units of a text.
type sequence struct {
	length int
	items  []any
	bytes  []byte
	text   string
}

func sequenceOf(v any) (seq sequence, ok bool) {
	switch x := v.(type) {
	case *Array:
		return sequence{length: len(x.Items), items: x.Items}, true
	case *List:
		if x.Type != nil && x.isStack() {
			return seq, false
		}
		items := x.current()
		return sequence{length: len(items), items: items}, true
	case *Bytes:
		return sequence{length: len(x.B), bytes: x.B}, true
	case string:
		return sequence{length: Length(x), text: x}, true
	case *Instance:
		if b, ok := x.Data.(*builder); ok {
			s := b.String()
			return sequence{length: Length(s), text: s}, true
		}
	case Enumerable:
		items := x.Enumerate()
		if indexable, ok := v.(interface{ ByIndex() bool }); ok && !indexable.ByIndex() {
			return seq, false
		}
		return sequence{length: len(items), items: items}, true
	}
	return seq, false
}

func (s *sequence) at(i int) any {
	switch {
	case s.items != nil:
		return s.items[i]
	case s.bytes != nil:
		return s.bytes[i]
	default:
		return UnitAt(s.text, i)
	}
}

// index looks a key up; in an ordered dictionary a whole number is a position.
// An array of keys gives an array.
func (h *Hashtable) index(key any, depth int) (any, bool, error) {
	if depth > maxNesting {
		return nil, false, &LimitError{"nesting of collections", maxNesting}
	}
	if many, ok := key.(*Array); ok {
		out := &Array{}
		for _, k := range many.Items {
			value, _, err := h.index(k, depth+1)
			if err != nil {
				return nil, false, err
			}
			out.Items = append(out.Items, value)
		}
		return out, true, nil
	}
	if key == nil {
		return nil, false, outcome(ExceptionNamed("System.ArgumentNullException", "Value cannot be null. (Parameter 'key')"))
	}
	if h.Ordered() {
		if i, ok := key.(int32); ok {
			if i >= 0 && int(i) < h.Len() {
				return h.t.entries[i].value, true, nil
			}
			return nil, false, nil
		}
	}
	key, err := h.key(key)
	if err != nil {
		return nil, false, err
	}
	value, ok := h.Get(key)
	return value, ok, nil
}

// typed tells whether keys and values have to be of a type: a generic dictionary.
func (h *Hashtable) typed() bool { return h.Type != nil && len(h.Type.Args) == 2 }

// key converts a key to the key type of a generic dictionary.
func (h *Hashtable) key(key any) (any, error) {
	if h.typed() {
		return Convert(key, h.Type.Args[0])
	}
	return key, nil
}

// SetIndex is $v[i] = value.
func SetIndex(v, index, value any) error {
	v, index, value = base(v), base(index), base(value)
	switch x := v.(type) {
	case nil:
		return RuntimeError("NullArray", InvalidOperation, nil, "Cannot index into a null array.")
	case *Hashtable:
		return x.setIndex(index, value)
	case *Array:
		i, err := position(index, len(x.Items))
		if err != nil {
			return err
		}
		if value, err = element(value, x.Elem); err != nil {
			return err
		}
		x.Items[i] = value
		return nil
	case *List:
		return x.setIndex(index, value)
	case *Bytes:
		i, err := position(index, len(x.B))
		if err != nil {
			return err
		}
		if value, err = Convert(value, TByte); err != nil {
			return err
		}
		x.B[i] = value.(uint8)
		return nil
	}
	if s := TypeOf(v).find(nameSetItem); s != nil && len(s.methods) > 0 {
		_, err := s.call(v, []any{index, value})
		return err
	}
	return RuntimeError("CannotIndex", InvalidOperation, v, "Unable to index into an object of type \"%s\".", TypeOf(v).Text())
}

// element converts what goes into an array to its element type.
func element(value any, t *Type) (any, error) {
	if t == nil || t == TObject {
		return value, nil
	}
	return Convert(value, t)
}

func position(index any, length int) (int, error) {
	n, err := Convert(index, TInt32)
	if err != nil {
		return 0, err
	}
	i := int(n.(int32))
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return 0, outcome(ExceptionNamed("System.IndexOutOfRangeException", "Index was outside the bounds of the array."))
	}
	return i, nil
}

func (l *List) setIndex(index, value any) error {
	n, err := Convert(index, TInt32)
	if err != nil {
		return err
	}
	i := int(n.(int32))
	if i < 0 {
		i += len(l.Items)
	}
	if i < 0 || i >= len(l.Items) {
		return outcome(argumentRange("index", "Index was out of range. Must be non-negative and less than the size of the collection."))
	}
	if len(l.Type.Args) == 1 {
		if value, err = element(value, l.Type.Args[0]); err != nil {
			return err
		}
	}
	l.version++
	l.Items[i] = value
	return nil
}

func (h *Hashtable) setIndex(key, value any) error {
	if key == nil {
		return RuntimeError("IndexOperationFailed", InvalidOperation, nil, "Index operation failed; the array index evaluated to null.")
	}
	if i, ok := key.(int32); ok && h.Ordered() {
		if i < 0 || int(i) >= h.Len() {
			return outcome(argumentRange("index", "Index was out of range. Must be non-negative and less than the size of the collection."))
		}
		h.version++
		h.t.entries[i].value = value
		return nil
	}
	if h.Len() >= MaxArrayLength {
		return &LimitError{"dictionary size", MaxArrayLength}
	}
	key, err := h.key(key)
	if err != nil {
		return err
	}
	if h.typed() {
		if value, err = element(value, h.Type.Args[1]); err != nil {
			return err
		}
	}
	h.Set(key, value)
	return nil
}
