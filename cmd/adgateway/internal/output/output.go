// Package output formats the output of commands as text and as JSON: accounts, settings, and the audit log.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"adgateway/gateway/visible"
)

// JSON writes a value as indented JSON.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// table aligns columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// row adds a row. A value stays in its cell, regardless of its characters. Write errors are reported by
// Flush.
func (t table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, visible.Text(fmt.Sprint(cell)))
	}
	fmt.Fprintln(t.w)
}

func (t table) Flush() error { return t.w.Flush() }
