package program

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Shells pipe text with or without a byte order mark, in UTF-8 or UTF-16.
func TestPipedPassword(t *testing.T) {
	for piped, want := range map[string]string{
		"s3cret\n":                          "s3cret",
		"\ufeffgrüße\r\n":                   "grüße",
		"\xff\xfes\x00\xfc\x00\r\x00\n\x00": "sü",
		"no newline":                        "no newline",
	} {
		password, err := PipedPassword(strings.NewReader(piped))
		require.NoError(t, err, "%q", piped)
		assert.Equal(t, want, password)
	}
}
