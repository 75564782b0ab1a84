package manual

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPagesAreReadAsTheyAreEmbedded(t *testing.T) {
	all, packed := 0, 0
	for _, name := range Names() {
		page, _ := Find(name)
		small, err := Packed([]byte(page.Text))
		require.NoError(t, err)
		again, err := Packed([]byte(page.Text))
		require.NoError(t, err)
		assert.Equal(t, small, again, "the same bytes")
		for _, embedded := range [][]byte{small, []byte(page.Text)} {
			text, err := unpacked(embedded)
			require.NoError(t, err)
			assert.Equal(t, page.Text, string(text), name)
		}
		all, packed = all+len(page.Text), packed+len(small)
	}
	assert.Less(t, packed, all/3)
	small, err := Packed([]byte("# Title"))
	require.NoError(t, err)
	_, err = unpacked(small[:len(small)-1])
	assert.Error(t, err, "it is cut off")
}
