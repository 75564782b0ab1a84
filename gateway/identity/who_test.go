package identity

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReferences(t *testing.T) {
	callers := map[string]Who{
		"token": {Name: "portal", Kind: KindToken, ID: "4f0c"}, "user": {Name: "Portal", Kind: KindUser, ID: "77aa"},
		"person": {Name: "portal", Kind: KindPerson, ID: "S-1-5-21-1"}, "of the sandbox": {Name: "portal", Kind: KindToken},
		"named like an id": {Name: "4f0c", Kind: KindToken, ID: "1111"}, "of an earlier version": {Name: "portal"},
	}
	for text, want := range map[string][]string{
		"portal": {"token", "user", "person", "of the sandbox", "of an earlier version"}, "PORTAL": {"token", "user", "person", "of the sandbox", "of an earlier version"},
		"token:portal": {"token", "of the sandbox"}, "Token:portal": {"token", "of the sandbox"}, "user:portal": {"user"},
		"4f0c": {"token", "named like an id"}, "token:4f0c": {"token", "named like an id"}, "token::4f0c": {"token"},
		"token::portal": {"of the sandbox"}, "person::S-1-5-21-1": {"person"}, "user::4f0c": nil, "certificate:portal": nil,
	} {
		r, err := ParseReference(text)
		require.NoError(t, err, text)
		var means []string
		for name, who := range callers {
			if r.Means(who) {
				means = append(means, name)
			}
		}
		assert.ElementsMatch(t, want, means, text)
	}
	for name, who := range callers {
		r, err := ParseReference(ReferenceTo(who.Identity()))
		if name == "of an earlier version" {
			assert.Error(t, err)
			continue
		}
		require.NoError(t, err)
		assert.True(t, r.Means(who), name)
	}
	for _, wrong := range []string{"group:portal", "token:", "token::", ":portal", "::"} {
		_, err := ParseReference(wrong)
		assert.Error(t, err, wrong)
	}
}
