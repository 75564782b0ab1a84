package gateway

import (
	"adgateway/gateway/call"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// maxParameters is the limit on the parameters of a request, repeated ones included.
const maxParameters = 200

// collector gathers the values of a request from path, query and body, by documented
// name, and the problems with names and duplicates.
type collector struct {
	op             *ops.Operation
	names          []string // of the parameters of every operation
	secretsInQuery bool
	credential     string // of the request
	tokens         int    // in the body so far
	count          int    // parameters in query and body so far
	given          ops.Given
	problems       []schema.FieldError
}

// collect reads all parameters of a request. The error is about the request as a
// whole; the problems are about single parameters.
func (s *Server) collect(x *exchange) (call.Given, error) {
	switch {
	case x.op.Protocol != nil:
		return s.collectForeign(x)
	case x.op.Takes != nil:
		return s.collectList(x)
	}
	c := &collector{op: x.op, names: s.parameterNames, secretsInQuery: x.policy.AllowSecretsInQuery || x.principal.SecretsInQuery, given: ops.Given{}, credential: credentialOf(x.c.Request)}
	values := routeOf(x.c.Request).values
	for _, p := range x.op.Params {
		if p.Path != "" {
			c.given[p.Name] = values[p.Path]
		}
	}
	if failed := c.pairs([]byte(x.c.Request.URL.RawQuery), true); failed != nil {
		return call.Given{}, failed
	}
	content, failed := s.readBody(x)
	if failed == nil {
		done := s.bodies.parse(x.body)
		failed = c.body(x.c.Request.Header, content)
		done()
	}
	if failed != nil {
		return call.Given{}, failed
	}
	return call.Given{Values: c.given, Problems: c.problems}, nil
}

// parameterNames returns the names of all parameters, each once.
func parameterNames(table []*ops.Operation) []string {
	var names []string
	for _, op := range table {
		for _, p := range op.Params {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (c *collector) wrong(field, message string) {
	c.problems = append(c.problems, schema.FieldError{Field: field, Code: schema.InvalidRequest, Message: message})
}

// another counts a parameter.
func (c *collector) another() error {
	if c.count++; c.count <= maxParameters {
		return nil
	}
	return problem.New(schema.InvalidRequest, "The request has more than %d parameters, repeated ones included. This operation has %d: send each of them once.",
		maxParameters, len(c.op.Params))
}

// pairs reads name=value&name=value. A semicolon is data. The token in the query is
// skipped; authentication has handled it.
func (c *collector) pairs(raw []byte, query bool) error {
	for pair := range bytes.SplitSeq(raw, []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		if failed := c.another(); failed != nil {
			return failed
		}
		rawName, rawValue, _ := bytes.Cut(pair, []byte("="))
		if len(rawName) > 3*nameLimit {
			rawName = []byte(strings.Repeat("x", nameLimit+1)) // no parameter has such a long name
		}
		name, err := url.QueryUnescape(string(rawName))
		if err != nil {
			c.wrong("", "A parameter's name holds a percent sign that does not start an escape.")
			continue
		}
		if query && isToken(name) {
			continue
		}
		value, err := url.QueryUnescape(string(rawValue))
		if isToken(name) {
			if failed := c.token(value); failed != nil {
				return failed
			}
			continue
		}
		p := c.param(name)
		switch {
		case p == nil:
		case err != nil:
			c.wrong(p.Name, "holds a percent sign that does not start an escape")
		case query && p.Kind.Secret() && !c.secretsInQuery:
			c.wrong(p.Name, "is a secret and not accepted in the query; send it in the body. For a client that cannot, there are the setting http.allowSecretsInQuery and adgateway token set --secrets-in-query")
		default:
			c.add(p, value)
		}
	}
	return nil
}

// nameLimit is more than the length of any parameter's name, in bytes.
const nameLimit = 128

// param returns the parameter with a name on the wire. An unknown name is a problem.
func (c *collector) param(name string) *ops.Param {
	if len(name) <= nameLimit {
		if p := c.op.Param(name); p != nil {
			return p
		}
		if field := c.field(name); field != nil && c.op.Effect.Writes() {
			if p := c.op.Param(field.Input); p != nil {
				return p
			}
			c.wrong(field.Name, readOnly(field))
			return nil
		}
	}
	if name == "" {
		c.wrong("", "A parameter has no name.")
		return nil
	}
	if len(c.problems) >= problem.MostShown {
		c.wrong("", "") // is counted, and not shown
		return nil
	}
	if ops.EqualFold(name, ops.ShowFields) { // what resembles it means something else
		c.wrong(ops.ShowFields, "is not a parameter of this operation, whose records always have all their fields")
		return nil
	}
	c.wrong(c.shown(name), "is not a parameter of this operation"+c.suggest(name))
	return nil
}

// field returns the field of the record with a name; nil if it has none.
func (c *collector) field(name string) *schema.Field {
	shape := c.op.Reply.Shape
	if shape == nil {
		return nil
	}
	at := slices.IndexFunc(shape.Fields, func(f schema.Field) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return nil
	}
	return &shape.Fields[at]
}

func readOnly(field *schema.Field) string {
	text := "is a field of the record that this operation does not set"
	if field.SetBy != "" {
		text += "; " + field.SetBy + " does"
	}
	return text
}

// shown returns an unknown name as it is repeated in an answer: whole if it is close
// to a known name, otherwise only its beginning, because it may be a value that was
// sent in the wrong place, such as a password.
func (c *collector) shown(name string) string {
	const beginning = 2
	if c.mistyped(name) {
		return problem.Printable(name, nameLimit)
	}
	return problem.Printable(name, beginning)
}

// mistyped reports whether an unknown name looks like a known one, of this or another
// operation or of a field of the record. A name with other characters than letters
// does not, because many passwords are a word with digits.
func (c *collector) mistyped(name string) bool {
	if len(name) > nameLimit || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	}) {
		return false
	}
	if c.elsewhere(name) != "" {
		return true
	}
	folded := ops.Fold(name)
	alike := func(known string) bool {
		known = ops.Fold(known)
		return strings.Contains(known, folded) || levenshtein.ComputeDistance(known, folded) <= min(3, len(folded)/3)
	}
	if shape := c.op.Reply.Shape; shape != nil && slices.ContainsFunc(shape.Fields, func(f schema.Field) bool { return alike(f.Name) }) {
		return true
	}
	return slices.ContainsFunc(c.names, alike)
}

// suggest says which parameter was probably meant by an unknown name, or which there
// are.
func (c *collector) suggest(name string) string {
	if field := c.field(name); field != nil && c.op.Param(field.Input) != nil {
		return "; did you mean " + field.Input + "?"
	}
	if meant := c.elsewhere(name); meant != "" {
		return "; did you mean " + meant + "?"
	}
	known := make([]string, len(c.op.Params))
	for i, p := range c.op.Params {
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

// elsewhere returns the parameter that has a name in the directory or in its cmdlets; empty:
// none.
func (c *collector) elsewhere(name string) string {
	same := func(other string) bool { return strings.EqualFold(other, name) }
	for i := range c.op.Params {
		if slices.ContainsFunc(schema.Elsewhere(c.op.Params[i].Kind), same) {
			return c.op.Params[i].Name
		}
	}
	return ""
}

func (c *collector) add(p *ops.Param, value any) {
	before, twice := c.given[p.Name]
	if twice && schema.Repeats(p.Kind) {
		c.repeat(p, before, value)
		return
	}
	if twice && before != value && !alike(p.Kind, before, value) {
		c.wrong(p.Name, "is given twice with different values")
		return
	}
	if !twice {
		c.given[p.Name] = value
	}
}

// repeat adds a value to those that a repeated parameter had before.
func (c *collector) repeat(p *ops.Param, before, value any) {
	var all []string
	for _, given := range []any{before, value} {
		switch given := given.(type) {
		case string:
			all = append(all, given)
		case schema.Texts:
			all = append(all, given.List()...)
		default:
			c.given[p.Name] = given // its kind says what is wrong with it
			return
		}
	}
	c.given[p.Name] = schema.TextsOf(all)
}

// alike reports whether two values decode to the same, as true and "True" do.
func alike(kind schema.Kind, a, b any) bool {
	if a == "" || b == "" {
		return false // the meaning of an empty text depends on the operation
	}
	first, problem := kind.Decode(a)
	second, other := kind.Decode(b)
	return problem == nil && other == nil && reflect.DeepEqual(first.Values, second.Values)
}

// body reads parameters from a form or a JSON object.
func (c *collector) body(header http.Header, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	switch mediaTypeOf(header) {
	case mediaJSON:
		return c.json(content)
	case mediaForm:
		return c.pairs(content, false)
	default:
		return problem.New(schema.UnsupportedMediaType, "A body must be application/json or application/x-www-form-urlencoded, in UTF-8 and not compressed.")
	}
}

// ignored decodes any JSON without keeping it.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

// json reads the members of one JSON object in order, so that duplicates are noticed.
// A byte order mark is skipped (RFC 8259, 8.1), because Windows PowerShell writes one
// to UTF-8 files.
func (c *collector) json(content []byte) error {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	// Only the position: the character may be part of a password.
	var mistake *json.SyntaxError
	if utf8.Valid(content) && errors.As(json.Unmarshal(content, new(ignored)), &mistake) {
		return problem.New(schema.InvalidRequest, "The body is not one JSON object in UTF-8: it is no JSON from byte %d of %d on.", mistake.Offset, len(content))
	}
	if !utf8.Valid(content) || !bytes.HasPrefix(bytes.TrimLeft(content, " \t\r\n"), []byte("{")) {
		return problem.New(schema.InvalidRequest, "The body is not one JSON object in UTF-8.")
	}
	for name, member := range schema.Members(content) {
		if failed := c.another(); failed != nil {
			return failed
		}
		if c.op.Protocol != nil && c.op.Param(name) == nil {
			continue
		}
		if isToken(name) {
			value, _ := scalar(member, nil)
			if failed := c.token(value); failed != nil {
				return failed
			}
			continue
		}
		p := c.param(name)
		if p == nil {
			continue
		}
		value, err := scalar(member, p.Kind)
		if err != nil {
			c.wrong(p.Name, err.Error())
			continue
		}
		c.add(p, value)
	}
	return nil
}

// maxList is the limit on the bytes of an array in a body.
const maxList = 128 << 10

// scalar converts the value of a member to the types that a kind decodes, some of which
// take an array of texts. Without a kind it is that of the token.
func scalar(member json.RawMessage, kind schema.Kind) (any, error) {
	switch member[0] {
	case '[':
		var texts []string
		if kind == nil || len(member) > maxList || json.Unmarshal(member, &texts) != nil {
			return schema.Composite{}, nil
		}
		switch {
		case loneSurrogate(member):
			return nil, errors.New("must be valid Unicode: it holds half of a surrogate pair")
		case schema.Repeats(kind):
			return schema.TextsOf(texts), nil
		case schema.TakesList(kind):
			return schema.ListOf(texts), nil
		}
		return schema.Composite{}, nil
	case '{':
		return schema.Composite{}, nil
	case 'n':
		return nil, nil
	case 't', 'f':
		return member[0] == 't', nil
	case '"':
		if loneSurrogate(member) {
			return nil, errors.New("must be valid Unicode: it holds half of a surrogate pair")
		}
		var text string
		if err := json.Unmarshal(member, &text); err != nil {
			return nil, errors.New("must be valid JSON text")
		}
		return text, nil
	default:
		return json.Number(member), nil
	}
}

// loneSurrogate reports whether there is an escape \ud800-\udfff outside a surrogate
// pair, which the decoder would silently replace.
func loneSurrogate(quoted []byte) bool {
	for i := 0; i+1 < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		if quoted[i] != 'u' {
			continue
		}
		switch unit := escapeUnit(quoted[i-1:]); {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit < 0xdc00:
			if low := escapeUnit(quoted[i+5:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

// escapeUnit returns the code unit of \uXXXX at the start of b, or 0.
func escapeUnit(b []byte) (unit int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	if _, err := fmt.Sscanf(string(b[2:6]), "%04x", &unit); err != nil {
		return 0
	}
	return unit
}
