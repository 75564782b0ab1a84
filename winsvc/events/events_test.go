package events

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryEventHasAnIDAndANameOfItsOwn(t *testing.T) {
	ids, names := map[uint32]bool{}, map[string]bool{}
	all := List()
	require.Greater(t, len(all), 35)
	for _, e := range all {
		assert.False(t, ids[e.ID], "%d", e.ID)
		assert.False(t, names[e.Name], e.Name)
		ids[e.ID], names[e.Name] = true, true
		assert.True(t, 1 <= e.ID && e.ID <= 1000, "EventCreate.exe has messages for 1 to 1000: %d", e.ID)
		assert.Regexp(t, regexp.MustCompile(`^[a-z_]+$`), e.Name)
		assert.NotEmpty(t, e.About)
		assert.NotEmpty(t, e.Level.String())
		found, known := ByName(e.Name)
		assert.True(t, known)
		assert.Equal(t, e, found)
	}
	_, known := ByName("no_such_event")
	assert.False(t, known)
}
