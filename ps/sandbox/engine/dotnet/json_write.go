package dotnet

import (
	"strconv"
	"sync"
	"unicode/utf8"
)

// JSONOptions are the parameters of ConvertTo-Json.
type JSONOptions struct {
	Depth    int // levels below the top that are written; 2 is the cmdlet's default
	Compress bool
}

// ToJSON implements ConvertTo-Json for one value. It refuses values that PowerShell's
// versions write differently, and values below the depth, which PowerShell writes as text.
// The keys of a dictionary must be text (facts-5.1 I54).
func ToJSON(v any, o JSONOptions) (text string, err error) {
	if o.Depth > 100 {
		return "", Refuse("JSON of more than 100 levels")
	}
	buffer := jsonBuffers.Get().(*[]byte)
	w := jsonWriter{o: o, out: (*buffer)[:0]}
	w.value(v, 0)
	text = string(w.out)
	if cap(w.out) <= maxKeptBuffer {
		clear(w.out) // it may have contained secrets
		*buffer = w.out
		jsonBuffers.Put(buffer)
	}
	if w.full {
		return "", &LimitError{"string length", MaxStringLength}
	}
	return text, w.failed
}

const maxKeptBuffer = 4 << 20

var jsonBuffers = sync.Pool{New: func() any { return new([]byte) }}

type jsonWriter struct {
	o      JSONOptions
	out    []byte
	full   bool // the output is too long; nothing more is written
	failed error
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
	case *Array:
		if !w.tooDeep(v, depth) {
			w.items(x.Items, depth)
		}
	case *List:
		if !w.tooDeep(v, depth) {
			w.items(x.current(), depth)
		}
	default:
		w.rare(v)
	}
}

// rare refuses values that no script writes, such as dates and SIDs (facts B13).
func (w *jsonWriter) rare(v any) {
	if n, ok := asInt64(v); ok && isNumber(v) {
		w.out = strconv.AppendInt(w.out, n, 10)
		return
	}
	if w.failed == nil {
		w.failed = Refuse("JSON of [%s]", display(v))
	}
}

// tooDeep writes a composite value below the depth as text.
func (w *jsonWriter) tooDeep(v any, depth int) bool {
	if depth <= w.o.Depth {
		return false
	}
	if w.failed == nil {
		w.failed = Refuse("JSON deeper than %d levels", w.o.Depth)
	}
	return true
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
				"The type '%s' is not supported for serialization or deserialization of a dictionary. Keys must be "+
					"strings.", h.Type.Name),
				"NonStringKeyInDictionary", InvalidOperation, h)
		}
		w.name(name, i, depth)
		w.value(e.value, depth+1)
	}
	w.close(h.Len(), depth, '}')
}

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

// jsonPlain marks the bytes that are never escaped.
var jsonPlain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
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

// escape reports whether a character must be escaped.
func (w *jsonWriter) escape(r rune) bool {
	switch {
	case r == '"' || r == '\\' || r < ' ':
		return true
	default:
		return r == 0x85 || r == 0x2028 || r == 0x2029
	}
}

func (w *jsonWriter) escaped(r rune) {
	short := map[rune]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}[r]
	if short != 0 {
		w.out = append(w.out, '\\', short)
		return
	}
	const hex = "0123456789abcdef"
	for _, u := range Units(string(appendUnit(nil, r))) {
		w.out = append(w.out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
}
