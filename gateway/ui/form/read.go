package form

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// Prefixes to the name of a field, for additional values that a form sends.
const (
	// Was is the prefix for the value that a field showed initially.
	Was = "was:"
	// Never is the prefix for the mark that a field is intentionally empty.
	Never = "never:"
)

// Problem is a mistake in a field.
type Problem struct {
	Field string // name of the field; empty if several fields are at fault
	Text  Words
}

// Read returns the values for the call, and the mistakes in the typed values. It omits values that were not
// edited. Problems never contain a secret.
func (f *Form) Read(typed url.Values) (ops.Given, []Problem) {
	given := ops.Given{}
	var problems []Problem
	for i := range f.Fields {
		if problem := f.Fields[i].read(f.Op, typed, given); problem != nil {
			problems = append(problems, *problem)
		}
	}
	tried := ops.Given{ops.DryRun: "true"}
	for name, value := range given {
		tried[name] = value
	}
	_, found := f.Op.Bind(tried)
	for _, p := range found {
		name := ""
		if field := f.Field(p.Field); field != nil {
			name = field.Name
		}
		if name == "" || !slices.ContainsFunc(problems, func(has Problem) bool { return has.Field == name }) {
			problems = append(problems, f.Problem(p.Field, p.Message, typed.Get(p.Field)))
		}
	}
	return given, problems
}

func (f *Field) read(op *ops.Operation, typed url.Values, given ops.Given) *Problem {
	value := typed.Get(f.Name)
	if f.Control != Secret {
		value = strings.TrimSpace(strings.ReplaceAll(value, "\r\n", "\n"))
	}
	was, shown := typed.Get(Was+f.Name), typed.Has(Was+f.Name)
	switch {
	case f.Control == Tick:
		if value != "" && value != "false" {
			given[f.Name] = "true"
		} else if f.Required || f.Default == "true" {
			given[f.Name] = "false"
		}
	case shown && !f.Required && (was == value || !typed.Has(f.Name)):
	case value == "" && f.Emptied:
		if !typed.Has(Never + f.Name) {
			return f.missing()
		}
		given[f.Name] = ""
	case value == "" && f.Required:
		return f.missing()
	case value == "":
		if shown && was != "" && op.EmptyMeans(f.Param) == ops.Cleared {
			given[f.Name] = ""
		}
	case f.Many:
		given[f.Name] = listOf(f, value)
	default:
		given[f.Name] = value
	}
	return nil
}

// listOf returns the values in a text, one per line.
func listOf(f *Field, text string) any {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	if f.Pick != "" || schema.Repeats(f.Param.Kind) || schema.AttributeOf(f.Param.Kind) != nil {
		return schema.TextsOf(all)
	}
	return schema.ListOf(all)
}

// Missing returns the problem with a required field that is empty.
func (f *Field) Missing() Problem { return *f.missing() }

func (f *Field) missing() *Problem {
	if f.Emptied {
		return &Problem{f.Name, Words{
			f.Label[0] + " is missing. If there is none, tick “" + NoEnd[0] + "”.",
			f.Label[1] + " fehlt. Wenn es das nicht gibt, „" + NoEnd[1] + "“ ankreuzen.",
		}}
	}
	return &Problem{f.Name, Words{f.Label[0] + " is missing.", f.Label[1] + " fehlt."}}
}

// NoEnd is the label of the box for a day that is intentionally empty.
var NoEnd = Words{"No end", "Kein Ende"}

// Problem returns the problem to show for a parameter, given the message from the API and the value
// that was typed.
func (f *Form) Problem(param, message, typed string) Problem {
	field := f.Field(param)
	if field == nil {
		return Problem{Text: Words{sentence(message), "So geht es nicht: Die Angaben passen nicht zusammen."}}
	}
	if message == "is required" {
		return *field.missing()
	}
	english := sentence(field.Label[0] + " " + message)
	return Problem{field.Name, Words{english, field.german(typed)}}
}

// german describes the values that a field accepts, in German.
func (f *Field) german(typed string) string {
	doc := f.Param.Kind.Doc()
	switch {
	case doc.MaxLength > 0 && len(utf16.Encode([]rune(typed))) > doc.MaxLength:
		return fmt.Sprintf("%s: höchstens %d Zeichen.", f.Label[1], doc.MaxLength)
	case f.Control == Number && f.Most > 0:
		return fmt.Sprintf("%s: eine Zahl von %d bis %d.", f.Label[1], f.Least, f.Most)
	case doc.Example != "" && !f.Param.Kind.Secret():
		return fmt.Sprintf("%s: Dieser Wert ist nicht zulässig. Ein Beispiel: %s", f.Label[1], doc.Example)
	}
	return f.Label[1] + ": Dieser Wert ist nicht zulässig."
}

func sentence(text string) string {
	text, _, _ = strings.Cut(text, "; here its name is ")
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
