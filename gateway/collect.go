package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/auth"
	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// collector gathers the values of a request from path, query and body, by documented
// name, and the problems with names and duplicates.
type collector struct {
	op             *ops.Operation
	secretsInQuery bool
	given          ops.Given
	problems       []schema.Problem
}

// collect reads all parameters of a request. The failure is about the body as a
// whole; the problems are about single parameters.
func (s *Server) collect(r *request) (ops.Given, []schema.Problem, *failure) {
	c := &collector{op: r.op, secretsInQuery: r.policy.AllowSecretsInQuery, given: ops.Given{}}
	values := routeOf(r.c.Request).values
	for _, p := range r.op.Params {
		if p.Path != "" {
			c.given[p.Name] = values[p.Path]
		}
	}
	c.pairs(r.c.Request.URL.RawQuery, true)
	if failed := c.body(r.c.Writer, r.c.Request, s.BodyLimit); failed != nil {
		return nil, nil, failed
	}
	return c.given, c.problems, nil
}

func (c *collector) wrong(field, message string) {
	c.problems = append(c.problems, schema.Problem{Field: field, Code: schema.InvalidRequest, Message: message})
}

// pairs reads name=value&name=value. A semicolon is data. The token in the query is
// skipped; authentication has handled it.
func (c *collector) pairs(raw string, query bool) {
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			c.wrong("", "A parameter's name holds a percent sign that does not start an escape.")
			continue
		}
		if query && ops.Fold(name) == ops.Fold(auth.QueryParameter) {
			continue
		}
		p := c.param(name)
		if p == nil {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		switch {
		case err != nil:
			c.wrong(p.Name, "holds a percent sign that does not start an escape")
		case query && p.Kind.Secret() && !c.secretsInQuery:
			c.wrong(p.Name, "is a secret and not accepted in the query; send it in the body")
		default:
			c.add(p, value)
		}
	}
}

// param returns the parameter with a name on the wire. An unknown name is a problem.
func (c *collector) param(name string) *ops.Param {
	if p := c.op.Param(name); p != nil {
		return p
	}
	if name == "" {
		c.wrong("", "A parameter has no name.")
		return nil
	}
	message := "is not a parameter of this operation, which has none"
	if near := c.nearest(name); near != "" {
		message = "is not a parameter of this operation; did you mean " + near + "?"
	}
	c.wrong(printable(name), message)
	return nil
}

// printable makes a name from the wire safe to repeat in an answer.
func printable(name string) string {
	const limit = 64
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(name, string(utf8.RuneError)))
	if runes := []rune(name); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return name
}

// nearest suggests a parameter for an unknown name: the input of the record's field
// with that name, otherwise the parameter with the most similar name; empty if the
// operation has no parameters.
func (c *collector) nearest(name string) string {
	if shape := c.op.Reply.Shape; shape != nil {
		for _, field := range shape.Fields {
			if strings.EqualFold(field.Name, name) && c.op.Param(field.Input) != nil {
				return field.Input
			}
		}
	}
	known := make([]string, len(c.op.Params))
	for i, p := range c.op.Params {
		known[i] = p.Name
	}
	return nearest.Of(name, known, math.MaxInt)
}

func (c *collector) add(p *ops.Param, value any) {
	before, twice := c.given[p.Name]
	if twice && before != value && !alike(p.Kind, before, value) {
		c.wrong(p.Name, "is given twice with different values")
		return
	}
	if !twice {
		c.given[p.Name] = value
	}
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
func (c *collector) body(w http.ResponseWriter, r *http.Request, limit int64) *failure {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return fail(schema.TooLarge, "The body is larger than %d bytes.", limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(schema.InvalidRequest, "The body did not arrive in time.")
	case err != nil:
		return fail(schema.InvalidRequest, "The body could not be read to its end.")
	case len(content) == 0:
		return nil
	}
	encoding := r.Header.Get("Content-Encoding")
	mediaType, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	inUTF8 := slices.Contains([]string{"", "utf-8", "utf8"}, strings.ToLower(parameters["charset"]))
	if err != nil || !inUTF8 || len(r.Header.Values("Content-Type")) > 1 || encoding != "" && !strings.EqualFold(encoding, "identity") {
		mediaType = ""
	}
	switch mediaType {
	case "application/json":
		return c.json(content)
	case "application/x-www-form-urlencoded":
		c.pairs(string(content), false)
		return nil
	default:
		return fail(schema.UnsupportedMediaType, "A body must be application/json or application/x-www-form-urlencoded, in UTF-8 and not compressed.")
	}
}

// json reads the members of one JSON object in order, so that duplicates are noticed.
// A byte order mark is skipped (RFC 8259, 8.1), because Windows PowerShell writes one
// to UTF-8 files.
func (c *collector) json(content []byte) *failure {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	notJSON := fail(schema.InvalidRequest, "The body is not one JSON object in UTF-8.")
	if !utf8.Valid(content) {
		return notJSON
	}
	// Only the position: the character may be part of a password.
	var mistake *json.SyntaxError
	if errors.As(json.Unmarshal(content, new(json.RawMessage)), &mistake) {
		return fail(schema.InvalidRequest, "The body is not one JSON object in UTF-8: it is no JSON from byte %d of %d on.", mistake.Offset, len(content))
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return notJSON
	}
	for decoder.More() {
		token, err := decoder.Token()
		name, isText := token.(string)
		var member json.RawMessage
		if err != nil || !isText || decoder.Decode(&member) != nil {
			return notJSON
		}
		p := c.param(name)
		if p == nil {
			continue
		}
		value, err := scalar(member)
		if err != nil {
			c.wrong(p.Name, err.Error())
			continue
		}
		c.add(p, value)
	}
	return nil
}

// scalar converts the value of a member to the types that kinds decode.
func scalar(member json.RawMessage) (any, error) {
	switch member[0] {
	case '{', '[':
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
