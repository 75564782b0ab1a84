package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestGroupsOfTwoPeopleAreCompared: if only one of two people is in a group, the other can be added to it.
func TestGroupsOfTwoPeopleAreCompared(t *testing.T) {
	s := start(t)
	s.OK(systemtest.Call{Method: "POST", Path: "/api/ADUser/aschmidt/Group/Finance Staff"}, 201)
	groups := func(name string) map[string]bool {
		all := map[string]bool{}
		for _, r := range s.Get("/api/ADUser/" + name + "/Group/All").Envelope.Result {
			all[r["name"].(string)] = true
		}
		return all
	}
	anna, leas := groups("aschmidt"), groups("lweber")
	b := s.browser(t)
	b.signIn("operator")
	b.person(t)
	assert.Contains(t, b.page, `href="/ui/people/`+lea+`/compare"`)
	require.Equal(t, 200, b.get("/ui/people/"+lea+"/compare"))
	require.Equal(t, 200, b.get("/ui/people/"+lea+"/compare?with=Anna+Schmidt+(aschmidt)"), b.page)
	parts := strings.Split(b.page, `<section class="card"><h2>`)
	require.Len(t, parts, 4)
	for i, part := range parts[1:] {
		for name := range union(anna, leas) {
			want := []bool{leas[name] && !anna[name], anna[name] && !leas[name], anna[name] && leas[name]}[i]
			assert.Equal(t, want, strings.Contains(part, ">"+name+"</a>"), "%d %s", i, name)
		}
	}
	require.NotEmpty(t, leas)
	require.Contains(t, parts[1]+parts[2], `action="/ui/do/membership.add"`)
	require.Equal(t, 303, b.submit("/ui/do/membership.add"))
	require.Equal(t, 200, b.follow())
	b.confirm()
	assert.Contains(t, b.path, "/compare?", "back on the comparison")
	require.Equal(t, 200, b.get("/ui/people/"+lea+"/compare?with=nobody.at.all"))
	assert.Contains(t, b.page, "nobody.at.all")
	desk := s.browser(t)
	desk.signIn("norights")
	assert.Equal(t, 403, desk.get("/ui/people/"+lea+"/compare?with=aschmidt"))
}

func union(one, other map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, of := range []map[string]bool{one, other} {
		for name := range of {
			all[name] = true
		}
	}
	return all
}

// TestWhatAnotherMayDo: a person with ops:read sees the rights of others, and nobody else does.
func TestWhatAnotherMayDo(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/rights"))
	assert.Contains(t, b.page, "What this person may do")
	require.Equal(t, 200, b.get("/ui/rights?who="+lea), b.page)
	assert.Contains(t, b.page, "What Weber, Lea may do")
	assert.Contains(t, b.page, "This person has no role here.")
	plain := s.browser(t)
	plain.signIn("norights")
	require.Equal(t, 200, plain.get("/ui/rights?who="+lea))
	assert.NotContains(t, plain.page, "Weber, Lea")
}

// TestTheSlipNamesThePerson: the slip with a password names the person and the account.
func TestTheSlipNamesThePerson(t *testing.T) {
	b := start(t).browser(t)
	b.signIn("operator")
	b.person(t)
	b.preview("user.resetPassword")
	b.confirm()
	slip := b.between(`<section class="card narrow print"`, "</section>")
	for _, text := range []string{"Weber, Lea", "lweber", "data-print", "It must be changed at the next " +
		"logon."} {
		assert.Contains(t, slip, text)
	}
}
