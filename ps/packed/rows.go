package packed

import (
	"iter"
	"strings"
)

// Rows returns the rows of a table, in order. A row is a line whose cells are separated by "|"; white space
// around a cell is not part of it. Empty lines and lines that begin with # are no rows.
func Rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			cells := strings.Split(line, "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if !yield(cells) {
				return
			}
		}
	}
}
