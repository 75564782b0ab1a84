package packing

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextsOfOwnRequestsAreCompressed(t *testing.T) {
	text := strings.Repeat("a long page, ", 1000)
	answer := func(kind, encoding, site, method string, status int) *http.Response {
		r := httptest.NewRequest(method, "/ui/", nil)
		for name, value := range map[string]string{"Accept-Encoding": encoding, "Sec-Fetch-Site": site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Length", "13000")
			w.WriteHeader(status)
			if status == http.StatusOK && r.Method == http.MethodGet {
				_, _ = io.WriteString(w, text)
			}
		})).ServeHTTP(w, r)
		return w.Result()
	}
	for _, site := range []string{"same-origin", "none"} {
		a := answer("text/html; charset=utf-8", "br, gzip;q=0.5", site, http.MethodGet, 200)
		assert.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
		assert.Empty(t, a.Header.Get("Content-Length"))
		assert.Equal(t, "Accept-Encoding, Sec-Fetch-Site", a.Header.Get("Vary"))
		unpacked, err := gzip.NewReader(a.Body)
		require.NoError(t, err)
		all, err := io.ReadAll(unpacked)
		require.NoError(t, err)
		assert.Equal(t, text, string(all))
	}
	for name, a := range map[string]*http.Response{
		"of another site":   answer("text/html", "gzip", "cross-site", http.MethodGet, 200),
		"of a site beside":  answer("text/html", "gzip", "same-site", http.MethodGet, 200),
		"of nobody known":   answer("text/html", "gzip", "", http.MethodGet, 200),
		"without gzip":      answer("text/html", "br", "none", http.MethodGet, 200),
		"gzip not wanted":   answer("text/html", "gzip;q=0", "none", http.MethodGet, 200),
		"a picture":         answer("image/png", "gzip", "none", http.MethodGet, 200),
		"a stream":          answer("text/event-stream", "gzip", "none", http.MethodGet, 200),
		"the head of it":    answer("text/html", "gzip", "none", http.MethodHead, 200),
		"nothing new":       answer("text/html", "gzip", "none", http.MethodGet, 304),
		"no type of a text": answer("", "gzip", "none", http.MethodGet, 200),
	} {
		assert.Empty(t, a.Header.Get("Content-Encoding"), name)
	}
}
