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

// TestAFileInUseIsTriedAgain: renaming is repeated until the file is free, and not repeated after a
// permanent error.
func TestAFileInUseIsTriedAgain(t *testing.T) {
	held, other := errors.New("held"), errors.New("other")
	passes := func(err error) bool { return err == held }
	for name, c := range map[string]struct {
		fails []error // errors of the attempts, in order
		want  error
		tries int
	}{
		"at once":     {[]error{nil}, nil, 1},
		"free later":  {[]error{held, held, nil}, nil, 3},
		"never free":  {[]error{held, held, held, held, held}, held, 5},
		"cannot pass": {[]error{held, other}, other, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tries, pauses := 0, 0
			err := try(5, func() { pauses++ }, passes, func() error { tries++; return c.fails[tries-1] })
			assert.Equal(t, c.want, err)
			assert.Equal(t, c.tries, tries)
			assert.Equal(t, c.tries-1, pauses)
		})
	}
}
