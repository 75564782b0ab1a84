// Package manual holds the pages of the manual, which are Markdown files in its folder. They are part of the
// program, so it always serves and prints the manual of its own version.
package manual

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adgateway/gateway/nearest"
	"adgateway/ps/packed"
)

//go:embed *.md reference/*.md
var files embed.FS

// Section is a group of pages for one kind of reader.
type Section struct {
	Reader string // completes "You ...", such as "are on call"
	Pages  []string
}

// Contents lists the pages by reader, as on the project's front page.
var Contents = []Section{
	{"decide whether to use it", []string{"fit", "start", "security", "capacity", "how-it-works"}},
	{"install and run it", []string{"install", "account", "certificate", "network", "first-week",
		"tokens", "limits", "sign-in", "single-sign-on", "monitoring", "backup", "upgrade", "changes", "changes-powershell"}},
	{"are on call", []string{"troubleshooting", "alerts", "audit"}},
	{"write scripts against it", []string{"calling", "attributes", "find", "safe-changes", "undo", "jobs",
		"job-lists", "follow", "webhooks"}},
	{"copy a whole task", []string{"recipes", "recipe-join", "recipe-move", "recipe-leave",
		"recipe-service-account", "recipe-group-list", "recipe-stale-computers", "recipe-reset",
		"recipe-dns-cleanup", "recipe-undo-day"}},
	{"use a tool", []string{"powershell", "ansible", "terraform", "languages", "classic"}},
	{"manage DNS", []string{"dns", "certificates-dns01", "externaldns"}},
	{"look something up", []string{"reference/README", "glossary"}},
	{"work at a help desk", []string{"helpdesk", "procedures", "secrets"}},
	{"run several gateways", []string{"cluster", "cluster-operate", "cluster-restore",
		"cluster-failures", "cluster-migrate", "cluster-nats", "load-balancer"}},
	{"test, or work on it", []string{"sandbox", "develop", "develop-find", "develop-add", "develop-make"}},
}

// Entries returns the pages of the section.
func (s Section) Entries() []Page {
	entries := make([]Page, len(s.Pages))
	for i, name := range s.Pages {
		entries[i] = pages()[name]
	}
	return entries
}

// Page is one page of the manual.
type Page struct {
	Name  string // path without the extension, such as "tokens" or "reference/errors"
	Title string
	Text  string // in Markdown
}

// pages are all pages by name.
var pages = sync.OnceValue(func() map[string]Page {
	all := map[string]Page{}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := files.ReadFile(file)
		if err == nil {
			raw, err = packed.Text(raw)
		}
		text := strings.ReplaceAll(string(raw), "\r\n", "\n")
		name := strings.TrimSuffix(file, ".md")
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		all[name] = Page{Name: name, Title: title, Text: text}
		return err
	})
	if err != nil {
		panic(err) // the files are embedded above
	}
	return all
})

// Names returns the names of all pages in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(pages())) }

// Find returns the page with the given name. The folder may be omitted.
func Find(name string) (Page, bool) {
	for _, candidate := range []string{name, "reference/" + name, name + "/README"} {
		if page, ok := pages()[candidate]; ok {
			return page, true
		}
	}
	return Page{}, false
}

// OperationPage returns the name of the page that describes an operation. The section's heading is
// the operation's id.
func OperationPage(id string) string {
	resource, _, _ := strings.Cut(id, ".")
	return "reference/operations-" + strings.ToLower(resource)
}

// SectionOf returns the section of a page with a given second-level heading, including the heading,
// or "" if there is none.
func SectionOf(page Page, heading string) string {
	_, rest, ok := strings.Cut(page.Text, "\n## "+heading+"\n")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return "## " + heading + "\n" + strings.TrimRight(rest, "\n") + "\n"
}

// Nearest returns the name of the page that was probably meant, or "" if none is close.
func Nearest(name string) string { return nearest.Of(path.Base(name), Names()) }

var notInAnchor = regexp.MustCompile(`[^\pL\pN _-]`)

// Anchor returns the anchor of a heading, as GitHub generates it.
func Anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// Row returns the cells of a table row on a page, with their column headings. key is a text in code
// font in the row's first cell. Row returns nil if there is no such row.
func Row(page Page, key string) []Cell {
	var headings []string
	before := ""
	for line := range strings.Lines(page.Text) {
		cells := cellsOf(line)
		switch {
		case cells == nil:
			headings = nil
		case isRule(cells):
			headings = cellsOf(before)
		case headings != nil && slices.Contains(codesOf(cells[0]), key):
			row := make([]Cell, min(len(headings), len(cells)))
			for i := range row {
				row[i] = Cell{headings[i], cells[i]}
			}
			return row
		}
		before = line
	}
	return nil
}

// Keys returns the keys of all rows on a page that [Row] finds, in order.
func Keys(page Page) []string {
	var keys []string
	for line := range strings.Lines(page.Text) {
		if cells := cellsOf(line); cells != nil {
			keys = append(keys, codesOf(cells[0])...)
		}
	}
	return keys
}

// Cell is a table cell with the heading of its column.
type Cell struct{ Heading, Text string }

// cellsOf returns the cells of a line in a table, or nil if the line is not part of one.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	const escapedBar = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, escapedBar)
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, escapedBar, "|"))
	}
	return cells
}

// isRule reports whether cells are the line below the headings of a table.
func isRule(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool {
		return strings.Trim(cell, ":-") != "" || cell == ""
	})
}

var code = regexp.MustCompile("`([^`]+)`")

func codesOf(cell string) []string {
	var codes []string
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		codes = append(codes, match[1])
	}
	return codes
}
