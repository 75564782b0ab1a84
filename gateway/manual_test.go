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
	w = harness.Call(s, http.MethodGet, "/", "", "Accept: */*")
	assert.Equal(t, http.StatusNotFound, w.Code, "a program")
}

// Every error names the place in the manual that explains it, and the manual has that place.
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
