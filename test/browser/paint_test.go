package browser

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var measured = flag.Int("measure", 0, "users of the sandbox that measures the first paint; 0: none does")

// TestFirstPaint measures the first paint of pages and the duration of the call behind each, alternately. It
// logs the medians of seven runs. It never fails, because a machine may be busy.
func TestFirstPaint(t *testing.T) {
	if *measured == 0 {
		t.Skip("-measure is not given")
	}
	address, link, token := sandbox(t, "--users", fmt.Sprint(*measured))
	b := start(t)
	b.view(1280, "light")
	b.follow(chromedp.Navigate(link))
	b.press("Sign in")
	for _, pair := range [][2]string{
		{"/ui/search?q=weber", "/api/Search?Text=weber&Limit=50"},
		{"/ui/people?q=weber", "/api/ADUser/ListUsers/All?Text=weber&Limit=500"},
		{"/ui/people", "/api/ADUser/ListUsers/All?Limit=500"},
		{"/ui/people?view=disabled", "/api/ADUser/ListUsers/All?Filter=enabled+eq+false&Limit=500"},
		{"/ui/groups", "/api/ADGroups/All?Limit=500"},
	} {
		var paints, answers, calls []time.Duration
		for range 7 {
			began := time.Now()
			call(t, address, token, http.MethodGet, pair[1])
			calls = append(calls, time.Since(began))
			b.follow(chromedp.Navigate(address + pair[0]))
			b.waits(`performance.getEntriesByName("first-contentful-paint").length > 0`)
			paints = append(paints, timing(b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
			answers = append(answers, timing(b, `performance.getEntriesByType("navigation")[0].responseEnd`))
		}
		slices.Sort(paints)
		slices.Sort(answers)
		slices.Sort(calls)
		t.Logf("%s: painted after %v, answered after %v, the call %v, %v more",
			pair[0], paints[3], answers[3], calls[3], paints[3]-calls[3])
	}
}

// timing returns a time of the page in milliseconds since it was requested.
func timing(b *browser, script string) time.Duration {
	return time.Duration(eval[float64](b, script) * float64(time.Millisecond))
}
