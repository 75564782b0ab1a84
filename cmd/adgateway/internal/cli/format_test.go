package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"adgateway/ps/sandbox/engine/dotnet"
)

// formatOutput returns the console's text for the output of a line: strings and numbers on a
// line each, objects as tables of up to four columns or as lists.
func formatOutput(items []any) string {
	var text strings.Builder
	for i := 0; i < len(items); {
		v := items[i]
		i++
		if v == nil || v == dotnet.AutomationNull {
			continue
		}
		names := shownColumns(v)
		if names == nil {
			writeScalar(&text, v, maxUnrolled)
			continue
		}
		rows := []any{v}
		for i < len(items) && sameColumns(names, shownColumns(items[i])) {
			rows = append(rows, items[i])
			i++
		}
		formatObjects(&text, names, rows)
	}
	return text.String()
}

// maxUnrolled is the number of levels of nested collections that are shown item by item. The number is
// limited because a collection may contain itself.
const maxUnrolled = 2

func writeScalar(text *strings.Builder, v any, levels int) {
	if list, ok := dotnet.Enumerate(v); ok && levels > 0 {
		for _, item := range list {
			writeScalar(text, item, levels-1)
		}
		return
	}
	text.WriteString(dotnet.ToText(v))
	text.WriteByte('\n')
}

// shownColumns returns the names of the properties shown for an object, or nil for a value shown as text.
func shownColumns(v any) []string {
	switch o := v.(type) {
	case *dotnet.Hashtable:
		return []string{"Name", "Value"}
	case *dotnet.PSObject:
		return propNames(&o.Props)
	case *dotnet.Instance:
		if o.Text == "" && o.Props.Len() > 0 && o.Type != dotnet.TSwitch {
			return propNames(&o.Props)
		}
	}
	return nil
}

func propNames(props *dotnet.Props) []string {
	names := make([]string, props.Len())
	for i := range names {
		names[i], _ = props.At(i)
	}
	return names
}

func sameColumns(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}

func shown(v any) string {
	if items, ok := dotnet.Enumerate(v); ok {
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = dotnet.ToText(item)
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	return dotnet.ToText(v)
}

// cells returns the values of an object's columns. A dictionary has one row per pair.
func cells(names []string, v any) [][]any {
	if table, ok := v.(*dotnet.Hashtable); ok {
		rows := make([][]any, table.Len())
		for i := range rows {
			key, value := table.At(i)
			rows[i] = []any{dotnet.ToText(key), value}
		}
		return rows
	}
	row := make([]any, len(names))
	for i, name := range names {
		row[i], _, _ = dotnet.GetMember(v, name)
	}
	return [][]any{row}
}

const maxTableColumns = 4

func formatObjects(text *strings.Builder, names []string, objects []any) {
	if len(names) == 0 {
		return
	}
	if len(names) > maxTableColumns {
		formatList(text, names, objects)
		return
	}
	var rows [][]any
	for _, o := range objects {
		rows = append(rows, cells(names, o)...)
	}
	width := make([]int, len(names))
	right := make([]bool, len(names))
	for i, name := range names {
		width[i] = utf8.RuneCountInString(name)
		for _, row := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(shown(row[i])))
			switch row[i].(type) {
			case int32, int64, float64, uint8, uint32, uint64:
				right[i] = true
			}
		}
	}
	if _, table := objects[0].(*dotnet.Hashtable); table {
		width[0], right[1] = max(width[0], 30), false
	}
	line := func(values []string) {
		parts := make([]string, len(values))
		for i, v := range values {
			gap := strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(v), 0))
			if right[i] {
				parts[i] = gap + v
			} else {
				parts[i] = v + gap
			}
		}
		text.WriteString(strings.TrimRight(strings.Join(parts, " "), " ") + "\n")
	}
	rule := make([]string, len(names))
	for i, name := range names {
		rule[i] = strings.Repeat("-", utf8.RuneCountInString(name))
	}
	text.WriteByte('\n')
	line(names)
	line(rule)
	for _, row := range rows {
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = shown(v)
		}
		line(texts)
	}
	text.WriteByte('\n')
}

func formatList(text *strings.Builder, names []string, objects []any) {
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(name))
	}
	for _, o := range objects {
		text.WriteByte('\n')
		row := cells(names, o)[0]
		for i, name := range names {
			fmt.Fprintf(text, "%s%s : %s\n", name, strings.Repeat(" ", width-utf8.RuneCountInString(name)),
				shown(row[i]))
		}
	}
	text.WriteByte('\n')
}
