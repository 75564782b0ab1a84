package engine

import (
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// typeRef resolves a type at run time, because the types of modules and the session's own
// [Console] are not known earlier.
type typeRef func(f *frame) (*dotnet.Type, error)

func (c *compiler) typeRef(t *syntax.TypeName) typeRef {
	text := t.String()
	at := c.place(t)
	if known := staticType(text); known != nil {
		return func(*frame) (*dotnet.Type, error) { return known, nil }
	}
	return func(f *frame) (*dotnet.Type, error) {
		if t := f.s.lookupType(text); t != nil {
			return t, nil
		}
		return nil, fail(dotnet.Refuse("the type %s", text), at)
	}
}

// staticType returns a type that is the same in every session, or nil.
func staticType(text string) *dotnet.Type {
	switch lower(text) {
	case "console", "system.console":
		return nil
	}
	return dotnet.Lookup(text)
}

// maxNamed limits the cached type names of a session.
const maxNamed = 256

// lookupType returns a type by name, or nil. The session's own types come first.
func (s *Session) lookupType(text string) *dotnet.Type {
	if t, ok := dotnet.Folded(s.types, text); ok {
		return t
	}
	if t, ok := s.named[text]; ok {
		return t
	}
	if t := dotnet.Lookup(text); t != nil {
		if len(s.named) < maxNamed {
			s.named[text] = t
		}
		return t
	}
	if base, ok := strings.CutSuffix(text, "[]"); ok {
		if t := s.lookupType(base); t != nil {
			return t.Array()
		}
	}
	return nil
}

var exceptionTypes sync.Map

// exceptionType returns an exception type that package dotnet must have.
func exceptionType(name string) *dotnet.Type {
	if t, ok := exceptionTypes.Load(name); ok {
		return t.(*dotnet.Type)
	}
	t := dotnet.Lookup(name)
	if t == nil {
		t = dotnet.TException
	}
	exceptionTypes.Store(name, t)
	return t
}
