package directory

import (
	"slices"
	"strings"
)

// Filter is a compiled RFC 4515 filter. It is safe for concurrent use and
// independent of a domain.
type Filter struct{ root *clause }

type clauseKind uint8

const (
	clauseAnd clauseKind = iota
	clauseOr
	clauseNot
	clausePresent
	clauseEqual
	clauseApprox
	clauseGreater
	clauseLess
	clauseSubstring
	clauseRule
)

// clause is one node of a filter.
type clause struct {
	kind  clauseKind
	subs  []*clause
	attr  string
	value string   // unescaped octets
	parts []string // of a substring: first, middle, last; an empty first or last matches any text
	rule  string   // OID of a matching rule
}

// The matching rules of Active Directory.
const (
	ruleBitAnd  = "1.2.840.113556.1.4.803"
	ruleBitOr   = "1.2.840.113556.1.4.804"
	ruleInChain = "1.2.840.113556.1.4.1941"
)

const (
	maxFilterDepth = 100
	maxFilterText  = 1 << 20
)

// CompileFilter compiles a filter. Like Active Directory it accepts spaces between the parts and
// "(!attr=value)" without inner parentheses. Errors are KindSyntax with 8254; Detail contains the position.
func CompileFilter(text string) (*Filter, error) {
	p := &filterParser{text: text}
	if len(text) > maxFilterText {
		p.why = "the filter is too long"
		return nil, p.err()
	}
	p.blanks()
	c := p.filter(0)
	p.blanks()
	if c != nil && p.pos != len(p.text) {
		p.why = "text after the filter"
		c = nil
	}
	if c == nil {
		return nil, p.err()
	}
	return &Filter{c}, nil
}

// AllOf returns the conjunction of filters without duplicate clauses. A nil filter matches everything.
func AllOf(filters ...*Filter) *Filter {
	var few [8]*clause
	subs := few[:0]
	for _, f := range filters {
		if f == nil {
			continue
		}
		parts := []*clause{f.root}
		if f.root.kind == clauseAnd {
			parts = f.root.subs
		}
		before := subs
		for _, part := range parts {
			if !part.among(before) {
				subs = append(subs, part)
			}
		}
	}
	if len(subs) == 0 {
		return nil
	}
	return &Filter{&clause{kind: clauseAnd, subs: slices.Clone(subs)}}
}

// among reports whether the clause is an equality that is already among clauses.
func (c *clause) among(clauses []*clause) bool {
	for _, other := range clauses {
		if c.kind == clauseEqual && other.kind == clauseEqual && c.attr == other.attr && c.value == other.value {
			return true
		}
	}
	return false
}

type filterParser struct {
	text string
	pos  int
	why  string
}

func (p *filterParser) err() error {
	e := fail(CodeFilterUnknown, KindSyntax, "", "filter: %s at offset %d", p.why, p.pos)
	e.Op = "search"
	if len(p.text) <= 256 {
		e.Value = p.text
	}
	return e
}

func (p *filterParser) fault(why string) *clause {
	if p.why == "" {
		p.why = why
	}
	return nil
}

func (p *filterParser) blanks() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *filterParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// filter reads one parenthesized filter.
func (p *filterParser) filter(depth int) *clause {
	if depth > maxFilterDepth {
		return p.fault("nested too deep")
	}
	if p.peek() != '(' {
		return p.fault("( expected")
	}
	p.pos++
	p.blanks()
	c := p.component(depth)
	if c == nil {
		return nil
	}
	p.blanks()
	if p.peek() != ')' {
		return p.fault(") expected")
	}
	p.pos++
	return c
}

func (p *filterParser) component(depth int) *clause {
	switch p.peek() {
	case '&':
		return p.list(clauseAnd, depth)
	case '|':
		return p.list(clauseOr, depth)
	case '!':
		p.pos++
		p.blanks()
		var sub *clause
		if p.peek() == '(' {
			sub = p.filter(depth + 1)
		} else {
			sub = p.item()
		}
		if sub == nil {
			return nil
		}
		return &clause{kind: clauseNot, subs: []*clause{sub}}
	}
	return p.item()
}

func (p *filterParser) list(kind clauseKind, depth int) *clause {
	p.pos++
	var few [4]*clause // short lists are allocated once, at the end
	subs := few[:0]
	for {
		p.blanks()
		if p.peek() != '(' {
			break
		}
		sub := p.filter(depth + 1)
		if sub == nil {
			return nil
		}
		subs = append(subs, sub)
	}
	if len(subs) == 0 {
		return p.fault("an empty list of filters")
	}
	return &clause{kind: kind, subs: slices.Clone(subs)}
}

// item reads attribute, operator and value.
func (p *filterParser) item() *clause {
	start := p.pos
	for p.pos < len(p.text) && isAttrByte(p.text[p.pos]) {
		p.pos++
	}
	c := &clause{attr: p.text[start:p.pos]}
	p.blanks()
	if p.peek() == ':' {
		return p.rule(c)
	}
	if c.attr == "" {
		return p.fault("an attribute is expected")
	}
	switch p.peek() {
	case '=':
		p.pos++
		return p.equality(c)
	case '>':
		c.kind = clauseGreater
	case '<':
		c.kind = clauseLess
	case '~':
		c.kind = clauseApprox
	default:
		return p.fault("an operator is expected")
	}
	p.pos++
	if p.peek() != '=' {
		return p.fault("= expected")
	}
	p.pos++
	return p.plainValue(c)
}

func isAttrByte(c byte) bool {
	return isTypeByte(c) || c == ';' || c == '_'
}

// rule reads :1.2.3:=value.
func (p *filterParser) rule(c *clause) *clause {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) && isTypeByte(p.text[p.pos]) {
		p.pos++
	}
	c.kind, c.rule = clauseRule, p.text[start:p.pos]
	if c.attr == "" {
		return p.fault("a matching rule needs an attribute")
	}
	if !strings.HasPrefix(p.text[p.pos:], ":=") {
		return p.fault(":= expected")
	}
	p.pos += 2
	switch c.rule {
	case ruleBitAnd, ruleBitOr, ruleInChain:
	default:
		return p.fault("an unknown matching rule")
	}
	return p.plainValue(c)
}

func (p *filterParser) plainValue(c *clause) *clause {
	var few [4]string
	parts, ok := p.value(few[:0])
	if !ok {
		return nil
	}
	if len(parts) > 1 {
		return p.fault("* is not allowed here")
	}
	c.value = parts[0]
	return c
}

func (p *filterParser) equality(c *clause) *clause {
	var few [4]string
	parts, ok := p.value(few[:0])
	switch {
	case !ok:
		return nil
	case len(parts) == 1:
		c.kind, c.value = clauseEqual, parts[0]
	case len(parts) == 2 && parts[0] == "" && parts[1] == "":
		c.kind = clausePresent
	default:
		for _, x := range parts[1 : len(parts)-1] {
			if x == "" {
				return p.fault("** in a value")
			}
		}
		c.kind, c.parts = clauseSubstring, slices.Clone(parts)
	}
	return c
}

// value reads up to the closing parenthesis, splits at unescaped asterisks and
// appends the parts to parts.
func (p *filterParser) value(parts []string) ([]string, bool) {
	for {
		part, ok := p.part()
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
		if p.text[p.pos] == ')' {
			return parts, true
		}
		p.pos++
	}
}

// part reads up to a closing parenthesis or an asterisk.
func (p *filterParser) part() (string, bool) {
	start := p.pos
	var unescaped []byte // the text before start, after the first escape
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ')', '*':
			text := p.text[start:p.pos]
			if unescaped != nil {
				text = string(append(unescaped, text...))
			}
			return text, true
		case '(', 0:
			p.fault("an unescaped special character")
			return "", false
		case '\\':
			if p.pos+2 >= len(p.text) {
				p.fault("an incomplete escape")
				return "", false
			}
			hi, ok1 := hexDigit(p.text[p.pos+1])
			lo, ok2 := hexDigit(p.text[p.pos+2])
			if !ok1 || !ok2 {
				p.fault("a malformed escape")
				return "", false
			}
			unescaped = append(append(unescaped, p.text[start:p.pos]...), hi<<4|lo)
			p.pos += 3
			start = p.pos
		default:
			p.pos++
		}
	}
	p.fault(") expected")
	return "", false
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// EscapeFilter escapes * ( ) \ and NUL in a filter value.
func EscapeFilter(value string) string {
	if !strings.ContainsAny(value, "*()\\\x00") {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if c := value[i]; strings.IndexByte("*()\\\x00", c) >= 0 {
			escapeByte(&b, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// EscapeFilterBytes escapes every octet of a binary filter value, such as an
// objectGUID.
func EscapeFilterBytes(value []byte) string {
	var b strings.Builder
	b.Grow(3 * len(value))
	for _, c := range value {
		escapeByte(&b, c)
	}
	return b.String()
}

func escapeByte(b *strings.Builder, c byte) {
	const digits = "0123456789abcdef"
	b.WriteByte('\\')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}
