package texts

import (
	"embed"
	"fmt"
	"strings"

	"adgateway/gateway/authn/negotiate"
	"adgateway/ps/packed"
)

// table contains a text in each language, by key.
type table map[string][2]string

// A row of a file is a text: key | English | German, and for some words a color. Rows of tickets.txt have no
// English text, because package negotiate has it.
//
//go:embed *.txt
var files embed.FS

// all is the whole table, and colors contains the colors of words.
var all, colors = func() (table, map[string]string) {
	whole, colors := table{}, map[string]string{}
	entries, _ := files.ReadDir(".") // always succeeds for embedded files
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		for row := range packed.Rows(string(text)) {
			if reason, is := strings.CutPrefix(row[0], "ticket."); is && len(row) == len(Langs) {
				row = []string{row[0], negotiate.Reason(reason).Sentence(), row[1]}
			}
			if len(row) == 2+len(Langs) {
				colors[row[0]], row = row[3], row[:3]
			}
			if _, has := whole[row[0]]; has || len(row) != 1+len(Langs) {
				panic(fmt.Sprintf("%s: %q is not key | English | German, or its key is not unique", entry.Name(), row))
			}
			whole[row[0]] = [2]string(row[1:])
		}
	}
	return whole, colors
}()

// Color returns the color of a word, by the key of its text, or "" if it has none.
func Color(key string) string { return colors[key] }
