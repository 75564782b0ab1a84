package pages

import (
	"cmp"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// unread are parts of a page that are no words: scripts, and what is shown as it is in the directory or in the API.
	unread = regexp.MustCompile(`(?s)<(script|style|code|pre|textarea)\b.*?</(?:script|style|code|pre|textarea)>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
	// spoken are the attributes that people read or hear.
	spoken = regexp.MustCompile(`\b(?:title|aria-label|alt|placeholder|data-l)="([^"]*)"`)
	opens  = regexp.MustCompile(`href="(/ui/[^"#]*)`)
	// english are words of sentences that no German text has.
	english = regexp.MustCompile(`(?i)\b(the|and|of|is|are|you|your|not|this|with|cannot|for|from|been|does|has|which|must)\b|` +
		`\b(?:it|to|by|or|as|will|would|can|who|when|but|have|be|nothing|no|none|on|at)\b`)
	// ids are the parts of an address by which pages of one kind differ.
	ids = regexp.MustCompile(`/(?:[0-9a-f-]{36}|jb_[^/?]+|ch_[^/?]+|[A-Za-z0-9_-]{43}|[A-Z]+=[^/?]*|[a-z0-9.-]+\.(?:example|arpa))`)
)

// texts are what a page says, piece by piece.
func textsOn(page string) (all []string) {
	for _, m := range spoken.FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	for text := range strings.SplitSeq(tags.ReplaceAllString(unread.ReplaceAllString(page, "\n"), "\n"), "\n") {
		if text = strings.TrimSpace(html.UnescapeString(text)); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// data are the texts that the directory has, which no page translates.
func (s *system) data(t *testing.T) (all []string) {
	t.Helper()
	add := func(value any) {
		if text, is := value.(string); is && english.MatchString(text) {
			all = append(all, text)
		}
	}
	for _, path := range []string{"/api/ADUser/ListUsers/All", "/api/ADGroups/All", "/api/Computers/All", "/api/OU/All"} {
		a := s.Get(path)
		for _, r := range a.Envelope.Result {
			for value := range maps.Values(r) {
				add(value)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(all)
}

// TestNoPageInGermanSaysAnEnglishSentence: neither one that a link opens to nor one with an error. Names and other
// data are as the directory has them.
func TestNoPageInGermanSaysAnEnglishSentence(t *testing.T) {
	s := start(t, "jobs.rate=0")
	data := s.data(t)
	b := s.browser(t)
	b.signIn("operator")
	seen := map[string]int{}
	judge := func(page string) {
		t.Helper()
		assert.Contains(t, b.page, `<html lang="de"`, page)
		for _, text := range textsOn(b.page) {
			for _, known := range data {
				text = strings.ReplaceAll(text, known, "")
			}
			assert.NotRegexp(t, english, text, page)
		}
	}
	require.Equal(t, 303, b.submitFrom("/ui/rights", "/ui/look", "lang", "de"))
	var walk func(page string)
	walk = func(page string) {
		kind := ids.ReplaceAllString(page, "/ID")
		if at := strings.IndexByte(kind, '?'); at >= 0 {
			kind = kind[:at]
		}
		most := 2
		if strings.Contains(kind, "/ID") {
			most = 3
		}
		if seen[kind]++; seen[kind] > most || strings.Contains(kind, "/assets/") || strings.Contains(page, "format=csv") ||
			strings.HasSuffix(kind, ".csv") {
			return
		}
		if b.get(page) == 303 {
			walk(b.answer.Header.Get("Location"))
			return
		}
		judge(page)
		for _, m := range opens.FindAllStringSubmatch(b.page, -1) {
			walk(html.UnescapeString(m[1]))
		}
	}
	// What has happened: changes, lists that were checked, refused and run, and forms with mistakes.
	require.Equal(t, 200, b.get("/ui/rights"))
	require.Equal(t, 200, b.sent("user.update", "Username", lea, "JobTitle", "Malerin"))
	judge("preview")
	b.confirm()
	judge("done")
	for name, list := range map[string]string{
		"wrong":  "Operation,Username,Country\nuser.update,aschmidt,Atlantis\nuser.unlok,a,\n",
		"failed": "Operation,Username,City\nuser.update,nobody.here,Rom\nuser.update,aschmidt,Rom\n",
	} {
		require.Equal(t, 200, b.get("/ui/jobs"))
		require.Equal(t, 303, upload(b, "", "", "name", name, "mode", "dryRun", "list", list))
		job := b.answer.Header.Get("Location")
		if name == "failed" {
			shows(b, job, "/start")
		}
		require.Equal(t, 200, b.get(job))
		judge(name)
	}
	require.Equal(t, 200, b.get("/ui/jobs"))
	require.Equal(t, 303, upload(b, "", "", "operation", "user.update", "list", "Wer,Ort\nx,y\n"))
	require.Equal(t, 200, b.get(b.answer.Header.Get("Location")))
	judge("columns")
	require.Equal(t, 303, b.submit(b.answer.Request.URL.Path, "c0", "City", "c1", "City"))
	require.Equal(t, 422, b.get(b.answer.Header.Get("Location")))
	judge("columns with mistakes")
	for page, values := range map[string]url.Values{
		"/ui/procedures/join":   {},
		"/ui/do/user.create":    {"Username": {"a b"}, "OUPath": {"Nirgendwo"}, "EmailAddress": {"x"}},
		"/ui/do/membership.add": {"Username": {lea}, "GroupName": {"Gibt es nicht"}},
	} {
		require.Equal(t, 200, b.get(page))
		values.Set("form", b.form(page).Get("form"))
		require.Equal(t, 303, b.post(page, values), page)
		b.get(b.answer.Header.Get("Location"))
		judge(page + " with mistakes")
	}
	for _, page := range []string{
		"/ui/nowhere", "/ui/people/1a806dcf-5989-521c-8d8b-000000000000", "/ui/jobs/none", "/ui/steps/none", "/ui/lists/none",
		"/ui/people?q=gibtesnicht", "/ui/search?q=gibtesnicht", "/ui/changes/ch_none", "/ui/audit?day=x", "/ui/zones/none.example",
		"/ui/people?f=nonsense+eq+1",
	} {
		b.get(page)
		judge(page)
	}
	walk("/ui/")
	walk("/ui/do")
	assert.Greater(t, len(seen), 100)
	none := s.browser(t)
	require.Equal(t, 200, none.get("/ui/"))
	require.Equal(t, 303, none.submit("/ui/look", "lang", "de"))
	none.signIn("norights")
	b = none
	for _, page := range []string{"/ui/", "/ui/people", "/ui/jobs", "/ui/procedures", "/ui/rights", "/ui/do", "/ui/do/user.delete"} {
		b.get(page)
		judge("without rights: " + page)
	}
}
