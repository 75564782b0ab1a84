package packed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/packed"
)

func TestFilesAreReadAsTheyAreEmbedded(t *testing.T) {
	long := strings.Repeat("a line\n", 1e5)
	for name, text := range map[string]string{"none": "", "short": "# Title\n", "long": long} {
		small, err := packed.Pack([]byte(text))
		require.NoError(t, err)
		again, err := packed.Pack([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, small, again, "the same bytes")
		for _, embedded := range [][]byte{small, []byte(text)} {
			read, err := packed.Text(embedded)
			require.NoError(t, err)
			assert.Equal(t, text, string(read), name)
		}
		for _, length := range []int{2, 17, len(small) - 1} {
			_, err = packed.Text(small[:length])
			assert.Error(t, err, "it is cut off after %d bytes", length)
		}
	}
}

func TestRows(t *testing.T) {
	table := "# comment\n\na | b  c |\r\n  d|é\n#|x\nlast"
	rows := slices.Collect(packed.Rows(table))
	assert.Equal(t, [][]string{{"a", "b  c", ""}, {"d", "é"}, {"last"}}, rows)
	for row := range packed.Rows(table) {
		assert.Equal(t, "a", row[0])
		break
	}
}
