package openapi

import (
	"embed"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"
)

//go:embed page
var pageFiles embed.FS

// bundle lists the files of Swagger UI that the page uses.
var bundle = []string{"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}

// PageFiles returns the names that [Page] serves; the empty one is the page itself.
func PageFiles() []string { return append([]string{"", "page.js", "page.css"}, bundle...) }

// Policy is the Content-Security-Policy of the page, which may load from this server
// and call it, nothing else. Swagger UI uses data: URLs for icons and inline styles.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Page serves the page that shows the document, which it loads from ../openapi.json.
// Paths are a slash and one of [PageFiles].
func Page() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	pages, assets := http.FileServerFS(files), statigz.FileServer(static.FS)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", Policy)
		w.Header().Set("Cache-Control", "no-cache")
		if slices.Contains(bundle, strings.TrimPrefix(r.URL.Path, "/")) {
			assets.ServeHTTP(w, r)
		} else {
			pages.ServeHTTP(w, r)
		}
	})
}
