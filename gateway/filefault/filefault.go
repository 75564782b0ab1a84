// Package filefault explains errors of files that settings or flags name, so that an administrator knows
// which setting is at fault and how to fix it.
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

// fault is a file error with an explanation as its text.
type fault struct {
	text string
	err  error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.err }

// Windows errors for files that other programs have open.
const (
	accessDenied     = syscall.Errno(5)
	sharingViolation = syscall.Errno(32)
)

// Held reports whether an error may mean that another program has a file open. This is only a problem on
// Windows, where it causes a sharing violation or, when the file is to be replaced, an access violation.
func Held(err error) bool { return heldOn(runtime.GOOS, err) }

func heldOn(system string, err error) bool {
	replaces := errors.As(err, new(*os.LinkError))
	return system == "windows" && (errors.Is(err, sharingViolation) || replaces && errors.Is(err, accessDenied))
}

// Explain turns a file error into an error that names the setting or flag for the file, describes the fault
// (by error code, never by text), and explains how to fix it. Any other error only gets the name as a prefix.
// The result wraps err. It is nil if err is nil.
func Explain(name string, err error) error {
	if err == nil {
		return nil
	}
	path, text := "", ""
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		path = of.Path
	case errors.As(err, &link):
		path = link.New
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
	found, statErr := os.Stat(path)
	switch file := fileAbove(path); {
	case file != "", errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrNotExist): // equal on Windows
		path, text = cmp.Or(file, path), " is a file, not a folder: set another path"
	case Held(err):
		text = " is open in another program: close it there, or set another path"
	case errors.Is(err, fs.ErrPermission):
		text = " cannot be accessed by " + account() + ": grant it access, or set another path"
	case statErr == nil && found.IsDir():
		text = " is a folder: set the path of a file"
	case errors.Is(err, fs.ErrNotExist):
		text = " does not exist" + where(path)
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
	return &fault{name + ": " + path + text, err}
}

// Readable returns an explained error if a file cannot be read.
func Readable(name, path string) error {
	file, err := os.Open(path)
	if err == nil {
		if _, err = file.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			err = nil
		}
		_ = file.Close() // nothing was written
	}
	return Explain(name, err)
}

// Usable is like [Readable] for a file that is created if it does not exist. It returns an explained error if
// the file cannot be read and, in case it does not exist, cannot be created. It changes nothing.
func Usable(name, path string) error {
	err := Readable(name, path)
	if errors.Is(err, fs.ErrNotExist) && fileAbove(path) == "" {
		return nil
	}
	return err
}

// where explains why a file is missing, as far as the path alone does not show the reason, and what to do.
func where(path string) string {
	text, remedy := "", ": correct the path"
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		text, remedy = ", nor does its folder", ": correct the path, or create the folder"
	}
	if folder, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		text += " (relative to " + folder + ")"
	}
	return text + remedy
}

// fileAbove returns the file that exists in place of a folder in the path, or "" if there is none.
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

// account returns the name of this process's account.
func account() string {
	who, err := user.Current()
	if err != nil {
		return "this account"
	}
	return "the account " + who.Username
}
