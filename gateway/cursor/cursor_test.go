package cursor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCursors(t *testing.T) {
	c := Cursor{DigestOf("a", "b"), GUID{1, 2, 3}}
	again, err := Parse(c.String())
	require.NoError(t, err)
	assert.Equal(t, c, again)

	assert.NotEqual(t, DigestOf("a", "b"), DigestOf("ab"))
	assert.NotEqual(t, DigestOf("a", ""), DigestOf("a"))

	for _, text := range []string{"", "x", c.String() + "A", c.String()[1:], "\n" + c.String(),
		Cursor{}.String()[:33] + "="} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
}

func TestGUIDsFollowEachOther(t *testing.T) {
	next, ok := GUID{1, 15: 255}.Next()
	assert.True(t, ok)
	assert.Equal(t, GUID{1, 14: 1}, next)
	var last GUID
	for i := range last {
		last[i] = 255
	}
	_, ok = last.Next()
	assert.False(t, ok)
}

func FuzzCursors(f *testing.F) {
	f.Add(Cursor{}.String())
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse(text); err == nil {
			require.Equal(t, text, c.String())
		}
	})
}
