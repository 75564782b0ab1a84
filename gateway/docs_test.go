package gateway_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/openapi"
	"adgateway/test/harness"
)

const noCredential = "Auth-Token: "

func TestTheDocumentIsPublic(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) { o.Version.Version = "4.5.6" })
	w := harness.Call(s, http.MethodGet, "/openapi.json", "", noCredential)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, openapi.ContentType, w.Header().Get("Content-Type"))
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	require.NoError(t, err)
	assert.Equal(t, "4.5.6", doc.Info.Version)

	tag := w.Header().Get("ETag")
	require.NotEmpty(t, tag)
	w = harness.Call(s, http.MethodGet, "/openapi.json", "", noCredential, "If-None-Match: "+tag)
	assert.Equal(t, http.StatusNotModified, w.Code)
	assert.Empty(t, w.Body.String())
	assert.Equal(t, http.StatusMethodNotAllowed,
		harness.Call(s, http.MethodPost, "/openapi.json", "", noCredential).Code)
}

// TestThePageIsSelfContained: the gateway serves every file that the page refers to, and its
// content security policy allows nothing else.
func TestThePageIsSelfContained(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	w := harness.Call(s, http.MethodGet, "/docs", "", noCredential)
	require.Equal(t, http.StatusMovedPermanently, w.Code)
	require.Equal(t, "/docs/", w.Header().Get("Location"))
	w = harness.Call(s, http.MethodGet, "/docs/", "", noCredential)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, openapi.Policy, w.Header().Get("Content-Security-Policy"))
	assert.NotContains(t, w.Body.String(), "//", "no URL of another host")
	assert.NotRegexp(t, `<script>|<style>| on[a-z]+=`, w.Body.String(), "no inline code, which the policy forbids")
	named := regexp.MustCompile(`(?:src|href)="([^".][^"]*)"`).FindAllStringSubmatch(w.Body.String(), -1)
	require.Len(t, named, 5)
	for _, name := range named {
		for _, encoding := range []string{"gzip", "identity"} {
			w := harness.Call(s, http.MethodGet, "/docs/"+name[1], "", noCredential, "Accept-Encoding: "+encoding)
			assert.Equal(t, http.StatusOK, w.Code, name[1])
			assert.NotZero(t, w.Body.Len(), name[1])
		}
	}
	for _, path := range []string{"/docs/index.html", "/docs/swagger-ui.js", "/docs/%2e%2e/page.go",
		"/docs/" + strings.Repeat("x", 5000)} {
		assert.Equal(t, http.StatusNotFound, harness.Call(s, http.MethodGet, path, "", noCredential).Code, path)
	}
}

func TestTheDocumentCanBeHidden(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) { o.HideDocs = true })
	for _, path := range []string{"/openapi.json", "/docs", "/docs/", "/docs/page.js"} {
		assert.Equal(t, http.StatusNotFound, harness.Call(s, http.MethodGet, path, "").Code, path)
	}
	assert.Equal(t, "There is no such route.", harness.Read(t, harness.Call(s, http.MethodGet, "/", "")).Output,
		"no hint at what is hidden")
	assert.Equal(t, http.StatusNotFound, harness.Call(s, http.MethodGet, "/", "", "Accept: text/html").Code)
	for _, path := range []string{"/manual", "/manual/", "/manual/start"} {
		w := harness.Call(s, http.MethodGet, path, "")
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.Empty(t, w.Header().Get("Link"), "no page explains the error")
	}
}

// TestEveryDocumentIsServed: the gateway serves OpenAPI 3.1 and 3.0, each in both dialects.
func TestEveryDocumentIsServed(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	seen := map[string]string{}
	for path, c := range map[string]struct{ version, about string }{
		"/openapi.json":                     {"3.1.0", "describes the standard dialect"},
		"/openapi.json?dialect=standard":    {"3.1.0", "describes the standard dialect"},
		"/openapi.json?dialect=classic":     {"3.1.0", "describes the classic dialect"},
		"/openapi-3.0.json":                 {"3.0.3", "describes the standard dialect"},
		"/openapi-3.0.json?dialect=classic": {"3.0.3", "describes the classic dialect"},
		"/swagger/v1/swagger.json":          {"3.0.3", "describes the classic dialect"},
	} {
		w := harness.Call(s, http.MethodGet, path, "", noCredential)
		require.Equal(t, http.StatusOK, w.Code, path)
		doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		require.NoError(t, err)
		assert.Equal(t, c.version, doc.OpenAPI, path)
		assert.Contains(t, doc.Info.Description, c.about, path)
		assert.Contains(t, doc.Info.Description, "This is a sandbox", path)
		assert.NotNil(t, doc.Paths.Find("/readyz"))
		tag := w.Header().Get("ETag")
		if other, known := seen[tag]; known {
			assert.Equal(t, other, c.version+c.about, path)
		}
		seen[tag] = c.version + c.about
	}
	assert.Len(t, seen, 4)
	got := harness.Read(t, harness.Call(s, http.MethodGet, "/openapi.json?dialect=modern", "", noCredential))
	onlyField(t, got, "dialect")
}
