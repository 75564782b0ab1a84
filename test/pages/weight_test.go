package pages

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostBytes limits the bytes on the wire for the first page that a browser loads, including its assets.
const mostBytes = 40_000

var loaded = regexp.MustCompile(`(?:href|src)="(/ui/assets/[^"#]*)`)

// load requests a path in the same way as a browser in which a person has entered the address. It returns the
// compressed size in bytes and the uncompressed content.
func (b *browser) load(path string) (wire int, text []byte) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.url+path, nil)
	require.NoError(b.t, err)
	r.Header.Set("Accept-Encoding", "gzip") // set explicitly, otherwise the client would decompress the response
	r.Header.Set("Sec-Fetch-Site", "none")
	answer, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	require.Equal(b.t, 200, answer.StatusCode, path)
	packed, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	require.Equal(b.t, "gzip", answer.Header.Get("Content-Encoding"), path)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(b.t, err)
	text, err = io.ReadAll(unpacked)
	require.NoError(b.t, err)
	return len(packed), text
}

// TestTheFirstPageIsLight: a browser loads at most 40 kB for its first page, regardless of which page that
// is.
func TestTheFirstPageIsLight(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	guid := s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["guid"].(string)
	stranger := s.browser(t)
	measured := func(b *browser, path string) {
		t.Helper()
		sum, page := b.load(path)
		seen := map[string]bool{}
		for _, m := range loaded.FindAllStringSubmatch(string(page), -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				wire, _ := b.load(m[1])
				sum += wire
			}
		}
		require.GreaterOrEqual(t, len(seen), 3, path)
		t.Logf("%s: %d bytes", path, sum)
		assert.LessOrEqual(t, sum, mostBytes, path)
	}
	measured(stranger, "/ui/signin")
	for _, path := range []string{
		"/ui/", "/ui/people", "/ui/people/" + guid, "/ui/groups", "/ui/groups/" + finance, "/ui/computers",
		"/ui/ous", "/ui/zones/corp.example", "/ui/do/user.create", "/ui/search?q=an", "/ui/changes", "/ui/status",
	} {
		measured(b, path)
	}

	// The length of a page reveals nothing to another site.
	require.Equal(t, 200, b.get("/ui/people"))
	assert.Empty(t, b.answer.Header.Get("Content-Encoding"))
	assert.Equal(t, "Accept-Encoding, Sec-Fetch-Site", b.answer.Header.Get("Vary"))
}
