// Package atomicfile replaces files so that readers find either the complete old or the complete new
// text, even after a power failure.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"adgateway/gateway/filefault"
)

// Write replaces a file, or creates it, accessible to its owner only. If restrict is not nil, it is called
// with the name of the new file before anything is written to it. If Write fails, the existing file is
// unchanged.
func Write(path string, text []byte, restrict func(name string) error) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	name := temporary.Name()
	defer func() {
		if err != nil {
			_ = temporary.Close() // it may already be closed
			err = errors.Join(err, os.Remove(name))
		}
	}()
	if restrict != nil {
		if err := restrict(name); err != nil {
			return err
		}
	}
	if _, err := temporary.Write(text); err != nil {
		return err
	}
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return Replace(name, path)
}

// Replace replaces a file with another one in the same folder by renaming it. The new file must have been
// synced to disk.
func Replace(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	if folder, err := os.Open(filepath.Dir(to)); err == nil {
		_ = folder.Sync() // makes the rename durable; not possible on Windows
		_ = folder.Close()
	}
	return nil
}

// rename renames a file to an existing one. On Windows that fails while another program has the file open. It
// is retried, because virus scanners and backups have files open only briefly.
func rename(from, to string) error {
	const tries, pause = 100, 20 * time.Millisecond
	return try(tries, func() { time.Sleep(pause) }, filefault.Held, func() error { return os.Rename(from, to) })
}

// try calls do up to tries times, with a pause in between, as long as passes reports that the error of do may
// be temporary.
func try(tries int, pause func(), passes func(error) bool, do func() error) (err error) {
	for n := range tries {
		if n > 0 {
			pause()
		}
		if err = do(); err == nil || !passes(err) {
			return err
		}
	}
	return err
}
