package sandbox

import (
	"fmt"
	"io"
	"strings"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// streams returns the streams of a line. Warnings and similar messages go to stdout with the
// output, errors to stderr (conformance note 8, facts A29).
func (h *host) streams() engine.Streams {
	say := func(prefix string) func(string) {
		return func(text string) { h.out.line(prefix + text) }
	}
	return engine.Streams{
		Output:  h.out.write,
		Error:   func(rec *dotnet.ErrorRecord) { h.complain(recordText(rec, false)) },
		Warning: say("WARNING: "),
		Verbose: say("VERBOSE: "),
		Host:    say(""),
	}
}

// recordText returns an error as the console shows it: its subject and the message.
func recordText(rec *dotnet.ErrorRecord, thrown bool) string {
	text := rec.Details
	if text == "" && rec.Exception != nil {
		text = rec.Exception.Message
	}
	return errorSubject(rec, thrown) + ": " + text + "\n"
}

// errorSubject returns the word before the message: "Exception" if the error was thrown,
// otherwise the command, the category or the type of the exception.
func errorSubject(rec *dotnet.ErrorRecord, thrown bool) string {
	switch {
	case thrown:
		return "Exception"
	case rec.Activity != "":
		return rec.Activity
	case rec.Category != dotnet.NotSpecified:
		return rec.Category.String()
	case rec.Reason != "":
		return rec.Reason
	case rec.Exception != nil && rec.Exception.Type != nil:
		return rec.Exception.Type.ShortName()
	}
	return "Error"
}

// parseErrorText returns the text of errors about a line that could not be parsed: the line,
// a mark below the position, and the message.
func parseErrorText(err *engine.ParseError, text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	var b strings.Builder
	for _, e := range err.Errors {
		line := ""
		if e.Pos.Line >= 1 && e.Pos.Line <= len(lines) {
			line = lines[e.Pos.Line-1]
		}
		fmt.Fprintf(&b, "ParserError: \nLine |\n%4d |  %s\n     | %s~\n", e.Pos.Line, line,
			strings.Repeat(" ", e.Pos.Column))
		for _, part := range strings.Split(e.Message, "\n") {
			fmt.Fprintf(&b, "     | %s\n", part)
		}
	}
	return b.String()
}

// A formatter writes the output of a line to stdout: text verbatim, objects as a table or a list. Consecutive
// objects of the same shape share a table, which is written when other output follows or the line ends.
type formatter struct {
	to    io.Writer
	rows  []shaped
	shape string
}

// shaped is an object split into names and values.
type shaped struct {
	names  []string
	values []any
	list   bool
}

func newFormatter(to io.Writer) *formatter { return &formatter{to: to} }

// write implements [engine.Streams.Output].
func (f *formatter) write(v any) error {
	if v == nil {
		return nil
	}
	rows, shape, ok := takeApart(v)
	if !ok {
		f.flush()
		if array, ok := v.(*dotnet.Array); ok {
			for _, item := range array.Items {
				if _, nested := item.(*dotnet.Array); nested { // PowerShell lists the properties of the array
					return dotnet.Refuse("the output of an array in an array in an array")
				}
				if err := f.write(item); err != nil {
					return err
				}
			}
			return nil
		}
		_, err := io.WriteString(f.to, dotnet.ToText(v)+"\n")
		return err
	}
	if shape != f.shape {
		f.flush()
	}
	f.rows, f.shape = append(f.rows, rows...), shape
	return nil
}

// line writes a line of another stream after the pending objects.
func (f *formatter) line(text string) {
	f.flush()
	_, _ = io.WriteString(f.to, text+"\n")
}

// tableColumns is the maximum number of columns of a table.
const tableColumns = 4

// takeApart splits an object with properties into rows. ok is false for a value that is shown as plain text.
func takeApart(v any) (rows []shaped, shape string, ok bool) {
	switch v := v.(type) {
	case *dotnet.Hashtable:
		for i := range v.Len() {
			key, value := v.At(i)
			rows = append(rows, shaped{names: []string{"Name", "Value"}, values: []any{key, value}})
		}
		return rows, "hashtable", true
	case *dotnet.PSObject, *dotnet.Instance:
		row := shaped{}
		for _, p := range dotnet.Properties(v) {
			row.names = append(row.names, p.Name)
			row.values = append(row.values, p.Value())
		}
		if len(row.names) == 0 {
			return nil, "", false
		}
		row.list = len(row.names) > tableColumns
		return []shaped{row}, strings.Join(row.names, "\x00"), true
	}
	return nil, "", false
}

// flush writes the pending objects.
func (f *formatter) flush() {
	rows, shape := f.rows, f.shape
	f.rows, f.shape = nil, ""
	if len(rows) == 0 {
		return
	}
	text := tableText(rows, shape == "hashtable")
	if rows[0].list {
		text = listText(rows)
	}
	_, _ = io.WriteString(f.to, text)
}

// hashtableKey is the width of the first column of a hashtable.
const hashtableKey = 30

func tableText(rows []shaped, hashtable bool) string {
	names := rows[0].names
	widths, right := make([]int, len(names)), make([]bool, len(names))
	for i, name := range names {
		widths[i] = len([]rune(name))
		right[i] = isNumber(rows[0].values[i]) && !hashtable
		for _, row := range rows {
			widths[i] = max(widths[i], len([]rune(cellText(row.values[i]))))
		}
	}
	if hashtable {
		widths[0] = max(widths[0], hashtableKey)
	}
	var b strings.Builder
	line := func(cell func(i int) string) {
		var l strings.Builder
		for i := range names {
			if i > 0 {
				l.WriteByte(' ')
			}
			text := cell(i)
			pad := strings.Repeat(" ", max(0, widths[i]-len([]rune(text))))
			if right[i] {
				text = pad + text
			} else {
				text += pad
			}
			l.WriteString(text)
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	b.WriteByte('\n')
	line(func(i int) string { return names[i] })
	line(func(i int) string { return strings.Repeat("-", len([]rune(names[i]))) })
	for _, row := range rows {
		line(func(i int) string { return cellText(row.values[i]) })
	}
	b.WriteByte('\n')
	return b.String()
}

func listText(rows []shaped) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, row := range rows {
		width := 0
		for _, name := range row.names {
			width = max(width, len([]rune(name)))
		}
		for i, name := range row.names {
			fmt.Fprintf(&b, "%-*s : %s\n", width, name, cellText(row.values[i]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func isNumber(v any) bool {
	switch v.(type) {
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float64:
		return true
	}
	return false
}

// cellText returns the text of a value in a table or a list.
func cellText(v any) string {
	if array, ok := v.(*dotnet.Array); ok {
		texts := make([]string, len(array.Items))
		for i, item := range array.Items {
			texts[i] = dotnet.ToText(item)
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	return dotnet.ToText(v)
}
