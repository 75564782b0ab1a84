package engine

import (
	"math"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// allSets is the flag value for "any set". A command has at most 63 sets.
const allSets = math.MaxUint64

const noPosition = math.MinInt32

// allSetsName is the set name of parameters that belong to no particular set.
const allSetsName = "__AllParameterSets"

// signature describes the parameters of a command to the binder.
type signature struct {
	name       string
	class      string            // part of error ids after the comma
	params     []*param          // common ones last
	mandatory  []*param          // mandatory in at least one set
	byKey      map[string]*param // names and aliases in lower case
	sets       []string
	defaultSet uint64
	advanced   bool // unknown arguments are errors
	function   bool
	should     bool // SupportsShouldProcess
	high       bool // ConfirmImpact is High
	force      bool // -Force skips the prompt
	partial    bool // has more parameters in PowerShell
	own        int  // number of parameters that are not common
}

// param returns the parameter with the given name or alias, in any case, or nil.
func (sig *signature) param(name string) *param {
	p, _ := dotnet.Folded(sig.byKey, name)
	return p
}

// param is one parameter.
type param struct {
	index   int
	name    string
	key     string
	sym     symbol
	aliases []string
	ref     typeRef // nil means object
	typ     *dotnet.Type
	sets    []inSet
	flags   uint64 // of its sets; 0 means all
	common  bool

	mandatory bool // in at least one set

	set        *validateSet // nil means any value
	allowNull  bool
	allowEmpty bool // AllowEmptyString
	allowNone  bool // AllowEmptyCollection
	enum       *enumValues
	def        exprFn
	defAt      *place
	checked    *constraint // constraint of its variable, if the type is known at compile time
	refused    bool        // recognized only to be refused
}

// inSet is the declaration of a parameter in one set; flag 0 means all sets.
type inSet struct {
	flag      uint64
	mandatory bool
	position  int
	byValue   bool // takes the objects of a pipeline
	byName    bool // takes a property of the pipeline objects
}

// of reports whether the set is among flags.
func (s *inSet) of(flags uint64) bool { return s.flag == 0 || s.flag&flags != 0 }

func (p *param) isSwitch() bool { return p.typ == dotnet.TSwitch }

// setFlag returns the flag of a parameter set, adding the set if it is new.
func (sig *signature) setFlag(name string) uint64 {
	if name == "" || strings.EqualFold(name, allSetsName) {
		return 0
	}
	for i, s := range sig.sets {
		if strings.EqualFold(s, name) {
			return 1 << i
		}
	}
	if len(sig.sets) >= 63 {
		return 0
	}
	sig.sets = append(sig.sets, name)
	return 1 << (len(sig.sets) - 1)
}

func (sig *signature) setName(flags uint64) string {
	if flags != allSets {
		for i, name := range sig.sets {
			if flags&(1<<i) != 0 {
				if flags&^(1<<i) != 0 {
					break
				}
				return name
			}
		}
	}
	if sig.defaultSet != 0 && sig.defaultSet != allSets {
		return sig.setName(sig.defaultSet)
	}
	return allSetsName
}

func (sig *signature) add(p *param) {
	p.index = len(sig.params)
	p.key = lower(p.name)
	p.sym = intern(p.name)
	if len(p.sets) == 0 {
		p.sets = []inSet{{position: noPosition}}
	}
	for _, s := range p.sets {
		p.flags |= s.flag
		p.mandatory = p.mandatory || s.mandatory
	}
	sig.params = append(sig.params, p)
	if p.mandatory {
		sig.mandatory = append(sig.mandatory, p)
	}
	if !p.common {
		sig.own++
	}
	if _, taken := sig.byKey[p.key]; !taken {
		sig.byKey[p.key] = p
	}
	for _, alias := range p.aliases {
		if _, taken := sig.byKey[lower(alias)]; !taken {
			sig.byKey[lower(alias)] = p
		}
	}
}

// commonParams are the parameters that every cmdlet and advanced function has. Parameters without a type take
// an action. Refused parameters are recognized only to be refused.
var commonParams = []struct {
	name, alias string
	typ         **dotnet.Type
	refused     bool
	ofFunctions bool // functions have it
}{
	{"Verbose", "vb", &dotnet.TSwitch, true, true}, {"Debug", "db", &dotnet.TSwitch, true, true},
	{"ErrorAction", "ea", nil, false, true}, {"WarningAction", "wa", nil, false, true},
	{"InformationAction", "infa", nil, true, false}, {"ProgressAction", "proga", nil, true, false},
	{"ErrorVariable", "ev", &dotnet.TString, true, true}, {"WarningVariable", "wv", nil, true, false},
	{"InformationVariable", "iv", nil, true, false}, {"OutVariable", "ov", nil, true, false},
	{"OutBuffer", "ob", nil, true, false}, {"PipelineVariable", "pv", nil, true, false},
}

func (sig *signature) addCommon() {
	for _, c := range commonParams {
		refused := c.refused && !(sig.function && c.ofFunctions)
		p := &param{name: c.name, aliases: []string{c.alias}, common: true, refused: refused}
		if c.typ != nil {
			p.typ = *c.typ
		} else {
			p.enum = actionEnum
		}
		sig.add(p)
	}
	if sig.should {
		whatIf := &param{name: "WhatIf", aliases: []string{"wi"}, typ: dotnet.TSwitch, common: true}
		whatIf.refused = !sig.function
		sig.add(whatIf)
		sig.add(&param{name: "Confirm", aliases: []string{"cf"}, typ: dotnet.TSwitch, common: true})
	}
}

// signature compiles the param block of a script block or function.
func (c *compiler) signature(code *blockCode, name string) *signature {
	sig := &signature{name: name, class: name, function: true, byKey: map[string]*param{}}
	positional := true
	for _, attr := range code.attrs {
		if isAttribute(attr, "OutputType") {
			continue // only for people and completion
		}
		if !isAttribute(attr, "CmdletBinding") {
			c.refuse(attr, "the attribute "+attr.Type.Name)
			continue
		}
		sig.advanced = true
		for _, arg := range attr.Named {
			v := c.constantArg(arg)
			switch lower(arg.Name) {
			case "defaultparametersetname":
				sig.defaultSet = sig.setFlag(dotnet.ToText(v))
			case "supportsshouldprocess":
				sig.should = dotnet.Truthy(v)
			case "confirmimpact":
				sig.high = strings.EqualFold(dotnet.ToText(v), "High")
			case "positionalbinding":
				positional = dotnet.Truthy(v)
			case "helpuri": // only help shows it
			default:
				c.refuse(arg, "the argument "+arg.Name+" of CmdletBinding")
			}
		}
	}
	params := make([]*param, len(code.params))
	explicit := false // an explicit position or set disables implicit positions
	for i, p := range code.params {
		params[i] = c.param(sig, p)
		for _, s := range params[i].sets {
			explicit = explicit || s.position != noPosition || s.flag != 0
		}
	}
	if !explicit && positional {
		at := 0
		for _, p := range params {
			if p.isSwitch() {
				continue
			}
			for i := range p.sets {
				p.sets[i].position = at
			}
			at++
		}
	}
	for _, p := range params {
		sig.add(p)
	}
	if sig.advanced {
		sig.addCommon()
	}
	return sig
}

func isAttribute(a *syntax.Attribute, name string) bool { return strings.EqualFold(a.Type.Name, name) }

// param compiles one declared parameter.
func (c *compiler) param(sig *signature, node *syntax.Param) *param {
	p := &param{name: node.Name.Name}
	if len(node.Types) > 0 {
		p.ref = c.typeRef(node.Types[0])
		p.typ = staticType(node.Types[0].String())
	}
	for _, attr := range node.Attributes {
		c.paramAttribute(sig, p, attr)
	}
	if len(p.sets) == 0 {
		p.sets = []inSet{{position: noPosition}}
	}
	if t := p.typ; t != nil && t != dotnet.TObject && t != dotnet.TSwitch || p.set != nil &&
		(p.ref == nil || p.typ != nil) {
		p.checked = &constraint{typ: p.typ, set: p.set}
	}
	if node.Default != nil {
		p.def, p.defAt = c.expr(node.Default), c.place(node.Default)
	}
	return p
}

func (c *compiler) paramAttribute(sig *signature, p *param, attr *syntax.Attribute) {
	switch lower(attr.Type.Name) {
	case "parameter":
		sig.advanced = true
		p.sets = append(p.sets, c.parameterAttribute(sig, attr))
	case "alias":
		for _, e := range attr.Positional {
			p.aliases = append(p.aliases, dotnet.ToText(c.constant(e)))
		}
	case "allownull":
		p.allowNull = true
	case "allowemptystring":
		p.allowEmpty = true
	case "allowemptycollection":
		p.allowNone = true
	case "validateset":
		p.set = c.validateSet(attr)
	case "argumentcompleter": // only for people at a prompt
	default:
		c.refuse(attr, "the attribute "+attr.Type.Name)
	}
}

func (c *compiler) parameterAttribute(sig *signature, attr *syntax.Attribute) inSet {
	set := inSet{position: noPosition}
	for _, arg := range attr.Named {
		v := c.constantArg(arg)
		switch lower(arg.Name) {
		case "mandatory":
			set.mandatory = dotnet.Truthy(v)
		case "position":
			if n, ok := v.(int32); ok {
				set.position = int(n)
			}
		case "parametersetname":
			set.flag = sig.setFlag(dotnet.ToText(v))
		case "valuefrompipeline":
			set.byValue = dotnet.Truthy(v)
		case "valuefrompipelinebypropertyname":
			set.byName = dotnet.Truthy(v)
		default:
			c.refuse(arg, "the argument "+arg.Name+" of Parameter")
		}
	}
	return set
}

func (c *compiler) constantArg(arg *syntax.NamedArg) any {
	if arg.Value == nil {
		return true
	}
	return c.constant(arg.Value)
}

// constant evaluates an attribute's argument: a number, a string, $true or $false.
func (c *compiler) constant(e syntax.Expr) any {
	switch e := e.(type) {
	case *syntax.Number:
		return e.Value
	case *syntax.String:
		return e.Value
	case *syntax.Variable:
		if lower(e.Name) == "true" {
			return true
		}
		if lower(e.Name) == "false" {
			return false
		}
	}
	c.refuse(e, "an attribute's argument of this form")
	return nil
}
