package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMembersAreListsOfNames(t *testing.T) {
	const (
		anna = "CN=Schmidt\\, Anna,OU=Staff,DC=corp,DC=example"
		desk = "CN=Help Desk,OU=Groups,DC=corp,DC=example"
		guid = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"
		sid  = "S-1-5-21-1-2-3-1104"
	)
	for raw, want := range map[any][]string{
		"aschmidt":                             {"aschmidt"},
		"aschmidt, lweber":                     {"aschmidt", "lweber"},
		"aschmidt,ASCHMIDT":                    {"aschmidt"},
		`CORP\aschmidt,FS1$`:                   {`CORP\aschmidt`, "FS1$"},
		anna + "," + desk:                      {anna, desk},
		"x," + anna + "," + guid + "," + sid:   {"x", anna, guid, sid},
		"CN=Who, OU=x,y":                       {"CN=Who, OU=x", "y"},
		`["a, b","c"]`:                         {"a, b", "c"},
		TextsOf([]string{"a", desk, "b,c"}):    {"a", desk, "b,c"},
		ListOf([]string{desk, anna, "lweber"}): {desk, anna, "lweber"},
	} {
		decoded, problem := MemberList.Decode(raw)
		require.Nil(t, problem, "%v", raw)
		assert.Equal(t, string(TextsOf(want)), decoded.Text, "%v", raw)
		again, problem := MemberList.Decode(decoded.Text)
		require.Nil(t, problem)
		assert.Equal(t, decoded, again)
	}
	for raw, want := range map[any]string{
		"a,,b":                           "must not have an empty name",
		"[]":                             "must name at least one member",
		`["a"`:                           "must be names separated by commas, or an array of names",
		strings.Repeat("a,", 1000) + "b": "",
		Composite{}:                      "must be text or an array of texts, not an object or array",
	} {
		_, problem := MemberList.Decode(raw)
		if want == "" {
			want = "must name at most 1000 members"
		}
		require.NotNil(t, problem, "%v", raw)
		assert.Equal(t, want, problem.Message)
	}
	none, problem := WholeMemberList.Decode(TextsOf([]string{}))
	require.Nil(t, problem)
	assert.Equal(t, "[]", none.Text)
	_, problem = WholeMemberList.Decode("")
	assert.NotNil(t, problem)
}
