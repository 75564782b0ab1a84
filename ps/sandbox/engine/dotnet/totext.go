package dotnet

import (
	"slices"
	"strconv"
	"strings"
)

// ToText implements the conversion to string in the invariant culture. It joins the items of collections with
// spaces, and converts $null to "".
func ToText(v any) string { return ToTextOFS(v, " ") }

// ToTextOFS is ToText with another separator ($OFS) for collections.
func ToTextOFS(v any, ofs string) string {
	switch v := v.(type) {
	case string:
		return v
	case nil, Nothing:
		return ""
	case *Array, *List, *Bytes:
		return joinText(v, ofs)
	case *PSObject:
		return v.text()
	case *Type:
		if v == TPSCustomObject || v == TOrderedDictionary {
			return Text(v) // the engine has no short names for these types
		}
		return v.Display()
	default:
		return Text(v)
	}
}

func joinText(v any, ofs string) string {
	items, _ := Enumerate(v)
	parts := make([]string, len(items))
	for i, item := range items {
		switch item.(type) {
		case *Array, *List, *Bytes:
			parts[i] = Text(item)
		default:
			parts[i] = ToTextOFS(item, ofs)
		}
	}
	return joinTexts(parts, ofs)
}

// joinTexts is Concat with a separator between the strings.
func joinTexts(parts []string, separator string) string {
	switch {
	case len(parts) < 2 || separator == "":
		return Concat(parts...)
	case !startsLow(separator) && !slices.ContainsFunc(parts[1:], startsLow):
		return strings.Join(parts, separator)
	}
	out := make([]string, 0, 2*len(parts))
	for i, p := range parts {
		if i > 0 {
			out = append(out, separator)
		}
		out = append(out, p)
	}
	return Concat(out...)
}

// Text implements ToString(). For a collection it is the name of its type.
func Text(v any) string {
	switch v := v.(type) {
	case nil, Nothing:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return formatFloat(v)
	case Char:
		return CharString(v)
	case Enum:
		return enumText(v)
	case DateTime:
		return v.Text()
	case TimeSpan:
		return v.Text()
	case Guid:
		return v.String()
	case Version:
		return v.String()
	case Category:
		return v.String()
	}
	if i, ok := asInt64(v); ok {
		return strconv.FormatInt(i, 10)
	}
	return textOfObject(v)
}

func textOfObject(v any) string {
	switch v := v.(type) {
	case *Type:
		return v.Text()
	case *PSObject:
		return v.text()
	case *Instance:
		return v.text()
	case *Exception:
		return v.text()
	case *ErrorRecord:
		return v.String()
	case Texter:
		return v.Text()
	}
	return TypeOf(v).Text()
}

func (o *Instance) text() string {
	if o.Text != "" {
		return o.Text
	}
	for t := o.Type; t != nil && t != TObject; t = t.Base { // ToString of Object would recurse here
		t.ready()
		if s := t.instance.find(nameToString); s != nil && len(s.methods) > 0 && len(s.methods[0].params) == 0 {
			if r, err := s.methods[0].Call(o, nil); err == nil {
				text, _ := r.(string)
				return text
			}
		}
	}
	return o.Type.Text()
}

func (o *PSObject) text() string {
	if o.Props.Len() == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("@{")
	for i := range o.Props.Len() {
		name, value := o.Props.At(i)
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name)
		b.WriteByte('=')
		if _, nested := value.(*PSObject); !nested { // a nested object has no text
			b.WriteString(Text(value))
		}
	}
	b.WriteByte('}')
	return b.String()
}

// maxInner limits the number of inner exceptions in a text.
const maxInner = 100

// text implements Exception.ToString().
func (e *Exception) text() string {
	var b strings.Builder
	ends := 0
	for {
		b.WriteString(e.Type.Name)
		if e.Message != "" {
			b.WriteString(": " + e.Message)
		}
		if e = e.Inner; e == nil || ends == maxInner {
			break
		}
		b.WriteString("\n ---> ")
		ends++
	}
	b.WriteString(strings.Repeat("\n   --- End of inner exception stack trace ---", ends))
	return b.String()
}
