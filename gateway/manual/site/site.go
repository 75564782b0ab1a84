// Package site serves the manual as web pages, and the home page that links to it. The pages
// contain no scripts and depend on nothing outside this server.
package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"adgateway/gateway/manual"
	"adgateway/gateway/ui/look"
)

// Path is the path of the manual.
const Path = "/manual/"

// HelpOf returns the path of the manual's explanation of an error code.
func HelpOf(code string) string { return Path + "reference/errors#" + code }

// Policy is the Content-Security-Policy of the pages.
const Policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// Site serves the pages. It is safe for concurrent use.
type Site struct {
	Version string
	Console bool // whether there is a console to link to
	Sandbox bool
}

//go:embed layout.html manual.css
var files embed.FS

var layout = template.Must(template.ParseFS(files, "layout.html"))

// style is the style sheet of the pages. styleName is the name under which it is served. The name
// changes with the style sheet, so browsers may cache it.
var (
	style     = look.Colors + string(must(files.ReadFile("manual.css")))
	styleName = func() string {
		sum := sha256.Sum256([]byte(style))
		return "style-" + hex.EncodeToString(sum[:8]) + ".css"
	}()
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // only used for embedded files
	}
	return value
}

// view is the data for the layout.
type view struct {
	Site  *Site
	Style string
	Title string
	Query string
	// Exactly one of these is shown.
	Text   template.HTML // of a page
	Index  []manual.Section
	Home   bool
	Search *results
	Lost   *lost

	Headings []heading // headings of the page
}

// results are the results of a search.
type results struct {
	Problem string
	Hits    []manual.Hit
}

// lost is the answer for a page that does not exist.
type lost struct {
	Nearest string // name of the page that was probably meant; empty if none is close
}

// ServeHTTP answers GET and HEAD requests for paths below [Path].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, Path), "/")
	switch {
	case name == styleName:
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write([]byte(style)) // fails only if the browser has left
	case name == "":
		s.show(w, http.StatusOK, view{Title: "Manual", Index: manual.Contents})
	case name == "search":
		s.search(w, r.URL.Query().Get("q"))
	default:
		s.page(w, name)
	}
}

// ServeHome answers a browser that requests the server's root.
func (s *Site) ServeHome(w http.ResponseWriter) {
	s.show(w, http.StatusOK, view{Title: "adgateway", Home: true})
}

func (s *Site) page(w http.ResponseWriter, name string) {
	page, ok := manual.Find(name)
	if !ok || page.Name != name && page.Name != name+"/README" {
		v := view{Title: "There is no such page", Lost: &lost{}}
		v.Lost.Nearest = manual.Nearest(name)
		s.show(w, http.StatusNotFound, v)
		return
	}
	rendered := renderedPages()[page.Name]
	s.show(w, http.StatusOK, view{Title: page.Title, Text: rendered.text, Headings: rendered.headings})
}

func (s *Site) search(w http.ResponseWriter, query string) {
	words, problem := manual.Words(query)
	v := view{Title: "Search", Search: &results{Problem: problem}}
	if len(words) > 0 {
		v.Title, v.Query = "Search: "+query, query
		v.Search.Hits = manual.Search(words)
	}
	s.show(w, http.StatusOK, v)
}

func (s *Site) show(w http.ResponseWriter, status int, v view) {
	v.Site, v.Style = s, Path+styleName
	var page strings.Builder
	if err := layout.Execute(&page, v); err != nil {
		panic(err) // the layout and its data are part of the program
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", Policy)
	header.Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.String())) // fails only if the browser has left
}

// renderedPages are all pages in HTML, rendered when the first one is requested.
var renderedPages = sync.OnceValue(func() map[string]rendered {
	all := map[string]rendered{}
	for _, name := range manual.Names() {
		page, _ := manual.Find(name)
		all[page.Name] = render(page)
	}
	return all
})
