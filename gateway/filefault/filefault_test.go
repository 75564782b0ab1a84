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

func TestExplainSaysWhichFileAndWhatToDo(t *testing.T) {
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
		"not there":             {opened(file + "b"), "tls.keyFile: " + file + "b is not there: put it there, or set the right path"},
		"not there, relative":   {opened("b"), "tls.keyFile: b is not there (looked for in " + dir + "): put it there, or set the right path"},
		"folder not there":      {opened(absent), "tls.keyFile: " + absent + " is not there, nor is its folder: put it there, or set the right path"},
		"a folder":              {opened(dir), "tls.keyFile: " + dir + " is a folder: set the path of a file"},
		"below a file":          {opened(filepath.Join(file, "x")), "tls.keyFile: " + file + " is a file, so that nothing can lie in it: set another path"},
		"a folder where a file": {os.MkdirAll(filepath.Join(file, "x"), 0o700), "tls.keyFile: " + file + " is a file, so that nothing can lie in it: set another path"},
		"no right":              {failed(syscall.EACCES), "tls.keyFile: " + file + " is closed to the account "},
		"no right, inside":      {fmt.Errorf("reading: %w", failed(syscall.EACCES)), ": give that the right to it, or set another path"},
		"another error":         {failed(syscall.EIO), "tls.keyFile: open " + file + ": " + syscall.EIO.Error()},
		"no error of a file":    {errors.New("odd"), "tls.keyFile: odd"},
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

func TestReadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.NoError(t, filefault.Readable("--ldif", file))
	assert.ErrorContains(t, filefault.Readable("--ldif", file+"b"), "--ldif: "+file+"b is not there")
	assert.ErrorContains(t, filefault.Readable("--ldif", dir), "is a folder")
}
