package dotnet

// Watch returns a function that reports whether a collection has changed since:
// .NET then refuses to continue enumerating it (see CollectionModified). It knows
// dictionaries, their keys, values and enumerators, sets and lists; arrays have a
// fixed length and are never changed in this sense.
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

// CollectionModified is the error of enumerating a collection that was changed.
func CollectionModified() *ErrorRecord {
	return outcome(ExceptionNamed("System.InvalidOperationException", "Collection was modified; enumeration operation may not execute."))
}

// BadEnumeration is CollectionModified as a pipeline reports it.
func BadEnumeration(collection any) *ErrorRecord {
	inner := CollectionModified().Exception
	rec := RuntimeError("BadEnumeration", InvalidOperation, collection, "An error occurred while enumerating through a collection: %s.", inner.Message)
	rec.Exception.Inner = inner
	return rec
}
