package texts

import (
	"embed"
	"fmt"

	"adgateway/ps/packed"
)

// table contains a text in each language, by key.
type table map[string][2]string

// A row of a file is a text: key | English | German.
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
		for row := range packed.Rows(string(text)) {
			if len(row) != 1+len(Langs) {
				panic(fmt.Sprintf("%s: %q is not key | English | German", entry.Name(), row))
			}
			add(row[0], [2]string(row[1:]))
		}
	}
	for key, row := range tickets {
		add(key, row)
	}
	return whole
}()
