package prose_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/test/prose"
)

// TestPhrasesAreFound: phrases of the list are found, and similar plain sentences are not.
func TestPhrasesAreFound(t *testing.T) {
	assert.GreaterOrEqual(t, prose.Len(), 25)
	for _, bad := range []string{
		"Finding is what became of a change.", "Get is that of [Store].", "unlock gives it to who waits for it.",
		"it is not kept any more", "whoever reads it sees all", "the values are sealed anew",
		"Neighbours have the same behaviour.", "The call was cancelled.", "an unknown licence", "it normalises names",
		"reorganisation", "a misspelt name",
	} {
		assert.NotEmpty(t, prose.Comment(bad), bad)
		assert.NotEmpty(t, prose.Text(bad), bad)
	}
	for _, good := range []string{
		"Finding is the outcome of a change.", "Get implements [Store].", "It is no longer kept.",
		"the names of a file and those of its copies", "A user who signs in gets a session.",
		"This otherwise precise promise is revised on this premise.", "The job is `cancelled`.",
	} {
		assert.Empty(t, prose.Comment(good), good)
		assert.Empty(t, prose.Text(good), good)
	}
}

// TestSomePhrasesAreForTextsOnly: comments may use phrases that texts for users may not.
func TestSomePhrasesAreForTextsOnly(t *testing.T) {
	const text = "It cannot run at the moment."
	assert.Empty(t, prose.Comment(text))
	assert.Equal(t, []string{`"at the moment": now, or "currently"`}, prose.Text(text))
}
