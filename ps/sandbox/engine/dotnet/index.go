package dotnet

// GetIndex implements $v[i]. A negative index counts from the end. If the index is out of
// bounds or there is no such key, found is false and value is nil.
func GetIndex(v, index any) (value any, found bool, err error) {
	v, index = base(v), base(index)
	if v == nil {
		return nil, false, RuntimeError("NullArray", InvalidOperation, nil, "Cannot index into a null array.")
	}
	if h, ok := v.(*Hashtable); ok {
		return h.index(index)
	}
	if s, ok := v.(string); ok {
		i, ok := index.(int32)
		if !ok {
			return nil, false, refuseIndex(v, index)
		}
		n := Length(s)
		if i < 0 {
			i += int32(n)
		}
		if i < 0 || int(i) >= n {
			return nil, false, nil
		}
		return UnitAt(s, int(i)), true, nil
	}
	items, ok := indexed(v)
	if !ok {
		if s := TypeOf(v).find(nameItem); s != nil && len(s.methods) > 0 {
			r, err := s.call(v, []any{index})
			return r, err == nil && r != nil, err
		}
		if set, ok := v.(*propertySet); ok {
			if r, ok := set.index(index); ok {
				return r, r != nil, nil
			}
		}
		return nil, false, refuseIndex(v, index)
	}
	i, ok := asInt64(index)
	if !ok || !isNumber(index) {
		return nil, false, refuseIndex(v, index)
	}
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false, nil
	}
	return items[i], true, nil
}

func refuseIndex(v, index any) error {
	return Refuse("an index of type [%s] into [%s]", display(index), display(v))
}

// indexed returns the items of a value that can be indexed by position.
func indexed(v any) ([]any, bool) {
	switch v.(type) {
	case *Array, *List, *Bytes:
		return Enumerate(v)
	}
	return nil, false
}

// index looks up a key. In an ordered dictionary, an Int32 is a position.
func (h *Hashtable) index(key any) (any, bool, error) {
	switch k := key.(type) {
	case nil, *Array, *List:
		return nil, false, refuseIndex(h, key)
	case int32:
		if h.Ordered() {
			if k < 0 {
				return nil, false, refuseIndex(h, key)
			}
			if int(k) >= h.Len() {
				return nil, false, nil
			}
			return h.t.entries[k].value, true, nil
		}
	}
	if _, text := key.(string); !text && h.typed() {
		return nil, false, refuseIndex(h, key)
	}
	value, ok := h.Get(key)
	return value, ok, nil
}

// typed reports whether h is a generic dictionary. Its keys are strings.
func (h *Hashtable) typed() bool { return h.Type != nil && len(h.Type.Args) == 2 }

// SetIndex implements $v[i] = value.
func SetIndex(v, index, value any) error {
	v, index = base(v), base(index)
	switch x := v.(type) {
	case *Hashtable:
		return x.setIndex(index, value)
	case *Array:
		i, ok := index.(int32)
		if !ok {
			return refuseIndex(v, index)
		}
		if i < 0 {
			i += int32(len(x.Items))
		}
		if i < 0 || int(i) >= len(x.Items) {
			return outcome(ExceptionNamed("System.IndexOutOfRangeException",
				"Index was outside the bounds of the array."))
		}
		converted, err := Convert(value, x.ElemType())
		if err != nil {
			return err
		}
		if x.Elem == nil || x.Elem == TObject {
			converted = value
		}
		x.Items[i] = converted
		return nil
	}
	return Refuse("setting an index of [%s]", display(v))
}

func (h *Hashtable) setIndex(key, value any) error {
	_, position := key.(int32)
	if _, text := key.(string); key == nil || position && h.Ordered() || !text && h.typed() {
		return refuseIndex(h, key)
	}
	if h.Len() >= MaxArrayLength {
		return &LimitError{"dictionary size", MaxArrayLength}
	}
	h.Set(key, value)
	return nil
}
