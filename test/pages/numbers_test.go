package pages

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

var (
	tileOf  = regexp.MustCompile(`<a class="[^"]*" href="([^"]*)">[^<]*<b data-count-of="([^"]*)">([^<]*)</b>`)
	countOf = regexp.MustCompile(`<h2>([^<]*) <span class="n">(\d+)</span></h2>`)
	rowOf   = regexp.MustCompile(`<tr><td`)
)

// number parses a number on a page.
func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	require.NoError(t, err, text)
	return n
}

// TestPagesShowTheNumbersOfTheAPI: the quick views on the home page, the lists behind them, and the parts of
// units, zones and groups have the number of rows that the API reports.
func TestPagesShowTheNumbersOfTheAPI(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	for _, change := range []string{"Disable", "Enable", "Disable"} {
		s.OK(systemtest.Call{Method: "PUT", Path: "/api/ADUser/lweber/" + change}, 200)
	}
	require.Equal(t, 200, b.get("/ui/?counts=1"))
	lists := map[string]string{
		"people": "/api/ADUser/ListUsers/All", "groups": "/api/ADGroups/All", "computers": "/api/Computers/All",
	}
	filters := map[string]string{
		"people.locked":          "lockedOut eq true",
		"people.passwordExpired": "enabled eq true and passwordExpired eq true",
		"people.expired":         "accountExpired eq true", "people.disabled": "enabled eq false",
		"people.never": "enabled eq true and neverLoggedOn eq true", "groups.empty": "empty eq true",
		"computers.stale": "stale eq true", "computers.disabled": "enabled eq false",
	}
	shown := map[string]string{}
	for _, m := range tileOf.FindAllStringSubmatch(b.page, -1) {
		shown[m[2]] = m[3]
	}
	for id, filter := range filters {
		list, _, _ := strings.Cut(id, ".")
		query := url.Values{"Filter": {filter}, "Limit": {"1000"}, "Count": {"true"}}
		a := s.Get(lists[list] + "?" + query.Encode())
		require.Equal(t, 200, a.Status, "%s", a.Body)
		assert.Equal(t, len(a.Envelope.Result), number(t, shown[id]), id)
		_, view, _ := strings.Cut(id, ".")
		require.Equal(t, 200, b.get("/ui/"+list+"?view="+view))
		assert.Len(t, rowOf.FindAllString(b.page, -1), min(len(a.Envelope.Result), 100), id)
		for _, r := range a.Envelope.Result[:min(len(a.Envelope.Result), 20)] {
			assert.Contains(t, b.page, r["guid"], "%s: %v", id, r)
		}
	}
	require.Equal(t, 200, b.get("/ui/changes?view=today"))
	assert.Len(t, rowOf.FindAllString(b.page, -1), number(t, shown["changes.today"]))

	counts := func(path string) map[string]int {
		require.Equal(t, 200, b.get(path), path)
		all := map[string]int{}
		for _, m := range countOf.FindAllStringSubmatch(b.page, -1) {
			all[m[1]] = number(t, m[2])
		}
		return all
	}
	for _, ou := range s.Get("/api/OU/All").Envelope.Result {
		dn := ou["path"].(string)
		if ou["container"] == true || !strings.Contains(dn, "OU=Berlin") {
			continue
		}
		query := url.Values{"OUPath": {dn}}.Encode()
		want := map[string]int{
			"People": len(s.Get("/api/ADUser/ListUsers?" + query).Envelope.Result),
			"Groups": len(s.Get("/api/ADGroups?" + query).Envelope.Result),
		}
		assert.Equal(t, want, counts("/ui/ous/"+url.PathEscape(dn)), dn)
	}
	for _, zone := range s.Get("/api/DnsZones/All").Envelope.Result {
		name := zone["zoneName"].(string)
		a := s.Get("/api/DnsRecord/" + url.PathEscape(name))
		if a.Status == 200 {
			want := map[string]int{"Records": len(a.Envelope.Result)}
			assert.Equal(t, want, counts("/ui/zones/"+url.PathEscape(name)), name)
		}
	}
}

// TestEveryComputerAndGroupIsAsTheAPISays: the facts on each page match the record in the API.
func TestEveryComputerAndGroupIsAsTheAPISays(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	text := func(r map[string]any, fields ...string) string {
		var all []string
		for _, field := range fields {
			if r[field] != nil && r[field] != "" {
				all = append(all, fmt.Sprint(r[field]))
			}
		}
		return strings.Join(all, " ")
	}
	plain := func(fact string) string {
		return strings.TrimSpace(html.UnescapeString(markup.ReplaceAllString(fact, "")))
	}
	for _, r := range s.Get("/api/Computers/All?Limit=1000").Envelope.Result[:25] {
		require.Equal(t, 200, b.get("/ui/computers/"+r["guid"].(string)))
		facts := b.facts()
		assert.Equal(t, ofState(r["enabled"], nil), badges(facts["Account"]), r["computerName"])
		system := text(r, "operatingSystem", "operatingSystemVersion")
		assert.Equal(t, system, plain(facts["System"]), r["computerName"])
		assert.Contains(t, facts["Created"], moment(t, r["created"], ""), r["computerName"])
		assert.Contains(t, b.page, `<h1>`+html.EscapeString(r["computerName"].(string))+`</h1>`)
	}
	for _, r := range s.Get("/api/ADGroups/All?Limit=1000").Envelope.Result[:25] {
		require.Equal(t, 200, b.get("/ui/groups/"+r["guid"].(string)))
		facts := b.facts()
		assert.Equal(t, text(r, "email"), plain(facts["Mail"]), r["name"])
		assert.Contains(t, facts["Created"], moment(t, r["created"], ""), r["name"])
		members := s.Get("/api/ADGroups/" + r["guid"].(string) + "/Members?Limit=50").Envelope.Result
		part, _, _ := strings.Cut(b.page[strings.Index(b.page, `<h2 id="members">`):], "</section>")
		assert.Len(t, rowOf.FindAllString(part, -1), len(members), r["name"])
		for _, m := range members {
			assert.Contains(t, html.UnescapeString(part), m["name"], r["name"])
		}
	}
}

// TestTheFrameOfAListComesFirst: the gateway sends the page around a list once it has accepted the call for
// the records. If it refuses the call, the page has the status of the refusal.
func TestTheFrameOfAListComesFirst(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	const first = "X-Accel-Buffering" // proxies pass such an answer on in parts
	for _, path := range []string{"/ui/people", "/ui/groups?q=sales", "/ui/computers", "/ui/search?q=weber"} {
		require.Equal(t, 200, b.get(path))
		assert.Equal(t, "no", b.answer.Header.Get(first), path)
		assert.Equal(t, 1, strings.Count(b.page, "</html>"), path)
	}
	for _, path := range []string{"/ui/people?after=nowhere", "/ui/people?f=nonsense+eq+1"} {
		assert.Equal(t, 400, b.get(path), path)
		assert.Empty(t, b.answer.Header.Get(first), path)
	}
}
