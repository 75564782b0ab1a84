package work

import (
	"slices"
	"strings"

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

// resolvedCells returns a list in which names of objects are replaced with names that the API accepts, or the
// mistakes in the cells. fields contains the field of each column.
func resolvedCells(c *frame.Visit, f *form.Form, sheet form.Sheet, fields []string) ([]byte, []cellProblem) {
	known := map[[2]string]string{}
	wrong := map[[2]string]*form.Words{}
	var problems []cellProblem
	lookups := 0
	list := sheet.Changed(fields, func(cell form.Cell) string {
		field := f.Field(fields[cell.Column])
		if field == nil || field.Pick == "" || plainName(field.Pick, cell.Text) {
			return cell.Text
		}
		var all []string
		for _, name := range namesInCell(field, cell.Text) {
			key := [2]string{string(field.Pick), strings.ToLower(name)}
			if _, asked := known[key]; !asked && wrong[key] == nil {
				if lookups++; lookups > mostLookups {
					wrong[key] = wordsOfPick(c, "sheet.lookups", "most", mostLookups)
				} else {
					known[key], wrong[key] = shortName(c, field.Pick, name)
				}
			}
			if wrong[key] != nil && len(problems) < mostProblems {
				problems = append(problems, cellProblem{cell.Line, cell.Column + 1, field.Label, *wrong[key]})
			}
			all = append(all, known[key])
		}
		return strings.Join(all, ", ")
	})
	return list, problems
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
