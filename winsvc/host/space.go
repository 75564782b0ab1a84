package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"
)

// Writable returns why this process cannot write or create the file at a path, or
// nil. It changes nothing: instead of a missing file it creates a temporary one next
// to it and removes that again.
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

// FreeSpace returns how many bytes this process may still write where a folder is or
// will be.
func FreeSpace(folder string) (uint64, error) {
	usage, err := disk.Usage(nearest(folder))
	if err != nil {
		return 0, err
	}
	return usage.Free, nil
}

// nearest returns the folder, or the nearest existing one above it.
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
