package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files protects files with credentials from other accounts of this computer.
type Files struct {
	Service string // name of the Windows service whose account may also use the files
	Account string // account that the service is about to get; empty means its current account
}

// RestrictFolder creates the folder if it does not exist, and restricts access to the folder and to its
// existing and future content. It refuses a folder that belongs to an untrusted account, because every user
// can create a folder in ProgramData and put settings for the service into it.
func (f Files) RestrictFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	owner, err := f.stranger(dir)
	if err != nil {
		return fmt.Errorf("the access rights of %s cannot be read: %w", dir, err)
	}
	if owner != "" {
		return fmt.Errorf(`%s belongs to %s, who may have put anything into it; check its content, give it to the administrators ('icacls "%s" /setowner "*%s"') and try again`,
			dir, owner, dir, sidAdministrators)
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("the access rights below %s cannot be set: %w", dir, err)
		case entry.IsDir():
			return f.restrictFolder(path)
		case entry.Type().IsRegular():
			return f.Restrict(path)
		}
		return nil // links lead elsewhere
	})
}
