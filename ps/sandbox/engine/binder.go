package engine

import (
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// argument is one argument of a call: a name, a value, or both.
type argument struct {
	name     string // of -Name
	hasName  bool
	hasValue bool
	splat    bool // from a splatted dictionary
	value    any
	at       *place // position of the name, or of the value if there is none
	valueAt  *place
	param    *param // found by the name; nil until then
}

// indexSet is a set of parameter indexes.
type indexSet struct {
	low  uint64
	more []uint64 // 64 and up
}

func (s *indexSet) has(i int) bool {
	if i < 64 {
		return s.low&(1<<i) != 0
	}
	at := i/64 - 1
	return at < len(s.more) && s.more[at]&(1<<(i%64)) != 0
}

func (s *indexSet) add(i int) {
	if i < 64 {
		s.low |= 1 << i
		return
	}
	for at := i/64 - 1; at >= len(s.more); {
		s.more = append(s.more, 0)
	}
	s.more[i/64-1] |= 1 << (i % 64)
}

func (s *indexSet) clone() indexSet { return indexSet{low: s.low, more: slices.Clone(s.more)} }

// invocation is one call of a command: the arguments and their bindings.
type invocation struct {
	f       *frame // frame of the caller
	sig     *signature
	block   *blockCode // the block called; nil if command is set
	home    *module    // module of the function called; nil if none
	command *command
	at      *place
	args    []argument
	argList []argument // backing slice of args, returned to the session after binding
	called  string     // name as written
	hasPipe bool       // receives pipeline input

	values  []any    // by parameter index; includes the common ones once one of them is bound
	bound   indexSet // of parameters
	flags   uint64   // sets that are still possible
	commons bool     // a common parameter is bound

	hadError bool
}

// get returns the value bound to a parameter of a built-in command, or nil if there is none.
func (inv *invocation) get(name string) any {
	v, _ := inv.boundValue(name)
	return v
}

func (inv *invocation) flag(name string) bool {
	v, ok := inv.boundValue(name)
	return ok && dotnet.Truthy(v)
}

func (inv *invocation) boundValue(name string) (any, bool) {
	p := inv.sig.param(name)
	if p == nil || !inv.bound.has(p.index) {
		return nil, false
	}
	return inv.values[p.index], true
}

func (inv *invocation) setName() string { return inv.sig.setName(inv.flags) }

func (inv *invocation) boundNames() []string {
	var names []string
	for _, p := range inv.sig.params[:inv.sig.own] {
		if inv.bound.has(p.index) {
			names = append(names, p.name)
		}
	}
	return names
}

// bindingError returns a ParameterBindingException. A nil place means the command's place.
func (inv *invocation) bindingError(
	exception, id string, category dotnet.Category, at *place, inner *dotnet.Exception, text string, target any,
) error {
	e := dotnet.NewException(exceptionType("System.Management.Automation."+exception), text)
	e.Inner = inner
	if at == nil {
		at = inv.at
	}
	if inv.sig.class != "" { // a script block has none
		id += "," + inv.sig.class
	}
	rec := dotnet.NewError(e, id, category, target)
	rec.Position = at.position()
	rec.Activity = inv.sig.name
	locate(rec, at)
	return &psError{rec: rec}
}

func (inv *invocation) cannotBind(id string, at *place, text string) error {
	return inv.bindingError("ParameterBindingException", id, dotnet.InvalidArgument, at, nil, text, nil)
}

// named returns the parameter that an argument names, or nil.
func (inv *invocation) named(arg *argument) (*param, error) {
	if arg.param != nil {
		return arg.param, nil
	}
	return inv.find(arg.name, arg.at)
}

// find returns the parameter with the name or alias, or else the one with that unambiguous
// prefix, or nil. The command's own parameters take precedence over common ones.
func (inv *invocation) find(name string, at *place) (*param, error) {
	if p := inv.sig.param(name); p != nil {
		return p, nil
	}
	key := lower(name)
	var declared, common []*param
	for _, p := range inv.sig.params {
		if !p.begins(key) {
			continue
		}
		if p.common {
			common = append(common, p)
		} else {
			declared = append(declared, p)
		}
	}
	all := append(declared, common...)
	switch {
	case len(declared) == 1:
		return declared[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return nil, nil
	}
	var names strings.Builder
	for _, p := range all {
		names.WriteString(" -" + p.name)
	}
	return nil, inv.cannotBind("AmbiguousParameter", at,
		"Parameter cannot be processed because the parameter name '"+name+
			"' is ambiguous. Possible matches include:"+names.String()+".")
}

func (p *param) begins(key string) bool {
	if strings.HasPrefix(p.key, key) {
		return true
	}
	for _, alias := range p.aliases {
		if strings.HasPrefix(lower(alias), key) {
			return true
		}
	}
	return false
}

// bind binds the arguments to the parameters.
func (inv *invocation) bind() error {
	sig := inv.sig
	if cap(inv.values) < sig.own {
		inv.values = make([]any, sig.own)
	}
	inv.values = inv.values[:sig.own]
	inv.flags = allSets
	if len(inv.args) > 0 {
		if err := inv.pairNames(); err != nil {
			return err
		}
		if err := inv.bindNamed(); err != nil {
			return err
		}
	}
	if err := inv.bindRest(); err != nil {
		return err
	}
	inv.f.s.spare.release(inv.argList)
	inv.args, inv.argList = nil, nil
	return nil
}

// bindRest binds the positional arguments and chooses the parameter set.
func (inv *invocation) bindRest() error {
	if !inv.sig.advanced {
		return inv.bindSimple()
	}
	late, err := inv.bindPositional()
	if err != nil {
		return err
	}
	if inv.flags == 0 {
		return inv.ambiguousSet()
	}
	if err := inv.verifyProcessed(late); err != nil {
		return err
	}
	if inv.hasPipe && inv.block != nil { // pipeline input binds the remaining parameters
		return nil
	}
	return inv.chooseSet()
}

// pairNames joins each -Name with the value after it.
func (inv *invocation) pairNames() error {
	args := inv.args
	named := false
	for i := range args {
		named = named || args[i].hasName && !args[i].hasValue
	}
	if !named {
		return nil
	}
	out := args[:0] // filtered in place
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !arg.hasName || arg.hasValue {
			out = append(out, arg)
			continue
		}
		p, err := inv.named(&arg)
		if err != nil {
			return err
		}
		arg.param = p
		switch {
		case p == nil:
		case p.isSwitch():
			arg.hasValue, arg.value = true, true
		case i+1 < len(args):
			next := args[i+1]
			if next.hasName {
				other, err := inv.named(&next)
				if err != nil {
					return err
				}
				if other != nil || next.hasValue {
					return inv.missingArgument(p, arg.at)
				}
				next.value = "-" + next.name
			}
			arg.hasValue, arg.value, arg.valueAt = true, next.value, next.at
			i++
		default:
			return inv.missingArgument(p, arg.at)
		}
		out = append(out, arg)
	}
	inv.args = out
	return nil
}

func (inv *invocation) missingArgument(p *param, at *place) error {
	return inv.cannotBind("MissingArgument", at,
		"Missing an argument for parameter '"+p.name+"'. Specify a parameter of type '"+p.typeName()+
			"' and try again.")
}

func (p *param) typeName() string {
	if p.typ == nil {
		return "System.Object"
	}
	return p.typ.Name
}

func (inv *invocation) bindNamed() error {
	left := inv.args[:0] // filtered in place
	for i := range inv.args {
		arg := &inv.args[i]
		if !arg.hasName {
			left = append(left, *arg)
			continue
		}
		p, err := inv.named(arg)
		if err != nil {
			return err
		}
		if p == nil {
			left = append(left, *arg)
			continue
		}
		if inv.bound.has(p.index) {
			if arg.splat {
				continue // a written argument takes precedence over a splatted one
			}
			return inv.cannotBind("ParameterAlreadyBound", arg.at, "Cannot bind parameter because parameter '"+p.name+
				"' is specified more than once. To provide multiple values to parameters that can accept multiple "+
				"values, use the array syntax. For example, \"-parameter value1,value2,value3\".")
		}
		if _, err := inv.bindParam(p, arg, true); err != nil {
			return err
		}
	}
	inv.args = left
	return nil
}

// bindSimple binds the arguments of a function without attributes by position, in the order of declaration.
func (inv *invocation) bindSimple() error {
	at := 0
	params := inv.sig.params
	for i := range inv.args {
		arg := &inv.args[i]
		for at < len(params) && (inv.bound.has(at) || params[at].isSwitch()) {
			at++
		}
		if arg.hasName || at == len(params) {
			return fail(dotnet.Refuse("$args: an argument that no parameter takes"), arg.at)
		}
		if _, err := inv.bindParam(params[at], arg, true); err != nil {
			return err
		}
	}
	return nil
}

// verifyProcessed reports an argument that is not bound. late is the conversion error of a
// positional argument, if any.
func (inv *invocation) verifyProcessed(late error) error {
	if len(inv.args) == 0 {
		return nil
	}
	// PowerShell may report another error
	if inv.sig.partial || len(inv.sig.sets) > 1 && inv.sig.defaultSet == 0 {
		return fail(dotnet.Refuse("a parameter or argument of %s", inv.sig.name), inv.args[0].at)
	}
	for i := range inv.args {
		if arg := &inv.args[i]; arg.hasName {
			return inv.cannotBind("NamedParameterNotFound", arg.at,
				"A parameter cannot be found that matches parameter name '"+arg.name+"'.")
		}
	}
	if late != nil {
		return late
	}
	return inv.cannotBind("PositionalParameterNotFound", nil,
		"A positional parameter cannot be found that accepts argument '"+
			dotnet.ToText(inv.args[0].value)+"'.")
}
