package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, Write(path, []byte("one"), nil))
	require.NoError(t, Write(path, []byte("two"), func(name string) error {
		text, err := os.ReadFile(name)
		assert.Empty(t, text, "restricted before anything is written")
		return err
	}))
	refused := errors.New("refused")
	require.ErrorIs(t, Write(path, []byte("three"), func(string) error { return refused }), refused)
	require.Error(t, Write(filepath.Join(path, "below"), nil, nil))
	require.NoError(t, os.Mkdir(path+".folder", 0o700))
	require.Error(t, Write(path+".folder", []byte("x"), nil), "a folder is in the way")

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "two", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing temporary is left")
}
