package dotnet

import (
	"strings"
	"unicode"
)

func declareText() {
	TString = Register(Class{
		Name: "System.String", Aliases: []string{"string"},
		Implements: append([]string{"System.ICloneable", "System.Collections.IEnumerable"}, scalarInterfaces...),
		New: []Member{
			Constructor("char,int", func(_ any, a []any) (any, error) { return repeatChar(a[0].(Char), a[1].(int32)) }),
			Constructor("char[]", func(_ any, a []any) (any, error) { return charsText(a[0]), nil }),
			Constructor("char[],int,int", func(_ any, a []any) (any, error) {
				return substring(charsText(a[0]), int(a[1].(int32)), int(a[2].(int32)))
			}),
		},
		Static:  stringStatics,
		Members: append(append([]Member{}, stringMembers...), stringSearch...),
	})
	TStringArray = TString.Array()
	declareComparers()
	declareEncodings()
	declareBuilder()
}

func repeatChar(c Char, n int32) (any, error) {
	if n < 0 {
		return nil, argumentRange("count", "'count' must be non-negative.")
	}
	if int(n) > MaxStringLength/3 {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return strings.Repeat(CharString(c), int(n)), nil
}

func charsText(v any) string {
	items, _ := Enumerate(v)
	units := make([]uint16, len(items))
	for i, item := range items {
		c, _ := item.(Char)
		units[i] = uint16(c)
	}
	return FromUnits(units)
}

// textOf makes a method row on strings.
func textMethod(name, sig string, f func(s string, a []any) (any, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) { return f(self.(string), a) })
}

var stringMembers = []Member{
	Property("Length", func(self any) (any, error) { return int32(Length(self.(string))), nil }),
	textMethod("Substring", "int startIndex", func(s string, a []any) (any, error) {
		return substringFrom(s, int(a[0].(int32)))
	}),
	textMethod("Substring", "int startIndex,int length", func(s string, a []any) (any, error) {
		return substring(s, int(a[0].(int32)), int(a[1].(int32)))
	}),
	textMethod("ToUpper", "", func(s string, _ []any) (any, error) { return ToUpper(s), nil }),
	textMethod("ToUpper", "System.Globalization.CultureInfo", func(s string, _ []any) (any, error) { return ToUpper(s), nil }),
	textMethod("ToUpperInvariant", "", func(s string, _ []any) (any, error) { return ToUpper(s), nil }),
	textMethod("ToLower", "", func(s string, _ []any) (any, error) { return ToLower(s), nil }),
	textMethod("ToLower", "System.Globalization.CultureInfo", func(s string, _ []any) (any, error) { return ToLower(s), nil }),
	textMethod("ToLowerInvariant", "", func(s string, _ []any) (any, error) { return ToLower(s), nil }),
	textMethod("Trim", "", func(s string, _ []any) (any, error) { return strings.TrimFunc(s, isSpace), nil }),
	textMethod("Trim", "params char[]", func(s string, a []any) (any, error) {
		return trimChars(trimChars(s, a[0], true), a[0], false), nil
	}),
	textMethod("TrimStart", "", func(s string, _ []any) (any, error) { return strings.TrimLeftFunc(s, isSpace), nil }),
	textMethod("TrimStart", "params char[]", func(s string, a []any) (any, error) { return trimChars(s, a[0], true), nil }),
	textMethod("TrimEnd", "", func(s string, _ []any) (any, error) { return strings.TrimRightFunc(s, isSpace), nil }),
	textMethod("TrimEnd", "params char[]", func(s string, a []any) (any, error) { return trimChars(s, a[0], false), nil }),
	textMethod("PadLeft", "int", func(s string, a []any) (any, error) { return padText(s, a[0], Char(' '), true) }),
	textMethod("PadLeft", "int,char", func(s string, a []any) (any, error) { return padText(s, a[0], a[1].(Char), true) }),
	textMethod("PadRight", "int", func(s string, a []any) (any, error) { return padText(s, a[0], Char(' '), false) }),
	textMethod("PadRight", "int,char", func(s string, a []any) (any, error) { return padText(s, a[0], a[1].(Char), false) }),
	textMethod("Replace", "string,string", func(s string, a []any) (any, error) { return replaceAll(s, a[0], Text(a[1]), false) }),
	textMethod("Replace", "char,char", func(s string, a []any) (any, error) {
		return replaceAll(s, CharString(a[0].(Char)), CharString(a[1].(Char)), false)
	}),
	textMethod("Replace", "string,string,StringComparison", func(s string, a []any) (any, error) {
		return replaceAll(s, a[0], Text(a[1]), ignoresCase(a[2]))
	}),
	textMethod("Insert", "int,string", func(s string, a []any) (any, error) {
		i := int(a[0].(int32))
		if i < 0 || i > Length(s) {
			return nil, argumentRange("startIndex", "Specified argument was out of the range of valid values.")
		}
		return Concat(Slice(s, 0, i), Text(a[1]), Slice(s, i, Length(s)-i)), nil
	}),
	textMethod("Remove", "int", func(s string, a []any) (any, error) { return substring(s, 0, int(a[0].(int32))) }),
	textMethod("Remove", "int,int", func(s string, a []any) (any, error) {
		i, n := int(a[0].(int32)), int(a[1].(int32))
		if i < 0 || n < 0 || i+n > Length(s) {
			return nil, argumentRange("count", "Index and count must refer to a location within the string.")
		}
		return Concat(Slice(s, 0, i), Slice(s, i+n, Length(s)-i-n)), nil
	}),
	textMethod("ToCharArray", "", func(s string, _ []any) (any, error) { return Convert(s, TChar.Array()) }),
	textMethod("ToString", "", func(s string, _ []any) (any, error) { return s, nil }),
	textMethod("ToString", "System.IFormatProvider", func(s string, _ []any) (any, error) { return s, nil }),
	textMethod("Clone", "", func(s string, _ []any) (any, error) { return s, nil }),
	textMethod("Normalize", "", func(s string, _ []any) (any, error) { return normalize(s), nil }),
	textMethod("get_Chars", "int", func(s string, a []any) (any, error) { return charAt(s, a[0]) }),
	textMethod("Chars", "int", func(s string, a []any) (any, error) { return charAt(s, a[0]) }),
	textMethod("GetEnumerator", "", func(s string, _ []any) (any, error) { return Convert(s, TChar.Array()) }),
	textMethod("Split", "params char[]", func(s string, a []any) (any, error) { return splitChars(s, a[0], -1, 0) }),
	textMethod("Split", "string", func(s string, a []any) (any, error) { return splitStrings(s, []any{a[0]}, -1, 0) }),
	textMethod("Split", "char[],int", func(s string, a []any) (any, error) { return splitChars(s, a[0], int(a[1].(int32)), 0) }),
	textMethod("Split", "char,int", func(s string, a []any) (any, error) {
		return splitChars(s, NewArray(a[0]), int(a[1].(int32)), 0)
	}),
	textMethod("Split", "char[],StringSplitOptions", func(s string, a []any) (any, error) {
		return splitChars(s, a[0], -1, a[1].(Enum).Value)
	}),
	textMethod("Split", "char,StringSplitOptions", func(s string, a []any) (any, error) {
		return splitChars(s, NewArray(a[0]), -1, a[1].(Enum).Value)
	}),
	textMethod("Split", "string[],StringSplitOptions", func(s string, a []any) (any, error) {
		return splitStrings(s, EnumerateAny(a[0]), -1, a[1].(Enum).Value)
	}),
	textMethod("Split", "string,StringSplitOptions", func(s string, a []any) (any, error) {
		return splitStrings(s, []any{a[0]}, -1, a[1].(Enum).Value)
	}),
	textMethod("Split", "string,int,StringSplitOptions", func(s string, a []any) (any, error) {
		return splitStrings(s, []any{a[0]}, int(a[1].(int32)), a[2].(Enum).Value)
	}),
	textMethod("Split", "string[],int,StringSplitOptions", func(s string, a []any) (any, error) {
		return splitStrings(s, EnumerateAny(a[0]), int(a[1].(int32)), a[2].(Enum).Value)
	}),
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0x85 || r == 0xA0 }

func charAt(s string, index any) (any, error) {
	i := int(index.(int32))
	if i < 0 || i >= Length(s) {
		return nil, ExceptionNamed("System.IndexOutOfRangeException", "Index was outside the bounds of the array.")
	}
	return UnitAt(s, i), nil
}

func substringFrom(s string, start int) (any, error) {
	n := Length(s)
	if start < 0 {
		return nil, argumentRange("startIndex", "StartIndex cannot be less than zero.")
	}
	if start > n {
		return nil, argumentRange("startIndex", "startIndex cannot be larger than length of string.")
	}
	return Slice(s, start, n-start), nil
}

func substring(s string, start, count int) (any, error) {
	n := Length(s)
	switch {
	case start < 0:
		return nil, argumentRange("startIndex", "StartIndex cannot be less than zero.")
	case start > n:
		return nil, argumentRange("startIndex", "startIndex cannot be larger than length of string.")
	case count < 0:
		return nil, argumentRange("length", "Length cannot be less than zero.")
	case start+count > n:
		return nil, argumentRange("length", "Index and length must refer to a location within the string.")
	}
	return Slice(s, start, count), nil
}

// trimChars removes the given characters, or white space when there are none.
func trimChars(s string, chars any, left bool) string {
	set := charsText(chars)
	cut := func(r rune) bool {
		for rest := set; rest != ""; {
			c, n := decode(rest)
			if c == r {
				return true
			}
			rest = rest[n:]
		}
		return false
	}
	if set == "" {
		cut = isSpace
	}
	if left {
		return strings.TrimLeftFunc(s, cut)
	}
	return strings.TrimRightFunc(s, cut)
}

func padText(s string, width any, c Char, left bool) (any, error) {
	total := int(width.(int32))
	if total < 0 {
		return nil, argumentRange("totalWidth", "Non-negative number required.")
	}
	if total > MaxStringLength/3 {
		return nil, &LimitError{"string length", MaxStringLength}
	}
	fill := strings.Repeat(CharString(c), max(total-Length(s), 0))
	if left {
		return Concat(fill, s), nil
	}
	return Concat(s, fill), nil
}

func replaceAll(s string, old any, with string, ignoreCase bool) (any, error) {
	if old == nil {
		return nil, argumentNull("oldValue")
	}
	from := Text(old)
	if from == "" {
		return nil, withParam(ExceptionNamed("System.ArgumentException", "String cannot be of zero length."), "oldValue")
	}
	if !ignoreCase {
		if n := strings.Count(s, from); n*len(with)+len(s) > MaxStringLength {
			return nil, &LimitError{"string length", MaxStringLength}
		}
		return strings.ReplaceAll(s, from, with), nil
	}
	var b strings.Builder
	for s != "" {
		i, n := indexFold(s, from)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(with)
		s = s[i+n:]
		if b.Len() > MaxStringLength {
			return nil, &LimitError{"string length", MaxStringLength}
		}
	}
	b.WriteString(s)
	return b.String(), nil
}

// indexFold finds sub ignoring case: the byte offset and length of the hit.
func indexFold(s, sub string) (int, int) {
	units := Length(sub)
	for i := 0; i < len(s); {
		rest := s[i:]
		if len(rest) < units {
			break
		}
		if end := byteOffset(rest, units); end >= 0 && EqualFold(rest[:end], sub) {
			return i, end
		}
		_, n := decode(rest)
		i += n
	}
	if sub == "" {
		return 0, 0
	}
	return -1, 0
}

// byteOffset is the offset of the n-th unit, or -1 when s is shorter.
func byteOffset(s string, n int) int {
	offset, rest := unitOffset(s, n)
	if rest != 0 || offset == len(s) && Length(s) < n {
		return -1
	}
	return offset
}

func splitChars(s string, chars any, count int, options int64) (any, error) {
	items, _ := Enumerate(chars)
	var separators []any
	for _, item := range items {
		if c, ok := item.(Char); ok {
			separators = append(separators, CharString(c))
		}
	}
	if len(separators) == 0 {
		return splitFunc(s, count, 0, options, func(s string) (int, int) {
			i := strings.IndexFunc(s, isSpace)
			if i < 0 {
				return -1, 0
			}
			_, n := decode(s[i:])
			return i, n
		})
	}
	return splitStrings(s, separators, count, options)
}

func splitStrings(s string, separators []any, count int, options int64) (any, error) {
	var texts []string
	for _, separator := range separators {
		if t := Text(separator); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 && len(separators) > 0 {
		return &Array{Elem: TString, Items: []any{s}}, nil
	}
	room := 0
	if len(texts) == 1 && count < 0 {
		room = strings.Count(s, texts[0]) + 1
	}
	return splitFunc(s, count, room, options, func(s string) (int, int) {
		best, size := -1, 0
		for _, t := range texts {
			if i := strings.Index(s, t); i >= 0 && (best < 0 || i < best) {
				best, size = i, len(t)
			}
		}
		return best, size
	})
}

// splitFunc cuts at what next finds. count limits the pieces (-1: no limit);
// options: 1 drops empty pieces, 2 trims.
func splitFunc(s string, count, room int, options int64, next func(string) (at, size int)) (any, error) {
	if count < -1 {
		return nil, argumentRange("count", "Count cannot be less than zero.")
	}
	out := &Array{Elem: TString}
	if count == 0 {
		return out, nil
	}
	if room > 1 {
		out.Items = make([]any, 0, room)
	}
	emit := func(piece string) {
		if options&2 != 0 {
			piece = strings.TrimFunc(piece, isSpace)
		}
		if piece != "" || options&1 == 0 {
			out.Items = append(out.Items, piece)
		}
	}
	for count < 0 || len(out.Items) < count-1 {
		i, n := next(s)
		if i < 0 {
			break
		}
		emit(s[:i])
		s = s[i+n:]
	}
	emit(s)
	return out, nil
}
