package ui

import (
	"net/url"
	"strings"
)

// base is where the pages are.
const base = "/ui/"

// doPath is where the forms of operations are.
const doPath = "do"

// address returns the address of a page. Each part behind the pages' own is one segment of the path,
// whatever is in it. What no segment can be, because browsers take it for a step upwards or for
// nothing, leads to the status page.
func address(parts ...string) string {
	var path strings.Builder
	path.WriteString(strings.TrimSuffix(base, "/"))
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return base
		}
		path.WriteByte('/')
		path.WriteString(url.PathEscape(part))
	}
	return path.String()
}

// explained returns where the manual explains an error code.
func explained(manual, code string) string {
	return manual + "reference/errors#" + url.PathEscape(code)
}

// helpPage returns where the manual explains these pages.
func helpPage(manual string) string { return manual + "helpdesk" }

// asking returns an address with one parameter of a query.
func asking(page, name, value string) string {
	return page + "?" + url.Values{name: {value}}.Encode()
}
