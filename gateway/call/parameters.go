package call

import (
	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Parameters gathers the values of a call by documented name, and the problems with unknown names and
// duplicates.
type Parameters struct {
	Op       *ops.Operation
	Names    []string // parameter names of all operations, see [ParameterNames]
	Given    ops.Given
	Problems []schema.FieldError
	Sent     map[string]string // names under which parameters were sent, by documented name; may be nil
}

// ParameterNames returns the names of all parameters, each once.
func ParameterNames(table []*ops.Operation) []string {
	var names []string
	for _, op := range table {
		for _, p := range op.Params {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Wrong adds a problem with a parameter, or with the call as a whole if field is empty.
func (c *Parameters) Wrong(field, message string) {
	c.Problems = append(c.Problems,
		schema.FieldError{Field: field, Code: schema.InvalidRequest, Message: message})
}

// NameLimit limits the length of a parameter's name, in bytes. All names are shorter.
const NameLimit = 128

// Param returns the parameter with the given name on the wire. If the name is unknown, it adds a problem
// and returns nil.
func (c *Parameters) Param(name string) *ops.Param { return c.param(name, !isWord(name)) }

// Pair is like [Parameters.Param], for a name in a form or a query. Such a name may be part of a value with
// an unencoded ampersand.
func (c *Parameters) Pair(name string) *ops.Param { return c.param(name, true) }

func (c *Parameters) param(name string, mayBeValue bool) *ops.Param {
	if len(name) <= NameLimit {
		if p := c.Op.Param(name); p != nil {
			return p
		}
		if field := c.field(name); field != nil && c.Op.Effect.Writes() {
			if p := c.Op.Param(field.Input); p != nil {
				if c.Sent == nil {
					c.Sent = map[string]string{}
				}
				c.Sent[p.Name] = name
				return p
			}
			if known := c.elsewhere(name); known != "" &&
				field.SetBy == "" && ops.Setter(c.Op, field.Name) == nil {
				c.Wrong(name, known)
			} else {
				c.Wrong(name, c.readOnly(field))
			}
			return nil
		}
	}
	if name == "" {
		c.Wrong("", "A parameter has no name.")
		return nil
	}
	if len(c.Problems) >= problem.MostShown {
		c.Wrong("", "") // counted, but not shown
		return nil
	}
	if ops.EqualFold(name, ops.ShowFields) { // for similar names this answer would be confusing
		c.Wrong(ops.ShowFields, "is not a parameter of this operation, whose records always have all their fields")
		return nil
	}
	shown := c.shown(name, mayBeValue)
	if known := c.elsewhere(name); known != "" {
		c.Wrong(shown, known)
		return nil
	}
	c.Wrong(shown, "is not a parameter of this operation"+c.suggest(name))
	return nil
}

// field returns the record's field with the given name, or nil if it has none.
func (c *Parameters) field(name string) *schema.Field {
	shape := c.Op.Reply.Shape
	if shape == nil {
		return nil
	}
	at := slices.IndexFunc(shape.Fields, func(f schema.Field) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return nil
	}
	return &shape.Fields[at]
}

// readOnly returns a message which says that the operation does not set a field of the record, and names the
// operation that does.
func (c *Parameters) readOnly(field *schema.Field) string {
	const text = "is a field of the record that this operation does not set"
	if field.SetBy != "" {
		return text + "; " + field.SetBy + " does"
	}
	if other := ops.Setter(c.Op, field.Name); other != nil {
		return fmt.Sprintf("%s; %s %s does", text, other.Method, other.Path)
	}
	return text
}

// shown returns an unknown name in the form in which the answer repeats it. The name is shortened if it may
// be a secret that was sent in the wrong place, unless it is close to a known name.
func (c *Parameters) shown(name string, mayBeValue bool) string {
	const beginning, most = 2, 100
	if mayBeValue && c.secret() && !c.mistyped(name) {
		return problem.Printable(name, beginning)
	}
	return problem.Printable(name, most)
}

// secret reports whether the operation takes a secret.
func (c *Parameters) secret() bool { return len(c.Op.Secrets()) > 0 }

// part is the length from which a name is accepted as part of a known one.
const part = 4

// mistyped reports whether an unknown name looks like the name of a parameter of any operation, or of a field
// of the record. It returns false for names with characters other than letters, because many passwords are a
// word with digits.
func (c *Parameters) mistyped(name string) bool {
	if len(name) > NameLimit || !isWord(name) {
		return false
	}
	if ops.Elsewhere(c.Op, name).Param != nil {
		return true
	}
	folded := ops.Fold(name)
	alike := func(known string) bool {
		known = ops.Fold(known)
		return len(folded) >= part && strings.Contains(known, folded) ||
			levenshtein.ComputeDistance(known, folded) <= min(3, len(folded)/3)
	}
	if shape := c.Op.Reply.Shape; shape != nil &&
		slices.ContainsFunc(shape.Fields, func(f schema.Field) bool { return alike(f.Name) }) {
		return true
	}
	return slices.ContainsFunc(c.Names, alike)
}

// suggest returns a sentence that names the parameter that was probably meant by an unknown name, or that
// lists the existing parameters.
func (c *Parameters) suggest(name string) string {
	if field := c.field(name); field != nil && c.Op.Param(field.Input) != nil {
		return "; did you mean " + field.Input + "?"
	}
	known := make([]string, len(c.Op.Params))
	for i, p := range c.Op.Params {
		known[i] = p.Name
	}
	if near := nearest.Of(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	const listed = 10
	switch n := len(known); {
	case n == 0:
		return ", which has none"
	case n > listed:
		return fmt.Sprintf(", which has %s and %d more; see /docs", strings.Join(known[:listed], ", "), n-listed)
	default:
		return ", which has " + strings.Join(known, ", ")
	}
}

// isWord reports whether a name consists of letters, hyphens and underscores.
func isWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
}

// elsewhere explains a name that other tools use for a parameter. It returns "" if no other tool uses the
// name.
func (c *Parameters) elsewhere(name string) string {
	alias := ops.Elsewhere(c.Op, name)
	switch {
	case alias.Param == nil:
		return ""
	case alias.Param.Path != "":
		return fmt.Sprintf("is %s%s, which is in the path: %s "+
			"%s", alias.Where, alias.Param.Name, c.Op.Method, c.Op.Path)
	}
	return fmt.Sprintf("is %s%s: send %s", alias.Where, alias.Param.Name, alias.Param.Name)
}

// Add adds a value of a parameter. Only some parameters may be given several times.
func (c *Parameters) Add(p *ops.Param, value any) {
	before, twice := c.Given[p.Name]
	if twice && schema.Repeats(p.Kind) {
		c.repeat(p, before, value)
		return
	}
	if twice && before != value && !alike(p.Kind, before, value) {
		c.Wrong(p.Name, "is given twice with different values")
		return
	}
	if !twice {
		c.Given[p.Name] = value
	}
}

// repeat adds a value to the earlier values of a repeated parameter.
func (c *Parameters) repeat(p *ops.Param, before, value any) {
	var all []string
	for _, given := range []any{before, value} {
		switch given := given.(type) {
		case string:
			all = append(all, given)
		case schema.Texts:
			all = append(all, given.List()...)
		default:
			c.Given[p.Name] = given // decoding by its kind will explain the fault
			return
		}
	}
	c.Given[p.Name] = schema.TextsOf(all)
}

// alike reports whether two values decode to the same value, as true and "True" do.
func alike(kind schema.Kind, a, b any) bool {
	if a == "" || b == "" {
		return false // the meaning of an empty text depends on the operation
	}
	first, problem := kind.Decode(a)
	second, other := kind.Decode(b)
	return problem == nil && other == nil && reflect.DeepEqual(first.Values, second.Values)
}
