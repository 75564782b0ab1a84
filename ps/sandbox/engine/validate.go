package engine

import (
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// validateSet is the attribute [ValidateSet(values)].
type validateSet struct{ values []string }

// check returns the exception for a value, or an item of a collection, that is not in the
// set, or nil if there is none.
func (a *validateSet) check(v any) *dotnet.Exception {
	if a == nil {
		return nil
	}
	items, ok := dotnet.Enumerate(v)
	if !ok {
		items = []any{v}
	}
	for _, item := range items {
		text := dotnet.ToText(item)
		if !a.has(text) {
			return dotnet.NewException(exceptionType("System.Management.Automation.ValidationMetadataException"),
				"The argument \""+text+
					"\" does not belong to the set \""+strings.Join(a.values, ",")+
					"\" specified by the ValidateSet attribute. Supply an argument that is in the set and then try the "+
					"command again.")
		}
	}
	return nil
}

func (a *validateSet) has(text string) bool {
	return slices.ContainsFunc(a.values, func(value string) bool { return strings.EqualFold(text, value) })
}

// validateSet compiles the attribute.
func (c *compiler) validateSet(attr *syntax.Attribute) *validateSet {
	set := &validateSet{}
	for _, arg := range attr.Named {
		c.refuse(arg, "the argument "+arg.Name+" of ValidateSet")
	}
	for _, e := range attr.Positional {
		set.values = append(set.values, dotnet.ToText(c.constant(e)))
	}
	return set
}
