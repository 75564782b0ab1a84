package openapi

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"

	"adgateway/gateway/manual"
	"adgateway/gateway/ops"
)

//go:embed page
var pageFiles embed.FS

// bundle lists the files of Swagger UI that the page uses.
var bundle = []string{"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"}

// PageFiles returns the names of the files that [Page] serves. The empty name is the page itself.
func PageFiles() []string { return append([]string{"", "page.js", "page.css", samplesFile}, bundle...) }

// samplesFile contains the samples of the operations, which the page adds to their descriptions.
const samplesFile = "samples.json"

var comment = regexp.MustCompile(`<!--.*?-->\n`)

// Samples returns the sample of each operation as shown in the manual, in Markdown: the call with
// curl and with the PowerShell module, and the recorded answer.
func Samples() map[string]string {
	all := map[string]string{}
	for _, op := range ops.Table() {
		page, _ := manual.Find(manual.OperationPage(op.ID))
		_, sample, ok := strings.Cut(manual.SectionOf(page, op.ID), "\n```sh\n")
		if ok {
			all[op.ID] = "```sh\n" + comment.ReplaceAllString(sample, "")
		}
	}
	return all
}

// samples returns [Samples] as JSON.
var samples = sync.OnceValue(func() []byte {
	text, _ := json.Marshal(Samples()) // strings always encode
	return text
})

// Policy is the Content-Security-Policy of the page. The page may only load from this server and
// call it. Swagger UI uses data: URLs for icons, and inline styles.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' " +
	"data:; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// bundled serves the files of Swagger UI. Their hashes are computed only once, because that takes longer
// than everything else that a gateway does when it applies its settings.
var bundled = sync.OnceValue(func() http.Handler { return statigz.FileServer(static.FS) })

// Page returns a handler for the page that shows the document, which the page loads from ../openapi.json.
// Paths consist of a slash and one of [PageFiles].
func Page() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	pages, assets := http.FileServerFS(files), bundled()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", Policy)
		w.Header().Set("Cache-Control", "no-cache")
		switch name := strings.TrimPrefix(r.URL.Path, "/"); {
		case name == samplesFile:
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write(samples()) // fails only if the browser has left
		case slices.Contains(bundle, name):
			assets.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}
