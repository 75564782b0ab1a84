package dotnet

import (
	"strconv"
	"strings"
)

// Format is -f: .NET composite formatting with the invariant culture.
func Format(format string, args []any) (string, error) {
	s, e := composite(format, args)
	if e == nil {
		return s, nil
	}
	if limit, ok := e.(*LimitError); ok {
		return "", limit
	}
	r := RuntimeError("FormatError", InvalidOperation, nil, "Error formatting a string: %s.", e.Error())
	return "", r
}

func formatOperator(l, r any) (any, error) {
	items, ok := Enumerate(r)
	if !ok {
		items = []any{base(r)}
	}
	return Format(ToText(l), items)
}

// composite is String.Format; its errors are *Exception or *LimitError.
func composite(format string, args []any) (string, error) {
	var parts []string
	start, total := 0, 0
	emit := func(s string) {
		parts = append(parts, s)
		total += len(s)
	}
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '{' && c != '}' {
			continue
		}
		emit(format[start:i])
		if i+1 < len(format) && format[i+1] == c {
			emit(format[i : i+1])
			i++
			start = i + 1
			continue
		}
		if c == '}' {
			return "", badItem(i, "Unexpected closing brace without a corresponding opening brace.")
		}
		text, next, err := formatItem(format, i+1, args)
		if err != nil {
			return "", err
		}
		emit(text)
		if total > MaxStringLength {
			return "", &LimitError{"string length", MaxStringLength}
		}
		i, start = next, next+1
	}
	emit(format[start:])
	return Concat(parts...), nil
}

func badItem(offset int, why string) *Exception {
	return ExceptionNamed("System.FormatException", "Input string was not in a correct format. Failure to parse near offset %d. %s", offset, why)
}

// formatItem reads "index[,width][:format]}" at i and gives the index of the brace.
func formatItem(format string, i int, args []any) (text string, end int, err error) {
	begin := i
	for i < len(format) && format[i] >= '0' && format[i] <= '9' {
		i++
	}
	if i == begin {
		return "", 0, badItem(min(i, len(format)), "Expected an ASCII digit.")
	}
	index, convErr := strconv.Atoi(format[begin:i])
	for i < len(format) && format[i] == ' ' {
		i++
	}
	width := 0
	if i < len(format) && format[i] == ',' {
		if width, i, err = formatWidth(format, i+1); err != nil {
			return "", 0, err
		}
	}
	spec := ""
	if i < len(format) && format[i] == ':' {
		stop := strings.IndexAny(format[i+1:], "{}")
		if stop < 0 {
			return "", 0, badItem(len(format), "Format item ends prematurely.")
		}
		if format[i+1+stop] == '{' {
			return "", 0, badItem(i+1+stop, "Format item ends prematurely.")
		}
		spec = format[i+1 : i+1+stop]
		i += 1 + stop
	}
	if i >= len(format) {
		return "", 0, badItem(i, "Format item ends prematurely.")
	}
	if format[i] != '}' {
		return "", 0, badItem(i, "Format item ends prematurely.")
	}
	if convErr != nil || index >= len(args) {
		return "", 0, ExceptionNamed("System.FormatException",
			"Index (zero based) must be greater than or equal to zero and less than the size of the argument list.")
	}
	text, err = FormatValue(args[index], spec)
	if err != nil {
		return "", 0, err
	}
	return pad(text, width), i, nil
}

func formatWidth(format string, i int) (width, next int, err error) {
	for i < len(format) && format[i] == ' ' {
		i++
	}
	left := i < len(format) && format[i] == '-'
	if left {
		i++
	}
	begin := i
	for i < len(format) && format[i] >= '0' && format[i] <= '9' {
		i++
	}
	if i == begin {
		return 0, 0, badItem(min(i, len(format)), "Expected an ASCII digit.")
	}
	width, convErr := strconv.Atoi(format[begin:i])
	if convErr != nil || width > MaxStringLength {
		return 0, 0, &LimitError{"string length", MaxStringLength}
	}
	for i < len(format) && format[i] == ' ' {
		i++
	}
	if left {
		width = -width
	}
	return width, i, nil
}

// pad fills with blanks: on the left for a positive width.
func pad(s string, width int) string {
	n := Length(s)
	switch {
	case width > n:
		return strings.Repeat(" ", width-n) + s
	case -width > n:
		return s + strings.Repeat(" ", -width-n)
	default:
		return s
	}
}

// FormatValue is ToString(format) of a value with the invariant culture. The
// error, a FormatException, is an *Exception.
func FormatValue(v any, spec string) (string, error) {
	v = base(v)
	if spec == "" {
		return Text(v), nil
	}
	switch x := v.(type) {
	case DateTime:
		return x.format(spec)
	case TimeSpan:
		return x.format(spec)
	case Guid:
		return x.format(spec)
	case Enum:
		return formatEnum(x, spec)
	}
	if rank(v) != notNumber {
		return formatNumber(v, spec)
	}
	return Text(v), nil
}

func formatEnum(e Enum, spec string) (string, error) {
	switch strings.ToLower(spec) {
	case "g", "f":
		return enumText(e), nil
	case "d":
		return strconv.FormatInt(e.Value, 10), nil
	case "x":
		return formatNumber(int32(e.Value), "X8")
	default:
		return "", badSpecifier()
	}
}

func badSpecifier() *Exception {
	return ExceptionNamed("System.FormatException", "Format specifier was invalid.")
}
