package filefault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"adgateway/gateway/filefault"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExplainNamesTheFileAndTheRemedy(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file, absent := filepath.Join(dir, "a"), filepath.Join(dir, "absent", "deep", "x")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	opened := func(path string) error { _, err := os.ReadFile(path); return err }
	failed := func(errno error) error { return &fs.PathError{Op: "open", Path: file, Err: errno} }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"missing":             {opened(file + "b"), "tls.keyFile: " + file + "b does not exist: correct the path"},
		"missing, relative":   {opened("b"), "tls.keyFile: b does not exist (relative to " + dir + "): correct the path"},
		"missing folder":      {opened(absent), "tls.keyFile: " + absent + " does not exist, nor does its folder: correct the path, or create the folder"},
		"a folder":            {opened(dir), "tls.keyFile: " + dir + " is a folder: set the path of a file"},
		"below a file":        {opened(filepath.Join(file, "x")), "tls.keyFile: " + file + " is a file, not a folder: set another path"},
		"folder below a file": {os.MkdirAll(filepath.Join(file, "x"), 0o700), "tls.keyFile: " + file + " is a file, not a folder: set another path"},
		"no access":           {failed(syscall.EACCES), "tls.keyFile: " + file + " cannot be accessed by the account "},
		"no access, wrapped":  {fmt.Errorf("reading: %w", failed(syscall.EACCES)), ": grant it access, or set another path"},
		"no folder, Windows":  {failed(pathNotFound{}), "tls.keyFile: " + file + " does not exist: correct the path"},
		"replaced":            {&os.LinkError{Op: "rename", New: file, Err: syscall.EACCES}, file + " cannot be accessed"},
		"another error":       {failed(syscall.EIO), "tls.keyFile: open " + file + ": " + syscall.EIO.Error()},
		"not a file error":    {errors.New("odd"), "tls.keyFile: odd"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			got := filefault.Explain("tls.keyFile", c.err)
			assert.ErrorContains(t, got, c.want)
			assert.ErrorIs(t, got, c.err)
		})
	}
	assert.NoError(t, filefault.Explain("tls.keyFile", nil))
}

// pathNotFound is the Windows error for a missing folder in a path. Go treats it as both errors.
type pathNotFound struct{}

func (pathNotFound) Error() string { return "path not found" }
func (pathNotFound) Is(target error) bool {
	return target == syscall.ENOTDIR || target == fs.ErrNotExist
}

// TestAFileThatAnotherProgramHasOpen: only Windows keeps a file that another program has open from
// being replaced.
func TestAFileThatAnotherProgramHasOpen(t *testing.T) {
	replacing := func(errno error) error { return &os.LinkError{Op: "rename", New: "a", Err: errno} }
	opening := func(errno error) error { return &fs.PathError{Op: "open", Path: "a", Err: errno} }
	for errno, want := range map[syscall.Errno][2]bool{5: {true, false}, 32: {true, true}, 2: {false, false}} {
		assert.Equal(t, want[0], filefault.HeldOn("windows", replacing(errno)))
		assert.Equal(t, want[1], filefault.HeldOn("windows", opening(errno)))
		assert.False(t, filefault.HeldOn("linux", replacing(errno)))
	}
}

func TestReadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.NoError(t, filefault.Readable("--ldif", file))
	assert.ErrorContains(t, filefault.Readable("--ldif", file+"b"), "--ldif: "+file+"b does not exist")
	assert.ErrorContains(t, filefault.Readable("--ldif", dir), "is a folder")
}

func TestUsable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.NoError(t, filefault.Usable("audit.file", file))
	assert.NoError(t, filefault.Usable("audit.file", filepath.Join(dir, "new", "b")),
		"it and its folder can be created")
	assert.NoDirExists(t, filepath.Join(dir, "new"))
	assert.ErrorContains(t, filefault.Usable("audit.file", filepath.Join(file, "x", "y")),
		"audit.file: "+file+" is a file, not a folder")
	assert.ErrorContains(t, filefault.Usable("audit.file", dir), "is a folder")
}
