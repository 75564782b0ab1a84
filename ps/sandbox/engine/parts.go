package engine

import "strings"

// part is a function of a text, or the statements between two functions.
type part struct {
	text     string // of a function: from its keyword to its last brace
	lines    int    // number of lines before it
	function string // name of the function; empty for statements
}

// partsOf splits a text into its functions and what is between them. It finds a function that begins with a
// line "function NAME {" and takes the next line "}" as its end.
func partsOf(text string) []part {
	const keyword, open, end = "\nfunction ", " {", "\n}\n"
	var parts []part
	at, line := 0, 0
	add := func(to int, function string) {
		parts = append(parts, part{text[at:to], line, function})
		line += strings.Count(text[at:to], "\n")
		at = to
	}
	for from := 0; ; {
		next := strings.Index(text[from:], keyword)
		if next < 0 {
			add(len(text), "")
			return parts
		}
		from += next + len("\n")
		head, _, _ := strings.Cut(text[from:], "\n")
		name, opens := strings.CutSuffix(head[len(keyword)-len("\n"):], open)
		size := strings.Index(text[from:], end)
		if !opens || size < 0 {
			continue
		}
		add(from, "")
		from += size + len("\n}")
		add(from, name)
	}
}
