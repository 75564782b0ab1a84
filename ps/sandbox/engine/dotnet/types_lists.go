package dotnet

import "sort"

// listConstructors are those of a list type: empty, with a capacity, or of a collection.
func listConstructors(t **Type) []Member {
	elem := TObject
	if *t != nil && len((*t).Args) == 1 {
		elem = (*t).Args[0]
	}
	return listConstructorsOf(func() *Type { return *t }, elem)
}

func listConstructorsOf(t func() *Type, elem *Type) []Member {
	return []Member{
		Constructor("", func(any, []any) (any, error) { return &List{Type: t()}, nil }),
		Constructor("int", func(_ any, a []any) (any, error) {
			if a[0].(int32) < 0 {
				return nil, argumentRange("capacity", "Non-negative number required.")
			}
			return &List{Type: t()}, nil
		}),
		Constructor("System.Collections.IEnumerable", func(_ any, a []any) (any, error) {
			items, ok := Enumerate(a[0])
			if !ok {
				items = EnumerateAny(a[0])
			}
			converted := make([]any, len(items))
			for i, item := range items {
				v, err := element(item, elem)
				if err != nil {
					return nil, err
				}
				converted[i] = v
			}
			return &List{Type: t(), Items: converted}, nil
		}),
	}
}

func listMethod(name, sig string, f func(l *List, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) { return f(self.(*List), a) })
}

func (l *List) push(items ...any) error {
	if len(l.Items)+len(items) > MaxArrayLength {
		return &LimitError{"list length", MaxArrayLength}
	}
	l.version++
	l.Items = append(l.Items, items...)
	return nil
}

func badIndex() *Exception {
	return argumentRange("index", "Index was out of range. Must be non-negative and less than the size of the collection.")
}

// removeRange takes out count items at i.
func (l *List) removeRange(i, count int) error {
	if i < 0 || count < 0 || i+count > len(l.Items) {
		return badIndex()
	}
	l.version++
	tail := append(l.Items[:i], l.Items[i+count:]...)
	clear(l.Items[len(tail):])
	l.Items = tail
	return nil
}

func (l *List) insert(i int, items []any) error {
	if i < 0 || i > len(l.Items) {
		return argumentRange("index", "Index must be within the bounds of the List.")
	}
	if err := l.push(items...); err != nil {
		return err
	}
	copy(l.Items[i+len(items):], l.Items[i:])
	copy(l.Items[i:], items)
	return nil
}

// listMembers are those of List<T> and ArrayList; elem is "T" or "object".
// collectionMembers are those of a List that a Collection has too.
func collectionMembers(args []*Type) []Member {
	var out []Member
	for _, m := range genericListMembers(args) {
		switch m.Name {
		case "Add", "Remove", "Insert", "RemoveAt", "Clear", "Contains", "IndexOf", "CopyTo", "get_Item", "set_Item", "Count", "GetEnumerator":
			out = append(out, m)
		}
	}
	return out
}

func listMembers(elem string) []Member {
	return append([]Member{
		listMethod("AddRange", elem+"[]", func(l *List, a []any) (any, error) { return Void, l.push(itemsOf(a[0])...) }),
		listMethod("Insert", "int,"+elem, func(l *List, a []any) (any, error) { return Void, l.insert(int(a[0].(int32)), a[1:]) }),
		listMethod("InsertRange", "int,"+elem+"[]", func(l *List, a []any) (any, error) {
			return Void, l.insert(int(a[0].(int32)), itemsOf(a[1]))
		}),
		listMethod("RemoveAt", "int", func(l *List, a []any) (any, error) { return Void, l.removeRange(int(a[0].(int32)), 1) }),
		listMethod("RemoveRange", "int,int", func(l *List, a []any) (any, error) {
			return Void, l.removeRange(int(a[0].(int32)), int(a[1].(int32)))
		}),
		listMethod("Clear", "", func(l *List, _ []any) (any, error) { l.version++; l.Items = nil; return Void, nil }),
		listMethod("Contains", elem, func(l *List, a []any) (any, error) { return indexOfItem(l.Items, a[0]) >= 0, nil }),
		listMethod("IndexOf", elem, func(l *List, a []any) (any, error) { return int32(indexOfItem(l.Items, a[0])), nil }),
		listMethod("Reverse", "", func(l *List, _ []any) (any, error) { l.version++; reverse(l.Items); return Void, nil }),
		listMethod("Sort", "", func(l *List, _ []any) (any, error) { return l.sort(nil) }),
		listMethod("Sort", "System.Collections.IComparer", func(l *List, a []any) (any, error) { return l.sort(a[0]) }),
		listMethod("CopyTo", "array", func(l *List, a []any) (any, error) { return copyTo(l, a[0], 0) }),
		listMethod("CopyTo", "array,int", func(l *List, a []any) (any, error) { return copyTo(l, a[0], int(a[1].(int32))) }),
		listMethod("TrimExcess", "", func(*List, []any) (any, error) { return Void, nil }),
		listMethod("get_Item", "int", listItem),
		listMethod("set_Item", "int,"+elem, func(l *List, a []any) (any, error) { return Void, l.setIndex(a[0], a[1]) }),
		Property("Capacity", func(self any) (any, error) { return int32(cap(self.(*List).Items)), nil }),
	}, countMembers[1:3]...)
}

func (l *List) sort(by any) (any, error) {
	l.version++
	return sortArray(&Array{Items: l.Items}, nil, by)
}

func listItem(l *List, a []any) (any, error) {
	i := int(a[0].(int32))
	if i < 0 || i >= len(l.Items) {
		return nil, badIndex()
	}
	return l.Items[i], nil
}

func toArray(elem *Type) Func {
	return func(self any, _ []any) (any, error) {
		items := self.(*List).enumerate()
		if elem == TByte {
			return convertBytes(&Array{Items: items})
		}
		if len(items) == 1 {
			one := OneItem(items[0])
			one.Elem = elem
			return one, nil
		}
		return &Array{Elem: elem, Items: append(make([]any, 0, len(items)), items...)}, nil
	}
}

func arrayListMembers() []Member {
	return append([]Member{
		listMethod("Add", "object", func(l *List, a []any) (any, error) { return int32(len(l.Items)), l.push(a[0]) }),
		listMethod("Remove", "object", func(l *List, a []any) (any, error) {
			if i := indexOfItem(l.Items, a[0]); i >= 0 {
				return Void, l.removeRange(i, 1)
			}
			return Void, nil
		}),
		Method("ToArray", "", toArray(TObject)),
		Method("ToArray", "type", func(self any, a []any) (any, error) { return arrayOf(self.(*List).Items, a[0].(*Type)) }),
		listMethod("Clone", "", func(l *List, _ []any) (any, error) {
			return &List{Type: l.Type, Items: append([]any(nil), l.Items...)}, nil
		}),
		Property("IsReadOnly", func(any) (any, error) { return false, nil }),
		Property("IsFixedSize", func(any) (any, error) { return false, nil }),
	}, listMembers("object")...)
}

func genericListMembers(args []*Type) []Member {
	return append([]Member{
		listMethod("Add", "T", func(l *List, a []any) (any, error) { return Void, l.push(a[0]) }),
		listMethod("Remove", "T", func(l *List, a []any) (any, error) {
			i := indexOfItem(l.Items, a[0])
			if i < 0 {
				return false, nil
			}
			return true, l.removeRange(i, 1)
		}),
		Method("ToArray", "", toArray(args[0])),
		listMethod("GetRange", "int,int", func(l *List, a []any) (any, error) {
			i, n := int(a[0].(int32)), int(a[1].(int32))
			if i < 0 || n < 0 || i+n > len(l.Items) {
				return nil, badIndex()
			}
			return &List{Type: l.Type, Items: append([]any(nil), l.Items[i:i+n]...)}, nil
		}),
		listMethod("Sort", "System.Comparison", sortByBlock),
		listMethod("LastIndexOf", "T", func(l *List, a []any) (any, error) {
			for i := len(l.Items) - 1; i >= 0; i-- {
				if objectEquals(l.Items[i], a[0]) {
					return int32(i), nil
				}
			}
			return int32(-1), nil
		}),
	}, listMembers("T")...)
}

// sortByBlock sorts by a script block of two arguments that gives a number.
func sortByBlock(l *List, a []any) (any, error) {
	block := a[0].(Object)
	l.version++
	var failed error
	sort.SliceStable(l.Items, func(i, j int) bool {
		if failed != nil {
			return false
		}
		r, err := block.Invoke("Invoke", []any{l.Items[i], l.Items[j]})
		if err == nil {
			r, err = Convert(r, TInt32)
		}
		if err != nil {
			failed = err
			return false
		}
		return r.(int32) < 0
	})
	return Void, failed
}

func emptyCollection(name string) *Exception {
	return ExceptionNamed("System.InvalidOperationException", "%s empty.", name)
}

func stackMembers(elem string) []Member {
	top := func(remove bool) func(l *List, a []any) (any, error) {
		return func(l *List, _ []any) (any, error) {
			n := len(l.Items)
			if n == 0 {
				return nil, emptyCollection("Stack")
			}
			v := l.Items[n-1]
			if remove {
				l.version++
				l.Items[n-1] = nil
				l.Items = l.Items[:n-1]
			}
			return v, nil
		}
	}
	return append([]Member{
		listMethod("Push", elem, func(l *List, a []any) (any, error) { return Void, l.push(a[0]) }),
		listMethod("Pop", "", top(true)), listMethod("Peek", "", top(false)),
	}, bagMembers(elem)...)
}

func queueMembers(elem string) []Member {
	first := func(remove bool) func(l *List, a []any) (any, error) {
		return func(l *List, _ []any) (any, error) {
			if len(l.Items) == 0 {
				return nil, emptyCollection("Queue")
			}
			v := l.Items[0]
			if remove {
				l.version++
				l.Items[0] = nil
				l.Items = l.Items[1:]
			}
			return v, nil
		}
	}
	return append([]Member{
		listMethod("Enqueue", elem, func(l *List, a []any) (any, error) { return Void, l.push(a[0]) }),
		listMethod("Dequeue", "", first(true)), listMethod("Peek", "", first(false)),
	}, bagMembers(elem)...)
}

// bagMembers are shared by stacks and queues.
func bagMembers(elem string) []Member {
	return append([]Member{
		listMethod("Clear", "", func(l *List, _ []any) (any, error) { l.version++; l.Items = nil; return Void, nil }),
		listMethod("Contains", elem, func(l *List, a []any) (any, error) { return indexOfItem(l.Items, a[0]) >= 0, nil }),
		Method("ToArray", "", func(self any, a []any) (any, error) {
			t := TObject
			if args := self.(*List).Type.Args; len(args) == 1 {
				t = args[0]
			}
			return toArray(t)(self, a)
		}),
	}, countMembers[1:3]...)
}

func declareGenerics() {
	TComparison = Register(Class{Name: "System.Comparison", Base: TDelegate})
	lists := func(name string, members func(args []*Type) []Member, implements []string) {
		registerGeneric(name, 1, func(args []*Type) Class {
			return Class{Implements: implements, Members: members(args),
				New: listConstructorsOf(func() *Type { return closed(name, args...) }, args[0])}
		})
	}
	lists("System.Collections.Generic.List", genericListMembers, listInterfaces)
	lists("System.Collections.ObjectModel.Collection", collectionMembers, listInterfaces)
	lists("System.Collections.Generic.Stack", func([]*Type) []Member { return stackMembers("T") }, []string{"System.Collections.ICollection"})
	lists("System.Collections.Generic.Queue", func([]*Type) []Member { return queueMembers("T") }, []string{"System.Collections.ICollection"})
	registerGeneric("System.Collections.Generic.Dictionary", 2, dictionaryClass)
	registerGeneric("System.Collections.Generic.HashSet", 1, hashSetClass)
	registerGeneric("System.Collections.Generic.KeyValuePair", 2, func([]*Type) Class {
		return Class{Kind: KindStruct, Members: entryMembers[:2]}
	})
	for name, extends := range map[string]string{"IEnumerable": "IEnumerable", "ICollection": "ICollection", "IList": "IList"} {
		registerGeneric("System.Collections.Generic."+name, 1, func([]*Type) Class {
			return Class{Kind: KindInterface, Implements: []string{"System.Collections." + extends}}
		})
	}
}

// TComparison is the delegate of List<T>.Sort.
var TComparison *Type
