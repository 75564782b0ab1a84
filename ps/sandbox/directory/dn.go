package directory

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// DN is a parsed distinguished name, leaf first. The zero value is the empty DN.
type DN struct{ rdns []RDN }

// RDN is a relative distinguished name: attribute type and unescaped value.
type RDN struct{ Type, Value string }

// String returns the escaped RDN, e.g. CN=a\,b.
func (r RDN) String() string { return r.Type + "=" + EscapeRDN(r.Value) }

// shortName is the size of buffers for keys, enough for nearly all names.
const shortName = 64

// equal reports whether two RDNs have the same type and value.
func (r RDN) equal(other RDN) bool {
	return strings.EqualFold(r.Type, other.Type) && sameName(r.Value, other.Value)
}

// ParseDN parses a DN with any valid escaping (RFC 4514 and the older forms that the
// directory accepts: quoted values, ";" as separator, spaces around names). Multi-valued
// RDNs are rejected, as in Active Directory. Errors are KindSyntax with 8242.
func ParseDN(text string) (DN, error) {
	d, err := parseDN(text, make([]RDN, 0, min(1+strings.Count(text, ","), shortList)))
	if err != nil {
		return DN{}, err
	}
	return d, nil
}

// parseDN is ParseDN with room for the names.
func parseDN(text string, room []RDN) (DN, *Error) {
	p := dnParser{text: text}
	d, ok := p.parse(room)
	if !ok {
		return DN{}, fail(CodeInvalidDN, KindSyntax, text, "%s at offset %d", p.why, p.pos)
	}
	return d, nil
}

type dnParser struct {
	text string
	pos  int
	why  string
}

func (p *dnParser) parse(room []RDN) (DN, bool) {
	p.blanks()
	if p.pos == len(p.text) {
		return DN{}, true
	}
	d := DN{room}
	for {
		r, ok := p.rdn()
		if !ok {
			return DN{}, false
		}
		d.rdns = append(d.rdns, r)
		if p.pos == len(p.text) {
			return d, true
		}
		if c := p.text[p.pos]; c != ',' && c != ';' {
			p.why = "a separator is missing"
			return DN{}, false
		}
		p.pos++
		p.blanks()
	}
}

func (p *dnParser) blanks() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

func (p *dnParser) rdn() (RDN, bool) {
	start := p.pos
	for p.pos < len(p.text) && isTypeByte(p.text[p.pos]) {
		p.pos++
	}
	typ := p.text[start:p.pos]
	p.blanks()
	if typ == "" || p.pos == len(p.text) || p.text[p.pos] != '=' {
		p.why = "an attribute type and = are expected"
		return RDN{}, false
	}
	p.pos++
	p.blanks()
	value, ok := p.value()
	if !ok {
		return RDN{}, false
	}
	if value == "" {
		p.why = "a name is empty"
		return RDN{}, false
	}
	if !utf8.ValidString(value) {
		p.why = "a name is not valid UTF-8"
		return RDN{}, false
	}
	typ, ok = typeName(typ)
	if !ok {
		p.why = "an attribute type is malformed"
		return RDN{}, false
	}
	return RDN{typ, value}, true
}

func isTypeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.'
}

var typeOIDs = map[string]string{
	"2.5.4.3": "CN", "2.5.4.11": "OU", "0.9.2342.19200300.100.1.25": "DC",
	"2.5.4.10": "O", "2.5.4.6": "C", "2.5.4.7": "L", "0.9.2342.19200300.100.1.1": "UID",
}

// typeName returns the canonical form of a type: upper case, OIDs resolved.
func typeName(t string) (string, bool) {
	switch t {
	case "CN", "OU", "DC":
		return t, true
	}
	u := strings.TrimPrefix(strings.ToUpper(t), "OID.")
	if n, ok := typeOIDs[u]; ok {
		return n, true
	}
	if u == "" || u[0] < 'A' || u[0] > 'Z' || strings.ContainsRune(u, '.') {
		return "", false
	}
	return u, true
}

func (p *dnParser) value() (string, bool) {
	if p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '"':
			return p.quoted()
		case '#':
			return p.hexValue()
		}
	}
	rest := p.text[p.pos:]
	plain := strings.IndexAny(rest, ",;+\"<>\\\x00")
	if plain < 0 {
		plain = len(rest)
	}
	p.pos += plain
	if plain == len(rest) || rest[plain] == ',' {
		return trimTo(rest[:plain], 0), true
	}
	var b strings.Builder
	b.WriteString(rest[:plain])
	keep := 0 // length of b that includes escaped trailing spaces
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch c {
		case ',', ';':
			return trimTo(b.String(), keep), true
		case '+', '"', '<', '>', 0:
			p.why = "an unescaped special character"
			return "", false
		case '\\':
			r, ok := p.escape()
			if !ok {
				return "", false
			}
			b.WriteByte(r)
			keep = b.Len()
			continue
		}
		b.WriteByte(c)
		p.pos++
	}
	return trimTo(b.String(), keep), true
}

func trimTo(s string, keep int) string {
	n := len(s)
	for n > keep && s[n-1] == ' ' {
		n--
	}
	return s[:n]
}

// escape reads an escape sequence and returns the byte it stands for.
func (p *dnParser) escape() (byte, bool) {
	rest := p.text[p.pos+1:]
	if len(rest) >= 2 {
		if v, err := hex.DecodeString(rest[:2]); err == nil {
			p.pos += 3
			return v[0], true
		}
	}
	if rest != "" && strings.IndexByte(` "#+,;<=>\/`, rest[0]) >= 0 {
		p.pos += 2
		return rest[0], true
	}
	p.why = "a malformed escape"
	return 0, false
}

func (p *dnParser) quoted() (string, bool) {
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); {
		switch c := p.text[p.pos]; c {
		case '"':
			p.pos++
			p.blanks()
			return b.String(), true
		case '\\':
			r, ok := p.escape()
			if !ok {
				return "", false
			}
			b.WriteByte(r)
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	p.why = "a quote is not closed"
	return "", false
}

// hexValue reads "#" and hexadecimal digits: a BER string of short length.
func (p *dnParser) hexValue() (string, bool) {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] != ',' && p.text[p.pos] != ';' && p.text[p.pos] != ' ' {
		p.pos++
	}
	b, err := hex.DecodeString(p.text[start:p.pos])
	p.blanks()
	if err != nil || len(b) < 2 || int(b[1]) != len(b)-2 || b[1] > 127 {
		p.why = "a malformed hexadecimal value"
		return "", false
	}
	return string(b[2:]), true
}

// EscapeRDN escapes an RDN value for use in a DN as the directory writes it (facts
// C20, C31).
func EscapeRDN(value string) string {
	if !needsEscape(value) {
		return value
	}
	var b strings.Builder
	b.Grow(len(value) + 8)
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == ' ' && (i == 0 || i == len(value)-1):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 0 || c == '\r' || c == '\n' || c == '=':
			const digits = "0123456789ABCDEF"
			b.WriteByte('\\')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		case strings.IndexByte(`"#+,;<>\`, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func needsEscape(v string) bool {
	if v == "" {
		return false
	}
	return v[0] == ' ' || v[len(v)-1] == ' ' || strings.ContainsAny(v, "\"#+,;<>\\=\r\n\x00")
}

// String returns the DN as the directory writes it, e.g.
// CN=a\,b,DC=corp,DC=example.
func (d DN) String() string {
	var b strings.Builder
	for i, r := range d.rdns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(r.Type)
		b.WriteByte('=')
		b.WriteString(EscapeRDN(r.Value))
	}
	return b.String()
}

// Equal reports whether two DNs are equal. Types and values are compared without case (facts C22).
func (d DN) Equal(other DN) bool {
	return len(d.rdns) == len(other.rdns) && d.endsWith(other)
}

func (d DN) endsWith(tail DN) bool {
	off := len(d.rdns) - len(tail.rdns)
	if off < 0 {
		return false
	}
	for i, r := range tail.rdns {
		if !d.rdns[off+i].equal(r) {
			return false
		}
	}
	return true
}

// Key returns a string that is equal only for equal DNs.
func (d DN) Key() string {
	var buf [4 * shortName]byte
	b := buf[:0]
	for i, r := range d.rdns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendFold(b, r.Type), '=')
		if needsEscape(r.Value) {
			b = append(b, EscapeRDN(fold(r.Value))...)
		} else {
			b = appendFold(b, r.Value)
		}
	}
	return string(b)
}

// Len returns the number of RDNs.
func (d DN) Len() int { return len(d.rdns) }

// IsZero reports whether the DN is empty.
func (d DN) IsZero() bool { return len(d.rdns) == 0 }

// RDN returns the first RDN, or the zero RDN for the empty DN.
func (d DN) RDN() RDN {
	if len(d.rdns) == 0 {
		return RDN{}
	}
	return d.rdns[0]
}

// dnsName returns the DNS name of a DN that consists of DC names.
func (d DN) dnsName() string {
	labels := make([]string, len(d.rdns))
	for i, r := range d.rdns {
		labels[i] = strings.ToLower(r.Value)
	}
	return strings.Join(labels, ".")
}

// Parent returns the DN without its first RDN. The parent of the empty DN is the
// empty DN.
func (d DN) Parent() DN {
	if len(d.rdns) == 0 {
		return d
	}
	return DN{d.rdns[1:]}
}

// Under reports whether d is below ancestor. It is false if they are equal.
func (d DN) Under(ancestor DN) bool {
	return len(d.rdns) > len(ancestor.rdns) && d.endsWith(ancestor)
}

// Child returns the DN of a child with an unescaped value.
func (d DN) Child(typ, value string) DN {
	rdns := make([]RDN, 0, len(d.rdns)+1)
	return DN{append(append(rdns, RDN{strings.ToUpper(typ), value}), d.rdns...)}
}
