package dotnet

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	jsonClass    = "Microsoft.PowerShell.Commands.ConvertFromJsonCommand"
	maxJSONDepth = 1024
)

// FromJSON is ConvertFrom-Json: objects become *PSObject, arrays object[], whole
// numbers Int64, text that is an ISO 8601 date DateTime. Comments, single quotes,
// bare names and a comma before a closing bracket are accepted, as PowerShell 7
// does. Empty text is null. The error is a record with the cmdlet's id.
func FromJSON(text string) (any, error) {
	r := jsonReader{s: text}
	r.space()
	if r.failed == nil && r.at == len(r.s) {
		return nil, nil
	}
	v := r.value(0)
	r.space()
	if r.failed == nil && r.at < len(r.s) {
		r.fail("Additional text encountered after finished reading JSON content: %s.", string(r.s[r.at]))
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return v, nil
}

type jsonReader struct {
	s      string
	at     int
	failed *ErrorRecord
}

func (r *jsonReader) fail(format string, args ...any) any {
	if r.failed == nil {
		line := 1 + strings.Count(r.s[:min(r.at, len(r.s))], "\n")
		column := r.at - strings.LastIndexByte(r.s[:min(r.at, len(r.s))], '\n') - 1
		message := fmt.Sprintf(format, args...)
		e := ExceptionNamed("System.ArgumentException", "Conversion from JSON failed with error: %s Path '', line %d, position %d.", message, line, column)
		r.failed = NewError(e, "System.ArgumentException,"+jsonClass, NotSpecified, nil)
	}
	r.at = len(r.s)
	return nil
}

// refuse is an error of the cmdlet, not of the syntax.
func (r *jsonReader) refuse(id, format string, args ...any) {
	if r.failed == nil {
		e := ExceptionNamed("System.InvalidOperationException", format, args...)
		r.failed = NewError(e, id+","+jsonClass, InvalidOperation, nil)
	}
	r.at = len(r.s)
}

// space skips white space and comments.
func (r *jsonReader) space() {
	for r.at < len(r.s) {
		switch c := r.s[r.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
		case c == '/' && r.at+1 < len(r.s) && r.s[r.at+1] == '/':
			end := strings.IndexByte(r.s[r.at:], '\n')
			if end < 0 {
				end = len(r.s) - r.at
			}
			r.at += end
		case c == '/' && r.at+1 < len(r.s) && r.s[r.at+1] == '*':
			end := strings.Index(r.s[r.at+2:], "*/")
			if end < 0 {
				r.fail("Unexpected end while parsing comment.")
				return
			}
			r.at += end + 4
		case c >= utf8.RuneSelf:
			u, n := decode(r.s[r.at:])
			if !isSpace(u) && u != 0xFEFF {
				return
			}
			r.at += n
		default:
			return
		}
	}
}

func (r *jsonReader) peek() byte {
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

func (r *jsonReader) value(depth int) any {
	if depth > maxJSONDepth {
		return r.fail("The reader's MaxDepth of %d has been exceeded.", maxJSONDepth)
	}
	switch c := r.peek(); {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"' || c == '\'':
		s := r.text(c)
		if d, ok := jsonDate(s); ok {
			return d
		}
		return s
	case c == '-' || c >= '0' && c <= '9' || c == '.':
		return r.number()
	case r.at >= len(r.s):
		return r.fail("Unexpected end when reading JSON.")
	default:
		return r.word()
	}
}

func (r *jsonReader) word() any {
	start := r.at
	for r.at < len(r.s) && (r.s[r.at] >= 'a' && r.s[r.at] <= 'z' || r.s[r.at] >= 'A' && r.s[r.at] <= 'Z') {
		r.at++
	}
	switch r.s[start:r.at] {
	case "true":
		return true
	case "false":
		return false
	case "null", "undefined":
		return nil
	case "NaN", "Infinity":
		f, _ := parseFloat(r.s[start:r.at])
		return f
	}
	u, _ := decode(r.s[start:])
	r.at = start
	return r.fail("Unexpected character encountered while parsing value: %c.", u)
}

func (r *jsonReader) number() any {
	start := r.at
	for r.at < len(r.s) && strings.IndexByte("+-0123456789.eExXaAbBcCdDfF", r.s[r.at]) >= 0 {
		r.at++
	}
	s := r.s[start:r.at]
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseInt(hex, 16, 64); err == nil {
			return n
		}
	}
	if strings.HasPrefix(r.s[start:], "-Infinity") {
		r.at = start + len("-Infinity")
		f, _ := parseFloat("-Infinity")
		return f
	}
	if strings.Trim(s, "-0123456789") == "" && len(s) < 400 {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			if n.IsInt64() {
				return n.Int64()
			}
			return BigInteger(n.String())
		}
	}
	if f, ok := parseFloat(s); ok {
		return f
	}
	return r.fail("Input string '%s' is not a valid number.", s)
}

func (r *jsonReader) array(depth int) any {
	r.at++
	out := &Array{Items: []any{}}
	for {
		r.space()
		if r.peek() == ']' {
			r.at++
			return out
		}
		out.Items = append(out.Items, r.value(depth+1))
		if len(out.Items) > MaxArrayLength {
			return r.fail("The array is too long.")
		}
		r.space()
		switch c := r.peek(); {
		case c == ',':
			r.at++
		case c == ']':
			r.at++
			return out
		case r.at >= len(r.s):
			return r.fail("Unexpected end of content while loading JArray.")
		default:
			return r.fail("After parsing a value an unexpected character was encountered: %c.", c)
		}
	}
}

func (r *jsonReader) object(depth int) any {
	r.at++
	out := &PSObject{}
	for {
		r.space()
		if r.peek() == '}' {
			r.at++
			return out
		}
		name, ok := r.key()
		if !ok {
			return nil
		}
		v := r.value(depth + 1)
		r.put(out, name, v)
		r.space()
		switch c := r.peek(); {
		case c == ',':
			r.at++
		case c == '}':
			r.at++
			return out
		case r.at >= len(r.s):
			return r.fail("Unexpected end when reading JSON.")
		default:
			return r.fail("After parsing a value an unexpected character was encountered: %c.", c)
		}
	}
}

// key reads a name, the colon and what white space follows.
func (r *jsonReader) key() (string, bool) {
	var name string
	switch c := r.peek(); {
	case c == '"' || c == '\'':
		name = r.text(c)
	case c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		start := r.at
		for r.at < len(r.s) && (r.s[r.at] == '_' || r.s[r.at] == '$' || isAlnum(r.s[r.at])) {
			r.at++
		}
		name = r.s[start:r.at]
	case r.at >= len(r.s):
		r.fail("Unexpected end when reading JSON.")
		return "", false
	default:
		u, _ := decode(r.s[r.at:])
		r.fail("Invalid property identifier character: %c.", u)
		return "", false
	}
	r.space()
	if r.peek() != ':' {
		r.fail("Invalid character after parsing property name. Expected ':' but got: %s.", string(r.peek()))
		return "", false
	}
	r.at++
	r.space()
	return name, r.failed == nil
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// put adds a property: the same name again replaces, one that differs in case only is refused.
func (r *jsonReader) put(o *PSObject, name string, v any) {
	if name == "" {
		r.refuse("EmptyKeyInJsonString", "The provided JSON includes a property whose name is an empty string, this is only supported using the -AsHashTable switch.")
		return
	}
	hash := foldHash(name)
	i := o.Props.find(name, hash)
	switch {
	case i < 0:
		o.Props.t.add(name, hash, v)
	case o.Props.t.entries[i].key == name:
		o.Props.t.entries[i].value = v
	default:
		r.refuse("KeysWithDifferentCasingInJsonString",
			"Cannot convert the JSON string because it contains keys with different casing. Please use the -AsHashTable switch instead. The key that was attempted to be added to the existing key '%s' was '%s'.",
			o.Props.t.entries[i].key, name)
	}
}

// text reads a quoted string.
func (r *jsonReader) text(quote byte) string {
	r.at++
	start := r.at
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case quote:
			s := r.s[start:r.at]
			r.at++
			return s
		case '\\':
			return r.textWithEscapes(quote, start)
		}
		r.at++
	}
	r.fail("Unterminated string. Expected delimiter: %c.", quote)
	return ""
}

func (r *jsonReader) textWithEscapes(quote byte, start int) string {
	rest := max(strings.IndexByte(r.s[r.at:], quote), 32) // what is read is seldom longer
	out := append(make([]byte, 0, r.at-start+rest), r.s[start:r.at]...)
	for r.at < len(r.s) {
		switch r.s[r.at] {
		case quote:
			r.at++
			return string(out)
		case '\\':
			var ok bool
			if out, ok = r.escape(out); !ok {
				return ""
			}
		default:
			plain := r.at
			for r.at < len(r.s) && r.s[r.at] != quote && r.s[r.at] != '\\' {
				r.at++
			}
			out = append(out, r.s[plain:r.at]...)
		}
	}
	r.fail("Unterminated string. Expected delimiter: %c.", quote)
	return ""
}

// escape reads one escape and appends what it stands for.
func (r *jsonReader) escape(out []byte) ([]byte, bool) {
	if r.at+1 >= len(r.s) {
		r.fail("Unterminated string. Expected delimiter: \".")
		return out, false
	}
	c := r.s[r.at+1]
	r.at += 2
	switch c {
	case 'n':
		return append(out, '\n'), true
	case 't':
		return append(out, '\t'), true
	case 'r':
		return append(out, '\r'), true
	case 'b':
		return append(out, '\b'), true
	case 'f':
		return append(out, '\f'), true
	case '"', '\\', '/', '\'':
		return append(out, c), true
	case 'u':
		if r.at+4 <= len(r.s) {
			if u, err := strconv.ParseUint(r.s[r.at:r.at+4], 16, 16); err == nil {
				r.at += 4
				return appendUnit(out, rune(u)), true
			}
		}
		r.fail("Invalid Unicode escape sequence.")
	default:
		r.fail("Bad JSON escape sequence: \\%c.", c)
	}
	return out, false
}

// jsonDate reads what Json.NET takes for a date: ISO 8601 with seconds, or /Date(ms)/.
func jsonDate(s string) (DateTime, bool) {
	if len(s) < 9 || len(s) > 40 {
		return DateTime{}, false
	}
	if s[0] >= '0' && s[0] <= '9' {
		if len(s) < 19 || s[10] != 'T' {
			return DateTime{}, false
		}
		d, zoned, ok := parseISO(s, true)
		if ok && zoned && s[len(s)-1] != 'Z' {
			d = d.ToLocal()
		}
		return d, ok
	}
	if inner, ok := strings.CutPrefix(s, "/Date("); ok && strings.HasSuffix(inner, ")/") {
		if ms, err := strconv.ParseInt(inner[:len(inner)-2], 10, 64); err == nil && ms > -62135596800000 && ms < 253402300800000 {
			return DateTime{unixEpochTicks + ms*10_000, UTC}, true
		}
	}
	return DateTime{}, false
}
