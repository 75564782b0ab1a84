package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// Filters that the directory cannot evaluate. The gateway therefore checks the directory's results
// afterwards.
const (
	expiresSoon = `passwordExpires lt "P7D" and passwordExpires gt "P0D"`
	hasExpired  = `passwordExpired eq true`
)

// countSearches counts the calls of the cmdlets that search the directory. It counts in
// sessions that start later.
func countSearches(w *sandbox.World) *atomic.Int64 {
	var searches atomic.Int64
	modules, _ := w.Modules()
	for _, m := range modules {
		for _, c := range m.Commands {
			if !strings.HasPrefix(c.Decl.Name, "Get-AD") {
				continue
			}
			process := c.Process
			c.Process = func(call *engine.Call) error {
				searches.Add(1)
				return process(call)
			}
		}
	}
	return &searches
}

// newCounted returns a system with generated users, and a counter of its searches.
func newCounted(t testing.TB, users int) (*systemtest.System, *atomic.Int64) {
	t.Helper()
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Users: users})
	require.NoError(t, err)
	searches := countSearches(w)
	return systemtest.NewOn(t, w, w.Starter()), searches
}

// TestAPageTakesFewSearches counts the searches for one page, with filters that hardly any object passes and
// with filters that the directory evaluates. The number must hardly grow with the size of the domain. Only a
// thorough run creates the largest domain.
func TestAPageTakesFewSearches(t *testing.T) {
	for _, size := range []int{1_000, 4_000, 16_000} {
		if size > 4_000 && !thorough.All() {
			continue
		}
		s, searches := newCounted(t, size)
		for _, test := range []struct {
			filter      string
			limit, most int
		}{
			{expiresSoon, 50, 12}, {hasExpired, 50, 12}, {hasExpired, 1, 12}, {expiresSoon, 1000, 12},
			{`enabled eq true`, 50, 6}, {`department eq "Sales"`, 50, 6}, {`enabled eq true`, 1000, 6},
		} {
			params := map[string]any{"Limit": test.limit, "Filter": test.filter}
			list(s, users, params) // the first call makes the session cache data of the domain
			searches.Store(0)
			a := list(s, users, params)
			assert.LessOrEqual(t, int(searches.Load()), test.most, "%d users, %d of %s: %d found",
				size, test.limit, test.filter, len(a.Envelope.Result))
		}
	}
}

// BenchmarkPageOfFew reads a page that hardly any user passes.
func BenchmarkPageOfFew(b *testing.B) {
	for _, size := range []int{1_000, 4_000, 16_000} {
		b.Run(fmt.Sprintf("users=%d", size), func(b *testing.B) {
			s, searches := newCounted(b, size)
			params := map[string]any{"Limit": 50, "Filter": expiresSoon}
			list(s, users, params)
			searches.Store(0)
			for b.Loop() {
				list(s, users, params)
			}
			b.ReportMetric(float64(searches.Load())/float64(b.N), "searches/op")
		})
	}
}

// TestPagesOfAnySize reads lists in pages of random sizes. The pages add up to the whole
// list, in the order of the GUIDs. A plain run tries a share of the filters.
func TestPagesOfAnySize(t *testing.T) {
	s := newSystem(t, 3_000)
	random := rand.New(rand.NewPCG(7, 11))
	for i, filter := range []string{
		expiresSoon, hasExpired, `lockedOut eq true`, `enabled eq false and passwordExpired eq true`,
		`passwordExpires gt "P30D"`, `department eq "Sales"`,
	} {
		if i%3 != 0 && !thorough.All() {
			continue
		}
		params := map[string]any{"Filter": filter, "ShowFields": "username,guid"}
		want := names(list(s, users, params))
		require.NotEmpty(t, want, filter)
		// Pages of one record would need too many requests for a long list.
		for _, limit := range []int{1 + random.IntN(3) + len(want)/20, 1 + random.IntN(50) + len(want)/20,
			1 + random.IntN(1000), 1000} {
			about := fmt.Sprintf("%s, Limit %d", filter, limit)
			var found, guids []string
			for asked := maps.Clone(params); ; {
				asked["Limit"] = limit
				a := list(s, users, asked)
				found = append(found, names(a)...)
				for _, record := range a.Envelope.Result {
					guids = append(guids, fmt.Sprint(record["guid"]))
				}
				next, _ := page(t, a)
				if next == "" {
					break
				}
				require.Len(t, a.Envelope.Result, limit, about)
				asked["After"] = next
			}
			slices.Sort(found)
			assert.Equal(t, want, found, about)
			assert.True(t, slices.IsSortedFunc(guids, compareStored), about)
		}
	}
}

// compareStored compares GUIDs in their stored form, in which the bytes of the first three
// parts are reversed.
func compareStored(a, b string) int { return strings.Compare(stored(a), stored(b)) }

func stored(guid string) string {
	var out strings.Builder
	for i, part := range strings.Split(guid, "-") {
		for at := 0; at < len(part); at += 2 {
			if i < 3 {
				out.WriteString(part[len(part)-at-2 : len(part)-at])
			} else {
				out.WriteString(part[at : at+2])
			}
		}
	}
	return out.String()
}
