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

func TestWritableChangesNothing(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "audit.jsonl")
	require.NoError(t, host.Writable(filepath.Join(folder, "later", "audit.jsonl")))
	require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
	require.NoError(t, host.Writable(file))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(text))
	require.Error(t, host.Writable(folder), "a folder is no file")
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		require.NoError(t, os.Chmod(file, 0o400))
		require.Error(t, host.Writable(file))
	}
}

func TestFreeSpaceOfAFolderToCome(t *testing.T) {
	free, err := host.FreeSpace(filepath.Join(t.TempDir(), "a", "b"))
	require.NoError(t, err)
	assert.Positive(t, free)
}

func TestWhatRunsThisComputer(t *testing.T) {
	system, err := host.ReadSystem()
	require.NoError(t, err)
	assert.Equal(t, runtime.GOOS == "windows", system.Windows)
	assert.NotEmpty(t, system.Name)
	account, err := host.ReadAccount()
	require.NoError(t, err)
	assert.NotEmpty(t, account.Name)
	assert.NotEmpty(t, host.Names())
}
