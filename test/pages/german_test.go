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
	// unread matches the parts of a page that are not sentences, such as scripts and data that is shown
	// unchanged.
	unread = regexp.MustCompile(`(?s)<(script|style|code|pre|textarea)\b.*?` +
		`</(?:script|style|code|pre|textarea)>`)
	tags = regexp.MustCompile(`<[^>]*>`)
	// spoken matches the attributes that people read or hear.
	spoken = regexp.MustCompile(`\b(?:title|aria-label|alt|placeholder|data-l)="([^"]*)"`)
	opens  = regexp.MustCompile(`href="(/ui/[^"#]*)`)
	// english matches words that occur in English sentences, but not in German ones.
	english = regexp.MustCompile(`(?i)\b(the|and|of|is|are|you|your|not|this|with|cannot|for|from|been|does|has|which)\b|` +
		`\b(?:it|to|by|or|as|will|would|can|who|when|but|have|be|nothing|no|none|on|at)\b`)
	// ids matches the parts of an address that differ between pages of one kind.
	ids = regexp.MustCompile(`/(?:[0-9a-f-]{36}|jb_[^/?]+|ch_[^/?]+|[A-Za-z0-9_-]{43}|[A-Z]+=[^/?]*|` +
		`[a-z0-9.-]+\.(?:example|arpa))`)
)

// textsOn returns the texts on a page.
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

// data returns the texts in the directory that look English. Pages do not translate them.
func (s *system) data(t *testing.T) (all []string) {
	t.Helper()
	add := func(value any) {
		if text, is := value.(string); is && english.MatchString(text) {
			all = append(all, text)
		}
	}
	places := map[string]bool{}
	for _, path := range []string{
		"/api/ADUser/ListUsers/All", "/api/ADGroups/All", "/api/Computers/All", "/api/OU/All",
	} {
		a := s.Get(path)
		for _, r := range a.Envelope.Result {
			if place, has := r["ouPath"].(string); has {
				places[place] = true
			}
			for value := range maps.Values(r) {
				add(value)
			}
		}
	}
	for place := range places { // containers are in no list
		for _, r := range s.Get("/api/OU/Path/Details?OUPath=" + url.QueryEscape(place)).Envelope.Result {
			add(r["description"])
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(all)
}

// reader reads pages in German.
type reader struct {
	*browser
	data []string
	seen map[string]int // number of pages seen, by kind
}

// judge fails the test if the page contains an English sentence.
func (r *reader) judge(page string) {
	r.t.Helper()
	assert.Contains(r.t, r.page, `<html lang="de"`, page)
	for _, text := range textsOn(r.page) {
		for _, known := range r.data {
			text = strings.ReplaceAll(text, known, "")
		}
		assert.NotRegexp(r.t, english, text, page)
	}
}

// walk judges a page and a few pages of each kind to which it links.
func (r *reader) walk(page string) {
	r.t.Helper()
	kind, _, _ := strings.Cut(ids.ReplaceAllString(page, "/ID"), "?")
	most := 2
	if strings.Contains(kind, "/ID") {
		most = 3
	}
	file := strings.Contains(page, "format=csv") || strings.HasSuffix(kind, ".csv")
	if r.seen[kind]++; r.seen[kind] > most || file || strings.Contains(kind, "/assets/") {
		return
	}
	if r.get(page) == 303 {
		r.walk(r.answer.Header.Get("Location"))
		return
	}
	r.judge(page)
	for _, m := range opens.FindAllStringSubmatch(r.page, -1) {
		r.walk(html.UnescapeString(m[1]))
	}
}

// work judges the pages of previews and results, and of lists that were checked or refused.
func (r *reader) work(s *system) {
	r.t.Helper()
	require.Equal(r.t, 200, r.get("/ui/rights"))
	require.Equal(r.t, 200, r.sent("user.update", "Username", lea, "JobTitle", "Malerin"))
	r.judge("preview")
	r.confirm()
	r.judge("done")
	for name, list := range map[string]string{
		"wrong":  "Operation,Username,Country\nuser.update,aschmidt,Atlantis\nuser.unlok,a,\n",
		"failed": "Operation,Username,City\nuser.update,nobody.here,Rom\nuser.update,aschmidt,Rom\n",
	} {
		require.Equal(r.t, 200, r.get("/ui/jobs"))
		require.Equal(r.t, 303, upload(r.browser, "", "", "name", name, "mode", "dryRun", "list", list))
		job := r.answer.Header.Get("Location")
		if name == "failed" {
			shows(r.browser, job, "/start")
		}
		require.Equal(r.t, 200, r.get(job))
		r.judge(name)
	}
	r.get(failedRows(r.browser, s))
	r.judge("failed rows")
	require.Equal(r.t, 200, r.get("/ui/jobs"))
	require.Equal(r.t, 303, upload(r.browser, "", "", "operation", "user.update", "list", "Wer,Ort\nx,y\n"))
	require.Equal(r.t, 200, r.get(r.answer.Header.Get("Location")))
	r.judge("columns")
	require.Equal(r.t, 303, r.submit(r.answer.Request.URL.Path, "c0", "City", "c1", "City"))
	require.Equal(r.t, 422, r.get(r.answer.Header.Get("Location")))
	r.judge("columns with mistakes")
}

// mistakes judges forms that contain mistakes.
func (r *reader) mistakes() {
	r.t.Helper()
	for page, values := range map[string]url.Values{
		"/ui/procedures/join":   {},
		"/ui/do/user.create":    {"Username": {"a b"}, "OUPath": {"Nirgendwo"}, "EmailAddress": {"x"}},
		"/ui/do/membership.add": {"Username": {lea}, "GroupName": {"Gibt es nicht"}},
	} {
		require.Equal(r.t, 200, r.get(page))
		values.Set("form", r.form(page).Get("form"))
		require.Equal(r.t, 303, r.post(page, values), page)
		r.get(r.answer.Header.Get("Location"))
		r.judge(page + " with mistakes")
	}
}

// TestNoPageInGermanSaysAnEnglishSentence: neither the linked pages nor those with an error contain an
// English sentence, except in names and other data.
func TestNoPageInGermanSaysAnEnglishSentence(t *testing.T) {
	s := start(t, "jobs.rate=0")
	r := &reader{s.browser(t), s.data(t), map[string]int{}}
	r.signIn("operator")
	require.Equal(t, 303, r.submitFrom("/ui/rights", "/ui/look", "lang", "de"))
	r.work(s)
	r.mistakes()
	for _, page := range []string{
		"/ui/nowhere", "/ui/people/1a806dcf-5989-521c-8d8b-000000000000", "/ui/jobs/none", "/ui/steps/none",
		"/ui/people?q=gibtesnicht", "/ui/search?q=gibtesnicht", "/ui/changes/ch_none", "/ui/audit?day=x",
		"/ui/people?f=nonsense+eq+1", "/ui/lists/none", "/ui/zones/none.example",
	} {
		r.get(page)
		r.judge(page)
	}
	r.walk("/ui/")
	r.walk("/ui/do")
	assert.Greater(t, len(r.seen), 100)
	none := &reader{s.browser(t), r.data, nil}
	require.Equal(t, 200, none.get("/ui/"))
	require.Equal(t, 303, none.submit("/ui/look", "lang", "de"))
	none.signIn("norights")
	for _, page := range []string{
		"/ui/", "/ui/people", "/ui/jobs", "/ui/procedures", "/ui/rights", "/ui/do", "/ui/do/user.delete",
	} {
		none.get(page)
		none.judge("without rights: " + page)
	}
}
