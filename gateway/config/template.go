package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Template returns a settings file that contains every setting, with its default, as a comment. Removing a
// comment mark sets the setting. Lines end with newline.
func Template(newline string) []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings of adgateway.
#
# Every setting is listed as a comment with its default: remove the comment mark to
# change it. 'adgateway config check' reports every mistake in this file, 'adgateway
# config show' shows the settings in effect and where each comes from. An environment
# variable takes precedence over this file (http.listen: ADGATEWAY_HTTP_LISTEN), and a
# flag over both. Changes are noticed while the gateway runs; settings marked "At the
# next start" need 'adgateway service restart'.
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
