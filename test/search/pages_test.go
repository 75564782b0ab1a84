package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// page returns the cursor of the next page and the total number in an answer.
func page(t *testing.T, a systemtest.Answer) (next string, total int) {
	t.Helper()
	var members struct {
		Next  string
		Total *int
	}
	require.NoError(t, json.Unmarshal(a.Body, &members))
	if members.Total == nil {
		return members.Next, -1
	}
	return members.Next, *members.Total
}

// walk reads a list page by page and returns the names in the order of the answers. It calls between after
// each page but the last.
func walk(
	s *systemtest.System, token, path string, params map[string]any, limit int, between func(pages int),
) []string {
	s.T.Helper()
	params = maps.Clone(params)
	params["Limit"] = limit
	found := []string{}
	for pages := 1; ; pages++ {
		a := listAs(s, token, path, params)
		require.LessOrEqual(s.T, len(a.Envelope.Result), limit)
		found = append(found, names(a)...)
		next, _ := page(s.T.(*testing.T), a)
		if next == "" {
			return found
		}
		require.Len(s.T, a.Envelope.Result, limit)
		params["After"] = next
		if between != nil {
			between(pages)
		}
	}
}

// TestPagesAreTheWholeList reads lists in pages of several sizes, for callers with and without limits.
func TestPagesAreTheWholeList(t *testing.T) {
	s := newSystem(t, 500)
	for _, test := range []struct {
		token, path string
		params      map[string]any
		limits      []int
	}{
		{"", users, map[string]any{}, []int{1000, 97}},
		{"", users, map[string]any{"Filter": `enabled eq true`, "Text": "an"}, []int{50}},
		{"", users, map[string]any{"Filter": `passwordExpired eq true and department eq "Sales"`}, []int{7}},
		{"", "/api/ADUser/ListUsers", map[string]any{"OUPath": "OU=Corp," + root, "ShowFields": "username"}, []int{31}},
		{"", "/api/ADUser/ListUsers", map[string]any{"OUPath": place, "Recursive": "false", "ShowFields": "username"}, []int{1, 24, 25, 26}},
		{"", groups, map[string]any{}, []int{10}},
		{"", "/api/ADGroups/Security/All", map[string]any{"Filter": `empty eq true`}, []int{3}},
		{"", "/api/ADGroups/Distribution/All", map[string]any{}, []int{2}},
		{"", computers, map[string]any{"Filter": `enabled eq true`}, []int{9}},
		{systemtest.LimitedToken, users, map[string]any{}, []int{5}},
		{systemtest.LimitedToken, groups, map[string]any{}, []int{5}},
		{systemtest.CorpToken, users, map[string]any{}, []int{40}},
		{systemtest.CorpToken, computers, map[string]any{}, []int{7}},
		{systemtest.DeskToken, groups, map[string]any{}, []int{1}},
		{systemtest.GroupToken, groups, map[string]any{}, []int{2}},
	} {
		whole := listAs(s, test.token, test.path, test.params)
		want := names(whole)
		for _, limit := range test.limits {
			about := fmt.Sprint(test.token, test.path, test.params, limit)
			found := walk(s, test.token, test.path, test.params, limit, nil)
			slices.Sort(found)
			assert.Equal(t, want, found, about)

			counted := maps.Clone(test.params)
			counted["Count"] = "true"
			_, total := page(t, listAs(s, test.token, test.path, counted))
			assert.Equal(t, len(want), total, about)
			counted["Limit"] = limit
			_, total = page(t, listAs(s, test.token, test.path, counted))
			assert.Equal(t, len(want), total, about)
		}
	}
}

// TestSurvivorsAreOnOnePage changes the directory while a list is read. An object that exists during
// the whole read is read exactly once, even if other objects are created, renamed, moved and removed.
func TestSurvivorsAreOnOnePage(t *testing.T) {
	s := newSystem(t, 400)
	before := names(list(s, users, map[string]any{}))
	gone := map[string]bool{}
	renamed := map[string]string{}
	found := walk(s, "", users, map[string]any{}, 20, func(pages int) {
		params := map[string]any{"OUPath": place}
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: fmt.Sprintf("/api/ADUser/new.user%d", pages),
			Params: params})
		require.Equal(t, http.StatusCreated, a.Status)
		victim := before[pages*11%len(before)]
		if strings.HasPrefix(victim, "q.") || victim[0] < 'a' || gone[victim] || renamed[victim] != "" {
			return
		}
		switch path := "/api/ADUser/" + victim; pages % 3 {
		case 0:
			if s.Do(systemtest.Call{Method: http.MethodDelete, Path: path}).Status == http.StatusOK {
				gone[victim] = true
			}
		case 1:
			if s.Do(systemtest.Call{Method: http.MethodPut,
				Path: path + fmt.Sprintf("/Rename/re.named%d", pages)}).Status == http.StatusOK {
				renamed[victim] = fmt.Sprintf("re.named%d", pages)
			}
		default:
			s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: params})
		}
	})
	require.NotEmpty(t, gone)
	require.NotEmpty(t, renamed)
	times := map[string]int{}
	for _, name := range found {
		times[name]++
	}
	for _, name := range before {
		switch other := renamed[name]; {
		case gone[name]:
			assert.LessOrEqual(t, times[name], 1, name)
		case other != "":
			assert.Equal(t, 1, times[name]+times[other], name)
		default:
			assert.Equal(t, 1, times[name], name)
		}
	}
	for name, n := range times {
		assert.Equal(t, 1, n, name)
	}
}

func TestCursorsBelongToTheirQuestion(t *testing.T) {
	s := newSystem(t, 50)
	ask := func(token, path string, params map[string]any) systemtest.Answer {
		return s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Params: params, Token: token})
	}
	next, _ := page(t, ask("", users, map[string]any{"Limit": 5, "Filter": "enabled eq true"}))
	require.NotEmpty(t, next)

	a := ask("", users, map[string]any{"Limit": 9, "Filter": "enabled eq true", "After": next,
		"ShowFields": "guid", "Count": "true"})
	assert.Equal(t, http.StatusOK, a.Status, "size, fields and count may change: %s", a.Body)

	for name, refused := range map[string]systemtest.Answer{
		"another filter": ask("", users, map[string]any{"Limit": 5, "Filter": "enabled eq false", "After": next}),
		"no filter":      ask("", users, map[string]any{"Limit": 5, "After": next}),
		"a text":         ask("", users, map[string]any{"Limit": 5, "Filter": "enabled eq true", "Text": "anna", "After": next}),
		"another row":    ask("", "/api/ADUser/ListUsers", map[string]any{"Limit": 5, "Filter": "enabled eq true", "After": next}),
		"other limits":   ask(systemtest.LimitedToken, users, map[string]any{"Limit": 5, "Filter": "enabled eq true", "After": next}),
	} {
		assert.Equal(t, http.StatusBadRequest, refused.Status, name)
		require.NotNil(t, refused.Envelope.Error, name)
		assert.Equal(t, "token_mismatch", refused.Envelope.Error.Code, name)
		assert.Equal(t, "After", refused.Envelope.Error.Details[0].Field, name)
	}
	for name, params := range map[string]map[string]any{
		"no cursor":     {"Limit": 5, "After": "x"},
		"cut":           {"Limit": 5, "After": next[:len(next)-2], "Filter": "enabled eq true"},
		"without Limit": {"After": next, "Filter": "enabled eq true"},
		"Limit 0":       {"Limit": 0},
		"Limit 1001":    {"Limit": 1001},
	} {
		refused := ask("", users, params)
		assert.Equal(t, http.StatusBadRequest, refused.Status, name)
		assert.Equal(t, "invalid_request", refused.Envelope.Error.Code, name)
	}
}

// TestPagesRevealNothingOutsideTheLimits: limits apply before the search, so neither counts
// nor pages nor references in filters reveal objects outside the limits.
func TestPagesRevealNothingOutsideTheLimits(t *testing.T) {
	s := newSystem(t, 300)
	a := listAs(s, systemtest.LimitedToken, users, map[string]any{"Count": "true", "Limit": 1, "Filter": `username sw "q."`})
	next, total := page(t, a)
	assert.Empty(t, next)
	assert.Zero(t, total)
	assert.Empty(t, a.Envelope.Result)
	for filter, token := range map[string]string{
		`manager eq "q.recent"`:               systemtest.LimitedToken,
		`manager eq "nobody.at.all"`:          systemtest.LimitedToken,
		`memberOf eq "Q Outer"`:               systemtest.DeskToken,
		`memberOfNested eq "Q Outer"`:         systemtest.LimitedToken,
		`manager eq "CN=q.off,` + place + `"`: systemtest.LimitedToken,
	} {
		refused := s.Do(systemtest.Call{Method: http.MethodGet, Path: users,
			Params: map[string]any{"Filter": filter}, Token: token})
		assert.Equal(t, http.StatusUnprocessableEntity, refused.Status, filter)
		assert.Equal(t, "unprocessable", refused.Envelope.Error.Code, filter)
		assert.Contains(t, refused.Envelope.Output, "within the limits of this credential", filter)
		assert.Equal(t, "Filter", refused.Envelope.Error.Details[0].Field, filter)
	}
}

// TestTexts finds people in the same way as the search box of a help desk.
func TestTexts(t *testing.T) {
	s := newSystem(t, 0)
	for text, want := range map[string][]string{
		"q.mail":            {"q.mail"},
		"Q@EXAMPLE.NET":     {"q.mail"},
		"q.upn":             {"q.mail"},
		"4711":              {"q.mail"},
		"anna schmidt":      {"aschmidt"},
		" Schmidt \t Anna ": {"aschmidt"},
		"schmidt, a":        {"aschmidt"},
	} {
		assert.Equal(t, want, names(list(s, users, map[string]any{"Text": text})), text)
	}
	for text, want := range map[string][]string{"qstale": {"QSTALE"}, "qfresh.corp.example": {"QFRESH"},
		"QST*": {}, `qst\2a`: {}, "q)(objectClass=*": {}} {
		assert.Equal(t, want, names(list(s, computers, map[string]any{"Text": text})), text)
	}
	assert.Equal(t, []string{"Q Mail"}, names(list(s, groups, map[string]any{"Text": "list@"})))

	a := list(s, users, map[string]any{"Text": "q.", "Limit": 3})
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "more", a.Envelope.Warnings[0].Code)
	for _, text := range []string{"a", "=anna", "*anna", strings.Repeat("a", 65)} {
		refused := s.Do(systemtest.Call{Method: http.MethodGet, Path: users, Params: map[string]any{"Text": text}})
		assert.Equal(t, http.StatusBadRequest, refused.Status, text)
	}
}
