package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

var manualLink = regexp.MustCompile(`href="(/manual/[^"#]*)(?:#([^"]*))?"`)

// leads follows the links of a page to the manual, checks that their anchors exist, and returns the links.
func leads(b *browser, from string) (links []string) {
	b.t.Helper()
	for _, link := range manualLink.FindAllStringSubmatch(b.page, -1) {
		require.Equal(b.t, http.StatusOK, b.get(link[1]), "%s: %s", from, link[0])
		anchor, err := url.PathUnescape(link[2])
		require.NoError(b.t, err)
		assert.True(b.t, anchor == "" || strings.Contains(b.page, ` id="`+anchor+`"`), "%s: %s leads nowhere", from, link[0])
		links = append(links, strings.TrimSuffix(link[1]+"#"+link[2], "#"))
	}
	return links
}

// TestPagesLeadToTheManual: every page links to the manual for help desks, and an error on a page also links
// to its explanation.
func TestPagesLeadToTheManual(t *testing.T) {
	s := start(t, "audit.file="+t.TempDir()+"/audit.jsonl")
	const errors = "/manual/reference/errors#"
	b := s.browser(t)
	b.signIn("helpdesk")
	for path, code := range map[string]string{
		"/ui/": "", "/ui/people": "", "/ui/people/00000000-0000-0000-0000-000000000000": "not_found",
		"/ui/jobs": "forbidden", "/ui/people?q=" + strings.Repeat("x", 300): "invalid_request",
	} {
		b.get(path)
		want := []string{"/manual/helpdesk"}
		if code != "" {
			require.Contains(t, b.page, `role="alert"`, path)
			want = []string{errors + code, "/manual/helpdesk"}
		}
		assert.Equal(t, want, leads(b, path), path)
	}

	operator := s.browser(t)
	operator.signIn("operator")
	require.Equal(t, http.StatusOK, operator.get("/ui/jobs"))
	list := []string{"operation", "user.enable", "mode", "dryRun", "list", "Username\nnobody-at-all\n"}
	require.Equal(t, http.StatusSeeOther, upload(operator, "", "", list...), operator.page)
	job := operator.answer.Header.Get("Location")
	shows(operator, job, ">not_found<")
	enable := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/nobody-at-all/Enable"}
	s.Rejects(enable, http.StatusNotFound, "not_found")
	for _, path := range []string{job, "/ui/audit?view=calls"} {
		require.Equal(t, http.StatusOK, operator.get(path), path)
		assert.Contains(t, leads(operator, path), errors+"not_found", path)
	}
}

func TestNoPageLeadsToAManualThatIsNotServed(t *testing.T) {
	s := start(t, "docs.enabled=false")
	b := s.browser(t)
	b.signIn("helpdesk")
	for _, path := range []string{"/ui/", "/ui/jobs"} {
		b.get(path)
		assert.NotContains(t, b.page, "/manual/", path)
		assert.NotContains(t, b.page, "/docs/", path)
	}
}
