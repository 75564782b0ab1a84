package search

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// spellings maps texts to the accounts that they find.
var spellings = map[string][]any{
	"Spüller":              {"sp.umlaut", "sp.plain", "sp.digraph"},
	"spu\u0308ller":        {"sp.umlaut", "sp.plain", "sp.digraph"},
	"Spueller":             {"sp.umlaut", "sp.plain", "sp.digraph"},
	"Spuller":              {"sp.umlaut", "sp.plain"},
	"Jörg Spüller":         {"sp.umlaut", "sp.plain", "sp.digraph"},
	"Spueller Joerg":       {"sp.umlaut", "sp.plain", "sp.digraph"},
	"O'Spill":              {"sp.quote", "sp.typeset"},
	"O’Spill":              {"sp.quote", "sp.typeset"},
	"ospill":               {"sp.quote"},
	`CORP\sp.plain`:        {"sp.plain"},
	`corp.example\sp.pl`:   {"sp.plain"},
	`EUROPE\sp.plain`:      nil, // an account of another domain
	"+49 30 6660987":       {"sp.umlaut"},
	"0049 30 / 6660 987":   {"sp.umlaut"},
	"030-6660987":          {"sp.umlaut"},
	"+49 (0)30 6660-987":   {"sp.umlaut"},
	"6660-987":             {"sp.umlaut"},
	"+49 171 4445566":      {"sp.digraph"},
	"01714445566":          {"sp.digraph"},
	"0171 4445567":         nil,
	"uelle":                {"sp.umlaut", "sp.plain", "sp.digraph"},
	"of zebras":            {"sp.quote"},
	"eepers":               {"Zoo Keepers"},
	"zebra":                {"sp.plain", "sp.quote"},
	"uelle*)(objectClass=": nil,
	`\2a\2a`:               nil,
}

// TestSearchKnowsSpellings searches for people, groups and computers by all usual spellings
// of their names and numbers.
func TestSearchKnowsSpellings(t *testing.T) {
	s := newSystem(t, 0)
	create := func(path string, params map[string]any) {
		t.Helper()
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: path, Params: params})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	}
	create("/api/ADUser/sp.umlaut", map[string]any{
		"FirstName": "Jörg", "LastName": "Spüller", "DisplayName": "Jörg Spüller",
		"OfficePhone": "+49 (0)30 6660-987",
	})
	create("/api/ADUser/sp.plain", map[string]any{
		"FirstName": "Jorg", "LastName": "Spuller", "DisplayName": "Jorg Spuller", "Department": "Zebra Sales",
	})
	create("/api/ADUser/sp.digraph", map[string]any{
		"FirstName": "Joerg", "LastName": "Spueller", "DisplayName": "Joerg Spueller",
		"MobilePhone": "0171/444 55 66",
	})
	create("/api/ADUser/sp.quote", map[string]any{
		"FirstName": "Pat", "LastName": "O'Spill", "DisplayName": "Pat O'Spill", "JobTitle": "Head of Zebras",
	})
	create("/api/ADUser/sp.typeset", map[string]any{"FirstName": "Ann", "LastName": "O’Spill"})
	create("/api/ADGroups/Zoo%20Keepers/Security", nil)

	found := func(params map[string]any) (all []any, matched map[any]any) {
		t.Helper()
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Search", Params: params})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		matched = map[any]any{}
		for _, hit := range a.Envelope.Result {
			all = append(all, hit["username"])
			matched[hit["username"]] = hit["matched"]
		}
		return all, matched
	}
	for text, want := range spellings {
		all, _ := found(map[string]any{"Text": text, "Limit": 50})
		if len(want) == 0 {
			assert.Empty(t, all, text)
			continue
		}
		if text == "uelle" { // the generated people have such names
			assert.Subset(t, all, want, text)
			continue
		}
		assert.ElementsMatch(t, want, all, text)
	}

	_, matched := found(map[string]any{"Text": "zebra"})
	assert.Equal(t, map[any]any{"sp.plain": "department", "sp.quote": "jobTitle"}, matched)
	_, matched = found(map[string]any{"Text": "0171 444 5566"})
	assert.Equal(t, map[any]any{"sp.digraph": "mobilePhone"}, matched)

	// If names begin with the text, parts of words are found only on request.
	create("/api/ADGroups/Zebra%20Group/Security", nil)
	all, _ := found(map[string]any{"Text": "zebra"})
	assert.Equal(t, []any{"Zebra Group"}, all)
	all, _ = found(map[string]any{"Text": "zebra", "Anywhere": true})
	require.Len(t, all, 3)
	assert.Equal(t, "Zebra Group", all[0], "what begins with the text comes first")
	assert.ElementsMatch(t, []any{"sp.plain", "sp.quote"}, all[1:])
}

// TestListsKnowTheDomainOfALogonName: DOMAIN\name finds accounts of this domain only if DOMAIN names this
// domain. The account of the same name in another domain is not in the list.
func TestListsKnowTheDomainOfALogonName(t *testing.T) {
	s := newSystem(t, 0)
	for path, name := range map[string]string{
		"/api/ADUser/ListUsers/All": "aschmidt", "/api/ADGroups/All": "VPN Users", "/api/Computers/All": "PC01",
	} {
		for domain, some := range map[string]bool{
			"": true, `CORP\`: true, `corp\`: true, `corp.example\`: true, `EUROPE\`: false, `CORP2\`: false,
		} {
			text := map[string]any{"Text": domain + name}
			a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Params: text})
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			assert.Equal(t, some, len(a.Envelope.Result) > 0, "%s %s%s", path, domain, name)
		}
	}
}
