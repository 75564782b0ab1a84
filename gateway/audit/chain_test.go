package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTruncateOnlyTheOpenFile: on Windows a handle for appending cannot truncate, so the file is
// opened a second time. That must not truncate another file.
func TestTruncateOnlyTheOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := openFile(path)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Write([]byte("whole\nhal"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(6))
	_, err = f.Write([]byte("next\n"))
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "whole\nnext\n", string(text))

	require.NoError(t, os.WriteFile(path+".other", []byte("another's"), 0o600))
	require.NoError(t, os.Rename(path+".other", path))
	require.Error(t, f.Truncate(0))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "another's", string(text))
}
