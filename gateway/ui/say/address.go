package say

import (
	"net/url"
	"strings"
)

// Base is where the pages are.
const Base = "/ui/"

// DoPath is where the forms of operations are.
const DoPath = "do"

// Address returns the address of a page. Each part behind the pages' own is one segment of the path,
// whatever is in it. What no segment can be, because browsers take it for a step upwards or for
// nothing, leads to the status page.
func Address(parts ...string) string {
	var path strings.Builder
	path.WriteString(strings.TrimSuffix(Base, "/"))
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return Base
		}
		path.WriteByte('/')
		path.WriteString(url.PathEscape(part))
	}
	return path.String()
}

// Explained returns where the manual explains an error code.
func Explained(manual, code string) string {
	return manual + "reference/errors#" + url.PathEscape(code)
}

// HelpPage returns where the manual explains these pages.
func HelpPage(manual string) string { return manual + "helpdesk" }

// Asking returns an address with one parameter of a query.
func Asking(page, name, value string) string {
	return page + "?" + url.Values{name: {value}}.Encode()
}
