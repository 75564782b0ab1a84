package ui

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
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

// TestEachPageOfAListIsOneCall: each page makes one call, and no other, whether the list is short or long. The
// pages lead through the whole list and back, and show each record once.
func TestEachPageOfAListIsOneCall(t *testing.T) {
	for _, path := range []string{"people", "groups", "computers"} {
		for _, records := range []int{1, table.PerPage, 250, 500, 501, 730} {
			calls, l := 0, listingAt(path)
			show := func(at string) string {
				calls = 0
				shown := shownAt(t, long{nil, records, &sync.Mutex{}, &calls}, at, func(v *frame.Visit) { table.ShowListing(v, l) })
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

// TestChangesOfTodayAreCounted: the quick view has the number of changes. If there are more than one call
// reads, it says so.
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
