package dotnet

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// JSONOptions are the parameters of ConvertTo-Json.
type JSONOptions struct {
	Depth          int // levels below the top that are written; the cmdlet's default is 2
	Compress       bool
	EnumsAsString  bool
	EscapeHTML     bool
	EscapeNonASCII bool
}

// ToJSON is ConvertTo-Json of one value. truncated tells that something was
// deeper than the depth and was written as text: the cmdlet then warns. A
// dictionary's keys must be text (facts-5.1 I54).
func ToJSON(v any, o JSONOptions) (text string, truncated bool, err error) {
	buffer := jsonBuffers.Get().(*[]byte)
	w := jsonWriter{o: o, out: (*buffer)[:0]}
	w.value(v, 0)
	text = string(w.out)
	if cap(w.out) <= maxKeptBuffer {
		clear(w.out) // it may have held secrets
		*buffer = w.out
		jsonBuffers.Put(buffer)
	}
	if w.full {
		return "", false, &LimitError{"string length", MaxStringLength}
	}
	return text, w.truncated, w.failed
}

const maxKeptBuffer = 4 << 20

var jsonBuffers = sync.Pool{New: func() any { return new([]byte) }}

type jsonWriter struct {
	o         JSONOptions
	out       []byte
	truncated bool
	full      bool // the output is too long; nothing more is written
	failed    error
}

func (w *jsonWriter) value(v any, depth int) {
	if len(w.out) > MaxStringLength {
		w.full = true
	}
	if w.full {
		return
	}
	switch x := v.(type) {
	case string:
		w.text(x)
	case nil, Nothing:
		w.out = append(w.out, "null"...)
	case bool:
		w.out = strconv.AppendBool(w.out, x)
	case int32:
		w.out = strconv.AppendInt(w.out, int64(x), 10)
	case int64:
		w.out = strconv.AppendInt(w.out, x, 10)
	case float64:
		w.real(x, 64)
	case float32:
		w.real(float64(x), 32)
	default:
		w.structured(v, depth)
	}
}

func (w *jsonWriter) structured(v any, depth int) {
	switch x := v.(type) {
	case *Hashtable:
		if !w.tooDeep(v, depth) {
			w.table(x, depth)
		}
	case *PSObject:
		if !w.tooDeep(v, depth) {
			w.props(&x.Props, depth)
		}
	case *Array:
		if !w.tooDeep(v, depth) {
			w.items(x.Items, depth)
		}
	case *List:
		if !w.tooDeep(v, depth) {
			w.items(x.enumerate(), depth)
		}
	case *Bytes:
		if !w.tooDeep(v, depth) {
			w.bytes(x, depth)
		}
	case *Instance:
		w.instance(x, depth)
	default:
		w.rare(v, depth)
	}
}

func (w *jsonWriter) instance(x *Instance, depth int) {
	switch {
	case x.Type.Name == "System.Uri":
		written, _ := x.Props.Get("OriginalString")
		w.text(Text(written))
	case w.tooDeep(x, depth):
	case x.Data == nil && x.Props.Len() > 0:
		w.props(&x.Props, depth)
	default:
		w.object(x, depth)
	}
}

// rare writes the kinds of values that records seldom have.
func (w *jsonWriter) rare(v any, depth int) {
	switch x := v.(type) {
	case Char:
		w.text(CharString(x))
	case Guid:
		w.text(x.String())
	case DateTime:
		w.date(x)
	case Enum:
		if w.o.EnumsAsString || x.Type.Under == TInt64 || x.Type.Under == TUInt64 {
			w.text(enumText(x))
			return
		}
		w.out = strconv.AppendInt(w.out, x.Value, 10)
	case Category:
		w.out = strconv.AppendInt(w.out, int64(x), 10)
	case Decimal:
		s := x.String()
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		w.out = append(w.out, s...)
	case uint64:
		w.out = strconv.AppendUint(w.out, x, 10)
	case BigInteger:
		w.out = append(w.out, x...)
	default:
		if n, ok := asInt64(v); ok {
			w.out = strconv.AppendInt(w.out, n, 10)
			return
		}
		if w.tooDeep(v, depth) {
			return
		}
		if items, ok := Enumerate(v); ok {
			w.items(items, depth)
			return
		}
		w.object(v, depth)
	}
}

// tooDeep writes a value with parts as text when it lies below the depth.
func (w *jsonWriter) tooDeep(v any, depth int) bool {
	if depth <= w.o.Depth {
		return false
	}
	w.truncated = true
	w.text(ToText(v))
	return true
}

func (w *jsonWriter) real(f float64, bits int) {
	s := formatFloat(f, bits)
	switch {
	case s == "NaN" || s == "Infinity" || s == "-Infinity":
		w.text(s)
		return
	case !strings.ContainsAny(s, ".E"):
		s += ".0"
	}
	w.out = append(w.out, s...)
}

func (w *jsonWriter) date(d DateTime) {
	w.out = append(w.out, '"')
	w.out = append(w.out, d.Format("yyyy-MM-dd'T'HH:mm:ss")...)
	if f := d.Ticks % ticksPerSecond; f != 0 {
		digits := strconv.FormatInt(f+ticksPerSecond, 10)[1:]
		w.out = append(append(w.out, '.'), strings.TrimRight(digits, "0")...)
	}
	w.out = append(w.out, d.Format("%K")...)
	w.out = append(w.out, '"')
}

// line starts a new line of the indented form.
func (w *jsonWriter) line(depth int) {
	if w.o.Compress {
		return
	}
	w.out = append(w.out, NewLine...)
	for range depth {
		w.out = append(w.out, ' ', ' ')
	}
}

func (w *jsonWriter) name(name string, i, depth int) {
	if i > 0 {
		w.out = append(w.out, ',')
	}
	w.line(depth + 1)
	w.text(name)
	w.out = append(w.out, ':')
	if !w.o.Compress {
		w.out = append(w.out, ' ')
	}
}

func (w *jsonWriter) close(count, depth int, c byte) {
	if count > 0 {
		w.line(depth)
	}
	w.out = append(w.out, c)
}

func (w *jsonWriter) table(h *Hashtable, depth int) {
	w.out = append(w.out, '{')
	for i := range h.t.entries {
		e := &h.t.entries[i]
		name, ok := e.key.(string)
		if !ok && w.failed == nil {
			w.failed = NewError(ExceptionNamed("System.InvalidOperationException",
				"The type '%s' is not supported for serialization or deserialization of a dictionary. Keys must be strings.", h.Type.Name),
				"NonStringKeyInDictionary", InvalidOperation, h)
		}
		w.name(name, i, depth)
		w.value(e.value, depth+1)
	}
	w.close(h.Len(), depth, '}')
}

func (w *jsonWriter) props(p *Props, depth int) {
	w.out = append(w.out, '{')
	for i := range p.t.entries {
		e := &p.t.entries[i]
		w.name(e.key, i, depth)
		w.value(e.value, depth+1)
	}
	w.close(p.Len(), depth, '}')
}

// object writes the properties of a value's type.
func (w *jsonWriter) object(v any, depth int) {
	w.out = append(w.out, '{')
	count := 0
	for _, p := range Properties(v) {
		if hiddenInJSON[p.Name] {
			continue
		}
		w.name(p.Name, count, depth)
		w.value(p.Value(), depth+1)
		count++
	}
	w.close(count, depth, '}')
}

// hiddenInJSON are properties that refer back or exist for scripts only.
var hiddenInJSON = map[string]bool{"SyncRoot": true, "ErrorRecord": true}

func (w *jsonWriter) items(items []any, depth int) {
	w.out = append(w.out, '[')
	for i, item := range items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		w.value(item, depth+1)
	}
	w.close(len(items), depth, ']')
}

func (w *jsonWriter) bytes(b *Bytes, depth int) {
	w.out = append(w.out, '[')
	for i, c := range b.B {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		w.out = strconv.AppendUint(w.out, uint64(c), 10)
	}
	w.close(len(b.B), depth, ']')
}

// jsonPlain tells which bytes stand for themselves in any mode.
var jsonPlain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != '\''
	}
	return plain
}()

func (w *jsonWriter) text(s string) {
	w.out = append(w.out, '"')
	start, i := 0, 0
	for i < len(s) {
		for i < len(s) && jsonPlain[s[i]] {
			i++
		}
		if i == len(s) {
			break
		}
		c := s[i]
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = decode(s[i:])
		}
		if escape := w.escape(r); escape {
			w.out = append(w.out, s[start:i]...)
			w.escaped(r)
			start = i + n
		}
		i += n
	}
	w.out = append(append(w.out, s[start:]...), '"')
}

// escape tells whether a character is written as an escape.
func (w *jsonWriter) escape(r rune) bool {
	switch {
	case r == '"' || r == '\\' || r < ' ':
		return true
	case r == '<' || r == '>' || r == '&' || r == '\'':
		return w.o.EscapeHTML
	case r < utf8.RuneSelf:
		return false
	default:
		return r == 0x85 || r == 0x2028 || r == 0x2029 || w.o.EscapeNonASCII
	}
}

func (w *jsonWriter) escaped(r rune) {
	short := map[rune]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}[r]
	if short != 0 && (r != '"' || !w.o.EscapeHTML) {
		w.out = append(w.out, '\\', short)
		return
	}
	const hex = "0123456789abcdef"
	for _, u := range Units(string(appendUnit(nil, r))) {
		w.out = append(w.out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
}
