package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// firstFile is on the host where the cluster was made. The gateway there goes on alone, so that
// others can join, until their nodes serve. Then it notes the origin of the log.
const firstFile = "first"

// MarkFirst notes that the gateway of the folder has made the cluster.
func (f Folder) MarkFirst() error {
	return f.write(firstFile, []byte("This gateway goes on alone until the nodes of the cluster serve.\n"))
}

// Alone reports whether the gateway of the folder has made the cluster and goes on alone, since
// the log has no origin yet.
func (f Folder) Alone() (bool, error) {
	_, err := os.Stat(filepath.Join(f.Path, firstFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, begun, err := f.Origin()
	return err == nil && !begun, err
}
