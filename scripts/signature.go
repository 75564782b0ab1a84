package scripts

import (
	"strings"
	"sync"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// This file describes functions and built-in commands in the same form as cmdlets, so that one check covers
// all calls.

// builtins returns the built-in commands by lower-case name.
var builtins = sync.OnceValue(func() map[string]*cmdlets.Cmdlet {
	byName := map[string]*cmdlets.Cmdlet{}
	for _, b := range cmdlets.Builtins() {
		// A parser error would be a defect of the table. A test parses every row.
		script, _ := syntax.Parse(b.Name, "param("+b.Params+")")
		byName[strings.ToLower(b.Name)] = signature(b.Name, nil, script.Block.Param.Params)
	}
	return byName
})

// signature describes a command by its parameters and the attributes before them.
func signature(name string, attributes []*syntax.Attribute, params []*syntax.Param) *cmdlets.Cmdlet {
	c := &cmdlets.Cmdlet{Name: name}
	for _, p := range params {
		for _, attribute := range attributesOf(p, "Parameter") {
			if set := parameterSet(attribute); set != "" && !containsFold(c.Sets, set) {
				c.Sets = append(c.Sets, set)
			}
		}
	}
	for _, attribute := range attributes {
		if set, ok := namedText(attribute, "DefaultParameterSetName"); ok &&
			strings.EqualFold(attribute.Type.Name, "CmdletBinding") {
			c.DefaultSet = set
			if !containsFold(c.Sets, set) {
				c.Sets = append(c.Sets, set)
			}
		}
	}
	if len(c.Sets) == 0 {
		c.Sets, c.DefaultSet = []string{cmdlets.AllSets}, cmdlets.AllSets
	}
	for _, p := range params {
		c.Params = append(c.Params, declaredParam(p, c.Sets))
	}
	return c
}

func declaredParam(p *syntax.Param, sets []string) *cmdlets.Param {
	typ := typeOf(p)
	if typ == "switch" {
		typ = "SwitchParameter"
	}
	param := &cmdlets.Param{Name: p.Name.Name, Type: typ, Values: valuesOf(p)}
	for _, attribute := range attributesOf(p, "Alias") {
		param.Aliases = append(param.Aliases, texts(attribute.Positional)...)
	}
	in := func(set string, mandatory, piped bool) {
		param.PerSet = append(param.PerSet,
			cmdlets.InSet{Set: set, Mandatory: mandatory, Position: -1, ByValue: piped})
	}
	for _, attribute := range attributesOf(p, "Parameter") {
		mandatory, piped := isSet(attribute, "Mandatory"), isSet(attribute, "ValueFromPipeline")
		if set := parameterSet(attribute); set != "" {
			in(set, mandatory, piped)
			continue
		}
		for _, set := range sets {
			in(set, mandatory, piped)
		}
	}
	if len(param.PerSet) == 0 {
		for _, set := range sets {
			in(set, false, false)
		}
	}
	return param
}

// attributesOf lists the attributes of a parameter with a given name.
func attributesOf(p *syntax.Param, name string) []*syntax.Attribute {
	var out []*syntax.Attribute
	for _, attribute := range p.Attributes {
		if strings.EqualFold(attribute.Type.Name, name) {
			out = append(out, attribute)
		}
	}
	return out
}

func parameterSet(attribute *syntax.Attribute) string {
	set, _ := namedText(attribute, "ParameterSetName")
	if strings.EqualFold(set, cmdlets.AllSets) {
		return ""
	}
	return set
}

// namedText returns the text of a named argument of an attribute.
func namedText(attribute *syntax.Attribute, name string) (string, bool) {
	for _, arg := range attribute.Named {
		if strings.EqualFold(arg.Name, name) {
			return literal(arg.Value)
		}
	}
	return "", false
}

// isSet reports whether an attribute has a named argument that is not $false.
func isSet(attribute *syntax.Attribute, name string) bool {
	for _, arg := range attribute.Named {
		if strings.EqualFold(arg.Name, name) {
			v, variable := arg.Value.(*syntax.Variable)
			return arg.Value == nil || !variable || !strings.EqualFold(v.Name, "false")
		}
	}
	return false
}

// texts returns the constant strings among expressions.
func texts(list []syntax.Expr) []string {
	var out []string
	for _, e := range list {
		if text, ok := e.(*syntax.String); ok {
			out = append(out, text.Value)
		}
	}
	return out
}

// valuesOf returns the texts that a parameter accepts, from its ValidateSet or its enumeration, or nil if it
// accepts any text.
func valuesOf(p *syntax.Param) []string {
	for _, attribute := range attributesOf(p, "ValidateSet") {
		return texts(attribute.Positional)
	}
	if len(p.Types) == 0 {
		return nil
	}
	typ, ok := cmdlets.LookupType(p.Types[0].Name)
	if !ok || !typ.Enum {
		return nil
	}
	var names []string
	for _, m := range typ.Static {
		names = append(names, m.Name)
	}
	return names
}
