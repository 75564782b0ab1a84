package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"
)

// Writable returns an error if this process cannot write or create the file at a path. It leaves no changes
// behind. If the file is missing, it creates a temporary file in the same folder and removes that file again.
func Writable(path string) error {
	existing, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return existing.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	trial, err := os.CreateTemp(nearest(filepath.Dir(path)), ".adgateway-trial-*")
	if err != nil {
		return err
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// FreeSpace returns the number of bytes that this process may still write to the volume of a folder. The
// folder need not exist.
func FreeSpace(folder string) (uint64, error) {
	usage, err := disk.Usage(nearest(folder))
	if err != nil {
		return 0, err
	}
	return usage.Free, nil
}

// nearest returns the folder, or its nearest existing parent.
func nearest(folder string) string {
	for {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return folder
		}
		folder = above
	}
}
