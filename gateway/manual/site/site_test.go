package site_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/manual"
	"adgateway/gateway/manual/site"
)

func get(t *testing.T, target string) *httptest.ResponseRecorder {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL = &url.URL{Path: path, RawQuery: query}
	w := httptest.NewRecorder()
	(&site.Site{Version: "v1.2.3", Console: true}).ServeHTTP(w, r)
	return w
}

var (
	ids   = regexp.MustCompile(` id="([^"]*)"`)
	hrefs = regexp.MustCompile(` href="([^"]*)"`)
)

// elsewhere are paths that other handlers serve.
var elsewhere = map[string]bool{
	"/": true, "/docs/": true, "/ui/": true, "/openapi.json": true, "/readyz": true, "/version": true,
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	anchors := map[string]map[string]bool{}
	texts := map[string]string{}
	for _, name := range manual.Names() {
		path := site.Path + name
		w := get(t, path)
		require.Equal(t, http.StatusOK, w.Code, path)
		texts[path] = w.Body.String()
		anchors[path] = map[string]bool{"": true}
		for _, id := range ids.FindAllStringSubmatch(texts[path], -1) {
			assert.False(t, anchors[path][id[1]], "%s has two anchors %s", path, id[1])
			anchors[path][id[1]] = true
		}
	}
	texts[site.Path] = get(t, site.Path).Body.String()
	anchors[site.Path] = map[string]bool{"": true, "content": true}
	links := 0
	for path, text := range texts {
		for _, href := range hrefs.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(href[1], "#")
			if elsewhere[target] || strings.HasSuffix(target, ".css") || strings.HasPrefix(target, "https://") {
				continue
			}
			links++
			if target == "" {
				target = path
			}
			require.NotNil(t, anchors[target], "%s: %s", path, href[1])
			unescaped, err := url.PathUnescape(anchor)
			require.NoError(t, err)
			assert.True(t, anchors[target][unescaped], "%s: %s leads nowhere", path, href[1])
		}
	}
	assert.Greater(t, links, 300)
}

func TestEveryPageIsSelfContained(t *testing.T) {
	for _, name := range manual.Names() {
		w := get(t, site.Path+name)
		text := w.Body.String()
		assert.Equal(t, site.Policy, w.Header().Get("Content-Security-Policy"))
		for _, never := range []string{"<script", "<!--", "<img", " style=", "raw HTML omitted"} {
			assert.False(t, strings.Contains(text, never), "%s contains %s", name, never)
		}
		assert.Equal(t, 1, strings.Count(text, "<h1"), name)
	}
}

func TestAPageThatDoesNotExistNamesTheNearest(t *testing.T) {
	for path, want := range map[string]string{
		"/manual/token":                          `Did you mean <a href="/manual/tokens">tokens</a>?`,
		"/manual/errors":                         `Did you mean <a href="/manual/reference/errors">reference/errors</a>?`,
		"/manual/../../etc/passwd":               "The manual has no page with this address.",
		"/manual/..%2f..%2fetc%2fpasswd":         "The manual has no page with this address.",
		"/manual/tokens.md":                      `Did you mean <a href="/manual/tokens">tokens</a>?`,
		"/manual/<script>alert(1)</script>":      "The manual has no page with this address.",
		"/manual/" + strings.Repeat("x", 10_000): "The manual has no page with this address.",
	} {
		w := get(t, path)
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.True(t, strings.Contains(w.Body.String(), want), "%.60s: %s", path, want)
		assert.False(t, strings.Contains(w.Body.String(), "<script"))
	}
}

func TestSearchAnswersInWords(t *testing.T) {
	for query, want := range map[string]string{
		"q=idempotency":                       "/manual/safe-changes",
		"":                                    "Enter one or more words.",
		"q=x":                                 "Each word must have at least two letters.",
		"q=" + strings.Repeat("x", 10_000):    "A search may have at most 100 letters.",
		"q=%3Cscript%3Ealert(1)%3C/script%3E": "No page contains all of these words.",
		"q=%22%3E%3Cb%3E":                     "No page contains all of these words.",
		"q=%ff%fe":                            "Enter one or more words.",
	} {
		w := get(t, "/manual/search?"+query)
		assert.Equal(t, http.StatusOK, w.Code, query)
		assert.True(t, strings.Contains(w.Body.String(), want), "%.60s: %s", query, want)
		assert.False(t, strings.Contains(w.Body.String(), "<script"))
		assert.False(t, strings.Contains(w.Body.String(), "<b>"))
	}
}

func TestTheStyleSheetMayBeKept(t *testing.T) {
	named := regexp.MustCompile(`href="(/manual/style-[0-9a-f]+\.css)"`)
	style := named.FindStringSubmatch(get(t, site.Path).Body.String())
	require.NotNil(t, style)
	w := get(t, style[1])
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Header().Get("Cache-Control"), "immutable")
	assert.Contains(t, w.Body.String(), "--back:", "the colors of the console")
}

func TestHomeLinksToWhatIsHere(t *testing.T) {
	for _, console := range []bool{true, false} {
		w := httptest.NewRecorder()
		(&site.Site{Console: console}).ServeHome(w)
		for _, link := range []string{"/docs/", "/manual/", "/readyz", "/version"} {
			assert.Contains(t, w.Body.String(), `<li><a href="`+link+`">`)
		}
		assert.Equal(t, console, strings.Contains(w.Body.String(), `href="/ui/"`))
	}
}

func BenchmarkSearch(b *testing.B) {
	words, _ := manual.Words("idempotency key")
	for b.Loop() {
		manual.Search(words)
	}
}
