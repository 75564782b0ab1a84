package engine

import (
	"slices"
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// typeRef gives a type when a script runs: those of modules and the session's
// own [Console] are known then only.
type typeRef func(f *frame) (*dotnet.Type, error)

// typeText is a type name as package dotnet looks it up.
func typeText(t *syntax.TypeName) string {
	var text strings.Builder
	text.WriteString(t.Name)
	if len(t.Args) > 0 {
		text.WriteByte('[')
		for i, arg := range t.Args {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(typeText(arg))
		}
		text.WriteByte(']')
	}
	for _, rank := range t.Ranks {
		text.WriteByte('[')
		text.WriteString(strings.Repeat(",", rank-1))
		text.WriteByte(']')
	}
	return text.String()
}

func (c *compiler) typeRef(t *syntax.TypeName) typeRef {
	text := typeText(t)
	at := c.place(t)
	if known := staticType(text); known != nil {
		return func(*frame) (*dotnet.Type, error) { return known, nil }
	}
	return func(f *frame) (*dotnet.Type, error) {
		if t := f.s.lookupType(text); t != nil {
			return t, nil
		}
		return nil, fail(typeNotFound(text), at)
	}
}

// staticType finds a type that is the same in every session.
func staticType(text string) *dotnet.Type {
	switch lower(text) {
	case "console", "system.console":
		return nil
	}
	return dotnet.Lookup(text)
}

// caughtBefore lists the types of a try statement's catch clauses that a clause
// before catches already: PowerShell's parser refuses such a text. Types that
// are known to some sessions only are left out, as the parser does.
func caughtBefore(s *syntax.Try, src *syntax.Source) []*syntax.Error {
	var errs []*syntax.Error
	var before []*dotnet.Type
	for _, clause := range s.Catches {
		var own []*dotnet.Type
		for _, name := range clause.Types {
			t := staticType(typeText(name))
			if t == nil {
				continue
			}
			own = append(own, t)
			if slices.ContainsFunc(before, t.AssignableTo) {
				errs = append(errs, &syntax.Error{ID: "ExceptionTypeAlreadyCaught", File: src.Name, Pos: name.Extent().From,
					Message: "The exception type " + t.Name + " is already handled by a previous handler."})
			}
		}
		before = append(before, own...)
	}
	return errs
}

// maxNamed bounds the names of types that a session remembers.
const maxNamed = 256

// lookupType finds a type by name: the session's own first.
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

// typeNotFound refuses a type the sandbox does not have; PowerShell might.
func typeNotFound(text string) error { return dotnet.Refuse("the type [%s]", text) }

var exceptionTypes sync.Map

// exceptionType is an exception type that package dotnet must have.
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
