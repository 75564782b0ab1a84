package ui

import (
	"context"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
)

// stateOf is the word that a list should show for the state of an account.
func stateOf(r map[string]any) []string {
	switch {
	case r["enabled"] == false:
		return []string{"bad Disabled"}
	case r["lockedOut"] == true, r["locked"] == true:
		return []string{"bad Locked"}
	case r["accountExpires"] == past:
		return []string{"bad Expired"}
	case r["changePasswordNextLogon"] == true:
		return []string{"warn Must change password"}
	case r["enabled"] == true:
		return []string{"ok Active"}
	}
	return []string{}
}

const past, future = "2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"

func TestWordsOfHits(t *testing.T) {
	everyValue([]string{"enabled", "locked"}, func(r map[string]any) {
		r["type"], r["guid"], r["name"] = "user", "g", "Somebody"
		page := shownAt(t, given{"search.find": {r}}, "/ui/search?q=some", searchAll)
		assert.Equal(t, stateOf(r), badges(between(t, page, `<ul class="lines hits">`, "</ul>")), "%v", r)
	})
}

func TestWordsOfLists(t *testing.T) {
	for _, path := range []string{"people", "computers"} {
		l := listingAt(path)
		everyValue([]string{"enabled", "lockedOut", "changePasswordNextLogon"}, func(r map[string]any) {
			for _, expires := range []any{nil, past, future} {
				r["guid"], r["name"], r["computerName"], r["accountExpires"] = "g", "Somebody", "PC", expires
				page := shownAt(
					t, given{l.Operation: {r}}, say.Address(path), func(c *frame.Visit) { table.ShowListing(c, l) },
				)
				assert.Equal(t, stateOf(r), badges(between(t, page, "<tbody>", "</tbody>")), "%v", r)
			}
		})
	}
}

// TestCSVIsDefused: no cell of the file is a formula, and the file has the columns of the page.
func TestCSVIsDefused(t *testing.T) {
	formulas := []string{"=1+1", "+1", "-1", "@sum", "\tx", "plain"}
	var all []map[string]any
	for i, text := range formulas {
		all = append(all, map[string]any{
			"guid": string(rune('a' + i)), "displayName": text, "username": "u", "department": text,
		})
	}
	rows := peopleFile(t, given{"user.listAll": all})
	require.Len(t, rows, len(formulas)+1)
	assert.Equal(t, "Anmeldename", rows[0][1])
	for _, row := range rows[1:] {
		for _, one := range row {
			assert.NotRegexp(t, `^[=+\-@\t\r]`, one)
		}
	}
}

// peopleFile returns the rows of the German CSV file of the list of people.
func peopleFile(t *testing.T, api frame.API) [][]string {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/ui/people?format=csv", nil)
	r.Header.Set("Accept-Language", "de")
	table.ShowListing(&frame.Visit{
		Pages: New(frame.Options{API: api, Gate: signin.NewGate(signin.Options{}), Client: somewhere}), W: w, R: r,
		Session: &signin.Session{}, Principals: []*identity.Principal{{Scopes: []identity.Scope{identity.All}}},
	}, listingAt("people"))
	assert.Equal(t, "text/csv; charset=utf-8", w.Header().Get("Content-Type"))
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(w.Body.String(), "\ufeff"))).ReadAll()
	require.NoError(t, err)
	return rows
}

// endless is an API whose lists have no end.
type endless struct{ given }

func (e endless) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	answer, err := e.given.Call(ctx, operation, c)
	answer.Next = "more"
	return answer, err
}

// TestACutCSVFileSaysSo: if a file ends before its list, the last row of the file says so.
func TestACutCSVFileSaysSo(t *testing.T) {
	people := make([]map[string]any, 5000)
	for i := range people {
		people[i] = map[string]any{"guid": "g", "displayName": "Somebody"}
	}
	rows := peopleFile(t, endless{given{"user.listAll": people}})
	require.Len(t, rows, 1+10_000+1)
	assert.Contains(t, rows[10_001][0], "Die Datei endet hier, nach 10.000 Zeilen.")
}

func TestFiltersAreSaidInWords(t *testing.T) {
	for condition, said := range map[string]string{
		`department eq "Sales"`:              "Department is Sales",
		`jobTitle sw "Head \"of\" \\"`:       `Title starts with Head "of" \`,
		`enabled eq true and not (a eq "b")`: `enabled eq true and not (a eq "b")`,
		"":                                   "",
	} {
		assert.Equal(t, said, table.SaidCondition(condition).In(texts.English))
	}
	assert.Equal(t, "Abteilung ist Sales", table.SaidCondition(`department eq "Sales"`).In(texts.German))
	assert.Equal(t, `"a\"b\\c"`, table.Quoted(`a"b\c`))
}

func TestPathsOfUnits(t *testing.T) {
	assert.Equal(t, []string{"Corp", "A, B", "É"}, say.PathOf(`OU=\C3\89,OU=A\, B,OU=Corp,DC=corp,DC=example`))
	assert.Nil(t, say.PathOf("DC=corp,DC=example"))
	assert.Equal(t, "O'Brien, Patrick", say.NameOfDN(`CN=O'Brien\, Patrick,OU=Odd Names,DC=corp,DC=example`))
	assert.Equal(t, "www.corp.example", say.NameOfDN("www.corp.example"))
}

func TestTheTreeOfUnits(t *testing.T) {
	unit := func(path string) say.Record {
		return say.Record{"path": path, "name": say.NameOfDN(path)}
	}
	tree := treeOf([]say.Record{
		unit(
			"OU=b,OU=Corp,DC=x,DC=y",
		), unit("OU=Corp,DC=x,DC=y"), unit("OU=a,OU=Corp,DC=x,DC=y"), unit("OU=deep,OU=a,OU=Corp,DC=x,DC=y"),
	}, "ou=deep,ou=a,ou=corp,dc=x,dc=y")
	require.Len(t, tree, 1)
	assert.Equal(t, "Corp", tree[0].Name)
	require.Len(t, tree[0].Below, 2)
	assert.Equal(t, []string{"a", "b"}, []string{tree[0].Below[0].Name, tree[0].Below[1].Name})
	assert.True(t, tree[0].Below[0].Open, "what is below is shown")
	assert.False(t, tree[0].Below[1].Open)
	assert.True(t, tree[0].Below[0].Below[0].Current)
}

// TestTheRestOfALongPart: the page of a zone or a unit shows the first rows and their total number, and links
// to pages that together show each row once.
func TestTheRestOfALongPart(t *testing.T) {
	var all []map[string]any
	for i := range 2*table.PerPage + 50 {
		name := fmt.Sprintf("n%04d", i)
		all = append(all, map[string]any{"guid": name, "name": name, "displayName": name, "groupName": name})
	}
	zone, unit := []map[string]any{{"zoneName": "corp.example"}}, "OU=Sales,DC=corp,DC=example"
	api := given{
		"zone.get": zone, "record.listZone": all, "ou.get": {{"name": "Sales"}}, "ou.list": nil,
		"user.list": all, "group.list": all,
	}
	for _, c := range []struct {
		of   *table.Listing
		on   string
		show func(*frame.Visit)
	}{
		{recordsOf("corp.example"), say.Address("zones", "corp.example"), showZone},
		{inOU("people", unit), say.Address("ous", unit), showOU},
		{inOU("groups", unit), say.Address("ous", unit), showOU},
	} {
		shown := shownAt(t, api, c.on, c.show)
		assert.Contains(t, shown, `<span class="n">250</span>`, c.on)
		rest := html.EscapeString(c.of.Address())
		require.Contains(t, shown, `href="`+rest+`"`, c.on)

		found := map[string]int{}
		next, at := regexp.MustCompile(`href="([^"]*)" rel="next"`), c.of.Address()
		for range 5 {
			shown = shownAt(t, api, at, func(v *frame.Visit) { table.ShowListing(v, c.of) })
			rows := between(t, shown, "<tbody>", "</tbody>")
			for _, name := range regexp.MustCompile(`>(n\d{4})<`).FindAllStringSubmatch(rows, -1) {
				found[name[1]]++
			}
			link := next.FindStringSubmatch(shown)
			if link == nil {
				break
			}
			at = html.UnescapeString(link[1])
		}
		assert.Len(t, found, len(all), at)
	}
}

// showKind shows an object of a type.
func showKind(hitType string) func(*frame.Visit) {
	return func(c *frame.Visit) { showObject(c, frame.KindOf(hitType)) }
}
