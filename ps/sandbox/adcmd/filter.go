package adcmd

import (
	"errors"
	"strings"

	"adgateway/ps/sandbox/directory"
)

// The language of -Filter, as far as the sandbox knows it: comparisons with
// constants, joined by -and, -or, -not and parentheses. The real module also
// resolves $variables of the caller's session (facts C9); here they are refused,
// except $true, $false and $null, and so are dates.

// filterOps are the comparison operators: LDAP filters with %a for the
// attribute and %v for the value.
var filterOps = map[string]string{
	"-eq":             "(%a=%v)",
	"-ne":             "(!(%a=%v))",
	"-like":           "(%a=%v)",
	"-notlike":        "(!(%a=%v))",
	"-ge":             "(%a>=%v)",
	"-le":             "(%a<=%v)",
	"-gt":             "(&(%a>=%v)(!(%a=%v)))",
	"-lt":             "(&(%a<=%v)(!(%a=%v)))",
	"-approx":         "(%a~=%v)",
	"-band":           "(%a:1.2.840.113556.1.4.803:=%v)",
	"-bor":            "(%a:1.2.840.113556.1.4.804:=%v)",
	"-recursivematch": "(%a:1.2.840.113556.1.4.1941:=%v)",
}

// filterDepth bounds how deep parentheses may lie in each other.
const filterDepth = 100

var (
	errUnsupported = errors.New("not supported")
	errProperty    = errors.New("unknown property")
)

// filterError is a fault in the text, at a position counted from 1.
type filterError struct {
	message  string
	position int
}

func (e *filterError) Error() string { return e.message }

// translate makes an LDAP filter of a filter of the module's language. A bare
// asterisk means every object.
func (c *call) translate(text string) (string, error) {
	if strings.TrimSpace(text) == "*" {
		return "", nil
	}
	p := &filterParser{class: c.class, text: text}
	out, err := p.parse()
	if err == nil {
		return out, nil
	}
	var fault *filterError
	switch {
	case errors.As(err, &fault):
		return "", c.throw(failure{typ: "ADFilterParsingException", message: c.say("filter", text, fault.message, fault.position)})
	case errors.Is(err, errProperty):
		return "", c.argument("properties", p.property)
	}
	return "", c.notSupported(c.say("filterProperty", p.property))
}

type filterParser struct {
	class    *class
	text     string
	pos      int
	tok      filterToken
	depth    int
	property string // at fault
}

type filterToken struct {
	kind  byte // 'w' word, 's' quoted text, '(' , ')', 0 the end
	text  string
	start int
}

func (p *filterParser) parse() (string, error) {
	if err := p.next(); err != nil {
		return "", err
	}
	out, err := p.joined("-or", func() (string, error) { return p.joined("-and", p.term) })
	if err != nil {
		return "", err
	}
	if p.tok.kind != 0 {
		return "", p.fault()
	}
	return out, nil
}

func (p *filterParser) fault() error {
	return &filterError{"syntax error", p.tok.start + 1}
}

// joined reads operands that one operator joins.
func (p *filterParser) joined(op string, operand func() (string, error)) (string, error) {
	var parts []string
	for {
		part, err := operand()
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
		if p.tok.kind != 'w' || !strings.EqualFold(p.tok.text, op) {
			break
		}
		if err := p.next(); err != nil {
			return "", err
		}
	}
	if op == "-or" {
		return or(parts), nil
	}
	return and(parts...), nil
}

func (p *filterParser) term() (string, error) {
	if p.depth++; p.depth > filterDepth {
		return "", p.fault()
	}
	defer func() { p.depth-- }()
	switch {
	case p.tok.kind == '(':
		if err := p.next(); err != nil {
			return "", err
		}
		out, err := p.joined("-or", func() (string, error) { return p.joined("-and", p.term) })
		if err != nil {
			return "", err
		}
		if p.tok.kind != ')' {
			return "", p.fault()
		}
		return out, p.next()
	case p.tok.kind == 'w' && strings.EqualFold(p.tok.text, "-not"):
		if err := p.next(); err != nil {
			return "", err
		}
		out, err := p.term()
		return "(!" + out + ")", err
	case p.tok.kind == 'w' && !strings.HasPrefix(p.tok.text, "-"):
		return p.comparison()
	}
	return "", p.fault()
}

func (p *filterParser) comparison() (string, error) {
	name := p.tok.text
	if err := p.next(); err != nil {
		return "", err
	}
	op := fold(p.tok.text)
	pattern, ok := filterOps[op]
	if p.tok.kind != 'w' || !ok {
		return "", p.fault()
	}
	if err := p.next(); err != nil {
		return "", err
	}
	if p.tok.kind != 's' && p.tok.kind != 'w' || p.tok.kind == 'w' && strings.HasPrefix(p.tok.text, "-") {
		return "", p.fault()
	}
	value := p.tok
	if err := p.next(); err != nil {
		return "", err
	}
	out, err := p.compare(name, op, pattern, value)
	if err != nil {
		p.property = name
	}
	return out, err
}

// compare makes one comparison. Properties that are no attribute cannot be
// searched for (facts C14).
func (p *filterParser) compare(name, op, pattern string, value filterToken) (string, error) {
	if value.kind == 'w' && strings.HasPrefix(value.text, "$") && constants[fold(value.text)] == "" {
		return "", errUnsupported
	}
	text := value.text
	if value.kind == 'w' && constants[fold(text)] != "" {
		text = constants[fold(text)]
	}
	if bit, ok := p.class.bit(name); ok {
		return bitFilter(bit, op, text)
	}
	attr, err := p.class.attribute(name)
	if err != nil {
		return "", err
	}
	escaped, err := attrValue(attr, op, text)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("%a", attr.Name, "%v", escaped).Replace(pattern), nil
}

// constants are the variables that every session has.
var constants = map[string]string{"$true": "TRUE", "$false": "FALSE"}

func (cl *class) bit(name string) (accountBit, bool) {
	prop, ok := cl.props[fold(name)]
	if !ok {
		return accountBit{}, false
	}
	bit, ok := accountBits[prop.name]
	return bit, ok
}

// attribute is the one attribute a property stands for.
func (cl *class) attribute(name string) (*directory.Attribute, error) {
	attr := name
	if prop, ok := cl.props[fold(name)]; ok {
		switch prop.name {
		case "DistinguishedName", "ObjectClass", "ObjectGUID":
		case "SID":
			attr = "objectSid"
		default:
			if _, is := computed[prop.name]; is || len(prop.attrs) != 1 {
				return nil, errUnsupported
			}
			attr = prop.attrs[0]
		}
	}
	a, ok := cl.schema.Attribute(attr)
	switch {
	case !ok:
		return nil, errProperty
	case a.Constructed || a.Syntax == directory.SyntaxTime:
		return nil, errUnsupported
	}
	return a, nil
}

func bitFilter(bit accountBit, op, text string) (string, error) {
	on := strings.EqualFold(text, "true")
	if !on && !strings.EqualFold(text, "false") || op != "-eq" && op != "-ne" {
		return "", errUnsupported
	}
	set := "(userAccountControl:1.2.840.113556.1.4.803:=" + itoa(int(bit.bit)) + ")"
	if on != bit.inverted != (op == "-ne") {
		return set, nil
	}
	return "(!" + set + ")", nil
}

// attrValue escapes a value for an LDAP filter. Escapes that the text brings
// stay (facts C10); an asterisk is one only where the operator knows patterns.
func attrValue(a *directory.Attribute, op, text string) (string, error) {
	switch a.Syntax {
	case directory.SyntaxGUID:
		if g, ok := directory.ParseGUID(text); ok {
			return directory.EscapeFilterBytes(g[:]), nil
		}
	case directory.SyntaxSID:
		if sid, ok := directory.ParseSID(text); ok {
			return directory.EscapeFilterBytes(sid.Bytes()), nil
		}
	}
	var b strings.Builder
	pattern := op == "-like" || op == "-notlike"
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '*' && pattern:
			b.WriteByte('*')
		case ch == '\\' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteString(text[i : i+3])
			i += 2
		default:
			b.WriteString(directory.EscapeFilter(text[i : i+1]))
		}
	}
	return b.String(), nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// next reads one token.
func (p *filterParser) next() error {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	start := p.pos
	if start == len(p.text) {
		p.tok = filterToken{start: start}
		return nil
	}
	switch ch := p.text[start]; ch {
	case '(', ')':
		p.pos++
		p.tok = filterToken{ch, p.text[start:p.pos], start}
	case '\'', '"':
		text, err := p.quoted(ch)
		if err != nil {
			return err
		}
		p.tok = filterToken{'s', text, start}
	default:
		for p.pos < len(p.text) && strings.IndexByte(" \t\r\n()'\"", p.text[p.pos]) < 0 {
			p.pos++
		}
		p.tok = filterToken{'w', p.text[start:p.pos], start}
	}
	return nil
}

// quoted reads a text in single quotes, a doubled one meaning one, or in double
// quotes, where a backtick takes the next character as it is. A variable in
// double quotes would be resolved by the real module: it is refused.
func (p *filterParser) quoted(quote byte) (string, error) {
	start := p.pos
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		ch := p.text[i]
		switch {
		case ch == quote && quote == '\'' && i+1 < len(p.text) && p.text[i+1] == quote:
			b.WriteByte(quote)
			i++
		case ch == quote:
			p.pos = i + 1
			return b.String(), nil
		case ch == '`' && quote == '"' && i+1 < len(p.text):
			i++
			b.WriteByte(p.text[i])
		case ch == '$' && quote == '"':
			p.property = p.text[i:]
			return "", errUnsupported
		default:
			b.WriteByte(ch)
		}
	}
	return "", &filterError{"syntax error", start + 1}
}
