package texts

import (
	"embed"
	"fmt"
	"strings"
)

// table contains a text in each language, by key.
type table map[string][2]string

// The files have a text per line: key | English | German. Empty lines and those that begin with # are
// ignored.
//
//go:embed *.txt
var files embed.FS

// all is the whole table.
var all = func() table {
	whole := table{}
	add := func(key string, row [2]string) {
		if _, has := whole[key]; has {
			panic(fmt.Sprintf("two texts have the key %q", key))
		}
		whole[key] = row
	}
	entries, _ := files.ReadDir(".") // always succeeds for embedded files
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			cells := strings.Split(line, " | ")
			if len(cells) != 1+len(Langs) {
				panic(fmt.Sprintf("%s: %q is not key | English | German", entry.Name(), line))
			}
			add(cells[0], [2]string(cells[1:]))
		}
	}
	for key, row := range tickets {
		add(key, row)
	}
	return whole
}()
