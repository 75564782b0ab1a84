package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"

	"adgateway/gateway/filefault"
)

// Files returns the existing files of a log: the rotated ones, oldest first, then the current one
// and the head record.
func Files(path string) ([]string, error) {
	found, err := rotatedFiles(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{path, headName(path)} {
		switch _, err := os.Stat(name); {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}

// Hold keeps other processes from opening a log until release is called. It fails if a process has
// the log open.
func Hold(path string) (release func() error, err error) {
	lock := flock.New(path + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, filefault.Explain("audit.file", err)
	}
	if !held {
		return nil, fmt.Errorf("audit.file: %s is in use by another process", path)
	}
	return lock.Unlock, nil
}
