package pages

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// browser is a browser without scripts.
type browser struct {
	t      testing.TB
	url    string
	client *http.Client
	page   string // current page
	path   string // path of the page
	answer *http.Response
}

func (s *system) browser(t testing.TB) *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t: t, url: s.URL, client: &http.Client{Jar: jar, Timeout: systemtest.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b *browser) do(r *http.Request) int {
	b.t.Helper()
	answer, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	b.answer, b.page, b.path = answer, string(text), r.URL.RequestURI()
	return answer.StatusCode
}

func (b *browser) get(path string) int {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.url+path, nil)
	require.NoError(b.t, err)
	return b.do(r)
}

// post sends a form with the headers of a browser.
func (b *browser) post(path string, values url.Values) int {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.url+path, strings.NewReader(values.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(r)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// form returns the hidden values of the form with the given action on the page.
func (b *browser) form(action string, pairs ...string) url.Values {
	b.t.Helper()
	_, rest, found := strings.Cut(b.page, `action="`+action+`"`)
	require.True(b.t, found, "no form for %s in %s", action, b.page)
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(rest, -1) {
		values.Set(m[1], html.UnescapeString(m[2]))
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}

// submit fills in a form on the page and sends it.
func (b *browser) submit(action string, pairs ...string) int {
	b.t.Helper()
	return b.post(action, b.form(action, pairs...))
}

// preview sends the form of an operation on the page, and opens the preview.
func (b *browser) preview(operation string, pairs ...string) {
	b.t.Helper()
	require.Equal(b.t, 303, b.submit("/ui/do/"+operation, pairs...), b.page)
	require.Equal(b.t, 200, b.follow(), b.page)
	require.Contains(b.t, b.path, "/ui/steps/", b.page)
}

// sent sends the form of an operation for an object. It returns the status of the page with the preview, or
// of the page that explains why there is no preview.
func (b *browser) sent(operation, param, guid string, pairs ...string) int {
	b.t.Helper()
	form := url.Values{"form": {b.form("/ui/signout").Get("form")}, param: {guid}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	if status := b.post("/ui/do/"+operation, form); status != http.StatusSeeOther {
		return status
	}
	return b.follow()
}

// confirm confirms the preview on the page, and opens the page with the result.
func (b *browser) confirm() {
	b.t.Helper()
	require.Equal(b.t, 303, b.submit(b.path), b.page)
	require.Equal(b.t, 200, b.follow(), b.page)
}

func (b *browser) signIn(name string) {
	b.t.Helper()
	require.Equal(b.t, 200, b.get("/ui/signin"))
	require.Equal(b.t, 303, b.submit("/ui/signin", "username", name, "password", password), b.page)
}

// follow follows the redirect in the last response.
func (b *browser) follow() int {
	b.t.Helper()
	to := b.answer.Header.Get("Location")
	require.NotEmpty(b.t, to)
	return b.get(to)
}

func (b *browser) cookie() string {
	at, _ := url.Parse(b.url)
	for _, c := range b.client.Jar.Cookies(at) {
		return c.Value
	}
	return ""
}

// submitFrom opens a page, fills in a form on it and sends it.
func (b *browser) submitFrom(page, action string, pairs ...string) int {
	b.t.Helper()
	require.Equal(b.t, 200, b.get(page))
	return b.submit(action, pairs...)
}

// person opens Lea's page.
func (b *browser) person(t testing.TB) string {
	require.Equal(t, 200, b.get("/ui/people/"+lea), b.page)
	return b.page
}
