package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatMayBeHiddenInAValue: a new name must not contain hidden characters, a text may contain hidden
// characters that join letters or break words, and a reference may contain any, because an existing object
// may have such a name.
func TestWhatMayBeHiddenInAValue(t *testing.T) {
	const hidden = "must not contain hidden characters, or blanks other than the space: character 2 is "
	const directs = "must not contain characters that change the direction of text or begin a line unseen: " +
		"character 2 is "
	kinds := map[string]Kind{
		"a user's name": UserName, "a group's name": GroupName, "an OU's name": OUName,
		"a text": Text("displayName"), "a description": Text("description"),
		"a reference": Identity, "a manager": Reference, "the text of a record": RecordText, "a search": AnyText,
	}
	for _, c := range []struct {
		character, name, text string // problems in names and in texts; empty if the character is accepted
	}{
		{"\u202e", hidden + "U+202E", directs + "U+202E"}, {"\u202a", hidden + "U+202A", directs + "U+202A"},
		{"\u2066", hidden + "U+2066", directs + "U+2066"}, {"\u2069", hidden + "U+2069", directs + "U+2069"},
		{"\u2028", hidden + "U+2028", directs + "U+2028"},
		{"\u200b", hidden + "U+200B", ""}, {"\u200d", hidden + "U+200D", ""}, {"\u200f", hidden + "U+200F", ""},
		{"\u00ad", hidden + "U+00AD", ""}, {"\ufeff", hidden + "U+FEFF", ""}, {"\ufe0f", hidden + "U+FE0F", ""},
		{"\u00a0", hidden + "U+00A0", ""}, {"\u3000", hidden + "U+3000", ""}, {"\u3164", hidden + "U+3164", ""},
		{"\U000e0041", hidden + "U+E0041", ""}, {" ", "", ""}, {"ü", "", ""}, {"\u0300", "", ""}, {"ש", "", ""},
	} {
		for what, kind := range kinds {
			want := ""
			switch kind.(type) {
			case patternKind:
				want = c.name
			case textKind:
				want = c.text
			}
			decoded, problem := kind.Decode("a" + c.character + "b")
			if want == "" {
				require.Nil(t, problem, "%s %q", what, c.character)
				assert.NotNil(t, decoded)
				continue
			}
			require.NotNil(t, problem, "%s %q", what, c.character)
			assert.Equal(t, want, problem.Message, what)
			assert.Equal(t, InvalidRequest, problem.Code)
		}
	}
}
