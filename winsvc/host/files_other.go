//go:build !windows

package host

import (
	"fmt"
	"os"
	"syscall"
)

// Restrict restricts access to a file to its owner.
func (Files) Restrict(path string) error { return os.Chmod(path, 0o600) }

func (Files) restrictFolder(path string) error { return os.Chmod(path, 0o700) }

// stranger returns "", because on these systems only its owner can restrict a folder.
func (Files) stranger(string) (string, error) { return "", nil }

// Doubt returns nil, because services have no accounts here.
func (Files) Doubt() error { return nil }

// ExposedFolder returns an error if accounts other than the owner may replace files in a folder.
func (Files) ExposedFolder(path string) error {
	const toWrite = 0o022
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); mode.Perm()&toWrite != 0 && mode&os.ModeSticky == 0 {
		return fmt.Errorf("others than its owner may replace what is in %s (mode %04o): run 'chmod go-w %s'", path,
			mode.Perm(), path)
	}
	return nil
}

// ownerOf returns the user id of a file's owner.
func ownerOf(info os.FileInfo) (uid int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), true
}

// Exposed returns the accounts other than the owner that may read the file or list the folder, or "" if there
// are none. It returns an error if other accounts may write to the file or folder.
func (Files) Exposed(path string) (readers string, err error) {
	const ofGroup, ofAll = 0o040, 0o004
	const toWrite = 0o022
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if owner, known := ownerOf(info); known && !trustedUser(owner, os.Geteuid()) {
		return "", fmt.Errorf("it belongs to the user %d, who can change it at any time; check its content, "+
			"then run 'chown %d %s'", owner, os.Geteuid(), path)
	}
	what, own := "the file", "600"
	if info.IsDir() {
		what, own = "what is in the folder", "700"
	}
	switch mode := info.Mode().Perm(); {
	case mode&toWrite != 0:
		return "", fmt.Errorf("others than its owner may change %s (mode %04o); check its content, then run "+
			"'chmod %s %s'", what, mode, own, path)
	case mode&ofAll != 0:
		return "everybody", nil
	case mode&ofGroup != 0:
		return "its group", nil
	}
	return "", nil
}
