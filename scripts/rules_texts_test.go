package scripts

import (
	"regexp"
	"slices"
	"strings"

	"adgateway/ps/syntax"
)

// textsExact: -eq, -contains and similar operators compare texts by linguistic rules, even in their -c forms.
// For example, "ss" equals "ß", and a soft hyphen equals the empty text. Therefore at least one operand must
// be
//   - a literal, or an array of literals;
//   - a boolean or a number: a cast to one, a parameter of such a type, or the result of an
//     operator that returns one;
//   - a variable that holds only such values;
//   - a GUID, recognized by a name that ends in "guid".
//
// Two other texts must be compared by [string]::Equals with a StringComparison.
func textsExact(_ *library, t *text) []error {
	var faults []error
	for _, s := range scopes(t) {
		k := &known{scope: s, asked: map[string]bool{}}
		s.walk(func(n syntax.Node) {
			b, ok := n.(*syntax.Binary)
			if ok && slices.Contains(equalities, b.Op) && !k.value(b.Left) && !k.value(b.Right) {
				faults = append(faults, placed(t, n,
					"two texts are compared by linguistic rules: use [string]::Equals with a StringComparison"))
			}
		})
	}
	return faults
}

var equalities = []syntax.BinaryOp{syntax.Eq, syntax.Ne, syntax.Contains, syntax.NotContains}

// exactTypes are the types whose values are not texts.
var exactTypes = []string{"bool", "switch", "int", "long", "guid"}

// known follows values through one scope.
type known struct {
	scope *scope
	asked map[string]bool
}

func (k *known) value(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Pipeline:
		if len(n.Elements) != 1 {
			return false
		}
		e, ok := n.Elements[0].(*syntax.ExprElement)
		return ok && k.value(e.Expr)
	case *syntax.String, *syntax.Number:
		return true
	case *syntax.Cast:
		return slices.Contains(exactTypes, bareType(n.Type.String())) || k.value(n.Operand)
	case *syntax.Paren:
		return k.value(n.Inner)
	case *syntax.ArrayExpr:
		return !slices.ContainsFunc(n.Body.Statements, func(s syntax.Statement) bool { return !k.value(s) })
	case *syntax.ArrayLiteral:
		return !slices.ContainsFunc(n.Items, func(e syntax.Expr) bool { return !k.value(e) })
	case *syntax.Unary:
		return true // a boolean or a number
	case *syntax.Binary:
		return n.Op != syntax.Add && n.Op != syntax.Join && n.Op != syntax.Replace
	case *syntax.Member:
		name, _ := literal(n.Name)
		return isGUID(name)
	case *syntax.Variable:
		return k.variable(n)
	}
	return false
}

func (k *known) variable(v *syntax.Variable) bool {
	name := strings.ToLower(v.Name)
	if isGUID(name) || slices.Contains([]string{"true", "false", "null"}, name) || k.asked[name] {
		return true
	}
	if param, ok := k.scope.params[name]; ok {
		return slices.Contains(exactTypes, bareType(typeOf(param)))
	}
	if k.scope.other[name] || len(k.scope.rounds[name]) > 0 {
		return false
	}
	k.asked[name] = true
	defer delete(k.asked, name)
	return len(k.scope.values[name]) > 0 &&
		!slices.ContainsFunc(k.scope.values[name], func(n syntax.Node) bool { return !k.value(n) })
}

func isGUID(name string) bool { return strings.HasSuffix(strings.ToLower(name), "guid") }

// cultureFree: no answer depends on the culture of the account that runs the session.
//   - In Turkish and Azeri, i and I are different letters even if case is ignored. So a
//     pattern of -like, -match or -replace must contain neither letter, nor a range around
//     one of them, unless the operator is -clike, -cmatch or -creplace.
//   - IndexOf and LastIndexOf search for a [char]; StartsWith and EndsWith are called with an
//     ordinal StringComparison.
//   - ToString is called with the invariant culture if the value has a format.
func cultureFree(_ *library, t *text) []error {
	var faults []error
	syntax.Walk(t.script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Binary:
			if slices.Contains(patternOperators, n.Op) && !n.Exact && !caseless(n.Right) {
				faults = append(faults, placed(t, n,
					"a pattern with i or I, or one that is no literal, depends on the culture: use -c%s", n.Op.String()[1:]))
			}
		case *syntax.Invoke:
			if what := byCulture(n); what != "" {
				faults = append(faults, placed(t, n, "%s", what))
			}
		case *syntax.Member:
			if name, _ := literal(n.Name); n.Static &&
				slices.ContainsFunc(cultureNames, func(s string) bool { return strings.EqualFold(s, name) }) {
				faults = append(faults, placed(t, n, "%s depends on the culture: use Ordinal or InvariantCulture", name))
			}
		}
		return true
	})
	return faults
}

var (
	patternOperators = []syntax.BinaryOp{syntax.Like, syntax.Match, syntax.NotMatch, syntax.Replace}
	cultureNames     = []string{"CurrentCulture", "CurrentCultureIgnoreCase"}
	// aroundI matches i, I and ranges of letters that contain one of them.
	aroundI = regexp.MustCompile(`[iI\x{130}\x{131}]|[A-H]-[J-Z]|[a-h]-[j-z]|[A-Z]-[a-z]`)
)

// caseless reports whether a pattern contains no letter whose case depends on the culture.
func caseless(pattern syntax.Expr) bool {
	if list, ok := pattern.(*syntax.ArrayLiteral); ok && len(list.Items) > 0 {
		pattern = list.Items[0] // the pattern of -replace; the second item is the replacement
	}
	written, ok := literal(pattern)
	return ok && !aroundI.MatchString(written)
}

// byCulture returns the reason why a call depends on the culture, or "".
func byCulture(n *syntax.Invoke) string {
	name, _ := literal(n.Name)
	switch strings.ToLower(name) {
	case "indexof", "lastindexof":
		if cast, ok := n.Args[0].(*syntax.Cast); !n.Static && (!ok || bareType(cast.Type.Name) != "char") {
			return name + " of a text depends on the culture: search for a [char]"
		}
	case "startswith", "endswith":
		if len(n.Args) < 2 {
			return name + " depends on the culture: give it a StringComparison"
		}
	case "tostring":
		if typ, static := n.Target.(*syntax.TypeExpr); len(n.Args) == 1 &&
			!(static && bareType(typ.Type.Name) == "bitconverter") && !isVariable(n.Args[0], "GatewayInvariant") {
			return name + " with a format depends on the culture: give it the invariant one"
		}
	}
	return ""
}
