package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/manual/site"
	"adgateway/gateway/schema"
	"adgateway/test/harness"
)

func TestTheManualIsServed(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	w := harness.Call(s, http.MethodGet, "/manual", "", noCredential)
	assert.Equal(t, http.StatusMovedPermanently, w.Code)
	assert.Equal(t, site.Path, w.Header().Get("Location"))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for path, want := range map[string]int{
			"/manual/": 200, "/manual/tokens": 200, "/manual/reference/errors": 200,
			"/manual/search?q=token": 200, "/manual/reference%2Ferrors": 200,
			"/manual/tokenz": 404, "/manual/%2e%2e/site/site.go": 404, "/manual/tokens.md": 404,
		} {
			w := harness.Call(s, method, path, "", noCredential)
			assert.Equal(t, want, w.Code, "%s %s", method, path)
			assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"), path)
			assert.Equal(t, site.Policy, w.Header().Get("Content-Security-Policy"), path)
		}
	}
	assert.Equal(t, http.StatusMethodNotAllowed, harness.Call(s, http.MethodPost, "/manual/tokens", "").Code)
}

func TestABrowserIsShownWhatIsHere(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	w := harness.Call(s, http.MethodGet, "/", "", noCredential, "Accept: text/html,*/*;q=0.8")
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `<a href="/manual/">Manual</a>`)
	head := harness.Call(s, http.MethodHead, "/", "", noCredential, "Accept: text/html,*/*;q=0.8")
	assert.Equal(t, http.StatusOK, head.Code, "as a monitor asks")
	assert.Equal(t, w.Header().Get("Content-Type"), head.Header().Get("Content-Type"))
	w = harness.Call(s, http.MethodGet, "/", "", "Accept: */*")
	assert.Equal(t, http.StatusNotFound, w.Code, "a program")
}

// TestEveryErrorLinksToItsExplanation: every error names the section of the manual that explains
// it, and the manual has that section.
func TestEveryErrorLinksToItsExplanation(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	page := harness.Call(s, http.MethodGet, "/manual/reference/errors", "", noCredential).Body.String()
	for _, code := range schema.Codes() {
		assert.True(t, strings.Contains(page, `<tr id="`+string(code)+`">`), code)
	}
	for path, code := range map[string]schema.Code{
		"/api/ADUser/jdoe/Detail": schema.NotFound, "/nothing": schema.NotFound,
		"/api/ADUser/jdoe/Details?Foo=1": schema.InvalidRequest,
	} {
		w := harness.Call(s, http.MethodGet, path, "")
		assert.Equal(t, "<"+site.HelpOf(string(code))+`>; rel="help"`, w.Header().Get("Link"), path)
	}
	assert.Empty(t, harness.Call(s, http.MethodGet, "/version", "").Header().Get("Link"), "a success")
}

// TestBadInputToTheManualIsAnsweredInWords: every request below /manual gets an answer in words,
// and never a file that is not a page.
func TestBadInputToTheManualIsAnsweredInWords(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	const unknown = "The manual has no page with this address."
	long := strings.Repeat("x", 10_000)
	for path, c := range map[string]struct {
		status int
		says   string
	}{
		"/manual/tokenz":                              {404, `Did you mean <a href="/manual/tokens">tokens</a>?`},
		"/manual/reference/error":                     {404, `Did you mean <a href="/manual/reference/errors">reference/errors</a>?`},
		"/manual/TOKENS":                              {404, unknown},
		"/manual/" + long:                             {404, unknown},
		"/manual/%3Cscript%3Ealert(1)%3C%2Fscript%3E": {404, unknown},
		"/manual/../manual.go":                        {404, unknown},
		"/manual/..%2Fmanual.go":                      {404, unknown},
		"/manual/%2e%2e%2f%2e%2e%2fetc%2fpasswd":      {404, unknown},
		"/manual/..%5c..%5cwindows%5cwin.ini":         {404, unknown},
		"/manual/reference%2F..%2Ftokens":             {404, unknown},
		"/manual/tokens%00.md":                        {404, unknown},
		"/manual/%ff%fe":                              {404, unknown},
		"/manual//etc/passwd":                         {404, unknown},
		"/manual/site/layout.html":                    {404, unknown},
		"/manual/search?q=" + long:                    {200, "A search may have at most 100 letters."},
		"/manual/search?q=x":                          {200, "Each word must have at least two letters."},
		"/manual/search?q=%3Cb%3Ebold%3C/b%3E":        {200, "No page contains all of these words."},
		"/manual/search?q=%22%3E%3Cimg+src=x%3E":      {200, "No page contains all of these words."},
		"/manual/search?q=%00%00":                     {200, "No page contains all of these words."},
		"/manual/search?q=%ff":                        {200, "Enter one or more words."},
		"/manual/search?q=token&q=" + long:            {200, "/manual/tokens"},
		"/manual/search":                              {200, "Enter one or more words."},
	} {
		w := harness.Call(s, http.MethodGet, path, "", noCredential)
		assert.Equal(t, c.status, w.Code, "%.60s", path)
		assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"), "%.60s", path)
		body := w.Body.String()
		assert.True(t, strings.Contains(body, c.says), "%.60s: %s", path, c.says)
		for _, never := range []string{"<script", "<img", "<b>", "root:", "package manual"} {
			assert.False(t, strings.Contains(body, never), "%.60s: %s", path, never)
		}
	}
}
