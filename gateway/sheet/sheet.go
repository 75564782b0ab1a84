// Package sheet writes CSV files for spreadsheets, as in RFC 4180.
package sheet

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// formulaStarts are the characters with which a formula begins. Versions for East Asian languages also
// accept them in full width, and white space may precede them.
const formulaStarts = "=+-@＝＋－＠\t\r\n"

// Defused returns a text as a cell that spreadsheets do not interpret as a formula. A cell that may begin a
// formula gets a leading apostrophe.
func Defused(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune(formulaStarts, first) {
		return "'" + text
	}
	return text
}

// Undefused returns the text of a cell that [Defused] may have written.
func Undefused(cell string) string {
	if text, quoted := strings.CutPrefix(cell, "'"); quoted && Defused(text) == cell {
		return text
	}
	return cell
}

// OneBreak returns a cell in which every line break is LF.
func OneBreak(cell string) string {
	if !strings.Contains(cell, "\r") {
		return cell
	}
	return strings.ReplaceAll(strings.ReplaceAll(cell, "\r\n", "\n"), "\r", "\n")
}

// Writer writes rows of cells. Each line break, even in a cell, becomes CR LF. A Writer is not safe for
// concurrent use.
type Writer struct {
	to    io.Writer
	rows  *csv.Writer
	cells []string // of the row that is being written
}

// NewWriter returns a Writer that separates cells with separator.
func NewWriter(to io.Writer, separator rune) *Writer {
	w := &Writer{to: to, rows: csv.NewWriter(to)}
	w.rows.Comma, w.rows.UseCRLF = separator, true
	return w
}

// Write adds a row. It does not change the cells, except for their line breaks; see [Defused].
func (w *Writer) Write(cells []string) error {
	if len(cells) == 1 && cells[0] == "" { // readers of CSV skip empty lines
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(w.to, "\"\"\r\n")
		return err
	}
	w.cells = w.cells[:0]
	for _, cell := range cells {
		w.cells = append(w.cells, OneBreak(cell)) // csv.Writer would drop CR
	}
	return w.rows.Write(w.cells)
}

// WriteDefused adds a row in which no cell is a formula.
func (w *Writer) WriteDefused(cells []string) error {
	defused := make([]string, len(cells))
	for i, cell := range cells {
		defused[i] = Defused(cell)
	}
	return w.Write(defused)
}

// Flush writes the rows that are still buffered.
func (w *Writer) Flush() error {
	w.rows.Flush()
	return w.rows.Error()
}
