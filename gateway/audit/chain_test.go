package audit

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
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

// TestTheHeadRecordIsAnotherFile: if the head record is removed or replaced while the log is open, the next
// line is recorded in the file that then has its name.
func TestTheHeadRecordIsAnotherFile(t *testing.T) {
	for name, touch := range map[string]func(head string) error{
		"removed": os.Remove,
		"replaced": func(head string) error {
			return errors.Join(os.WriteFile(head+".new", nil, 0o600), os.Rename(head+".new", head))
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := newFile(t)
			l := open(t, Options{File: file})
			record(t, l, "before")
			if err := touch(headName(file)); runtime.GOOS == "windows" && err != nil {
				t.Skip("Windows does not let others replace an open file")
			} else {
				require.NoError(t, err)
			}
			record(t, l, "after")
			require.NoError(t, l.Close())
			assert.Empty(t, verify(t, file).Faults)
		})
	}
}
