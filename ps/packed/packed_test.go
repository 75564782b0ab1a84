package packed_test

import (
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
		_, err = packed.Text(small[:len(small)-1])
		assert.Error(t, err, "it is cut off")
	}
}
