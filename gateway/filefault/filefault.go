// Package filefault says what is wrong with a file that a setting or a flag
// names, so that an administrator knows which one it is and what to do.
package filefault

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"syscall"
)

// fault is an error of a file in our words.
type fault struct {
	text string
	err  error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.err }

// sharingViolation is ERROR_SHARING_VIOLATION of Windows.
const sharingViolation = syscall.Errno(32)

// Explain says of the error of a file which setting or flag names it, what is
// wrong, decided by the error's code, and what to do. Any other error only gets
// the name before it; nil stays nil.
func Explain(named string, err error) error {
	if err == nil {
		return nil
	}
	var of *fs.PathError
	if !errors.As(err, &of) {
		return fmt.Errorf("%s: %w", named, err)
	}
	path, text := of.Path, ""
	found, statErr := os.Stat(path)
	switch file := fileAbove(path); {
	case file != "" || errors.Is(err, syscall.ENOTDIR):
		path, text = cmp.Or(file, path), " is a file, so that nothing can lie in it: set another path"
	case errors.Is(err, fs.ErrPermission):
		text = " is closed to " + account() + ": give that the right to it, or set another path"
	case statErr == nil && found.IsDir():
		text = " is a folder: set the path of a file"
	case errors.Is(err, fs.ErrNotExist):
		text = " is not there" + where(path) + ": put it there, or set the right path"
	case runtime.GOOS == "windows" && errors.Is(err, sharingViolation):
		text = " is held open by another program: close that, or set another path"
	default:
		return fmt.Errorf("%s: %w", named, err)
	}
	return &fault{named + ": " + path + text, err}
}

// Readable tells, explained, why a file could not be read.
func Readable(named, path string) error {
	file, err := os.Open(path)
	if err == nil {
		if _, err = file.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			err = nil
		}
		_ = file.Close() // it was only looked at
	}
	return Explain(named, err)
}

// where tells where a file was looked for, as far as its path does not say it.
func where(path string) string {
	text := ""
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		text = ", nor is its folder"
	}
	if folder, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		text += " (looked for in " + folder + ")"
	}
	return text
}

// fileAbove is the file that stands where a path needs a folder; empty: none does.
func fileAbove(path string) string {
	for above := filepath.Dir(path); ; path, above = above, filepath.Dir(above) {
		info, err := os.Stat(above)
		switch {
		case err == nil && !info.IsDir():
			return above
		case err == nil || above == path:
			return ""
		}
	}
}

// account is who this process runs as.
func account() string {
	who, err := user.Current()
	if err != nil {
		return "this account"
	}
	return "the account " + who.Username
}
