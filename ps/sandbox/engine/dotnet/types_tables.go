package dotnet

import "sync"

var dictionaryInterfaces = []string{"System.Collections.IDictionary", "System.ICloneable"}

var entryMembers = []Member{
	{Name: "Key", Get: func(self any) (any, error) { return self.(*DictionaryEntry).Key, nil },
		Set: func(self, v any) error { self.(*DictionaryEntry).Key = v; return nil }},
	{Name: "Value", Get: func(self any) (any, error) { return self.(*DictionaryEntry).Value, nil },
		Set: func(self, v any) error { self.(*DictionaryEntry).Value = v; return nil }},
	{Name: "Name", Get: func(self any) (any, error) { return self.(*DictionaryEntry).Key, nil }},
}

// tableConstructors are those of Hashtable and OrderedDictionary; keys compare
// with case unless a comparer says otherwise.
func tableConstructors(t **Type) []Member {
	build := func(from any, by any) (any, error) {
		h := &Hashtable{Type: *t, Comparer: keyComparer(by)}
		if src, ok := from.(*Hashtable); ok {
			for i := range src.Len() {
				key, value := src.At(i)
				if !h.Add(key, value) {
					return nil, duplicateKey(h, key)
				}
			}
		}
		return h, nil
	}
	const comparer = "System.Collections.IEqualityComparer"
	return []Member{
		Constructor("", func(any, []any) (any, error) { return build(nil, nil) }),
		Constructor("int", func(any, []any) (any, error) { return build(nil, nil) }),
		Constructor(comparer, func(_ any, a []any) (any, error) { return build(nil, a[0]) }),
		Constructor("int,"+comparer, func(_ any, a []any) (any, error) { return build(nil, a[1]) }),
		Constructor("System.Collections.IDictionary", func(_ any, a []any) (any, error) { return build(a[0], nil) }),
		Constructor("System.Collections.IDictionary,"+comparer, func(_ any, a []any) (any, error) { return build(a[0], a[1]) }),
	}
}

func duplicateKey(h *Hashtable, key any) *Exception {
	if h.typed() {
		return ExceptionNamed("System.ArgumentException", "An item with the same key has already been added. Key: %s", Text(key))
	}
	at := h.find(key)
	known, _ := h.At(at)
	if h.Ordered() {
		return ExceptionNamed("System.ArgumentException", "Item has already been added. Key in dictionary: '%s'  Key being added: '%s'", Text(known), Text(key))
	}
	return ExceptionNamed("System.ArgumentException", "Item has already been added. Key in dictionary: '%s'  Key being added: '%s'", Text(known), Text(key))
}

func tableMethod(name, sig string, f func(h *Hashtable, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) { return f(self.(*Hashtable), a) })
}

// view makes the Keys or Values collection.
func (h *Hashtable) view(keys bool) *List {
	types := viewTypes()
	view := &List{Type: types.table[keys], owner: h, keys: keys}
	switch {
	case h.Ordered():
		view.Type = types.ordered
	case h.typed():
		view.Type = types.dictionary[keys]
	}
	view.read()
	return view
}

// collectionTypes are the types of Keys (true) and Values (false).
type collectionTypes struct {
	ordered           *Type
	table, dictionary map[bool]*Type
}

var viewTypes = sync.OnceValue(func() collectionTypes {
	pair := func(owner string) map[bool]*Type {
		return map[bool]*Type{true: Lookup(owner + "+KeyCollection"), false: Lookup(owner + "+ValueCollection")}
	}
	return collectionTypes{
		ordered: Lookup("System.Collections.Specialized.OrderedDictionary+OrderedDictionaryKeyValueCollection"),
		table:   pair("System.Collections.Hashtable"), dictionary: pair("System.Collections.Generic.Dictionary"),
	}
})

// Entries are the pairs as DictionaryEntry or KeyValuePair objects.
func (h *Hashtable) Entries() []any {
	t := TDictionaryEntry
	if h.typed() {
		t = closed("System.Collections.Generic.KeyValuePair", h.Type.Args...)
	}
	out := make([]any, h.Len())
	for i := range out {
		key, value := h.At(i)
		out[i] = &DictionaryEntry{Key: key, Value: value, Type: t}
	}
	return out
}

var tableMembers = []Member{
	Property("Count", func(self any) (any, error) { return int32(self.(*Hashtable).Len()), nil }),
	Property("Keys", func(self any) (any, error) { return self.(*Hashtable).view(true), nil }),
	Property("Values", func(self any) (any, error) { return self.(*Hashtable).view(false), nil }),
	Property("IsReadOnly", func(any) (any, error) { return false, nil }),
	Property("IsFixedSize", func(any) (any, error) { return false, nil }),
	Property("IsSynchronized", func(any) (any, error) { return false, nil }),
	Property("SyncRoot", func(self any) (any, error) { return self, nil }),
	tableMethod("Add", "object,object", func(h *Hashtable, a []any) (any, error) { return h.addChecked(a[0], a[1]) }),
	tableMethod("Remove", "object", func(h *Hashtable, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("key")
		}
		h.Delete(a[0])
		return Void, nil
	}),
	tableMethod("Contains", "object", hasKey),
	tableMethod("ContainsKey", "object", hasKey),
	tableMethod("ContainsValue", "object", func(h *Hashtable, a []any) (any, error) { return indexOfItem(h.Values(), a[0]) >= 0, nil }),
	tableMethod("Clear", "", func(h *Hashtable, _ []any) (any, error) { h.Clear(); return Void, nil }),
	tableMethod("Clone", "", func(h *Hashtable, _ []any) (any, error) { return h.Clone(), nil }),
	tableMethod("GetEnumerator", "", func(h *Hashtable, _ []any) (any, error) { return &Enumerator{items: h.Entries(), owner: h}, nil }),
	tableMethod("CopyTo", "array,int", func(h *Hashtable, a []any) (any, error) {
		return copyTo(NewArray(h.Entries()...), a[0], int(a[1].(int32)))
	}),
	tableMethod("Item", "object", func(h *Hashtable, a []any) (any, error) {
		v, _, err := h.index(a[0], 0)
		return v, err
	}),
	tableMethod("get_Item", "object", func(h *Hashtable, a []any) (any, error) {
		v, _, err := h.index(a[0], 0)
		return v, err
	}),
	tableMethod("set_Item", "object,object", func(h *Hashtable, a []any) (any, error) { return Void, h.setIndex(a[0], a[1]) }),
}

func (h *Hashtable) addChecked(key, value any) (any, error) {
	if key == nil {
		return nil, argumentNull("key")
	}
	if h.Len() >= MaxArrayLength {
		return nil, &LimitError{"dictionary size", MaxArrayLength}
	}
	if !h.Add(key, value) {
		return nil, duplicateKey(h, key)
	}
	return Void, nil
}

func hasKey(h *Hashtable, a []any) (any, error) {
	if a[0] == nil {
		return nil, argumentNull("key")
	}
	return h.find(a[0]) >= 0, nil
}

// orderedMembers are what only an OrderedDictionary has.
var orderedMembers = []Member{
	tableMethod("Insert", "int,object,object", func(h *Hashtable, a []any) (any, error) {
		i := int(a[0].(int32))
		if i < 0 || i > h.Len() {
			return nil, argumentRange("index", "Specified argument was out of the range of valid values.")
		}
		if h.find(a[1]) >= 0 {
			return nil, duplicateKey(h, a[1])
		}
		h.version++
		h.t.insert(i, a[1], h.Comparer.hash(a[1]), a[2])
		return Void, nil
	}),
	tableMethod("RemoveAt", "int", func(h *Hashtable, a []any) (any, error) {
		i := int(a[0].(int32))
		if i < 0 || i >= h.Len() {
			return nil, argumentRange("index", "Index was out of range. Must be non-negative and less than the size of the collection.")
		}
		h.version++
		h.t.remove(i)
		return Void, nil
	}),
}

// ---- generic dictionaries and sets ----

func dictionaryClass(args []*Type) Class {
	self := func() *Type { return closed("System.Collections.Generic.Dictionary", args...) }
	build := func(from, by any) (any, error) {
		h := &Hashtable{Type: self(), Comparer: keyComparer(by)}
		src, _ := from.(*Hashtable)
		for i := 0; src != nil && i < src.Len(); i++ {
			key, value := src.At(i)
			if err := h.setIndex(key, value); err != nil {
				return nil, err
			}
		}
		return h, nil
	}
	const comparer = "System.Collections.IEqualityComparer"
	return Class{
		Implements: dictionaryInterfaces,
		New: []Member{
			Constructor("", func(any, []any) (any, error) { return build(nil, nil) }),
			Constructor("int", func(any, []any) (any, error) { return build(nil, nil) }),
			Constructor(comparer, func(_ any, a []any) (any, error) { return build(nil, a[0]) }),
			Constructor("System.Collections.IDictionary", func(_ any, a []any) (any, error) { return build(a[0], nil) }),
			Constructor("System.Collections.IDictionary,"+comparer, func(_ any, a []any) (any, error) { return build(a[0], a[1]) }),
		},
		Members: append([]Member{
			tableMethod("Add", "K,V", func(h *Hashtable, a []any) (any, error) { return h.addChecked(a[0], a[1]) }),
			tableMethod("TryAdd", "K,V", func(h *Hashtable, a []any) (any, error) {
				if a[0] == nil {
					return nil, argumentNull("key")
				}
				return h.Add(a[0], a[1]), nil
			}),
			tableMethod("Remove", "K", func(h *Hashtable, a []any) (any, error) { return h.Delete(a[0]), nil }),
			tableMethod("ContainsKey", "K", hasKey),
			tableMethod("TryGetValue", "K,ref V", func(h *Hashtable, a []any) (any, error) {
				v, ok := h.Get(a[0])
				if !ok {
					v = zeroOf(args[1])
				}
				return ok, a[1].(*Ref).Set(v)
			}),
			tableMethod("Item", "K", missingKey), tableMethod("get_Item", "K", missingKey),
		}, tableMembersExcept("Add", "Remove", "Contains", "ContainsKey", "Clone", "Item", "get_Item")...),
	}
}

func missingKey(h *Hashtable, a []any) (any, error) {
	v, ok := h.Get(a[0])
	if !ok {
		return nil, ExceptionNamed("System.Collections.Generic.KeyNotFoundException", "The given key '%s' was not present in the dictionary.", Text(a[0]))
	}
	return v, nil
}

func tableMembersExcept(names ...string) []Member {
	var out []Member
	for _, m := range tableMembers {
		keep := true
		for _, name := range names {
			keep = keep && m.Name != name
		}
		if keep {
			out = append(out, m)
		}
	}
	return out
}

func setMethod(name, sig string, f func(s *Set, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) { return f(self.(*Set), a) })
}

func hashSetClass(args []*Type) Class {
	build := func(from, by any) (any, error) {
		s := &Set{Type: closed("System.Collections.Generic.HashSet", args...), keys: Hashtable{Comparer: keyComparer(by)}}
		for _, item := range EnumerateAny(from) {
			v, err := element(item, args[0])
			if err != nil {
				return nil, err
			}
			s.Add(v)
		}
		return s, nil
	}
	const comparer = "System.Collections.IEqualityComparer"
	return Class{
		Implements: []string{"System.Collections.ICollection"},
		New: []Member{
			Constructor("", func(any, []any) (any, error) { return build(nil, nil) }),
			Constructor(comparer, func(_ any, a []any) (any, error) { return build(nil, a[0]) }),
			Constructor("T[]", func(_ any, a []any) (any, error) { return build(a[0], nil) }),
			Constructor("T[],"+comparer, func(_ any, a []any) (any, error) { return build(a[0], a[1]) }),
		},
		Members: []Member{
			Property("Count", func(self any) (any, error) { return int32(self.(*Set).Len()), nil }),
			setMethod("Add", "T", func(s *Set, a []any) (any, error) {
				if s.Len() >= MaxArrayLength {
					return nil, &LimitError{"set size", MaxArrayLength}
				}
				return s.Add(a[0]), nil
			}),
			setMethod("Contains", "T", func(s *Set, a []any) (any, error) { return s.Contains(a[0]), nil }),
			setMethod("Remove", "T", func(s *Set, a []any) (any, error) { return s.keys.Delete(setKey(a[0])), nil }),
			setMethod("Clear", "", func(s *Set, _ []any) (any, error) { s.keys.Clear(); return Void, nil }),
			setMethod("UnionWith", "T[]", func(s *Set, a []any) (any, error) {
				for _, item := range itemsOf(a[0]) {
					s.Add(item)
				}
				return Void, nil
			}),
			setMethod("ExceptWith", "T[]", func(s *Set, a []any) (any, error) {
				for _, item := range itemsOf(a[0]) {
					s.keys.Delete(setKey(item))
				}
				return Void, nil
			}),
			setMethod("IntersectWith", "T[]", func(s *Set, a []any) (any, error) {
				other := &Set{keys: Hashtable{Comparer: s.keys.Comparer}}
				for _, item := range itemsOf(a[0]) {
					other.Add(item)
				}
				for _, item := range s.Items() {
					if !other.Contains(item) {
						s.keys.Delete(setKey(item))
					}
				}
				return Void, nil
			}),
			setMethod("SetEquals", "T[]", func(s *Set, a []any) (any, error) {
				other := &Set{keys: Hashtable{Comparer: s.keys.Comparer}}
				for _, item := range itemsOf(a[0]) {
					if !s.Contains(item) {
						return false, nil
					}
					other.Add(item)
				}
				return other.Len() == s.Len(), nil
			}),
			setMethod("CopyTo", "T[]", func(s *Set, a []any) (any, error) { return copyTo(s, a[0], 0) }),
			setMethod("GetEnumerator", "", func(s *Set, _ []any) (any, error) { return newEnumerator(s), nil }),
		},
	}
}
