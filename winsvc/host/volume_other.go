//go:build !windows

package host

import (
	"errors"
	"slices"

	"github.com/shirou/gopsutil/v4/disk"
)

// remoteFileSystems contains the names that gopsutil has for the file systems of shares.
var remoteFileSystems = []string{"nfs", "smb", "smb2", "cifs", "afs", "coda", "ceph", "9p", "v9fs", "gfs",
	"lustre", "fuse.sshfs"}

// ReadVolume returns information about the volume of a folder, which need not exist yet.
func ReadVolume(folder string) (Volume, error) {
	usage, err := disk.Usage(nearest(folder))
	if err != nil {
		return Volume{}, err
	}
	return Volume{FileSystem: usage.Fstype, Remote: slices.Contains(remoteFileSystems, usage.Fstype)}, nil
}

// ReadWriteCache is not supported here.
func ReadWriteCache(string) (WriteCache, error) { return WriteCache{}, errors.ErrUnsupported }

// ScannerExclusions is not supported here.
func ScannerExclusions() ([]string, error) { return nil, errors.ErrUnsupported }

// BackupExclusions is not supported here.
func BackupExclusions() ([]string, error) { return nil, errors.ErrUnsupported }

// Indexed is not supported here.
func Indexed(string) (bool, error) { return false, errors.ErrUnsupported }

// ReadSleep is not supported here.
func ReadSleep() (Sleep, error) { return Sleep{}, errors.ErrUnsupported }
