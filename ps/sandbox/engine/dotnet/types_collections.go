package dotnet

import "slices"

var (
	listInterfaces       = []string{"System.Collections.IList"}
	dictionaryInterfaces = []string{"System.Collections.IDictionary"}
)

func declareCollections() {
	TObjectArray = TObject.Array()
	THashtable = Register(Class{
		Name: "System.Collections.Hashtable", Aliases: []string{"hashtable"}, Implements: dictionaryInterfaces,
		Members: append(dictionaryMembers("object"), methodOf("Contains", "object", hasKey),
			methodOf("ContainsKey", "object", hasKey)),
	})
	TOrderedDictionary = Register(Class{
		Name: "System.Collections.Specialized.OrderedDictionary", Aliases: []string{"ordered"},
		Implements: dictionaryInterfaces,
		Members:    append(dictionaryMembers("object"), methodOf("Contains", "object", hasKey)),
	})
	TArrayList = Register(Class{
		Name: "System.Collections.ArrayList", Implements: listInterfaces,
		Members: append(listMembers(TObject),
			methodOf("Add", "object",
				func(l *List, a []any) (any, error) { return int32(len(l.Items)), l.push(a[0]) })),
	})
	declareGenerics()
	TListObject = closed("System.Collections.Generic.List", TObject)
	TParameters = closed("System.Collections.Generic.Dictionary", TString, TObject)
	view := func(name string) *Type {
		return Register(Class{Name: name, Implements: []string{"System.Collections.ICollection"},
			Members: []Member{countMember}})
	}
	tTableKeys = view("System.Collections.Hashtable+KeyCollection")
	tDictionaryKeys = view("System.Collections.Generic.Dictionary+KeyCollection")
	tOrderedKeys = view("System.Collections.Specialized.OrderedDictionary+OrderedDictionaryKeyValueCollection")
	for _, owner := range []string{"System.Collections.Hashtable", "System.Collections.Generic.Dictionary"} {
		view(owner + "+ValueCollection")
	}
}

// tTableKeys, tDictionaryKeys and tOrderedKeys are the types of the keys of dictionaries.
var tTableKeys, tDictionaryKeys, tOrderedKeys *Type

func declareGenerics() {
	list := func(name string) {
		registerGeneric(name, 1, func(args []*Type) Class {
			return Class{
				Implements: listInterfaces,
				New: []Member{Constructor("", func(any, []any) (any, error) {
					return &List{Type: closed(name, args...)}, nil
				})},
				Members: append(listMembers(args[0]),
					methodOf("Add", "T", func(l *List, a []any) (any, error) { return Void, l.push(a[0]) })),
			}
		})
	}
	list("System.Collections.Generic.List")
	list("System.Collections.ObjectModel.Collection")
	registerGeneric("System.Collections.Generic.Dictionary", 2, func([]*Type) Class {
		return Class{Implements: dictionaryInterfaces,
			Members: append(dictionaryMembers("K"), methodOf("ContainsKey", "K", hasKey))}
	})
}

// ---- arrays and lists ----

var (
	countMember  = Property("Count", func(self any) (any, error) { return int32(countOf(self)), nil })
	arrayMembers = append([]Member{countMember,
		Property("Length", func(self any) (any, error) { return int32(countOf(self)), nil })},
		unsupportedOfLists...)
	// unsupportedOfLists are rows for unsupported methods, which would otherwise be looked up in the items.
	unsupportedOfLists = append(unsupportedMethods("Contains", "IndexOf", "LastIndexOf", "Clone", "CopyTo",
		"GetValue", "SetValue", "GetLength",
		"GetEnumerator", "Insert", "Remove", "RemoveAt", "Reverse", "Sort", "AddRange", "Item", "Get", "Set"),
		unsupportedProperty("LongLength"), unsupportedProperty("Rank"), unsupportedProperty("SyncRoot"),
		unsupportedProperty("IsReadOnly"),
		unsupportedProperty("IsFixedSize"), unsupportedProperty("IsSynchronized"), unsupportedProperty("Capacity"))
	arrayStatics = []Member{Method("Sort", "array,array,System.Collections.IComparer", sortArrays)}
)

func countOf(v any) int {
	switch x := v.(type) {
	case *Array:
		return len(x.Items)
	case *Bytes:
		return len(x.B)
	case *Hashtable:
		return x.Len()
	default:
		items, _ := Enumerate(v)
		return len(items)
	}
}

// sortArrays implements Array.Sort with keys, items and a StringComparer. For typed keys PowerShell
// infers a generic overload, which sorts a copy of the items if they are an object[], unless all
// arguments are cast to the parameter types. Package engine refuses arguments without a cast.
func sortArrays(_ any, a []any) (any, error) {
	keys, ok := a[0].(*Array)
	items, both := a[1].(*Array)
	by, known := comparerOf(a[2])
	if !ok || !both || !known || len(items.Items) != len(keys.Items) {
		return nil, Refuse("[System.Array]::Sort() of these arguments")
	}
	type pair struct {
		key  string
		item any
	}
	pairs := make([]pair, len(keys.Items))
	for i, key := range keys.Items {
		text, ok := key.(string)
		if !ok {
			return nil, Refuse("[System.Array]::Sort() of keys that are not strings")
		}
		pairs[i] = pair{text, items.Items[i]}
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return by(x.key, y.key) })
	for i, p := range pairs {
		keys.Items[i], items.Items[i] = p.key, p.item
	}
	return Void, nil
}

func (l *List) push(item any) error {
	if len(l.Items) >= MaxArrayLength {
		return &LimitError{"list length", MaxArrayLength}
	}
	l.version++
	l.Items = append(l.Items, item)
	return nil
}

func listMembers(elem *Type) []Member {
	return append([]Member{
		countMember,
		methodOf("Clear", "", func(l *List, _ []any) (any, error) { l.version++; l.Items = nil; return Void, nil }),
		methodOf("ToArray", "", func(l *List, _ []any) (any, error) {
			if len(l.Items) == 1 {
				one := OneItem(l.Items[0])
				one.Elem = elem
				return one, nil
			}
			return &Array{Elem: elem, Items: append(make([]any, 0, len(l.Items)), l.Items...)}, nil
		}),
	}, append(unsupportedOfLists, unsupportedProperty("Length"))...)
}

// ---- dictionaries ----

func dictionaryMembers(key string) []Member {
	return []Member{
		countMember,
		Property("Keys", func(self any) (any, error) { return self.(*Hashtable).keyView(), nil }),
		// Without these rows the names would be treated as missing keys.
		unsupportedProperty("Values"), unsupportedProperty("SyncRoot"), unsupportedProperty("IsReadOnly"),
		unsupportedProperty("IsFixedSize"), unsupportedProperty("IsSynchronized"), unsupportedProperty("Comparer"),
	}
}

func hasKey(h *Hashtable, a []any) (any, error) {
	if a[0] == nil {
		return nil, nullKey()
	}
	return h.find(a[0]) >= 0, nil
}

func nullKey() *Exception {
	return withParam(ExceptionNamed("System.ArgumentNullException", "Value cannot be null."), "key")
}

// keyView returns the Keys collection, which reflects changes of the dictionary.
func (h *Hashtable) keyView() *List {
	view := &List{Type: tTableKeys, owner: h}
	switch {
	case h.Ordered():
		view.Type = tOrderedKeys
	case h.typed():
		view.Type = tDictionaryKeys
	}
	view.read()
	return view
}

// ---- comparers ----

func declareComparers() {
	base := Register(Class{
		Name: "System.StringComparer", Implements: []string{"System.Collections.IComparer"},
		Static: []Member{Property("Ordinal", func(any) (any, error) { return ordinalComparer, nil })},
	})
	ordinalComparer = &Instance{Type: Register(Class{Name: "System.OrdinalCaseSensitiveComparer", Base: base})}
}

// ordinalComparer is [System.StringComparer]::Ordinal.
var ordinalComparer *Instance

func comparerOf(v any) (func(a, b string) int, bool) {
	return func(a, b string) int { return CompareOrdinal(a, b) }, v == ordinalComparer
}
