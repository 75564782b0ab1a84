package storetest

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Killed copies the store in a file in the state that it would have if its process were killed now. Nothing
// may be written meanwhile.
func Killed(t testing.TB, path, to string) {
	t.Helper()
	for _, end := range []string{"", ".commits", ".head"} {
		text, err := os.ReadFile(path + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+end, text, 0o600))
	}
}
