package commands

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is one whose requests a load balancer spreads over the gateways.
type browser struct {
	t      *testing.T
	client *http.Client
	jar    *jar
}

// jar keeps the cookies of all gateways together, as they have one name behind a balancer.
type jar struct {
	mu      sync.Mutex
	cookies map[string]*http.Cookie
}

func (j *jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range cookies {
		j.cookies[c.Name] = c
	}
}

func (j *jar) Cookies(*url.URL) []*http.Cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(maps.Values(j.cookies))
}

func newBrowser(t *testing.T) *browser {
	j := &jar{cookies: map[string]*http.Cookie{}}
	return &browser{t: t, jar: j, client: &http.Client{Jar: j, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// open opens a page of a gateway.
func (b *browser) open(g *runningSandbox, path string) (status int, page string) {
	return b.do(g, http.MethodGet, path, nil)
}

// send sends the form of a page at another gateway.
func (b *browser) send(g *runningSandbox, path, page string, more url.Values) (status int, text string) {
	form := url.Values{}
	for _, hidden := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		form.Set(hidden[1], hidden[2])
	}
	maps.Copy(form, more)
	return b.do(g, http.MethodPost, path, form)
}

func (b *browser) do(g *runningSandbox, method, path string, form url.Values) (status int, text string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, g.url+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	request.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {g.url}, "Sec-Fetch-Site": {"same-origin"}}
	answer, err := b.client.Do(request)
	require.NoError(b.t, err)
	page, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	require.NoError(b.t, answer.Body.Close())
	if at := answer.Header.Get("Location"); at != "" {
		return answer.StatusCode, at
	}
	return answer.StatusCode, string(page)
}

// TestPagesWithoutTheEngine: while no node runs, who is signed in reads on until the recheck,
// nobody signs in, and who signs out is signed out everywhere once a node runs.
func TestPagesWithoutTheEngine(t *testing.T) {
	engine := enginetest.Start(t, 1)
	_, files := clusterSettings(t, engine, "gw1", "gw2")
	one, two := "--config="+files[0], "--config="+files[1]
	command(t, "cluster", "init", one)
	token := url.Values{"token": {command(t, "token", "create", "desk", one, "--scope", "user:read")}}
	first, second := startSandbox(t, one), startSandbox(t, two, "--set", "signIn.recheck=1s")

	b := newBrowser(t)
	_, page := b.open(first, "/ui/signin")
	require.Eventually(t, func() bool { // the token is known
		status, _ := b.send(first, "/ui/signin", page, token)
		return status == http.StatusSeeOther
	}, patience, 10*time.Millisecond)
	for _, g := range []*runningSandbox{first, second} {
		var status int
		require.Eventually(t, func() bool { status, page = b.open(g, "/ui/people"); return status == http.StatusOK }, patience, 10*time.Millisecond)
	}

	engine.Stop(0)
	status, text := b.open(first, "/ui/people")
	require.Equal(t, http.StatusOK, status, text)
	require.Eventually(t, func() bool { status, text = b.open(second, "/ui/people"); return status != http.StatusOK }, patience, 10*time.Millisecond)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "store_lost")
	stranger := newBrowser(t)
	_, form := stranger.open(first, "/ui/signin")
	status, text = stranger.send(first, "/ui/signin", form, token)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "store_lost")

	left := newBrowser(t) // it keeps the cookie
	left.jar.SetCookies(nil, b.jar.Cookies(nil))
	status, text = b.send(first, "/ui/signout", page, nil)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "You are signed out in this browser")
	status, _ = left.open(first, "/ui/people")
	assert.Equal(t, http.StatusUnauthorized, status)

	engine.Start(0)
	require.Eventually(t, func() bool {
		status, _ := left.open(second, "/ui/people")
		return status == http.StatusUnauthorized
	}, patience, 10*time.Millisecond, "the end of the session")
	require.Eventually(t, func() bool {
		status, _ := stranger.send(second, "/ui/signin", form, token)
		return status == http.StatusSeeOther
	}, patience, 10*time.Millisecond, "a sign-in")
}
