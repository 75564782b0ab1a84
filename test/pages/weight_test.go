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

// mostBytes is how much a browser loads for its first page, on the wire: the page and all that belongs to it.
const mostBytes = 40_000

var loaded = regexp.MustCompile(`(?:href|src)="(/ui/assets/[^"#]*)`)

// load gets a path as a browser does that a person has sent there, and returns the bytes on the wire and
// what they are.
func (b *browser) load(path string) (wire int, text []byte) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.url+path, nil)
	require.NoError(b.t, err)
	r.Header.Set("Accept-Encoding", "gzip") // by hand, or the client would unpack it
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

// TestTheFirstPageIsLight counts bytes: whichever page a browser opens first, it loads no more than
// 40 kB.
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

	// Another site learns nothing by the length of a page.
	require.Equal(t, 200, b.get("/ui/people"))
	assert.Empty(t, b.answer.Header.Get("Content-Encoding"))
	assert.Equal(t, "Accept-Encoding, Sec-Fetch-Site", b.answer.Header.Get("Vary"))
}
