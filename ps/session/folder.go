package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// folderPrefix starts the names of temporary folders. The process ID and random digits follow it.
const folderPrefix = "adgateway-"

// A Folder is the temporary folder for the processes of one gateway. Files that a killed
// PowerShell leaves behind are removed with the folder.
type Folder struct {
	Removed int // number of folders of gateways that no longer ran, which NewFolder removed

	path string
}

// NewFolder creates a folder in the system's temporary folder, accessible to this account only, and removes
// the folders of gateways that were killed. The caller must close the new folder when the last session has
// ended.
func NewFolder() (*Folder, error) {
	base := os.TempDir()
	f := &Folder{}
	left, _ := filepath.Glob(filepath.Join(base, folderPrefix+"*")) // the pattern is well-formed
	for _, path := range left {
		// the removal fails if the folder belongs to another account
		if stale(filepath.Base(path)) && os.RemoveAll(path) == nil {
			f.Removed++
		}
	}
	var err error
	f.path, err = os.MkdirTemp(base, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("the temporary folder of the sessions cannot be created: %w", err)
	}
	return f, nil
}

// stale reports whether a name belongs to a folder whose gateway no longer runs. A folder with our own
// process ID is left over from before a restart, because in a container the ID is always the same.
func stale(name string) bool {
	text, random, ok := strings.Cut(strings.TrimPrefix(name, folderPrefix), "-")
	pid, err := strconv.Atoi(text)
	if !ok || err != nil || pid <= 0 || random == "" || strings.Trim(random, "0123456789") != "" {
		return false
	}
	return pid == os.Getpid() || !alive(pid)
}

// Name returns the path of the folder, or "" for a nil Folder.
func (f *Folder) Name() string {
	if f == nil {
		return ""
	}
	return f.path
}

// Close removes the folder. It may be called more than once.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return os.RemoveAll(f.path)
}

// temporary returns the environment variables that name a temporary folder.
func temporary(path string) []string {
	if path == "" {
		return nil
	}
	return []string{"TMPDIR=" + path, "TEMP=" + path, "TMP=" + path}
}
