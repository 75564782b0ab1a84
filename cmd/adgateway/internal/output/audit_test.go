package output

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextsCannotControlATerminal(t *testing.T) {
	for _, r := range []rune{
		0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0xad, 0x61c, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff, 0xe0041,
	} {
		text := "a" + string(r) + "b"
		assert.Equal(t, "a\ufffdb", printable(text), "%U", r)
		line, err := json.Marshal(map[string]string{"name": text})
		require.NoError(t, err)
		shown := escaped(line)
		assert.NotContains(t, shown, string(r), "%U", r)
		var got map[string]string
		require.NoError(t, json.Unmarshal([]byte(shown), &got), shown)
		assert.Equal(t, text, got["name"], "%U: it means the same", r)
	}
	assert.Equal(t, "Ω 😀 ä", printable("Ω 😀 ä"))
	assert.Equal(t, `{"name":"Ω 😀 ä"}`, escaped([]byte(`{"name":"Ω 😀 ä"}`)))
}
