package scripts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// filtersEscaped: an LDAP filter (-LDAPFilter of a cmdlet, or the parameter Filter of a
// function) is built only from
//   - string literals and numbers, joined by +, -f, -join or inside "...";
//   - results of Get-GatewayLdapEscaped, Get-GatewayGuidEscaped, Get-GatewayOctetsEscaped and
//     Get-GatewayKeyIdEscaped;
//   - results of Resolve-GatewayFilter, which are filters built by the gateway;
//   - results of Get-GatewayGuardTerms, which stores nothing but such values;
//   - values cast to a number type;
//   - the function's own parameter Filter, for which its callers are checked;
//   - variables, entries of hashtables and items of lists in the same function that hold only
//     such values;
//   - constants of a prelude.
func filtersEscaped(l *library, t *text) []error {
	constants := preludeConstants(l)
	byFunction := map[string]*scope{}
	for _, s := range scopes(t) {
		byFunction[strings.ToLower(s.function)] = s
	}
	var faults []error
	if made := byFunction[strings.ToLower(storedTerms)]; made != nil {
		f := &filters{scope: made, constants: constants, asked: map[string]bool{}}
		stored := slices.Concat(slices.Collect(maps.Values(made.keys))...)
		if len(stored) == 0 || slices.ContainsFunc(stored, func(a argument) bool { return !f.clean(a.value) }) {
			faults = append(faults, fmt.Errorf("%s: %s stores more than terms of escaped values", t.file, storedTerms))
		}
	}
	for _, c := range t.calls {
		parameter := filterParameter(l, c)
		if parameter == "" {
			continue
		}
		f := &filters{scope: byFunction[strings.ToLower(c.function)], constants: constants,
			asked: map[string]bool{}}
		for _, way := range c.ways {
			if filter, has := arg(way, parameter); has && (filter.value == nil || !f.clean(filter.value)) {
				faults = append(faults, placed(t, c.at, "the filter of %s is not made of escaped values", c.name))
			}
		}
	}
	return once(faults)
}

// filterParameter returns the parameter of a call that contains an LDAP filter, or "" if there is none.
func filterParameter(l *library, c *call) string {
	switch {
	case c.command == nil:
		return ""
	case c.command.Module == cmdlets.ActiveDirectory:
		return "LDAPFilter"
	case c.command.Module == "" && l.functions[strings.ToLower(c.name)] != nil &&
		c.command.Param("Filter") != nil:
		return "Filter"
	}
	return ""
}

// preludeConstants returns the texts that preludes assign once, outside of functions.
func preludeConstants(l *library) map[string]syntax.Node {
	out := map[string]syntax.Node{}
	for _, t := range l.texts {
		if !isPrelude(t.file) {
			continue
		}
		for name, values := range scopes(t)[0].values {
			if len(values) == 1 {
				out[name] = values[0]
			}
		}
	}
	return out
}

// filters follows values through one scope.
type filters struct {
	scope     *scope
	constants map[string]syntax.Node
	asked     map[string]bool // variables that are being followed, so that a cycle of variables ends
}

var filterEscapes = []string{"get-gatewayldapescaped", "get-gatewayguidescaped", "get-gatewayoctetsescaped",
	"get-gatewaykeyidescaped", "resolve-gatewayfilter", strings.ToLower(storedTerms)}

// storedTerms is the function that returns the filters that it has stored in a table.
const storedTerms = "Get-GatewayGuardTerms"

// clean reports whether a value, or all output of a statement, is safe in a filter.
func (f *filters) clean(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Pipeline:
		if len(n.Elements) != 1 {
			return false
		}
		switch e := n.Elements[0].(type) {
		case *syntax.ExprElement:
			return f.clean(e.Expr)
		case *syntax.Command:
			return slices.Contains(filterEscapes, strings.ToLower(commandName(e)))
		}
		return false
	case *syntax.Block:
		return f.all(nodes(n.Statements))
	case *syntax.If:
		for _, clause := range n.Clauses {
			if !f.clean(clause.Body) {
				return false
			}
		}
		return n.Else == nil || f.clean(n.Else)
	case *syntax.ForEach:
		return f.clean(n.Body)
	case *syntax.Assignment:
		return true // has no output
	case syntax.Expr:
		return f.expr(n)
	}
	return false
}

func (f *filters) all(list []syntax.Node) bool {
	return !slices.ContainsFunc(list, func(n syntax.Node) bool { return !f.clean(n) })
}

func nodes[N syntax.Node](list []N) []syntax.Node {
	var out []syntax.Node
	for _, n := range list {
		out = append(out, n)
	}
	return out
}

func (f *filters) expr(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.String, *syntax.Number:
		return true
	case *syntax.ExpandString:
		return f.all(nodes(e.Parts))
	case *syntax.Binary:
		return (e.Op == syntax.Add || e.Op == syntax.Join) && f.clean(e.Left) && f.clean(e.Right)
	case *syntax.Paren:
		return f.clean(e.Inner)
	case *syntax.SubExpr:
		return f.clean(e.Body)
	case *syntax.ArrayExpr:
		return f.clean(e.Body)
	case *syntax.ArrayLiteral:
		return f.all(nodes(e.Items))
	case *syntax.Cast:
		switch bareType(e.Type.String()) {
		case "int", "long":
			return true
		case "string", "string[]":
			return f.clean(e.Operand)
		}
	case *syntax.Variable:
		return f.variable(e)
	case *syntax.Member, *syntax.Index:
		name, key, isKey := target(e)
		return isKey && key != "" && f.entry(strings.ToLower(name), key)
	case *syntax.Invoke:
		method, _ := literal(e.Name)
		return strings.EqualFold(method, "ToArray") && len(e.Args) == 0 && f.clean(e.Target)
	}
	return false
}

func (f *filters) variable(v *syntax.Variable) bool {
	name := strings.ToLower(v.Name)
	if v.Scope != "" || f.scope.other[name] {
		return false
	}
	if name == "null" || f.asked[name] {
		return true
	}
	if _, param := f.scope.params[name]; param {
		return name == "filter" && f.scope.function != "" && !f.scope.assigned(name)
	}
	if !f.scope.assigned(name) {
		constant, known := f.constants[name]
		return known && (&filters{scope: newScope("", &syntax.ScriptBlock{Body: &syntax.Block{}}),
			asked: map[string]bool{}}).clean(constant)
	}
	f.asked[name] = true
	defer delete(f.asked, name)
	for _, value := range f.scope.values[name] {
		if !isNewList(value) && !f.clean(value) {
			return false
		}
	}
	return f.all(f.scope.rounds[name]) && f.all(f.scope.added[name])
}

// entry reports whether $name.key is safe. That is the case if $name contains only hashtable literals, or
// iterates over a list of them, and if all values of that key in the literals are safe.
func (f *filters) entry(name, key string) bool {
	if _, param := f.scope.params[name]; param || f.scope.other[name] {
		return false
	}
	hashes, followed := f.hashes(name)
	if !followed {
		return false
	}
	found := false
	for _, hash := range hashes {
		for _, e := range hash.Entries {
			text, constant := literal(e.Key)
			if !constant {
				return false
			}
			if strings.EqualFold(text, key) {
				found = true
				if !f.clean(e.Value) {
					return false
				}
			}
		}
	}
	for _, k := range f.scope.keys[name] {
		if k.name == "" || strings.EqualFold(k.name, key) {
			found = true
			if !f.clean(k.value) {
				return false
			}
		}
	}
	return found
}

// hashes returns the literals that a variable can contain, or false if it can contain other values.
func (f *filters) hashes(name string) ([]*syntax.Hash, bool) {
	var out []*syntax.Hash
	sources := slices.Clone(f.scope.values[name])
	for _, in := range f.scope.rounds[name] {
		v, ok := sole(in).(*syntax.Variable)
		if !ok {
			return nil, false
		}
		list := strings.ToLower(v.Name)
		for _, value := range f.scope.values[list] {
			if !isNewList(value) {
				return nil, false
			}
		}
		if len(f.scope.rounds[list]) > 0 || f.scope.params[list] != nil || len(f.scope.added[list]) == 0 {
			return nil, false
		}
		sources = append(sources, f.scope.added[list]...)
	}
	for _, source := range sources {
		hash := hashOf(source)
		if hash == nil {
			return nil, false
		}
		out = append(out, hash)
	}
	return out, len(out) > 0
}

// isNewList reports whether a value is a new, empty list: [List[T]]::new().
func isNewList(value syntax.Node) bool {
	call, ok := sole(value).(*syntax.Invoke)
	if !ok || !call.Static || len(call.Args) != 0 {
		return false
	}
	typ, ok := call.Target.(*syntax.TypeExpr)
	name, _ := literal(call.Name)
	return ok && strings.EqualFold(name, "new") &&
		strings.HasPrefix(bareName(typ.Type), "collections.generic.list[")
}
