package dotnet

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func normalize(s string) string { return norm.NFC.String(s) }

// ignoresCase reads a StringComparison.
func ignoresCase(v any) bool { return v.(Enum).Value&1 == 1 }

// stringSearch are the members that look for text in text.
var stringSearch = []Member{
	textMethod("Contains", "string", func(s string, a []any) (any, error) {
		if a[0] == nil {
			return nil, argumentNull("value")
		}
		return strings.Contains(s, Text(a[0])), nil
	}),
	textMethod("Contains", "char", func(s string, a []any) (any, error) { return strings.Contains(s, CharString(a[0].(Char))), nil }),
	textMethod("Contains", "string,StringComparison", func(s string, a []any) (any, error) {
		return indexText(s, Text(a[0]), 0, ignoresCase(a[1])) >= 0, nil
	}),
	textMethod("StartsWith", "string", func(s string, a []any) (any, error) { return strings.HasPrefix(s, Text(a[0])), nil }),
	textMethod("StartsWith", "char", func(s string, a []any) (any, error) { return strings.HasPrefix(s, CharString(a[0].(Char))), nil }),
	textMethod("StartsWith", "string,StringComparison", func(s string, a []any) (any, error) {
		return hasPrefix(s, Text(a[0]), ignoresCase(a[1])), nil
	}),
	textMethod("StartsWith", "string,bool,System.Globalization.CultureInfo", func(s string, a []any) (any, error) {
		return hasPrefix(s, Text(a[0]), a[1].(bool)), nil
	}),
	textMethod("EndsWith", "string", func(s string, a []any) (any, error) { return strings.HasSuffix(s, Text(a[0])), nil }),
	textMethod("EndsWith", "char", func(s string, a []any) (any, error) { return strings.HasSuffix(s, CharString(a[0].(Char))), nil }),
	textMethod("EndsWith", "string,StringComparison", func(s string, a []any) (any, error) {
		return hasSuffix(s, Text(a[0]), ignoresCase(a[1])), nil
	}),
	textMethod("IndexOf", "string", func(s string, a []any) (any, error) { return indexOf(s, Text(a[0]), 0, false) }),
	textMethod("IndexOf", "char", func(s string, a []any) (any, error) { return indexOf(s, CharString(a[0].(Char)), 0, false) }),
	textMethod("IndexOf", "string,int", func(s string, a []any) (any, error) {
		return indexOf(s, Text(a[0]), int(a[1].(int32)), false)
	}),
	textMethod("IndexOf", "char,int", func(s string, a []any) (any, error) {
		return indexOf(s, CharString(a[0].(Char)), int(a[1].(int32)), false)
	}),
	textMethod("IndexOf", "string,StringComparison", func(s string, a []any) (any, error) {
		return indexOf(s, Text(a[0]), 0, ignoresCase(a[1]))
	}),
	textMethod("IndexOf", "string,int,StringComparison", func(s string, a []any) (any, error) {
		return indexOf(s, Text(a[0]), int(a[1].(int32)), ignoresCase(a[2]))
	}),
	textMethod("LastIndexOf", "string", func(s string, a []any) (any, error) { return lastIndexOf(s, Text(a[0]), false), nil }),
	textMethod("LastIndexOf", "char", func(s string, a []any) (any, error) { return lastIndexOf(s, CharString(a[0].(Char)), false), nil }),
	textMethod("LastIndexOf", "string,StringComparison", func(s string, a []any) (any, error) {
		return lastIndexOf(s, Text(a[0]), ignoresCase(a[1])), nil
	}),
	textMethod("IndexOfAny", "char[]", func(s string, a []any) (any, error) {
		set := map[uint16]bool{}
		for _, u := range Units(charsText(a[0])) {
			set[u] = true
		}
		for i, u := range Units(s) {
			if set[u] {
				return int32(i), nil
			}
		}
		return int32(-1), nil
	}),
	textMethod("Equals", "string", func(s string, a []any) (any, error) { return a[0] != nil && s == Text(a[0]), nil }),
	textMethod("Equals", "object", func(s string, a []any) (any, error) { return a[0] == s, nil }),
	textMethod("Equals", "string,StringComparison", func(s string, a []any) (any, error) {
		return a[0] != nil && compareText(s, Text(a[0]), a[1]) == 0, nil
	}),
	textMethod("CompareTo", "string", func(s string, a []any) (any, error) { return sign(CompareCultureText(s, Text(a[0]), false)), nil }),
	textMethod("CompareTo", "object", func(s string, a []any) (any, error) {
		if a[0] == nil {
			return int32(1), nil
		}
		if _, ok := a[0].(string); !ok {
			return nil, ExceptionNamed("System.ArgumentException", "Object must be of type String.")
		}
		return sign(CompareCultureText(s, Text(a[0]), false)), nil
	}),
}

func sign(c int) int32 { return int32(order(int64(c), 0)) }

func hasPrefix(s, prefix string, ignoreCase bool) bool {
	if !ignoreCase {
		return strings.HasPrefix(s, prefix)
	}
	end := byteOffset(s, Length(prefix))
	return end >= 0 && EqualFold(s[:end], prefix)
}

func hasSuffix(s, suffix string, ignoreCase bool) bool {
	if !ignoreCase {
		return strings.HasSuffix(s, suffix)
	}
	start := byteOffset(s, Length(s)-Length(suffix))
	return Length(suffix) <= Length(s) && start >= 0 && EqualFold(s[start:], suffix)
}

// indexText finds sub in s from byte offset on: a byte offset, or -1.
func indexText(s, sub string, from int, ignoreCase bool) int {
	i := strings.Index(s[from:], sub)
	if ignoreCase {
		i, _ = indexFold(s[from:], sub)
	}
	if i < 0 {
		return -1
	}
	return from + i
}

func indexOf(s, sub string, start int, ignoreCase bool) (any, error) {
	if start < 0 || start > Length(s) {
		return nil, argumentRange("startIndex", "Index was out of range. Must be non-negative and less than or equal to the size of the collection.")
	}
	from, rest := unitOffset(s, start)
	if rest != 0 {
		from += 4
	}
	i := indexText(s, sub, from, ignoreCase)
	if i < 0 {
		return int32(-1), nil
	}
	return int32(Length(s[:i])), nil
}

func lastIndexOf(s, sub string, ignoreCase bool) any {
	i := strings.LastIndex(s, sub)
	if ignoreCase {
		i = strings.LastIndex(ToUpper(s), ToUpper(sub))
		if i >= 0 {
			return int32(Length(ToUpper(s)[:i]))
		}
	}
	if i < 0 {
		return int32(-1)
	}
	return int32(Length(s[:i]))
}

// compareText compares by a StringComparison.
func compareText(a, b string, comparison any) int {
	kind := comparison.(Enum).Value
	if kind >= 4 {
		return CompareOrdinal(a, b, kind == 5)
	}
	if a == b {
		return 0
	}
	if kind&1 == 1 {
		if equalText(a, b, false) {
			return 0
		}
		return CompareCultureText(a, b, true)
	}
	return CompareCultureText(a, b, false)
}

// nullText orders null before all text; done tells that there is nothing to compare.
func nullText(a, b any) (c int32, done bool) {
	switch {
	case a == nil && b == nil:
		return 0, true
	case a == nil:
		return -1, true
	case b == nil:
		return 1, true
	default:
		return 0, false
	}
}

var stringStatics = []Member{
	Constant("Empty", ""),
	Method("IsNullOrEmpty", "string", func(_ any, a []any) (any, error) { return Text(a[0]) == "", nil }),
	Method("IsNullOrWhiteSpace", "string", func(_ any, a []any) (any, error) {
		return strings.TrimFunc(Text(a[0]), isSpace) == "", nil
	}),
	Method("Join", "string,string[]", joinStatic),
	Method("Join", "string,params object[]", joinStatic),
	Method("Join", "char,string[]", joinStatic),
	Method("Concat", "string,string", concatTexts), Method("Concat", "object,object", concatTexts),
	Method("Concat", "string,string,string", concatTexts), Method("Concat", "object,object,object", concatTexts),
	Method("Concat", "string,string,string,string", concatTexts), Method("Concat", "object,object,object,object", concatTexts),
	Method("Concat", "params string[]", concatStatic),
	Method("Concat", "params object[]", concatStatic),
	Method("Format", "string,params object[]", func(_ any, a []any) (any, error) {
		items, _ := Enumerate(a[1])
		return composite(Text(a[0]), items)
	}),
	Method("Format", "System.IFormatProvider,string,params object[]", func(_ any, a []any) (any, error) {
		items, _ := Enumerate(a[2])
		return composite(Text(a[1]), items)
	}),
	Method("Equals", "string,string", func(_ any, a []any) (any, error) { return a[0] == a[1], nil }),
	Method("Equals", "string,string,StringComparison", func(_ any, a []any) (any, error) {
		if _, done := nullText(a[0], a[1]); done {
			return a[0] == a[1], nil
		}
		return compareText(Text(a[0]), Text(a[1]), a[2]) == 0, nil
	}),
	Method("Compare", "string,string", func(_ any, a []any) (any, error) {
		if c, done := nullText(a[0], a[1]); done {
			return c, nil
		}
		return sign(CompareCultureText(Text(a[0]), Text(a[1]), false)), nil
	}),
	Method("Compare", "string,string,bool", func(_ any, a []any) (any, error) {
		if c, done := nullText(a[0], a[1]); done {
			return c, nil
		}
		return sign(CompareCultureText(Text(a[0]), Text(a[1]), a[2].(bool))), nil
	}),
	Method("Compare", "string,string,StringComparison", func(_ any, a []any) (any, error) {
		if c, done := nullText(a[0], a[1]); done {
			return c, nil
		}
		return sign(compareText(Text(a[0]), Text(a[1]), a[2])), nil
	}),
	Method("CompareOrdinal", "string,string", func(_ any, a []any) (any, error) {
		if c, done := nullText(a[0], a[1]); done {
			return c, nil
		}
		return sign(CompareOrdinal(Text(a[0]), Text(a[1]), false)), nil
	}),
}

func joinStatic(_ any, a []any) (any, error) {
	items, _ := Enumerate(a[1])
	if len(items) == 1 {
		if nested, ok := Enumerate(items[0]); ok {
			items = nested
		}
	}
	parts := make([]string, len(items))
	total := 0
	for i, item := range items {
		parts[i] = Text(item)
		total += len(parts[i]) + len(Text(a[0]))
	}
	if total > MaxStringLength {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return Concat(interleave(parts, Text(a[0]))...), nil
}

func concatStatic(_ any, a []any) (any, error) { return joinStatic(nil, []any{"", a[0]}) }

func concatTexts(_ any, a []any) (any, error) {
	var room [4]string
	texts := room[:len(a)]
	for i, v := range a {
		texts[i] = Text(v)
	}
	return AddTexts(texts...)
}

var charMembers = []Member{
	Method("CompareTo", "char", func(self any, a []any) (any, error) { return int32(self.(Char)) - int32(a[0].(Char)), nil }),
}

func charTest(name string, test func(r rune) bool) Member {
	return Method(name, "char", func(_ any, a []any) (any, error) { return test(rune(a[0].(Char))), nil })
}

var charStatics = []Member{
	charTest("IsDigit", unicode.IsDigit), charTest("IsLetter", unicode.IsLetter),
	charTest("IsLetterOrDigit", func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
	charTest("IsUpper", unicode.IsUpper), charTest("IsLower", unicode.IsLower), charTest("IsWhiteSpace", isSpace),
	charTest("IsControl", unicode.IsControl), charTest("IsPunctuation", unicode.IsPunct),
	charTest("IsNumber", unicode.IsNumber), charTest("IsSymbol", unicode.IsSymbol),
	charTest("IsSurrogate", func(r rune) bool { return r >= 0xD800 && r <= 0xDFFF }),
	charTest("IsHighSurrogate", func(r rune) bool { return r >= 0xD800 && r <= 0xDBFF }),
	charTest("IsLowSurrogate", func(r rune) bool { return r >= 0xDC00 && r <= 0xDFFF }),
	Constant("MinValue", Char(0)), Constant("MaxValue", Char(0xFFFF)),
	Method("ToUpper", "char", func(_ any, a []any) (any, error) { return Char(upper(rune(a[0].(Char)))), nil }),
	Method("ToLower", "char", func(_ any, a []any) (any, error) { return Char(lower(rune(a[0].(Char)))), nil }),
	Method("ToUpperInvariant", "char", func(_ any, a []any) (any, error) { return Char(upper(rune(a[0].(Char)))), nil }),
	Method("ToLowerInvariant", "char", func(_ any, a []any) (any, error) { return Char(lower(rune(a[0].(Char)))), nil }),
	Method("GetNumericValue", "char", func(_ any, a []any) (any, error) {
		if c := a[0].(Char); c >= '0' && c <= '9' {
			return float64(c - '0'), nil
		}
		return float64(-1), nil
	}),
	Method("ConvertFromUtf32", "int", func(_ any, a []any) (any, error) {
		n := a[0].(int32)
		if n < 0 || n > 0x10FFFF || n >= 0xD800 && n <= 0xDFFF {
			return nil, argumentRange("utf32", "A valid UTF32 value is between 0x000000 and 0x10ffff, inclusive, and should not include surrogate codepoint values (0x00d800 ~ 0x00dfff).")
		}
		return string(rune(n)), nil
	}),
	Method("Parse", "string", func(_ any, a []any) (any, error) {
		if s := Text(a[0]); Length(s) == 1 {
			return UnitAt(s, 0), nil
		}
		return nil, ExceptionNamed("System.FormatException", "String must be exactly one character long.")
	}),
}
