package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// firstFile exists on the host where the cluster was created. The gateway on that host works alone until the
// nodes serve, so that others can join. Then it records the origin of the log.
const firstFile = "first"

const logFile = "log.json"

// MarkFirst records that the folder's gateway has created the cluster.
func (f Folder) MarkFirst() error {
	return f.write(firstFile, []byte("This gateway goes on alone until the nodes of the cluster serve.\n"))
}

// Alone reports whether the folder's gateway has created the cluster and works alone because the
// log has no origin yet.
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

// LogFile returns the path of the file with the id of the log, by which a gateway knows the log
// while no node can be reached.
func (f Folder) LogFile() string { return filepath.Join(f.Path, logFile) }

// ForgetLog removes the state of a lost log from the folder, so another log can begin from any
// gateway's copy. After that the folder's gateway no longer works alone, even if it created the
// cluster.
func (f Folder) ForgetLog() error {
	for _, name := range []string{firstFile, logFile, originFile} {
		path := filepath.Join(f.Path, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
