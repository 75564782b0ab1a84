package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Template returns a settings file in which every setting is a comment with its
// default, so that a setting is changed by removing the comment mark. Lines end in
// newline.
func Template(newline string) []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings of adgateway.
#
# Every setting stands here as a comment with its default: take the mark away to
# change it. 'adgateway config check' tells all mistakes in this file, 'adgateway
# config show' the settings in force and where each comes from. A variable of the
# environment wins over this file (http.listen: ADGATEWAY_HTTP_LISTEN), and a flag
# over both. A change is noticed while the gateway runs; what says "at the next
# start" needs 'adgateway service restart'.
`)
	section := ""
	for _, row := range Rows() {
		first, name, _ := strings.Cut(row.Key, ".")
		if first != section {
			section = first
			fmt.Fprintf(&b, "\n%s:\n", section)
		}
		effect := "At the next start."
		if row.Live() {
			effect = "At once."
		}
		fmt.Fprintf(&b, "  # %s\n  # Takes %s. %s\n  #%s: %s\n", row.Doc, row.Allowed(), effect, name, row.Default)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(newline))
}
