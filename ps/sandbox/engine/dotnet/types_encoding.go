package dotnet

import (
	"strings"
	"unicode/utf8"
)

// encoding is what an Encoding instance carries.
type encoding struct {
	name     string
	codePage int32
	preamble []byte
	strict   bool // what cannot be translated is an error; UTF-8 only
	encode   func(s string) []byte
	decode   func(b []byte) string
}

func encodeUTF16(big bool) func(string) []byte {
	return func(s string) []byte {
		out := make([]byte, 0, 2*len(s))
		for len(s) > 0 {
			c := s[0]
			if c < utf8.RuneSelf {
				out, s = appendUTF16(out, uint16(c), big), s[1:]
				continue
			}
			r, n := decode(s)
			for _, u := range Units(s[:n]) {
				if r >= 0xD800 && r <= 0xDFFF {
					u = 0xFFFD
				}
				out = appendUTF16(out, u, big)
			}
			s = s[n:]
		}
		return out
	}
}

func appendUTF16(out []byte, u uint16, big bool) []byte {
	if big {
		return append(out, byte(u>>8), byte(u))
	}
	return append(out, byte(u), byte(u>>8))
}

// decodeUTF16 replaces lone surrogates and an odd last byte by U+FFFD.
func decodeUTF16(big bool) func([]byte) string {
	return func(b []byte) string {
		out := make([]byte, 0, len(b))
		unit := func(i int) uint16 {
			if big {
				return uint16(b[i])<<8 | uint16(b[i+1])
			}
			return uint16(b[i+1])<<8 | uint16(b[i])
		}
		for i := 0; i+1 < len(b); i += 2 {
			u := rune(unit(i))
			if u >= 0xD800 && u < 0xDC00 && i+3 < len(b) {
				if low := rune(unit(i + 2)); low >= 0xDC00 && low <= 0xDFFF {
					out = utf8.AppendRune(out, (u-0xD800)<<10+(low-0xDC00)+0x10000)
					i += 2
					continue
				}
			}
			out = utf8.AppendRune(out, u) // a lone surrogate is written as U+FFFD
		}
		if len(b)%2 == 1 {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		return string(out)
	}
}

// encodeNarrow writes units below limit as bytes, all else as '?'.
func encodeNarrow(limit uint16, extra map[rune]byte) func(string) []byte {
	return func(s string) []byte {
		out := make([]byte, 0, len(s))
		for len(s) > 0 {
			r, n := decode(s)
			s = s[n:]
			b, known := extra[r]
			switch {
			case known:
				out = append(out, b)
			case r < rune(limit) && (extra == nil || r < 0x80 || r >= 0xA0):
				out = append(out, byte(r))
			case r >= 0x10000:
				out = append(out, '?', '?')
			default:
				out = append(out, '?')
			}
		}
		return out
	}
}

func decodeNarrow(limit byte, high *[32]rune, bad rune) func([]byte) string {
	return func(b []byte) string {
		out := make([]byte, 0, len(b))
		for _, c := range b {
			switch {
			case high != nil && c >= 0x80 && c < 0xA0:
				out = utf8.AppendRune(out, high[c-0x80])
			case c <= limit:
				out = utf8.AppendRune(out, rune(c))
			default:
				out = utf8.AppendRune(out, bad)
			}
		}
		return string(out)
	}
}

// windows1252 are the characters of bytes 0x80 to 0x9F in the ANSI code page.
var windows1252 = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

func ansiExtra() map[rune]byte {
	m := map[rune]byte{}
	for i, r := range windows1252 {
		m[r] = byte(0x80 + i)
	}
	return m
}

var (
	encUTF8    = &encoding{name: "utf-8", codePage: 65001, preamble: []byte{0xEF, 0xBB, 0xBF}, encode: ToUTF8, decode: FromUTF8}
	encPlain8  = &encoding{name: "utf-8", codePage: 65001, encode: ToUTF8, decode: FromUTF8}
	encUnicode = &encoding{name: "utf-16", codePage: 1200, preamble: []byte{0xFF, 0xFE}, encode: encodeUTF16(false), decode: decodeUTF16(false)}
	encBig     = &encoding{name: "utf-16BE", codePage: 1201, preamble: []byte{0xFE, 0xFF}, encode: encodeUTF16(true), decode: decodeUTF16(true)}
	encASCII   = &encoding{name: "us-ascii", codePage: 20127, encode: encodeNarrow(0x80, nil), decode: decodeNarrow(0x7F, nil, '?')}
	encLatin1  = &encoding{name: "iso-8859-1", codePage: 28591, encode: encodeNarrow(0x100, nil), decode: decodeNarrow(0xFF, nil, '?')}
	encANSI    = &encoding{name: "windows-1252", codePage: 1252, encode: encodeNarrow(0x100, ansiExtra()), decode: decodeNarrow(0xFF, &windows1252, '?')}
)

func (e *encoding) read(b []byte) (any, error) {
	if e.strict && !utf8.Valid(b) {
		return nil, ExceptionNamed("System.Text.DecoderFallbackException", "Unable to translate bytes from specified code page to Unicode.")
	}
	return e.decode(b), nil
}

func encodingOf(v any) *encoding { return v.(*Instance).Data.(*encoding) }

func newEncoding(typeName string, e *encoding) *Instance {
	return &Instance{Type: Lookup(typeName), Data: e}
}

func declareEncodings() {
	TEncoding = Register(Class{
		Name: "System.Text.Encoding",
		Static: []Member{
			Property("UTF8", encodingStatic("System.Text.UTF8Encoding", encUTF8)),
			Property("Default", encodingStatic("System.Text.UTF8Encoding", encPlain8)),
			Property("Unicode", encodingStatic("System.Text.UnicodeEncoding", encUnicode)),
			Property("BigEndianUnicode", encodingStatic("System.Text.UnicodeEncoding", encBig)),
			Property("ASCII", encodingStatic("System.Text.ASCIIEncoding", encASCII)),
			Property("Latin1", encodingStatic("System.Text.Latin1Encoding", encLatin1)),
			Method("GetEncoding", "int", func(_ any, a []any) (any, error) { return encodingByPage(a[0].(int32)) }),
			Method("GetEncoding", "string", func(_ any, a []any) (any, error) { return encodingByName(Text(a[0])) }),
		},
		Members: encodingMembers,
	})
	for _, row := range []struct {
		name string
		rows []Member
	}{
		{"System.Text.UTF8Encoding", []Member{
			Constructor("", func(any, []any) (any, error) { return newEncoding("System.Text.UTF8Encoding", encPlain8), nil }),
			Constructor("bool", func(_ any, a []any) (any, error) {
				if a[0].(bool) {
					return newEncoding("System.Text.UTF8Encoding", encUTF8), nil
				}
				return newEncoding("System.Text.UTF8Encoding", encPlain8), nil
			}),
			Constructor("bool,bool", func(_ any, a []any) (any, error) {
				e := *encPlain8
				if a[0].(bool) {
					e = *encUTF8
				}
				e.strict = a[1].(bool)
				return newEncoding("System.Text.UTF8Encoding", &e), nil
			}),
		}},
		{"System.Text.UnicodeEncoding", []Member{
			Constructor("", func(any, []any) (any, error) { return newEncoding("System.Text.UnicodeEncoding", encUnicode), nil }),
		}},
		{"System.Text.ASCIIEncoding", []Member{
			Constructor("", func(any, []any) (any, error) { return newEncoding("System.Text.ASCIIEncoding", encASCII), nil }),
		}},
		{"System.Text.Latin1Encoding", nil},
		{"System.Text.SBCSCodePageEncoding", nil},
	} {
		Register(Class{Name: row.name, Base: TEncoding, New: row.rows})
	}
}

func encodingStatic(typeName string, e *encoding) func(any) (any, error) {
	return func(any) (any, error) { return newEncoding(typeName, e), nil }
}

// encodingByPage knows code page 0, the ANSI one: Windows-1252.
func encodingByPage(page int32) (any, error) {
	switch page {
	case 0, 1252:
		return newEncoding("System.Text.SBCSCodePageEncoding", encANSI), nil
	case 65001:
		return newEncoding("System.Text.UTF8Encoding", encUTF8), nil
	case 1200:
		return newEncoding("System.Text.UnicodeEncoding", encUnicode), nil
	case 1201:
		return newEncoding("System.Text.UnicodeEncoding", encBig), nil
	case 20127:
		return newEncoding("System.Text.ASCIIEncoding", encASCII), nil
	case 28591:
		return newEncoding("System.Text.Latin1Encoding", encLatin1), nil
	default:
		return nil, ExceptionNamed("System.NotSupportedException", "No data is available for encoding %d.", page)
	}
}

func encodingByName(name string) (any, error) {
	pages := map[string]int32{
		"utf-8": 65001, "utf8": 65001, "utf-16": 1200, "unicode": 1200, "utf-16le": 1200, "utf-16be": 1201, "us-ascii": 20127,
		"ascii": 20127, "iso-8859-1": 28591, "latin1": 28591, "windows-1252": 1252,
	}
	if page, ok := pages[strings.ToLower(name)]; ok {
		return encodingByPage(page)
	}
	return nil, withParam(ExceptionNamed("System.ArgumentException",
		"'%s' is not a supported encoding name. For information on defining a custom encoding, see the documentation for the Encoding.RegisterProvider method.", name), "name")
}

var encodingMembers = []Member{
	Property("EncodingName", func(self any) (any, error) { return encodingOf(self).name, nil }),
	Property("WebName", func(self any) (any, error) { return encodingOf(self).name, nil }),
	Property("BodyName", func(self any) (any, error) { return encodingOf(self).name, nil }),
	Property("CodePage", func(self any) (any, error) { return encodingOf(self).codePage, nil }),
	Method("GetBytes", "string", func(self any, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("s")
		}
		e := encodingOf(self)
		if e.strict && !utf8.ValidString(a[0].(string)) {
			return nil, ExceptionNamed("System.Text.EncoderFallbackException", "Unable to translate Unicode character to specified code page.")
		}
		return &Bytes{B: e.encode(a[0].(string))}, nil
	}),
	Method("GetBytes", "char[]", func(self any, a []any) (any, error) {
		return &Bytes{B: encodingOf(self).encode(charsText(a[0]))}, nil
	}),
	Method("GetByteCount", "string", func(self any, a []any) (any, error) {
		e, text := encodingOf(self), Text(a[0])
		if e.codePage == 65001 && utf8.ValidString(text) {
			return int32(len(text)), nil // as it is
		}
		return int32(len(e.encode(text))), nil
	}),
	Method("GetString", "byte[]", func(self any, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("bytes")
		}
		return encodingOf(self).read(a[0].(*Bytes).B)
	}),
	Method("GetString", "byte[],int,int", func(self any, a []any) (any, error) {
		b, err := bytesRange(a[0], a[1].(int32), a[2].(int32))
		if err != nil {
			return nil, err
		}
		return encodingOf(self).read(b)
	}),
	Method("GetChars", "byte[]", func(self any, a []any) (any, error) {
		return Convert(encodingOf(self).decode(a[0].(*Bytes).B), TChar.Array())
	}),
	Method("GetPreamble", "", func(self any, _ []any) (any, error) {
		return &Bytes{B: append([]byte(nil), encodingOf(self).preamble...)}, nil
	}),
}

// bytesRange checks index and count against a byte array.
func bytesRange(v any, index, count int32) ([]byte, error) {
	if v == nil {
		return nil, argumentNull("bytes")
	}
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

// builder is what a StringBuilder instance carries.
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

func builderOf(v any) *builder { return v.(*Instance).Data.(*builder) }

func newBuilder(s string) (any, error) {
	b := &builder{}
	err := b.add(s)
	return &Instance{Type: TStringBuilder, Data: b}, err
}

// appends makes a method row that appends what text gives, and returns the builder.
func appends(name, sig string, text func(a []any) (string, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) {
		s, err := text(a)
		if err == nil {
			err = builderOf(self).add(s)
		}
		return self, err
	})
}

// edits makes a method row that replaces the whole text.
func edits(name, sig string, edit func(s string, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) {
		r, err := edit(builderOf(self).String(), a)
		if err != nil {
			return nil, err
		}
		builderOf(self).b = []byte(r.(string))
		return self, nil
	})
}

func declareBuilder() {
	TStringBuilder = Register(Class{
		Name: "System.Text.StringBuilder",
		New: []Member{
			Constructor("", func(any, []any) (any, error) { return newBuilder("") }),
			Constructor("int", func(any, []any) (any, error) { return newBuilder("") }),
			Constructor("string", func(_ any, a []any) (any, error) { return newBuilder(Text(a[0])) }),
			Constructor("string,int", func(_ any, a []any) (any, error) { return newBuilder(Text(a[0])) }),
		},
		Members: []Member{
			{Name: "Length", Type: nil,
				Get: func(self any) (any, error) { return int32(Length(builderOf(self).String())), nil },
				Set: func(self, v any) error {
					n, err := Convert(v, TInt32)
					if err != nil {
						return err
					}
					s := builderOf(self).String()
					have := Length(s)
					if n.(int32) < 0 || int(n.(int32)) > MaxStringLength {
						return argumentRange("value", "Specified argument was out of the range of valid values.")
					}
					if want := int(n.(int32)); want <= have {
						builderOf(self).b = []byte(Slice(s, 0, want))
					} else {
						builderOf(self).b = append(builderOf(self).b, make([]byte, want-have)...)
					}
					return nil
				}},
			Property("Capacity", func(self any) (any, error) { return int32(max(cap(builderOf(self).b), 16)), nil }),
			Property("MaxCapacity", func(any) (any, error) { return int32(2147483647), nil }),
			appends("Append", "string", func(a []any) (string, error) { return Text(a[0]), nil }),
			appends("Append", "char", func(a []any) (string, error) { return Text(a[0]), nil }),
			appends("Append", "char,int", func(a []any) (string, error) {
				s, err := repeatChar(a[0].(Char), a[1].(int32))
				return Text(s), err
			}),
			appends("Append", "string,int,int", func(a []any) (string, error) {
				s, err := substring(Text(a[0]), int(a[1].(int32)), int(a[2].(int32)))
				return Text(s), err
			}),
			appends("Append", "char[]", func(a []any) (string, error) { return charsText(a[0]), nil }),
			appends("Append", "object", func(a []any) (string, error) { return Text(a[0]), nil }),
			appends("AppendLine", "", func([]any) (string, error) { return NewLine, nil }),
			appends("AppendLine", "string", func(a []any) (string, error) { return Text(a[0]) + NewLine, nil }),
			appends("AppendFormat", "string,params object[]", func(a []any) (string, error) {
				items, _ := Enumerate(a[1])
				return composite(Text(a[0]), items)
			}),
			edits("Replace", "string,string", func(s string, a []any) (any, error) { return replaceAll(s, a[0], Text(a[1]), false) }),
			edits("Replace", "char,char", func(s string, a []any) (any, error) { return replaceAll(s, Text(a[0]), Text(a[1]), false) }),
			edits("Insert", "int,object", func(s string, a []any) (any, error) {
				i := int(a[0].(int32))
				if i < 0 || i > Length(s) {
					return nil, argumentRange("index", "Specified argument was out of the range of valid values.")
				}
				return Concat(Slice(s, 0, i), Text(a[1]), Slice(s, i, Length(s)-i)), nil
			}),
			edits("Remove", "int,int", func(s string, a []any) (any, error) {
				i, n := int(a[0].(int32)), int(a[1].(int32))
				if i < 0 || n < 0 || i+n > Length(s) {
					return nil, argumentRange("index", "Index was out of range. Must be non-negative and less than or equal to the size of the collection.")
				}
				return Concat(Slice(s, 0, i), Slice(s, i+n, Length(s)-i-n)), nil
			}),
			edits("Clear", "", func(string, []any) (any, error) { return "", nil }),
			Method("ToString", "", func(self any, _ []any) (any, error) { return builderOf(self).String(), nil }),
			Method("ToString", "int,int", func(self any, a []any) (any, error) {
				return substring(builderOf(self).String(), int(a[0].(int32)), int(a[1].(int32)))
			}),
		},
	})
}

// NewLine is [Environment]::NewLine. Set it before the first evaluation.
var NewLine = "\n"
