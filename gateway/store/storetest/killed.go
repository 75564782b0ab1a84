package storetest

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Killed copies the store in a file, which a process may have open, as it would be if that were killed
// now. Nothing is written meanwhile.
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
