package dotnet

import (
	"slices"
)

var listInterfaces = []string{"System.Collections.IList", "System.ICloneable"}

// declareArray comes before every type that has an array among its members:
// an array type takes its base when it is made.
func declareArray() {
}

func declareCollections() {
	TObjectArray = TObject.Array()
	TDictionaryEntry = Register(Class{Name: "System.Collections.DictionaryEntry", Kind: KindStruct, Members: entryMembers,
		New: []Member{Constructor("object,object", func(_ any, a []any) (any, error) {
			return &DictionaryEntry{Key: a[0], Value: a[1]}, nil
		})}})
	THashtable = Register(Class{
		Name: "System.Collections.Hashtable", Aliases: []string{"hashtable"}, Implements: dictionaryInterfaces,
		New: tableConstructors(&THashtable), Members: tableMembers,
		Static: []Member{Method("Synchronized", "hashtable", func(_ any, a []any) (any, error) { return a[0], nil })},
	})
	TOrderedDictionary = Register(Class{
		Name: "System.Collections.Specialized.OrderedDictionary", Aliases: []string{"ordered"}, Implements: dictionaryInterfaces,
		New: tableConstructors(&TOrderedDictionary), Members: append(tableMembersExcept("ContainsKey", "ContainsValue", "Clone"), orderedMembers...),
	})
	TArrayList = Register(Class{
		Name: "System.Collections.ArrayList", Implements: listInterfaces,
		New: listConstructors(&TArrayList), Members: arrayListMembers(),
	})
	TStack = Register(Class{Name: "System.Collections.Stack", Implements: []string{"System.Collections.ICollection"},
		New: listConstructors(&TStack), Members: stackMembers("object")})
	TQueue = Register(Class{Name: "System.Collections.Queue", Implements: []string{"System.Collections.ICollection"},
		New: listConstructors(&TQueue), Members: queueMembers("object")})
	declareGenerics()
	TListObject = closed("System.Collections.Generic.List", TObject)
	for _, name := range []string{"KeyCollection", "ValueCollection"} {
		Register(Class{Name: "System.Collections.Hashtable+" + name, Implements: []string{"System.Collections.ICollection"}, Members: viewMembers})
		Register(Class{Name: "System.Collections.Generic.Dictionary+" + name, Implements: []string{"System.Collections.ICollection"}, Members: viewMembers})
	}
	Register(Class{Name: "System.Collections.Specialized.OrderedDictionary+OrderedDictionaryKeyValueCollection",
		Implements: []string{"System.Collections.ICollection"}, Members: viewMembers})
}

// viewMembers are what the key and value collections of dictionaries answer.
var viewMembers = append([]Member{
	Method("CopyTo", "array,int", func(self any, a []any) (any, error) { return copyTo(self, a[0], int(a[1].(int32))) }),
}, countMembers[1:3]...)

// countMembers are shared by everything with items.
var countMembers = []Member{
	Property("Length", func(self any) (any, error) { return int32(countOf(self)), nil }),
	Property("Count", func(self any) (any, error) { return int32(countOf(self)), nil }),
	Method("GetEnumerator", "", func(self any, _ []any) (any, error) { return newEnumerator(self), nil }),
	Property("LongLength", func(self any) (any, error) { return int64(countOf(self)), nil }),
	Property("Rank", func(any) (any, error) { return int32(1), nil }),
	Property("IsReadOnly", func(any) (any, error) { return false, nil }),
	Property("IsFixedSize", func(self any) (any, error) { return TypeOf(self).Kind == KindArray, nil }),
	Property("IsSynchronized", func(any) (any, error) { return false, nil }),
	Property("SyncRoot", func(self any) (any, error) { return self, nil }),
}

func countOf(v any) int {
	switch x := v.(type) {
	case *Array:
		return len(x.Items)
	case *Bytes:
		return len(x.B)
	case *List:
		return len(x.current())
	case *Set:
		return x.Len()
	case *Hashtable:
		return x.Len()
	default:
		items, _ := Enumerate(v)
		return len(items)
	}
}

func itemsOf(v any) []any {
	items, _ := Enumerate(v)
	return items
}

func copyTo(from, to any, at int) (any, error) {
	items := itemsOf(from)
	if at < 0 || at+len(items) > countOf(to) {
		return nil, ExceptionNamed("System.ArgumentException", "Destination array was not long enough. Check the destination index, length, and the array's lower bounds. (Parameter 'destinationArray')")
	}
	for i, item := range items {
		if err := SetIndex(to, int32(at+i), item); err != nil {
			return nil, err
		}
	}
	return Void, nil
}

var arrayMembers = []Member{
	Method("Get", "int", func(self any, a []any) (any, error) {
		v, found, err := GetIndex(self, a[0])
		if err == nil && (!found || a[0].(int32) < 0) {
			return nil, ExceptionNamed("System.IndexOutOfRangeException", "Index was outside the bounds of the array.")
		}
		return v, err
	}),
	Method("GetValue", "int", func(self any, a []any) (any, error) {
		v, found, err := GetIndex(self, a[0])
		if err == nil && (!found || a[0].(int32) < 0) {
			return nil, ExceptionNamed("System.IndexOutOfRangeException", "Index was outside the bounds of the array.")
		}
		return v, err
	}),
	Method("SetValue", "object,int", func(self any, a []any) (any, error) { return Void, SetIndex(self, a[1], a[0]) }),
	Method("Set", "int,object", func(self any, a []any) (any, error) { return Void, SetIndex(self, a[0], a[1]) }),
	Method("Clone", "", func(self any, _ []any) (any, error) {
		if b, ok := self.(*Bytes); ok {
			return &Bytes{B: append([]byte(nil), b.B...)}, nil
		}
		a := self.(*Array)
		return &Array{Elem: a.Elem, Items: append([]any(nil), a.Items...)}, nil
	}),
	Method("CopyTo", "array,int", func(self any, a []any) (any, error) { return copyTo(self, a[0], int(a[1].(int32))) }),
	Method("Contains", "object", func(self any, a []any) (any, error) { return indexOfItem(itemsOf(self), a[0]) >= 0, nil }),
	Method("IndexOf", "object", func(self any, a []any) (any, error) { return int32(indexOfItem(itemsOf(self), a[0])), nil }),
	Method("GetLength", "int", func(self any, _ []any) (any, error) { return int32(countOf(self)), nil }),
	Method("GetUpperBound", "int", func(self any, _ []any) (any, error) { return int32(countOf(self) - 1), nil }),
	Method("GetLowerBound", "int", func(any, []any) (any, error) { return int32(0), nil }),
	Method("Add", "object", fixedSize), Method("Remove", "object", fixedSize), Method("RemoveAt", "int", fixedSize),
	Method("Insert", "int,object", fixedSize),
}

func fixedSize(any, []any) (any, error) {
	return nil, ExceptionNamed("System.NotSupportedException", "Collection was of a fixed size.")
}

func indexOfItem(items []any, v any) int {
	for i, item := range items {
		if objectEquals(item, v) {
			return i
		}
	}
	return -1
}

var arrayStatics = []Member{
	Method("Sort", "array", func(_ any, a []any) (any, error) { return sortArray(a[0], nil, nil) }),
	Method("Sort", "array,System.Collections.IComparer", func(_ any, a []any) (any, error) { return sortArray(a[0], nil, a[1]) }),
	Method("Sort", "array,array", func(_ any, a []any) (any, error) { return sortArray(a[0], a[1], nil) }),
	Method("Sort", "array,array,System.Collections.IComparer", func(_ any, a []any) (any, error) { return sortArray(a[0], a[1], a[2]) }),
	Method("Reverse", "array", func(_ any, a []any) (any, error) {
		switch x := a[0].(type) {
		case *Bytes:
			for i, j := 0, len(x.B)-1; i < j; i, j = i+1, j-1 {
				x.B[i], x.B[j] = x.B[j], x.B[i]
			}
		case *Array:
			reverse(x.Items)
		}
		return Void, nil
	}),
	Method("IndexOf", "array,object", func(_ any, a []any) (any, error) { return int32(indexOfItem(itemsOf(a[0]), a[1])), nil }),
	Method("LastIndexOf", "array,object", func(_ any, a []any) (any, error) {
		items := itemsOf(a[0])
		for i := len(items) - 1; i >= 0; i-- {
			if objectEquals(items[i], a[1]) {
				return int32(i), nil
			}
		}
		return int32(-1), nil
	}),
	Method("Copy", "array,array,int", func(_ any, a []any) (any, error) {
		return arrayCopy(a[0], 0, a[1], 0, int(a[2].(int32)))
	}),
	Method("Copy", "array,int,array,int,int", func(_ any, a []any) (any, error) {
		return arrayCopy(a[0], int(a[1].(int32)), a[2], int(a[3].(int32)), int(a[4].(int32)))
	}),
	Method("Clear", "array,int,int", func(_ any, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("array")
		}
		t := TypeOf(a[0])
		for i := range int(a[2].(int32)) {
			if err := SetIndex(a[0], a[1].(int32)+int32(i), zeroOf(t.Elem)); err != nil {
				return nil, err
			}
		}
		return Void, nil
	}),
	Method("CreateInstance", "type,int", func(_ any, a []any) (any, error) { return newArray(a[0].(*Type).Array(), a[1:]) }),
	Method("Empty", "", func(any, []any) (any, error) { return NewArray(), nil }),
}

func reverse(items []any) {
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
}

func arrayCopy(from any, fromAt int, to any, toAt, count int) (any, error) {
	if fromAt < 0 || toAt < 0 || count < 0 || fromAt+count > countOf(from) || toAt+count > countOf(to) {
		return nil, ExceptionNamed("System.ArgumentException", "Source array was not long enough. Check the source index, length, and the array's lower bounds. (Parameter 'sourceArray')")
	}
	if a, ok := from.(*Bytes); ok {
		if b, ok := to.(*Bytes); ok {
			copy(b.B[toAt:toAt+count], a.B[fromAt:fromAt+count])
			return Void, nil
		}
	}
	for i, item := range append([]any(nil), itemsOf(from)[fromAt:fromAt+count]...) {
		if err := SetIndex(to, int32(toAt+i), item); err != nil {
			return nil, err
		}
	}
	return Void, nil
}

// sortArray sorts keys, and with them items, in place. Without a comparer text
// goes by the culture and all else by its own order.
func sortArray(keys, items, by any) (any, error) {
	k := itemsOf(keys)
	if b, ok := keys.(*Bytes); ok && items == nil {
		slices.Sort(b.B)
		return Void, nil
	}
	compare, err := itemComparer(by)
	if err != nil {
		return nil, err
	}
	var others []any
	if items != nil {
		others = itemsOf(items)
		if len(others) < len(k) {
			return nil, ExceptionNamed("System.ArgumentException", "The items array is shorter than the keys array.")
		}
	}
	return Void, sortPairs(k, others, compare)
}

// sortPairs sorts keys and, unless it is nil, items along with them. Equal keys
// keep their order.
func sortPairs(keys, items []any, compare func(a, b any) (int, error)) error {
	type pair struct {
		key, item any
		at        int
	}
	pairs := make([]pair, len(keys))
	for i, key := range keys {
		pairs[i] = pair{key: key, at: i}
		if items != nil {
			pairs[i].item = items[i]
		}
	}
	var failed error
	slices.SortFunc(pairs, func(a, b pair) int {
		c, err := compare(a.key, b.key)
		if err != nil && failed == nil {
			failed = err
		}
		if c == 0 {
			c = a.at - b.at
		}
		return c
	})
	if failed != nil {
		return failed
	}
	for i, p := range pairs {
		keys[i] = p.key
		if items != nil {
			items[i] = p.item
		}
	}
	return nil
}

// itemComparer reads an IComparer argument: a StringComparer, or nil.
func itemComparer(by any) (func(a, b any) (int, error), error) {
	if by == nil {
		return func(a, b any) (int, error) {
			if c, done := nullText(a, b); done {
				return int(c), nil
			}
			if s, ok := a.(string); ok {
				return CompareCultureText(s, Text(b), false), nil
			}
			if rank(a) != notNumber && rank(b) != notNumber {
				return compareNumbers(a, b), nil
			}
			if c, ok := compareSame(a, b); ok {
				return c, nil
			}
			return 0, ExceptionNamed("System.InvalidOperationException", "Failed to compare two elements in the array.")
		}, nil
	}
	if i, ok := by.(*Instance); ok {
		if c, ok := i.Data.(*comparer); ok {
			return func(a, b any) (int, error) {
				if c, done := nullText(a, b); done {
					return int(c), nil
				}
				return c.compare(Text(a), Text(b)), nil
			}, nil
		}
	}
	return nil, ExceptionNamed("System.ArgumentException", "The comparer is not supported.")
}

// ---- enumerators ----

// Enumerator is what GetEnumerator gives; the pipeline unrolls what is left of it.
type Enumerator struct {
	items []any
	at    int        // of the current item plus one
	owner *Hashtable // whose entries these are
}

func newEnumerator(v any) *Enumerator {
	return &Enumerator{items: append([]any(nil), itemsOf(v)...)}
}

// Type is IEnumerator.
func (e *Enumerator) Type() *Type { return Lookup("System.Collections.IEnumerator") }

// Enumerate gives the items not yet passed.
func (e *Enumerator) Enumerate() []any { return e.items[min(e.at, len(e.items)):] }

// Member reads Current, and of a dictionary's enumerator Key, Value and Entry.
func (e *Enumerator) Member(name string) (any, bool) {
	if e.at == 0 || e.at > len(e.items) {
		return nil, EqualFold(name, "Current")
	}
	current := e.items[e.at-1]
	if EqualFold(name, "Current") || EqualFold(name, "Entry") {
		return current, true
	}
	if entry, ok := current.(*DictionaryEntry); ok {
		switch {
		case EqualFold(name, "Key"):
			return entry.Key, true
		case EqualFold(name, "Value"):
			return entry.Value, true
		}
	}
	return nil, false
}

// Invoke calls MoveNext, Reset or Dispose.
func (e *Enumerator) Invoke(name string, _ []any) (any, error) {
	switch {
	case EqualFold(name, "MoveNext"):
		e.at = min(e.at+1, len(e.items)+1)
		return e.at <= len(e.items), nil
	case EqualFold(name, "Reset"):
		e.at = 0
		return Void, nil
	case EqualFold(name, "Dispose"):
		return Void, nil
	default:
		return nil, ErrNoMethod
	}
}
