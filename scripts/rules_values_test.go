package scripts

import (
	"regexp"
	"slices"
	"strings"

	"adgateway/ps/syntax"
)

// valuesBare: no wrapped value is serialized. The rule checks the entries of every [ordered]
// literal, the values assigned to keys of a variable that holds such a literal or the result
// of a ConvertTo-Gateway function, and the hashtables passed to -Before and -After. Bare
// values are
//   - casts to text, boolean or number, or to arrays of these types;
//   - literals, $true, $false and $null;
//   - results of operators that make a new value from bare ones, or a boolean;
//   - arrays and dictionaries of bare values, and records of the preludes;
//   - results of a list's ToArray, for the frames of the prelude (facts-5.1 I59);
//   - parameters of such types, and variables of the same function that hold only bare values.
func valuesBare(_ *library, t *text) []error {
	var faults []error
	for _, s := range scopes(t) {
		b := &bareness{scope: s, asked: map[string]bool{}}
		held := b.serialized(t)
		check := func(at syntax.Node, key string, value syntax.Node) {
			if !b.bare(value) {
				faults = append(faults, placed(t, at, "the value of '%s' is serialized without a cast", key))
			}
		}
		s.walk(func(n syntax.Node) {
			switch n := n.(type) {
			case *syntax.Cast:
				if strings.EqualFold(n.Type.Name, "ordered") {
					entries(n.Operand, check)
				}
			case *syntax.Assignment:
				name, key, isKey := target(n.Target)
				if isKey && held[strings.ToLower(name)] {
					check(n, key, n.Value)
				}
				if !isKey && held[strings.ToLower(name)] {
					if _, isCast := sole(n.Value).(*syntax.Cast); !isCast {
						entries(n.Value, check)
					}
				}
			case *syntax.Command:
				for _, value := range audited(n) {
					if hash, ok := sole(value).(*syntax.Hash); ok {
						entries(hash, check)
					}
				}
			}
		})
	}
	return faults
}

// entries calls check for the entries of a hashtable literal.
func entries(n syntax.Node, check func(at syntax.Node, key string, value syntax.Node)) {
	hash := hashOf(n)
	if hash == nil {
		return
	}
	for _, entry := range hash.Entries {
		key, _ := literal(entry.Key)
		check(entry, key, entry.Value)
	}
}

// audited returns the values passed to a command as -Before and -After.
func audited(command *syntax.Command) []syntax.Node {
	var out []syntax.Node
	for i, a := range command.Args {
		param, ok := a.(*syntax.CommandParam)
		if ok && i+1 < len(command.Args) &&
			(strings.EqualFold(param.Name, "Before") || strings.EqualFold(param.Name, "After")) {
			out = append(out, command.Args[i+1])
		}
	}
	return out
}

// bareness follows values through one scope.
type bareness struct {
	scope *scope
	asked map[string]bool
}

// serialized returns the variables whose entries are serialized.
func (b *bareness) serialized(t *text) map[string]bool {
	held := map[string]bool{}
	for name, values := range b.scope.values {
		for _, value := range values {
			cast, ok := sole(value).(*syntax.Cast)
			if ok && strings.EqualFold(cast.Type.Name, "ordered") ||
				strings.HasPrefix(strings.ToLower(commandOf(value)), "convertto-gateway") {
				held[name] = true
			}
		}
	}
	b.scope.walk(func(n syntax.Node) {
		if command, ok := n.(*syntax.Command); ok {
			for _, value := range audited(command) {
				if v, ok := sole(value).(*syntax.Variable); ok && v.Scope == "" {
					held[strings.ToLower(v.Name)] = true
				}
			}
		}
	})
	return held
}

// commandOf returns the name of the only command in a value.
func commandOf(value syntax.Node) string {
	p, ok := value.(*syntax.Pipeline)
	if !ok || len(p.Elements) != 1 {
		return ""
	}
	if c, ok := p.Elements[0].(*syntax.Command); ok {
		return commandName(c)
	}
	return ""
}

// bareTypes are the types that are serialized unchanged.
var bareTypes = []string{
	"string", "bool", "int", "long", "double", "decimal", "string[]", "bool[]", "int[]", "long[]", "ordered",
}

// givenTypes contains further types of parameters whose values are bare.
var givenTypes = []string{"switch", "hashtable", "collections.idictionary"}

func (b *bareness) bare(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Pipeline:
		name := strings.ToLower(commandOf(n))
		if strings.HasPrefix(name, "convertto-gateway") || name == "get-gatewayerrorinfo" {
			return true // a record, which is checked where it is made
		}
		if len(n.Elements) != 1 {
			return false
		}
		e, ok := n.Elements[0].(*syntax.ExprElement)
		return ok && b.bare(e.Expr)
	case *syntax.String, *syntax.ExpandString, *syntax.Number:
		return true
	case *syntax.Cast:
		return slices.Contains(bareTypes, bareType(n.Type.String()))
	case *syntax.Paren:
		return b.bare(n.Inner)
	case *syntax.ArrayExpr:
		return !slices.ContainsFunc(n.Body.Statements, func(s syntax.Statement) bool { return !b.bare(s) })
	case *syntax.ArrayLiteral:
		return !slices.ContainsFunc(n.Items, func(e syntax.Expr) bool { return !b.bare(e) })
	case *syntax.Hash:
		return !slices.ContainsFunc(n.Entries, func(e *syntax.HashEntry) bool { return !b.bare(e.Value) })
	case *syntax.Unary:
		return n.Op == syntax.Not || b.bare(n.Operand)
	case *syntax.Binary:
		return b.operator(n)
	case *syntax.Invoke:
		method, _ := literal(n.Name)
		return strings.EqualFold(method, "ToArray") && len(n.Args) == 0
	case *syntax.Variable:
		return b.variable(n)
	}
	return false
}

func (b *bareness) operator(n *syntax.Binary) bool {
	switch n.Op {
	case syntax.And, syntax.Or, syntax.Contains, syntax.NotContains, syntax.Is, syntax.IsNot, syntax.Join:
		return true
	case syntax.Add, syntax.Sub, syntax.Mul, syntax.Div, syntax.Mod, syntax.BitAnd, syntax.BitOr, syntax.ShiftRight:
		return b.bare(n.Left) && b.bare(n.Right)
	}
	return b.bare(n.Left) // for a list, a comparison returns the matching items
}

func (b *bareness) variable(v *syntax.Variable) bool {
	name := strings.ToLower(v.Name)
	if v.Scope == "script" {
		return true // the prelude's state, which only its own functions set
	}
	if slices.Contains([]string{"true", "false", "null"}, name) {
		return true
	}
	if b.asked[name] {
		return true
	}
	if b.scope.other[name] || len(b.scope.rounds[name]) > 0 {
		return false
	}
	param, isParam := b.scope.params[name]
	if isParam && !slices.Contains(bareTypes, bareType(typeOf(param))) &&
		!slices.Contains(givenTypes, bareType(typeOf(param))) {
		return false
	}
	if isParam {
		return true // a value assigned to a typed parameter is also cast
	}
	b.asked[name] = true
	defer delete(b.asked, name)
	return len(b.scope.values[name]) > 0 &&
		!slices.ContainsFunc(b.scope.values[name], func(n syntax.Node) bool { return !b.bare(n) })
}

var secretName = regexp.MustCompile(`(?i)passw|pwd|secret|credential|passphrase|apikey|token`)

// secretsKept: a parameter whose name suggests a secret is a securestring, or a switch that concerns a
// secret. A securestring is only passed to parameters of its own type or compared with $null. Only
// secretKeepers create securestrings or convert them to text.
func secretsKept(_ *library, t *text) []error {
	var faults []error
	for _, s := range scopes(t) {
		allowed := map[*syntax.Variable]bool{}
		for _, c := range t.calls {
			for _, way := range c.ways {
				for _, a := range way {
					if v, ok := soleOf(a.value).(*syntax.Variable); ok && c.command != nil {
						if p := c.command.Param(a.name); p != nil && strings.EqualFold(p.Type, "SecureString") {
							allowed[v] = true
						}
					}
				}
			}
		}
		s.walk(func(n syntax.Node) {
			switch n := n.(type) {
			case *syntax.Param:
				allowed[n.Name] = true
				if typ := typeOf(n); secretName.MatchString(n.Name.Name) &&
					!slices.Contains([]string{"securestring", "bool", "switch"}, typ) {
					faults = append(faults, placed(t, n, "the parameter %s is a plain [%s]", n.Name.Name, typ))
				}
			case *syntax.Binary:
				for _, pair := range [][2]syntax.Expr{{n.Left, n.Right}, {n.Right, n.Left}} {
					if v, ok := sole(pair[0]).(*syntax.Variable); ok && isVariable(pair[1], "null") {
						allowed[v] = true
					}
				}
			case *syntax.TypeName:
				if slices.Contains(secretTypes, bareType(n.Name)) && !slices.Contains(secretKeepers, s.function) {
					faults = append(faults, placed(t, n, "[%s] turns secrets into text or text into secrets", n.Name))
				}
			}
		})
		s.walk(func(n syntax.Node) {
			v, ok := n.(*syntax.Variable)
			if !ok || allowed[v] || slices.Contains(secretKeepers, s.function) {
				return
			}
			param := s.params[strings.ToLower(v.Name)]
			if param != nil && typeOf(param) == "securestring" {
				faults = append(faults, placed(t, v, "$%s is a secret, and goes where none is expected", v.Name))
			}
		})
	}
	return faults
}

// secretKeepers contains the functions that pass secrets to each other without a clear-text parameter.
var secretKeepers = []string{
	"Invoke-GatewayRequest", "Add-GatewaySecret", "Write-GatewaySecret", "Add-GatewayStoredSecret",
}

var secretTypes = []string{
	"net.networkcredential", "runtime.interopservices.marshal", "management.automation.pscredential", "pscredential",
}

func soleOf(n syntax.Node) syntax.Expr {
	if n == nil {
		return nil
	}
	return sole(n)
}
