package schema

import (
	"fmt"
	"strings"

	"adgateway/ps"
)

// FieldList returns the kind of ShowFields: field names of a shape, separated by commas. The script
// receives them in declared order, without duplicates.
func FieldList(shape *Shape) Kind {
	k := fieldListKind{base: base{"string[]"}, shape: shape, index: map[string]int{}}
	for i, field := range shape.Fields {
		k.index[strings.ToLower(field.Name)] = i
		if field.Input != "" {
			k.index[strings.ToLower(field.Input)] = i
		}
		k.names = append(k.names, field.Name)
	}
	all := shape.All()
	k.whole = &Decoded{Values: []ps.Value{all.Read()}, Text: "*", Fields: all}
	return k
}

// ChoosesFields reports whether values of the kind select the fields of records.
func ChoosesFields(k Kind) bool {
	_, list := k.(fieldListKind)
	return list
}

type fieldListKind struct {
	base
	shape *Shape
	index map[string]int // keyed by names of fields and of their inputs, in lower case
	names []string
	whole *Decoded // result for "*"; never modified
}

func (k fieldListKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := listText(raw, 0)
	if problem != nil {
		return nil, problem
	}
	if s == k.whole.Text {
		return k.whole, nil
	}
	selection := k.shape.All()
	if s != "" && s != "*" && !strings.EqualFold(s, "all") {
		if selection, problem = k.choose(s); problem != nil {
			return nil, problem
		}
	}
	return &Decoded{Values: []ps.Value{selection.Read()}, Text: s, Fields: selection}, nil
}

func (k fieldListKind) choose(list string) (*Selection, *FieldError) {
	wanted := make([]bool, len(k.names))
	var unknown []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.Trim(name, " ")
		if name == "*" || strings.EqualFold(name, "all") {
			for i := range k.shape.Fields {
				wanted[i] = wanted[i] || k.shape.Fields[i].Extra == nil
			}
			continue
		}
		if place, known := k.index[strings.ToLower(name)]; known {
			wanted[place] = true
		} else {
			unknown = append(unknown, "'"+shortened(name)+"'"+k.here(name))
		}
	}
	const shown = 5
	switch n := len(unknown); {
	case n > shown:
		unknown = append(unknown[:shown], fmt.Sprintf("%d more", n-shown))
		fallthrough
	case n > 0:
		return nil, invalid("must be names of fields separated by commas; unknown: %s; known: %s",
			strings.Join(unknown, ", "), strings.Join(k.names, ", "))
	}
	selection := &Selection{Shape: k.shape, index: map[string]int{}}
	for i := range wanted {
		if wanted[i] {
			selection.add(i)
		}
	}
	selection.complete()
	return selection, nil
}

// here returns the name of the field that holds an attribute. It returns "" if there is no such field, or if
// the field has the same name.
func (k fieldListKind) here(attribute string) string {
	for _, field := range k.shape.Fields {
		if field.Attribute != "" && strings.EqualFold(field.Attribute, attribute) {
			return " (here " + field.Name + ")"
		}
	}
	return ""
}

// shortened limits the length of a name in an answer.
func shortened(name string) string {
	const limit = 64
	if runes := []rune(name); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return name
}

// extras returns a text that lists the fields that are only shown if they are named.
func (k fieldListKind) extras() string {
	for i := range k.shape.Fields {
		if k.shape.Fields[i].Extra != nil {
			return " except additional attributes, which must be named, as in *," + k.shape.Fields[i].Name
		}
	}
	return ""
}

func (k fieldListKind) Doc() Doc {
	about := "Field names, separated by commas, not case-sensitive; in JSON, also an array. " +
		"Empty, * or All means all fields" + k.extras() + "."
	return Doc{Type: "string", Text: about,
		Example: strings.Join(k.names[:min(2, len(k.names))], ",")}
}
