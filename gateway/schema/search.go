package schema

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway/cursor"
	"adgateway/gateway/filter"
	"adgateway/ps"
)

// Filter returns the kind of filters for objects of a class. The script receives the LDAP filter in
// segments (see [filter.Search]).
func Filter(class *filter.Class) Kind { return filterKind{class} }

type filterKind struct{ class *filter.Class }

func (k filterKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, true)
	if problem != nil {
		return nil, problem
	}
	expr, err := filter.Parse(k.class, s)
	if err != nil {
		return nil, invalid("%s", err)
	}
	search := expr.Compile(time.Now())
	return &Decoded{
		Values: []ps.Value{ps.List(search.Filter), ps.List(search.Checks), ps.Text(search.Slow)},
		Text:   s, Links: expr.Links(),
	}, nil
}

func (filterKind) Parts() []Part {
	return []Part{{Type: "string[]"}, {Suffix: "Check", Type: "string[]"}, {Suffix: "Slow", Type: "string"}}
}

func (filterKind) Clear() []ps.Value { return nil }
func (filterKind) Secret() bool      { return false }

func (k filterKind) Doc() Doc {
	lines := []string{"Filter in a subset of the SCIM filter language (RFC 7644), such as `" +
		k.class.Example + "`."}
	for _, row := range k.class.Rows() {
		line := fmt.Sprintf("`%s` (%s): %s.", strings.Join(row.Fields, " "), row.Values, row.Operators)
		lines = append(lines, line)
	}
	return Doc{Type: "string", MaxLength: filter.MaxLength, Text: strings.Join(lines, " "),
		Example: k.class.Example}
}

// SearchText returns the kind of texts for searching objects of a class. The script receives an
// LDAP filter. If the text names a domain, it also receives the domain, and the filter to use if the
// domain is another one.
func SearchText(class *filter.Class) Kind { return searchTextKind{base{"string"}, class} }

type searchTextKind struct {
	base
	class *filter.Class
}

func decodeSearch(raw any) (*filter.Text, *FieldError) {
	s, problem := text(raw, 0, true)
	if problem != nil {
		return nil, problem
	}
	parsed, err := filter.ParseText(s)
	if err != nil {
		return nil, invalid("%s", err)
	}
	return parsed, nil
}

func (k searchTextKind) Decode(raw any) (*Decoded, *FieldError) {
	parsed, problem := decodeSearch(raw)
	if problem != nil {
		return nil, problem
	}
	values := []ps.Value{ps.Text(parsed.Clause(k.class)), ps.Text(parsed.Domain()), ps.Text("")}
	if parsed.Domain() != "" {
		values[2] = ps.Text(parsed.Whole().Clause(k.class))
	}
	return &Decoded{Values: values, Text: parsed.String()}, nil
}

func (searchTextKind) Parts() []Part {
	return []Part{{Type: "string"}, {Suffix: "Domain", Type: "string"}, {Suffix: "Foreign", Type: "string"}}
}

func (searchTextKind) Doc() Doc {
	return Doc{Type: "string", Text: fmt.Sprintf(
		"Beginning of a name, account name, email address, or office, with %d to %d characters; "+
			"or a first and a last name in either order. `DOMAIN\\name` means the account name in that domain. "+
			"The letters ä, ö, and ü also match ae, oe, and ue.",
		filter.MinText, filter.MaxText), Example: "schmidt"}
}

// Cursor is the position where a page begins. It is the member next of the previous answer. The script
// receives the smallest GUID of the page, in hexadecimal digits, and its first three octets as a number.
var Cursor Kind = cursorKind{base{"string"}}

type cursorKind struct{ base }

func (cursorKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	c, err := cursor.Parse(s)
	if err != nil {
		return nil, invalid("%s", err)
	}
	first, more := c.Last.Next()
	if !more {
		return nil, invalid("is the end of a list")
	}
	start := int64(first[0])<<16 | int64(first[1])<<8 | int64(first[2])
	return &Decoded{Values: []ps.Value{ps.Text(hex.EncodeToString(first[:])), ps.Int(start)}, Text: s}, nil
}

func (cursorKind) Parts() []Part { return []Part{{Type: "string"}, {Suffix: "Start", Type: "int"}} }

func (cursorKind) Doc() Doc {
	return Doc{Type: "string", Text: "Value of next in the previous answer."}
}

// AnyText is the kind of texts for searching objects of all types. The script receives the text; for each
// type, a filter for the beginnings of names and one for texts inside of values; the ways to write the text;
// the digits of a phone number; and the domain.
var AnyText Kind = anyTextKind{searchTextKind{base{"string"}, filter.Users}}

type anyTextKind struct{ searchTextKind }

// anyTypes are the types of hits, with the suffixes of the script's parameters.
var anyTypes = []struct {
	suffix string
	class  *filter.Class
}{{"User", filter.Users}, {"Group", filter.Groups}, {"Computer", filter.Computers}}

func (anyTextKind) Decode(raw any) (*Decoded, *FieldError) {
	parsed, problem := decodeSearch(raw)
	if problem != nil {
		return nil, problem
	}
	spellings := parsed.Spellings()
	values := []ps.Value{
		ps.Text(spellings[0]), ps.List(spellings), ps.Text(parsed.Digits()), ps.Text(parsed.Domain()),
	}
	for _, t := range anyTypes {
		values = append(values, ps.Text(parsed.Clause(t.class)), ps.Text(parsed.Inside(t.class)))
	}
	return &Decoded{Values: values, Text: parsed.String()}, nil
}

func (anyTextKind) Parts() []Part {
	parts := []Part{
		{Type: "string"}, {Suffix: "Spelling", Type: "string[]"}, {Suffix: "Digit", Type: "string"},
		{Suffix: "Domain", Type: "string"},
	}
	for _, t := range anyTypes {
		begins, inside := Part{Suffix: t.suffix, Type: "string"}, Part{Suffix: "Inside" + t.suffix, Type: "string"}
		parts = append(parts, begins, inside)
	}
	return parts
}

func (k anyTextKind) Doc() Doc {
	d := k.searchTextKind.Doc()
	d.Text += " If nothing begins with the text, the search also finds it within words and phone numbers, " +
		"given at least 3 characters, or 5 digits in any notation."
	return d
}
