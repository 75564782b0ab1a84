package dotnet

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is the Data of an Encoding instance.
type encoding struct {
	encode func(s string) []byte
	decode func(b []byte) string // nil if decoding is not supported
	count  func(s string) int    // the length of encode(s)
}

// encodeUTF16 writes little-endian units. A lone surrogate becomes U+FFFD.
func encodeUTF16(s string) []byte {
	out := make([]byte, 0, 2*len(s))
	for _, u := range utf16.Encode([]rune(string(ToUTF8(s)))) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

// decodeUTF16 decodes UTF-16. It replaces lone surrogates and an odd last byte with U+FFFD.
func decodeUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	text := utf16.Decode(units)
	if len(b)%2 == 1 {
		text = append(text, utf8.RuneError)
	}
	return string(text)
}

// encodeASCII writes '?' for each unit outside ASCII.
func encodeASCII(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, u := range Units(s) {
		if u >= utf8.RuneSelf {
			u = '?'
		}
		out = append(out, byte(u))
	}
	return out
}

func countUTF8(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	return len(ToUTF8(s))
}

func declareEncodings() {
	get := func(self any) *encoding { return self.(*Instance).Data.(*encoding) }
	base := Register(Class{Name: "System.Text.Encoding", Members: []Member{
		Method("GetBytes", "string", func(self any, a []any) (any, error) {
			return &Bytes{B: get(self).encode(a[0].(string))}, nil
		}),
		Method("GetByteCount", "string", func(self any, a []any) (any, error) {
			return int32(get(self).count(a[0].(string))), nil
		}),
		Method("GetString", "byte[]", func(self any, a []any) (any, error) {
			e := get(self)
			if e.decode == nil {
				return nil, Refuse("GetString() of [%s]", TypeOf(self).Text())
			}
			return e.decode(a[0].(*Bytes).B), nil
		}),
	}, Static: []Member{
		encodingStatic("UTF8", "System.Text.UTF8Encoding"),
		encodingStatic("Unicode", "System.Text.UnicodeEncoding"),
		encodingStatic("ASCII", "System.Text.ASCIIEncoding"),
	}})
	var utf8Type *Type
	utf8Type = Register(Class{Name: "System.Text.UTF8Encoding", Base: base, New: []Member{
		// The argument, whether to write a byte order mark, affects only streams.
		Constructor("bool", func(any, []any) (any, error) { return &Instance{Type: utf8Type, Data: encodings[utf8Type.Name]}, nil }),
	}})
	Register(Class{Name: "System.Text.UnicodeEncoding", Base: base})
	Register(Class{Name: "System.Text.ASCIIEncoding", Base: base})
}

var encodings = map[string]*encoding{
	"System.Text.UTF8Encoding":    {ToUTF8, FromUTF8, countUTF8},
	"System.Text.UnicodeEncoding": {encodeUTF16, decodeUTF16, func(s string) int { return 2 * Length(s) }},
	"System.Text.ASCIIEncoding":   {encodeASCII, nil, Length},
}

func encodingStatic(name, typeName string) Member {
	return Property(name, func(any) (any, error) {
		return &Instance{Type: Lookup(typeName), Data: encodings[typeName]}, nil
	})
}

// bytesRange checks index and count against the length of a byte array.
func bytesRange(v any, index, count int32) ([]byte, error) {
	b := v.(*Bytes).B
	switch {
	case index < 0 || count < 0:
		return nil, argumentRange("index", "Non-negative number required.")
	case int(index)+int(count) > len(b):
		return nil, argumentRange("bytes", "Index and count must refer to a location within the buffer.")
	}
	return b[index : index+count], nil
}

// ---- StringBuilder ----

// builder is the Data of a StringBuilder instance.
type builder struct{ b []byte }

func (b *builder) String() string { return string(b.b) }

func (b *builder) add(s string) error {
	if len(b.b)+len(s) > MaxStringLength {
		return &LimitError{"string length", MaxStringLength}
	}
	if startsLow(s) {
		r, n := decode(s)
		b.b = appendUnit(b.b, r)
		s = s[n:]
	}
	b.b = append(b.b, s...)
	return nil
}

func declareBuilder() {
	get := func(self any) *builder { return self.(*Instance).Data.(*builder) }
	var t *Type
	t = Register(Class{
		Name: "System.Text.StringBuilder",
		New: []Member{Constructor("",
			func(any, []any) (any, error) { return &Instance{Type: t, Data: &builder{}}, nil })},
		Members: []Member{
			Property("Length", func(self any) (any, error) { return int32(Length(get(self).String())), nil }),
			Method("Append", "string", func(self any, a []any) (any, error) { return self, get(self).add(a[0].(string)) }),
			Method("Append", "char", func(self any, a []any) (any, error) { return self, get(self).add(CharString(a[0].(Char))) }),
			Method("ToString", "", func(self any, _ []any) (any, error) { return get(self).String(), nil }),
		},
	})
}

// NewLine is [Environment]::NewLine on the simulated host.
const NewLine = "\n"
