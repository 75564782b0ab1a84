package host

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files keeps files with credentials from other accounts of this computer.
type Files struct {
	Service string // name of the Windows service whose account may use them, too
}

// RestrictFolder makes the folder if it is not there, and gives it and all that
// is in it to those who may use such files; what is made in it later is theirs,
// too. A folder of somebody else's is left alone: in ProgramData every user can
// make one, with settings in it for the service to run.
func (f Files) RestrictFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	owner, err := f.stranger(dir)
	if err != nil {
		return fmt.Errorf("the rights of %s cannot be read: %w", dir, err)
	}
	if owner != "" {
		return fmt.Errorf(`%s belongs to %s, who may have put anything into it; look at what it holds, give it to the administrators ('icacls "%s" /setowner "*%s"') and try again`,
			dir, owner, dir, sidAdministrators)
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("the rights below %s cannot be set: %w", dir, err)
		case entry.IsDir():
			return f.restrictFolder(path)
		case entry.Type().IsRegular():
			return f.Restrict(path)
		}
		return nil // a link leads elsewhere
	})
}
