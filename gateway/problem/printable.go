package problem

import (
	"strings"
	"unicode/utf8"
)

// Printable returns the beginning of a text from the wire in a form that is safe to repeat in an
// answer.
func Printable(text string, limit int) string {
	var shown strings.Builder
	for _, r := range text {
		if limit--; limit < 0 {
			shown.WriteString("…")
			break
		}
		if r < ' ' || r == 0x7f {
			r = utf8.RuneError
		}
		shown.WriteRune(r)
	}
	return shown.String()
}
