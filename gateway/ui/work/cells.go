package work

import (
	"slices"
	"strings"

	"adgateway/gateway/sheet"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Like the fields of a form, the cells of a list may name objects by the names that people use. Logon names
// are not looked up, because the API accepts them. Every other name is looked up only once.

const (
	mostLookups  = 300 // maximum number of names to look up for one list
	mostProblems = 50
)

// cellProblem is a mistake in a cell.
type cellProblem struct {
	Line, Column int
	Label, Text  form.Words
}

// Said returns the description of the mistake.
func (p cellProblem) Said() texts.Text { return texts.Each(p.Text) }

// Called returns the label of the field.
func (p cellProblem) Called() texts.Text { return texts.Each(p.Label) }

// resolver replaces the names of objects in the cells of a list with names that the API knows, and collects
// the mistakes.
type resolver struct {
	c        *frame.Visit
	known    map[[2]string]string
	wrong    map[[2]string]*form.Words
	lookups  int
	problems []cellProblem
}

func newResolver(c *frame.Visit) *resolver {
	return &resolver{c: c, known: map[[2]string]string{}, wrong: map[[2]string]*form.Words{}}
}

// text returns the text of a cell in the form for the API. Columns count from 1; column is 0 if there are
// none.
func (r *resolver) text(field *form.Field, line, column int, text string) string {
	if field == nil || field.Pick == "" || plainName(field.Pick, text) {
		return text
	}
	var all []string
	for _, name := range namesInCell(field, text) {
		key := [2]string{string(field.Pick), strings.ToLower(name)}
		if _, asked := r.known[key]; !asked && r.wrong[key] == nil {
			if r.lookups++; r.lookups > mostLookups {
				r.wrong[key] = wordsOfPick(r.c, "sheet.lookups", "most", mostLookups)
			} else {
				r.known[key], r.wrong[key] = shortName(r.c, field.Pick, name)
			}
		}
		if r.wrong[key] != nil && len(r.problems) < mostProblems {
			r.problems = append(r.problems, cellProblem{line, column, field.Label, *r.wrong[key]})
		}
		all = append(all, r.known[key])
	}
	return strings.Join(all, ", ")
}

// fieldIn returns the field of a row, which may name an operation of its own.
func fieldIn(forms form.Forms, row int, name string) *form.Field {
	if f := forms.Of(row); f != nil && name != "" {
		return f.Field(name)
	}
	return nil
}

// resolvedSheet returns a list in the form for the API, with the mistakes in its cells. fields contains the
// field of each column. The cells of an ignored column are kept if the column's name shows that they are not
// secrets.
func resolvedSheet(
	c *frame.Visit, forms form.Forms, uploaded form.Sheet, columns []form.Column, fields []string,
) (list []byte, problems []cellProblem) {
	r := newResolver(c)
	list = uploaded.Changed(func(at form.Cell) string {
		switch {
		case at.Column >= len(fields):
			return at.Text
		case fields[at.Column] != "":
			field := fieldIn(forms, at.Row, fields[at.Column])
			return r.text(field, at.Line, at.Column+1, sheet.Undefused(at.Text))
		case columns[at.Column].Secret, columns[at.Column].Called == "":
			return ""
		}
		return at.Text
	})
	return list, r.problems
}

// resolvedItems is [resolvedSheet] for a list in JSON.
func resolvedItems(c *frame.Visit, forms form.Forms, list []byte, items []form.Item) ([]byte, []cellProblem) {
	r := newResolver(c)
	list = form.ChangedItems(list, items, func(name string, at form.Cell) string {
		return r.text(fieldIn(forms, at.Row, name), at.Line, 0, at.Text)
	})
	return list, r.problems
}

// namesInCell returns the names in a cell. If the field accepts several names, they are separated by commas
// or line breaks.
func namesInCell(field *form.Field, text string) []string {
	if !field.Many {
		return []string{strings.TrimSpace(text)}
	}
	names := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' })
	if len(names) == 1 && !strings.Contains(names[0], "=") {
		names = strings.Split(names[0], ",")
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// plainName reports whether a cell contains a name that the API accepts, which is a distinguished name for a
// unit, or a name without spaces for an account. It returns true for an empty cell.
func plainName(pick form.Pick, text string) bool {
	text = strings.TrimSpace(text)
	if pick == form.Unit {
		return text == "" || strings.HasPrefix(text, "<") || strings.Contains(strings.ToUpper(text), "DC=")
	}
	if searched[pick] == "" {
		return true
	}
	return text == "" || strings.HasPrefix(text, "<") || strings.Contains(strings.ToUpper(text), "DC=") ||
		!strings.ContainsAny(text, " \\@,;\n\u00a0")
}

// shortName returns the API's name for an object that people call by a text. This is the logon name, which is
// readable in the result, or the identity if there is no logon name.
func shortName(c *frame.Visit, pick form.Pick, text string) (string, *form.Words) {
	found, problem := meantObject(c, pick, text)
	if problem != nil || pick == form.Unit || !say.IsGUID(found) || say.IsGUID(text) {
		return found, problem
	}
	hits, _ := pickHits(c, pick, plainAccount(text))
	for _, hit := range hits {
		if logon := hit.Text("username"); hit.Text("guid") == found && logon != "" {
			return logon, nil
		}
	}
	return found, nil
}
