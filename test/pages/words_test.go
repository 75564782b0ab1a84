package pages

import (
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

var (
	linkOf    = regexp.MustCompile(`href="(/ui/[^"#]*)`)
	markup    = regexp.MustCompile(`<(?:script|style)[^>]*>.*?</(?:script|style)>|<[^>]*>`)
	spokenOf  = regexp.MustCompile(`(?:title|aria-label|alt|placeholder)="([^"]*)"`)
	requestID = regexp.MustCompile(`<dt>(?:Request ID|Anfrage-ID)</dt><dd>[^<]*</dd>`)
	guidWord  = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	callWord  = regexp.MustCompile(`\b(?:GET|POST|PUT|PATCH|DELETE) /`)
)

// namedLikeAGUID is the name of a person in the sandbox.
const namedLikeAGUID = "12345678-1234-1234-1234-123456789abc"

// said returns the text of a page that people see or hear.
func said(page string) string {
	page = strings.ReplaceAll(requestID.ReplaceAllString(page, ""), namedLikeAGUID, "")
	var all []string
	for _, m := range spokenOf.FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return html.UnescapeString(markup.ReplaceAllString(page, " ") + " " + strings.Join(all, " "))
}

// apiWords returns an expression that matches words of the API. No page may contain such a word.
func apiWords() *regexp.Regexp {
	var words []string
	for _, scope := range identity.Scopes() {
		if strings.Contains(string(scope), ":") {
			words = append(words, regexp.QuoteMeta(string(scope)))
		}
	}
	for _, op := range ops.Table() {
		words = append(words, regexp.QuoteMeta(op.ID))
	}
	return regexp.MustCompile(`(?:^|[^\w.-])(` + strings.Join(words, "|") + `)(?:$|[^\w.-])`)
}

// mostAlike is the maximum number of pages of one kind that are read. More pages would not reveal anything
// new.
const mostAlike = 2

var lastParts = regexp.MustCompile(`^(/ui/[a-z]+)(/[^?]*)?(\?.*)?$`)

// formOf returns the part that the addresses of pages of one kind have in common.
func formOf(path string) string {
	m := lastParts.FindStringSubmatch(path)
	if m == nil {
		return path
	}
	if m[1] == "/ui/do" {
		return path[:strings.IndexByte(path+"?", '?')]
	}
	depth, names := strings.Count(m[2], "/"), ""
	if m[3] != "" {
		for pair := range strings.SplitSeq(m[3][1:], "&amp;") {
			name, _, _ := strings.Cut(pair, "=")
			names += " " + name
		}
	}
	return fmt.Sprint(m[1], depth, names)
}

// TestNoPageHasAWordOfTheAPI follows the links of every page, in both languages in a thorough run. It
// skips the calls in the audit log, which are for people who know the API.
func TestNoPageHasAWordOfTheAPI(t *testing.T) {
	s := secretive(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	s.OK(systemtest.Call{Method: "PUT", Path: "/api/ADUser/aschmidt/Disable"}, 200)
	s.OK(systemtest.Call{Method: "DELETE", Path: "/api/ADUser/karl.alt"}, 200)
	s.OK(systemtest.Call{Method: "POST", Path: "/api/ADUser/lweber/Group/Finance Staff"}, 201)
	words := apiWords()
	require.True(t, words.MatchString("needs user:read here"))
	require.True(t, words.MatchString("by user.disable"))
	for _, lang := range thorough.Some([]string{"en", "de"}) {
		b := s.browser(t)
		b.signIn("operator")
		require.Equal(t, 303, b.submitFrom("/ui/", "/ui/look", "lang", lang))
		seen, alike := map[string]bool{}, map[string]int{}
		person := "/ui/people/" + lea
		queue := []string{"/ui/", "/ui/search?q=an", b.failed(s), person, person + "/compare?with=aschmidt"}
		for len(queue) > 0 {
			path := queue[0]
			queue = queue[1:]
			form := formOf(path)
			other := func(part string) bool { return strings.Contains(path, part) }
			if seen[path] || alike[form] >= mostAlike ||
				slices.ContainsFunc([]string{"view=calls", "/assets/", "/photo", "format=csv", "/result.csv"}, other) {
				continue
			}
			seen[path] = true
			alike[form]++
			status := b.get(html.UnescapeString(path))
			require.Contains(t, []int{200, 303, 404}, status, "%s: %s", path, b.page)
			text := said(b.page)
			for what, expr := range map[string]*regexp.Regexp{"word": words, "call": callWord, "GUID": guidWord} {
				assert.Empty(t, expr.FindString(text), "%s %s: a %s of the API", lang, path, what)
			}
			if status == 303 {
				queue = append(queue, b.answer.Header.Get("Location"))
			}
			for _, m := range linkOf.FindAllStringSubmatch(b.page, -1) {
				queue = append(queue, m[1])
			}
		}
		const parts = "people/ groups/ computers/ ous/ zones/ bin/ changes/ do/ rights status audit jobs"
		for part := range strings.FieldsSeq(parts) {
			begins := func(path string) bool { return strings.HasPrefix(path, "/ui/"+part) }
			assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(seen)), begins), "%s was read", part)
		}
		t.Logf("%s: %d pages", lang, len(seen))
	}
}
