package engine

import (
	"math"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// allSets is the flag value of "any set"; a command has at most 63 sets.
const allSets = math.MaxUint64

const noPosition = math.MinInt32

// allSetsName is the set of parameters that belong to no set in particular.
const allSetsName = "__AllParameterSets"

// signature is what the binder knows of a command.
type signature struct {
	name       string
	class      string            // after the comma of an error id
	params     []*param          // the common ones last
	mandatory  []*param          // those that are so in a set
	byKey      map[string]*param // names and aliases in lower case
	sets       []string
	defaultSet uint64
	advanced   bool // binds strictly: unknown arguments are errors
	function   bool
	should     bool // SupportsShouldProcess
	high       bool // ConfirmImpact is High
	force      bool // -Force goes on without the prompt
	byPipeline bool // a parameter takes pipeline input
	remaining  *param
	own        int   // how many parameters are not common
	attrError  error // an attribute that is not known
}

// param is the parameter of a name or alias, in any case; nil: there is none.
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
	ref     typeRef // nil: object
	typ     *dotnet.Type
	foreign bool // typ is nil because the type is a module's own
	sets    []inSet
	flags   uint64 // of the sets it belongs to; 0 with inAll only
	inAll   bool
	common  bool

	mandatory bool // in a set

	validators []validator
	allowNull  bool
	allowEmpty bool // AllowEmptyString
	allowNone  bool // AllowEmptyCollection
	enum       *enumValues
	def        exprFn
	defAt      *place
	checked    *constraint // of the variable, when the type is known early
	at         *place
}

// inSet is how a parameter behaves in one set; flag 0 stands for all.
type inSet struct {
	flag      uint64
	mandatory bool
	position  int
	byValue   bool
	byName    bool
	remaining bool
}

// of tells whether the set is among these.
func (s *inSet) of(flags uint64) bool { return s.flag == 0 || s.flag&flags != 0 }

func (p *param) takesPipeline() bool {
	for _, s := range p.sets {
		if s.byValue || s.byName {
			return true
		}
	}
	return false
}

func (p *param) isSwitch() bool { return p.typ == dotnet.TSwitch }

// setFlag gives the flag of a set name, making one if it is new.
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
	p.flags, p.inAll = 0, false
	for _, s := range p.sets {
		p.flags |= s.flag
		if s.flag == 0 {
			p.inAll = true
		}
		if s.remaining {
			sig.remaining = p
		}
		p.mandatory = p.mandatory || s.mandatory
		if s.byValue || s.byName {
			sig.byPipeline = true
		}
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

// commonParams are those every cmdlet and advanced function has.
var commonParams = []struct {
	name, alias string
	typ         **dotnet.Type
}{
	{"Verbose", "vb", &dotnet.TSwitch}, {"Debug", "db", &dotnet.TSwitch},
	{"ErrorAction", "ea", nil}, {"WarningAction", "wa", nil}, {"InformationAction", "infa", nil}, {"ProgressAction", "proga", nil},
	{"ErrorVariable", "ev", &dotnet.TString}, {"WarningVariable", "wv", &dotnet.TString},
	{"InformationVariable", "iv", &dotnet.TString}, {"OutVariable", "ov", &dotnet.TString},
	{"OutBuffer", "ob", &dotnet.TInt32}, {"PipelineVariable", "pv", &dotnet.TString},
}

func (sig *signature) addCommon() {
	for _, c := range commonParams {
		p := &param{name: c.name, aliases: []string{c.alias}, common: true}
		if c.typ != nil {
			p.typ = *c.typ
		} else {
			p.enum = actionEnum
		}
		sig.add(p)
	}
	if sig.should {
		sig.add(&param{name: "WhatIf", aliases: []string{"wi"}, typ: dotnet.TSwitch, common: true})
		sig.add(&param{name: "Confirm", aliases: []string{"cf"}, typ: dotnet.TSwitch, common: true})
	}
}

// signature reads the param block of a script block or function.
func (c *compiler) signature(code *blockCode, name string) *signature {
	sig := &signature{name: name, class: name, function: true, byKey: map[string]*param{}}
	positional := true
	for _, attr := range code.attrs {
		if !isAttribute(attr, "CmdletBinding") {
			if !isAttribute(attr, "OutputType", "SuppressMessage", "Diagnostics.CodeAnalysis.SuppressMessage", "System.Diagnostics.CodeAnalysis.SuppressMessage", "Alias") {
				sig.attrError = fail(typeNotFound(attr.Type.Name), c.place(attr))
			}
			continue
		}
		sig.advanced = true
		for _, arg := range attr.Named {
			v := c.constantArg(sig, arg)
			switch lower(arg.Name) {
			case "defaultparametersetname":
				sig.defaultSet = sig.setFlag(dotnet.ToText(v))
			case "supportsshouldprocess":
				sig.should = dotnet.Truthy(v)
			case "confirmimpact":
				sig.high = strings.EqualFold(dotnet.ToText(v), "High")
			case "positionalbinding":
				positional = dotnet.Truthy(v)
			case "supportspaging", "helpuri", "remotingcapability":
			default:
				sig.attrError = fail(unknownAttributeArg("CmdletBinding", arg.Name), c.place(arg))
			}
		}
	}
	params := make([]*param, len(code.params))
	explicit := false // a position or a set is spelt out: then there are no others
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
				if !p.sets[i].remaining {
					p.sets[i].position = at
				}
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

func unknownAttributeArg(attr, arg string) *dotnet.ErrorRecord {
	return runtimeError("PropertyNotFoundForType", dotnet.InvalidOperation, arg, "Property '%s' cannot be found for type '%s'.", arg, attr)
}

func isAttribute(a *syntax.Attribute, names ...string) bool {
	written := strings.TrimSuffix(lower(a.Type.Name), "attribute")
	written = strings.TrimPrefix(written, "system.management.automation.")
	for _, name := range names {
		if written == lower(name) {
			return true
		}
	}
	return false
}

// param reads one declared parameter.
func (c *compiler) param(sig *signature, node *syntax.Param) *param {
	p := &param{name: node.Name.Name, at: c.place(node)}
	if len(node.Types) > 0 {
		p.ref = c.typeRef(node.Types[0])
		p.typ = staticType(typeText(node.Types[0]))
	}
	for _, attr := range node.Attributes {
		c.paramAttribute(sig, p, attr)
	}
	if len(p.sets) == 0 {
		p.sets = []inSet{{position: noPosition}}
	}
	if t := p.typ; t != nil && t != dotnet.TObject && t != dotnet.TSwitch || len(p.validators) > 0 && (p.ref == nil || p.typ != nil) {
		p.checked = &constraint{typ: p.typ, validators: p.validators}
	}
	if node.Default != nil {
		p.def, p.defAt = c.expr(node.Default), c.place(node.Default)
	}
	return p
}

func (c *compiler) paramAttribute(sig *signature, p *param, attr *syntax.Attribute) {
	switch {
	case isAttribute(attr, "Parameter"):
		sig.advanced = true
		p.sets = append(p.sets, c.parameterAttribute(sig, attr))
	case isAttribute(attr, "Alias"):
		for _, e := range attr.Positional {
			p.aliases = append(p.aliases, dotnet.ToText(c.constant(sig, e)))
		}
	case isAttribute(attr, "AllowNull"):
		p.allowNull = true
	case isAttribute(attr, "AllowEmptyString"):
		p.allowEmpty = true
	case isAttribute(attr, "AllowEmptyCollection"):
		p.allowNone = true
	case isAttribute(attr, "SupportsWildcards", "PSDefaultValue", "ArgumentCompleter", "ArgumentCompletions"):
	default:
		v, err := c.validator(sig, attr)
		if err != nil {
			sig.attrError = err
			return
		}
		p.validators = append(p.validators, v)
	}
}

func (c *compiler) parameterAttribute(sig *signature, attr *syntax.Attribute) inSet {
	set := inSet{position: noPosition}
	for _, arg := range attr.Named {
		v := c.constantArg(sig, arg)
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
		case "valuefromremainingarguments":
			set.remaining = dotnet.Truthy(v)
		case "helpmessage", "helpmessagebasename", "helpmessageresourceid", "dontshow":
		default:
			sig.attrError = fail(unknownAttributeArg("System.Management.Automation.ParameterAttribute", arg.Name), c.place(arg))
		}
	}
	return set
}

func (c *compiler) constantArg(sig *signature, arg *syntax.NamedArg) any {
	if arg.Value == nil {
		return true
	}
	return c.constant(sig, arg.Value)
}

// constant evaluates an attribute's argument.
func (c *compiler) constant(sig *signature, e syntax.Expr) any {
	if !isConstant(e) {
		sig.attrError = fail(runtimeError("ParameterAttributeArgumentNeedsToBeConstant", dotnet.ParserError, nil, "Attribute argument must be a constant or a script block."), c.place(e))
		return nil
	}
	v, err := c.expr(e)(constantFrame())
	if err != nil {
		sig.attrError = err
	}
	return v
}

// constantFrame is enough to evaluate constants.
func constantFrame() *frame {
	return &frame{s: &Session{limits: DefaultLimits}, scope: &scope{}}
}

func isConstant(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Number, *syntax.String, *syntax.ScriptBlockExpr, *syntax.TypeExpr:
		return true
	case *syntax.Variable:
		switch lower(e.Name) {
		case "true", "false", "null":
			return e.Scope == ""
		}
	case *syntax.Unary:
		return (e.Op == syntax.Minus || e.Op == syntax.Plus) && isConstant(e.Operand)
	case *syntax.ArrayLiteral:
		return allConstant(e.Items)
	case *syntax.Member:
		_, isType := e.Target.(*syntax.TypeExpr)
		return e.Static && isType
	case *syntax.Paren:
		if p, ok := e.Inner.(*syntax.Pipeline); ok {
			return constantPipeline(p)
		}
	case *syntax.ArrayExpr:
		if len(e.Body.Statements) == 1 {
			if p, ok := e.Body.Statements[0].(*syntax.Pipeline); ok {
				return constantPipeline(p)
			}
		}
	}
	return false
}

func constantPipeline(p *syntax.Pipeline) bool {
	if len(p.Elements) != 1 {
		return false
	}
	x, ok := p.Elements[0].(*syntax.ExprElement)
	return ok && len(x.Redirections) == 0 && isConstant(x.Expr)
}

func allConstant(list []syntax.Expr) bool {
	for _, e := range list {
		if !isConstant(e) {
			return false
		}
	}
	return true
}
