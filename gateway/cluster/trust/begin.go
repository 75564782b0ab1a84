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

const logFile = "log.json"

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

// LogFile returns the path of the file with the identity of the log, by which a gateway knows it
// while no node can be reached.
func (f Folder) LogFile() string { return filepath.Join(f.Path, logFile) }

// ForgetLog removes what the folder says of the log, which is lost: another one may begin, with
// what any gateway has. The gateway of the folder does not go on alone for having made the cluster.
func (f Folder) ForgetLog() error {
	for _, name := range []string{firstFile, logFile, originFile} {
		path := filepath.Join(f.Path, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
