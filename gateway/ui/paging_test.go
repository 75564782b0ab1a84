package ui

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
)

// long is an API whose lists have a number of records. It counts its calls.
type long struct {
	given
	records int
	mu      *sync.Mutex
	calls   *int
}

func (l long) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	l.mu.Lock()
	*l.calls++
	l.mu.Unlock()
	values, _ := c.Input.(call.Values)
	first := 0
	if after, is := values["After"].(string); is {
		first, _ = strconv.Atoi(after)
	}
	limit, _ := strconv.Atoi(fmt.Sprint(values["Limit"]))
	last := min(first+limit, l.records)
	var page []map[string]any
	for i := first; i < last; i++ {
		name := fmt.Sprintf("n%04d", (i*7)%l.records) // in no order
		page = append(page, map[string]any{"guid": name, "name": name, "displayName": name, "computerName": name})
	}
	answer, err := given{operation: page}.Call(ctx, operation, c)
	if last < l.records {
		answer.Next = strconv.Itoa(last)
	}
	return answer, err
}

// TestEachPageOfAListIsOneCall: each page makes one call, whether the list is short or long. The pages lead
// through the whole list and back, and show each record once.
func TestEachPageOfAListIsOneCall(t *testing.T) {
	for _, path := range []string{"people", "groups", "computers"} {
		for _, records := range []int{1, table.PerPage, 250, 500, 501, 730} {
			calls, l := 0, listingAt(path)
			show := func(at string) string {
				calls = 0
				api := long{nil, records, &sync.Mutex{}, &calls}
				shown := shownAt(t, api, at, func(v *frame.Visit) { table.ShowListing(v, l) })
				assert.Equal(t, 1, calls, at)
				return shown
			}
			linked := func(shown, rel string) string {
				found := regexp.MustCompile(`href="([^"]*)" rel="` + rel + `"`).FindStringSubmatch(shown)
				if found == nil {
					return ""
				}
				return html.UnescapeString(found[1])
			}
			name := regexp.MustCompile(`>(n\d{4})<`)
			seen, pages, last := map[string]int{}, []string{}, ""
			for at := say.Address(path); at != ""; {
				shown := show(at)
				rows := between(t, shown, "<tbody>", "</tbody>")
				before := ""
				for _, found := range name.FindAllStringSubmatch(rows, -1) {
					seen[found[1]]++
					assert.Less(t, before, found[1], "each page is in order")
					before = found[1]
				}
				pages, last = append(pages, rows), shown
				at = linked(shown, "next")
			}
			require.Len(t, seen, records)
			require.Len(t, pages, (records+table.PerPage-1)/table.PerPage)
			for i := len(pages) - 2; i >= 0; i-- {
				back := linked(last, "prev")
				require.NotEmpty(t, back, i)
				last = show(back)
				assert.Equal(t, pages[i], between(t, last, "<tbody>", "</tbody>"), back)
			}
			assert.Empty(t, linked(last, "prev"))
		}
	}
}

// TestChangesOfTodayAreCounted: the quick view has the number of changes. If there are more changes than one
// call can read, the quick view says so.
func TestChangesOfTodayAreCounted(t *testing.T) {
	tile := regexp.MustCompile(`data-count-of="changes\.today">([^<]*)<`)
	shown := func(records int) string {
		calls := 0
		page := shownAt(t, long{nil, records, &sync.Mutex{}, &calls}, "/ui/?counts=1", home)
		return tile.FindStringSubmatch(page)[1]
	}
	assert.Equal(t, "3", shown(3))
	assert.Equal(t, "1,000", shown(1000))
	assert.Equal(t, "1,000 or more", shown(1001))
}

// starting is an API whose calls start, and then answer or fail. During a call it passes on the part of the
// page that the browser has received.
type starting struct {
	given
	failed   error
	received func()
}

func (s starting) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	if c.Started != nil {
		c.Started()
		s.received()
	}
	if s.failed != nil {
		return call.Answer{}, s.failed
	}
	return s.given.Call(ctx, operation, c)
}

// TestTheFrameIsSentBeforeTheRecordsAreRead: a browser shows the frame of a list or a search while the
// directory is being read. If reading fails, the page says so. A request that is refused earlier has the
// status of the refusal.
func TestTheFrameIsSentBeforeTheRecordsAreRead(t *testing.T) {
	record := []map[string]any{{"guid": "g", "type": "user", "name": "Lea Weber", "displayName": "Lea Weber"}}
	found := given{"user.listAll": record, "search.find": record}
	people := func(v *frame.Visit) { table.ShowListing(v, listingAt("people")) }
	for _, c := range []struct {
		at   string
		show func(*frame.Visit)
	}{{"/ui/people", people}, {"/ui/people?q=weber", people}, {"/ui/search?q=weber", searchAll}} {
		shown := func(
			method string, api func(received func()) frame.API,
		) (w *httptest.ResponseRecorder, early string) {
			w = httptest.NewRecorder()
			received := func() {
				assert.True(t, w.Flushed)
				early = w.Body.String()
			}
			c.show(&frame.Visit{
				Pages: New(frame.Options{API: api(received), Gate: signin.NewGate(signin.Options{}), Client: somewhere}),
				W:     w, R: httptest.NewRequest(method, c.at, nil), Session: &signin.Session{Name: "somebody"},
				Principals: []*identity.Principal{{Scopes: []identity.Scope{identity.All}}},
			})
			return w, early
		}
		whole, _ := shown(http.MethodGet, func(func()) frame.API { return found })
		w, early := shown(http.MethodGet, func(received func()) frame.API { return starting{found, nil, received} })
		assert.Contains(t, early, `<nav id="nav"`, c.at)
		assert.NotContains(t, early, "Lea Weber", c.at)
		form := regexp.MustCompile(`name="form" value="[^"]*"`) // differs between requests
		plain := func(w *httptest.ResponseRecorder) string {
			return strings.TrimSpace(form.ReplaceAllString(w.Body.String(), ""))
		}
		assert.True(t, plain(whole) == plain(w), "%s: it is the same page", c.at)

		busy := problem.New(schema.Overloaded, "Busy.")
		w, early = shown(http.MethodGet, func(received func()) frame.API { return starting{found, busy, received} })
		assert.NotEmpty(t, early, c.at)
		assert.Equal(t, http.StatusOK, w.Code, c.at)
		assert.Contains(t, w.Body.String(), `role="alert"`, c.at)
		assert.Equal(t, 1, strings.Count(w.Body.String(), "</html>"), c.at)

		w, early = shown(http.MethodGet, func(func()) frame.API { return refusing{} })
		assert.Empty(t, early, c.at)
		assert.Equal(t, http.StatusForbidden, w.Code, c.at)
		_, early = shown(http.MethodHead, func(received func()) frame.API { return starting{found, nil, received} })
		assert.Empty(t, early, c.at)
	}
}
