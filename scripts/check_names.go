package scripts

import (
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// attributes maps the attributes that scripts may use to their named arguments. Windows PowerShell 5.1
// supports all of them.
var attributes = map[string][]string{
	"Alias":                {},
	"AllowEmptyCollection": {},
	"AllowEmptyString":     {},
	"AllowNull":            {},
	"CmdletBinding":        {"ConfirmImpact", "DefaultParameterSetName", "HelpUri", "PositionalBinding", "SupportsShouldProcess"},
	"Parameter":            {"Mandatory", "ParameterSetName", "Position", "ValueFromPipeline", "ValueFromPipelineByPropertyName"},
	"ValidateSet":          {},
}

// nameFaults checks the names of types, attributes, static members and methods in a text.
func (l *library) nameFaults(t *text) []Fault {
	var faults []Fault
	add := func(found ...Fault) { faults = append(faults, found...) }
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Attribute:
			add(attributeFaults(t, n)...)
			for _, e := range n.Positional {
				syntax.Walk(e, visit)
			}
			return false
		case *syntax.Cast:
			if _, hash := n.Operand.(*syntax.Hash); hash && strings.EqualFold(n.Type.Name, "ordered") {
				syntax.Walk(n.Operand, visit)
				return false
			}
		case *syntax.TypeName:
			add(l.typeFaults(t, n)...)
			return false
		case *syntax.Member:
			if n.Static {
				add(l.staticFaults(t, n.Target, n.Name, -1)...)
			}
		case *syntax.Invoke:
			if n.Static {
				add(l.staticFaults(t, n.Target, n.Name, len(n.Args))...)
			} else {
				add(l.methodFaults(t, n)...)
			}
		case *syntax.Command:
			add(l.newObjectFaults(t, n)...)
		}
		return true
	}
	syntax.Walk(t.script, visit)
	return faults
}

// attributeFaults checks an attribute's name and arguments.
func attributeFaults(t *text, a *syntax.Attribute) []Fault {
	for name, arguments := range attributes {
		if !strings.EqualFold(name, a.Type.Name) {
			continue
		}
		var faults []Fault
		for _, named := range a.Named {
			if !containsFold(arguments, named.Name) {
				faults = append(faults, t.fault(named, nearest(named.Name, arguments), "[%s] has no argument %s", name,
					named.Name))
			}
		}
		return faults
	}
	known := make([]string, 0, len(attributes))
	for name := range attributes {
		known = append(known, name)
	}
	slices.Sort(known)
	return []Fault{t.fault(a, nearest(a.Type.Name, known), "unknown attribute [%s]", a.Type.Name)}
}

// isOther reports whether a type is one of the other types in the options, whose members are not checked.
func (l *library) isOther(name string) bool { return containsFold(l.options.Types, name) }

// typeFaults checks the name of a type and the names of its arguments.
func (l *library) typeFaults(t *text, name *syntax.TypeName) []Fault {
	if l.isOther(name.Name) {
		return nil
	}
	known, ok := cmdlets.LookupType(name.Name)
	if !ok {
		return []Fault{t.fault(name, nearestType(name.Name), "unknown type [%s]", name)}
	}
	args := 0
	if name.Arg != nil {
		args = 1
	}
	if known.Arity != args {
		return []Fault{t.fault(name, "", "the type [%s] takes %d type argument(s), not %d", name.Name, known.Arity,
			args)}
	}
	if name.Arg == nil {
		return nil
	}
	return l.typeFaults(t, name.Arg)
}

// nearestType returns the known type name that is most similar to a name. It compares a name with dots both
// with full names and with names relative to System.
func nearestType(name string) string {
	var names []string
	for _, t := range cmdlets.Types() {
		names = append(names, t.Aliases...)
		if bare, ok := strings.CutPrefix(t.Name, "System."); ok &&
			!strings.HasPrefix(strings.ToLower(name), "system.") {
			names = append(names, bare)
			continue
		}
		names = append(names, t.Name)
	}
	if near := nearest(name, names); near != "" {
		return "[" + near + "]"
	}
	return ""
}

// staticFaults checks Target::Name with args arguments. args is -1 for a property. It ignores the expression
// if the target is not a type or the name is computed.
func (l *library) staticFaults(t *text, target, member syntax.Expr, args int) []Fault {
	expr, ok := target.(*syntax.TypeExpr)
	name, constant := literal(member)
	if !ok || !constant || expr.Type.Array || l.isOther(expr.Type.Name) {
		return nil
	}
	typ, known := cmdlets.LookupType(expr.Type.Name)
	if !known {
		return nil // the type name has already been reported, or the members of the type are unknown
	}
	found := typ.StaticMembers(name)
	if len(found) == 0 {
		var names []string
		for _, m := range typ.Static {
			names = append(names, m.Name)
		}
		return []Fault{t.fault(member, nearest(name, names), "[%s] has no static member %s", expr.Type, name)}
	}
	return countFaults(t, member, found, "["+expr.Type.String()+"]::"+name, args)
}

// countFaults checks args, the number of arguments of a call, or -1 for a property.
func countFaults(t *text, at syntax.Node, found []cmdlets.Member, name string, args int) []Fault {
	if slices.ContainsFunc(found,
		func(m cmdlets.Member) bool { return m.Accepts(args) || args < 0 && !m.Method }) {
		return nil
	}
	if args < 0 {
		return []Fault{t.fault(at, "", "%s is a method: call it", name)}
	}
	var counts []string
	for _, m := range found {
		if _, count, ok := strings.Cut(m.String(), "/"); ok {
			counts = append(counts, count)
		}
	}
	if len(counts) == 0 {
		return []Fault{t.fault(at, "", "%s is not a method", name)}
	}
	return []Fault{t.fault(at, "", "%s takes %s argument(s), not %d", name, strings.Join(counts, " or "), args)}
}

// methodFaults checks a call of an instance method. At least one type must have a method
// with the name and number of arguments.
func (l *library) methodFaults(t *text, call *syntax.Invoke) []Fault {
	name, constant := literal(call.Name)
	if !constant {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(cmdlets.InstanceMembers(name)),
		func(m cmdlets.Member) bool { return !m.Method })
	if len(found) > 0 {
		return countFaults(t, call.Name, found, "the method "+name, len(call.Args))
	}
	var names []string
	for _, typ := range cmdlets.Types() {
		for _, m := range typ.Members {
			if m.Method {
				names = append(names, m.Name)
			}
		}
	}
	slices.Sort(names)
	return []Fault{t.fault(call.Name, nearest(name, names), "no type has a method %s", name)}
}

// newObjectFaults checks the type in a New-Object command, and the call of its constructor.
func (l *library) newObjectFaults(t *text, command *syntax.Command) []Fault {
	if c := l.command(commandName(command)); c == nil || c.Name != "New-Object" {
		return nil
	}
	for i, a := range command.Args {
		param, ok := a.(*syntax.CommandParam)
		if !ok || !strings.EqualFold(param.Name, "TypeName") || i+1 == len(command.Args) {
			continue
		}
		written, constant := literal(command.Args[i+1])
		if !constant {
			return []Fault{t.fault(command.Args[i+1], "", "New-Object needs a constant type name")}
		}
		if !l.isType(written) {
			return []Fault{t.fault(command.Args[i+1], nearestType(written), "unknown type [%s]", written)}
		}
	}
	return nil
}

// isType reports whether a text is the name of a known type, with known arguments.
func (l *library) isType(written string) bool {
	script, errs := syntax.Parse("", "["+written+"]")
	if len(errs) > 0 {
		return false
	}
	expr, ok := sole(script.Block.Body.Statements[0]).(*syntax.TypeExpr)
	return ok && len(l.typeFaults(&text{}, expr.Type)) == 0
}
