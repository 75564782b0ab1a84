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

func TestFilesAreTheirOwners(t *testing.T) {
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
		return // what follows are modes
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o640: "its group", 0o644: "everybody", 0o400: ""} {
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
}
