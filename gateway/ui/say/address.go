package say

import (
	"net/url"
	"strings"
)

// Base is the path of the pages.
const Base = "/ui/"

// DoPath is the path of the forms of operations, below Base.
const DoPath = "do"

// Address returns the address of a page. Each element of parts becomes one segment of the path, regardless of
// its characters. If a part cannot be a segment, because browsers would ignore it or interpret it as a step
// upwards, Address returns the address of the status page.
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

// Explained returns the address of the manual's section on an error code.
func Explained(manual, code string) string {
	return manual + "reference/errors#" + url.PathEscape(code)
}

// HelpPage returns the address of the manual's page about these pages.
func HelpPage(manual string) string { return manual + "helpdesk" }

// Asking returns an address with one query parameter.
func Asking(page, name, value string) string {
	return page + "?" + url.Values{name: {value}}.Encode()
}
