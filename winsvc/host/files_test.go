package host_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"adgateway/winsvc/host"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRestrict(t *testing.T) {
	files := host.Files{Service: "adgateway"}
	path := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, files.Restrict(path))
	readers, err := files.Exposed(path)
	require.NoError(t, err)
	assert.Empty(t, readers)
	_, err = files.Exposed(path + ".none")
	assert.ErrorIs(t, err, os.ErrNotExist)
	if runtime.GOOS == "windows" {
		return // the rest tests file modes
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o640: "its group", 0o644: "everybody",
		0o400: ""} {
		require.NoError(t, os.Chmod(path, mode))
		readers, err = files.Exposed(path)
		require.NoError(t, err, mode)
		assert.Equal(t, want, readers, mode)
	}
	for _, mode := range []os.FileMode{0o660, 0o602, 0o666} {
		require.NoError(t, os.Chmod(path, mode))
		_, err = files.Exposed(path)
		assert.ErrorContains(t, err, "chmod 600 "+path, mode)
	}
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	_, err = files.Exposed(open)
	assert.ErrorContains(t, err, "chmod 700 "+open)
}

func TestRestrictFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "adgateway")
	files := host.Files{Service: "adgateway"}
	require.NoError(t, files.RestrictFolder(dir), "a missing folder is created")
	below := filepath.Join(dir, "logs", "adgateway.log")
	require.NoError(t, os.Mkdir(filepath.Dir(below), 0o755))
	require.NoError(t, os.WriteFile(below, nil, 0o666))
	require.NoError(t, files.RestrictFolder(dir))
	readers, err := files.Exposed(below)
	require.NoError(t, err)
	assert.Empty(t, readers)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Dir(below): 0o700, below: 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, want, info.Mode().Perm(), path)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	assert.Error(t, files.RestrictFolder(filepath.Join(dir, "file")), "a file is not a folder")
}
