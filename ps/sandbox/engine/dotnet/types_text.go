package dotnet

import (
	"strings"
	"unicode"
)

func declareText() {
	TString = Register(Class{
		Name: "System.String", Aliases: []string{"string"}, Implements: []string{"System.Collections.IEnumerable"},
		New:    []Member{Constructor("char[]", func(_ any, a []any) (any, error) { return charsText(a[0]), nil })},
		Static: stringStatics, Members: stringMembers,
	})
	TStringArray = TString.Array()
	declareComparers()
	declareEncodings()
	declareBuilder()
}

// stringMembers contains no overloads that compare by culture.
var stringMembers = []Member{
	Property("Length", func(self any) (any, error) { return int32(Length(self.(string))), nil }),
	methodOf("Substring", "int", func(s string, a []any) (any, error) {
		return substring(s, int(a[0].(int32)), -1)
	}),
	methodOf("Substring", "int,int", func(s string, a []any) (any, error) {
		count := int(a[1].(int32))
		if count < 0 && int(a[0].(int32)) >= 0 && int(a[0].(int32)) <= Length(s) {
			return nil, argumentRange("length", "Length cannot be less than zero.")
		}
		return substring(s, int(a[0].(int32)), max(count, 0))
	}),
	methodOf("ToUpperInvariant", "", func(s string, _ []any) (any, error) { return ToUpper(s), nil }),
	methodOf("ToLowerInvariant", "", func(s string, _ []any) (any, error) { return ToLower(s), nil }),
	methodOf("TrimEnd", "params char[]", func(s string, a []any) (any, error) { return trimEnd(s, charsText(a[0])), nil }),
	methodOf("PadRight", "int", func(s string, a []any) (any, error) { return padRight(s, a[0].(int32)) }),
	Method("Replace", "string,string", func(self any, a []any) (any, error) { return replaceAll(self, a[0].(string), a[1].(string)) }),
	methodOf("ToCharArray", "", func(s string, _ []any) (any, error) { return charArray(s), nil }),
	// Several separators must be a char[], because PowerShell uses another overload for two arguments.
	methodOf("Split", "char", func(s string, a []any) (any, error) { return splitChars(s, ToText(a[0])), nil }),
	methodOf("Split", "char[]", func(s string, a []any) (any, error) { return splitChars(s, charsText(a[0])), nil }),
	methodOf("Contains", "string", func(s string, a []any) (any, error) { return strings.Contains(s, a[0].(string)), nil }),
	methodOf("StartsWith", "string,StringComparison", func(s string, a []any) (any, error) {
		fold, err := ordinal(a[1])
		return err == nil && hasPrefix(s, a[0].(string), fold), err
	}),
	methodOf("EndsWith", "string,StringComparison", func(s string, a []any) (any, error) {
		fold, err := ordinal(a[1])
		return err == nil && hasSuffix(s, a[0].(string), fold), err
	}),
	methodOf("IndexOf", "string", func(s string, a []any) (any, error) {
		if sub := a[0].(string); plainText(s) && plainText(sub) {
			return unitIndex(s, strings.Index(s, sub)), nil
		}
		return nil, Refuse("[string].IndexOf(string) of text beyond ASCII: it compares by culture")
	}),
	methodOf("IndexOf", "char", func(s string, a []any) (any, error) {
		return unitIndex(s, strings.Index(s, CharString(a[0].(Char)))), nil
	}),
	methodOf("LastIndexOf", "char", func(s string, a []any) (any, error) {
		return unitIndex(s, strings.LastIndex(s, CharString(a[0].(Char)))), nil
	}),
	methodOf("Equals", "string", func(s string, a []any) (any, error) { return s == a[0], nil }),
	methodOf("Equals", "string,StringComparison", func(s string, a []any) (any, error) { return equalsBy(s, a[0], a[1]) }),
	methodOf("ToString", "", func(s string, _ []any) (any, error) { return s, nil }),
}

var stringStatics = []Member{
	Method("Concat", "string,string,string,string", func(_ any, a []any) (any, error) {
		return AddTexts(a[0].(string), a[1].(string), a[2].(string), a[3].(string))
	}),
	Method("Equals", "string,string,StringComparison", func(_ any, a []any) (any, error) { return equalsBy(a[0], a[1], a[2]) }),
}

// ordinal converts a StringComparison. Only the two ordinal ones are supported.
func ordinal(comparison any) (ignoreCase bool, err error) {
	switch e := comparison.(Enum); enumText(e) {
	case "Ordinal":
		return false, nil
	case "OrdinalIgnoreCase":
		return true, nil
	default:
		return false, Refuse("[StringComparison]::%s", enumText(e))
	}
}

func equalsBy(a, b, comparison any) (any, error) {
	fold, err := ordinal(comparison)
	if err != nil || !fold {
		return a == b, err
	}
	return EqualFold(a.(string), b.(string)), nil
}

// plainText reports whether s is printable ASCII, which every culture searches character by
// character, except that some ignore the hyphen.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

func charArray(s string) *Array {
	out := &Array{Elem: TChar}
	for _, u := range Units(s) {
		out.Items = append(out.Items, Char(u))
	}
	return out
}

func charsText(v any) string {
	items, _ := Enumerate(v)
	units := make([]uint16, len(items))
	for i, item := range items {
		units[i] = uint16(item.(Char))
	}
	return FromUnits(units)
}

// substring returns count units from start on, or all the rest if count is negative.
func substring(s string, start, count int) (any, error) {
	n := Length(s)
	switch {
	case start < 0:
		return nil, argumentRange("startIndex", "StartIndex cannot be less than zero.")
	case start > n:
		return nil, argumentRange("startIndex", "startIndex cannot be larger than length of string.")
	case count < 0:
		count = n - start
	case start+count > n:
		return nil, argumentRange("length", "Index and length must refer to a location within the string.")
	}
	return Slice(s, start, count), nil
}

// trimEnd removes the given characters from the end, or white space if chars is empty.
func trimEnd(s, chars string) string {
	if chars == "" {
		return strings.TrimRightFunc(s, isSpace)
	}
	return strings.TrimRight(s, chars)
}

// padRight pads a text with spaces.
func padRight(s string, width int32) (any, error) {
	if width < 0 || int(width) > MaxStringLength/3 {
		return nil, Refuse("[string].PadRight(%d)", width)
	}
	return s + strings.Repeat(" ", max(int(width)-Length(s), 0)), nil
}

// replaceAll replaces all occurrences in a text. It returns the text itself if there are none.
func replaceAll(text any, from, with string) (any, error) {
	s := text.(string)
	if from == "" {
		return nil, withParam(ExceptionNamed("System.ArgumentException", "String cannot be of zero length."),
			"oldValue")
	}
	switch n := strings.Count(s, from); {
	case n == 0:
		return text, nil
	case n*len(with)+len(s) > MaxStringLength:
		return nil, &LimitError{"string length", MaxStringLength}
	}
	return strings.ReplaceAll(s, from, with), nil
}

// splitChars splits at each of the given characters, or at white space if chars is empty.
func splitChars(s, chars string) *Array {
	at := isSpace
	if chars != "" {
		at = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	out := &Array{Elem: TString}
	if len(chars) == 1 {
		out.Items = make([]any, 0, strings.Count(s, chars)+1)
		for part := range strings.SplitSeq(s, chars) {
			out.Items = append(out.Items, part)
		}
		return out
	}
	for {
		i := strings.IndexFunc(s, at)
		if i < 0 {
			out.Items = append(out.Items, s)
			return out
		}
		_, n := decode(s[i:])
		out.Items = append(out.Items, s[:i])
		s = s[i+n:]
	}
}

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

// byteOffset returns the offset of the n-th unit, or -1 if s is shorter or a surrogate pair
// crosses that position.
func byteOffset(s string, n int) int {
	offset, rest := unitOffset(s, n)
	if rest != 0 || offset == len(s) && Length(s) < n {
		return -1
	}
	return offset
}

// unitIndex converts a byte offset to an index in units. It returns -1 for -1.
func unitIndex(s string, offset int) int32 {
	if offset < 0 {
		return -1
	}
	return int32(Length(s[:offset]))
}
