package dotnet

// Watch returns a function that reports whether a collection has changed since the call of Watch. After such
// a change, .NET refuses to continue enumerating it (see CollectionModified). It supports dictionaries, their
// keys, values and enumerators, sets and lists. Arrays have a fixed length and never change in this sense.
func Watch(v any) func() bool {
	switch x := v.(type) {
	case *Hashtable:
		return x.watch()
	case *List:
		if x.owner != nil {
			return x.owner.watch()
		}
		count, version := len(x.Items), x.version
		return func() bool { return len(x.Items) != count || x.version != version }
	}
	return func() bool { return false }
}

func (h *Hashtable) watch() func() bool {
	version := h.version
	return func() bool { return h.version != version }
}

// CollectionModified returns the error for continuing with a changed collection. It is a
// refusal, because PowerShell's own error depends on the kind of loop.
func CollectionModified() error { return Refuse("a change of a collection while it is enumerated") }
