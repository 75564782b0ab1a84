package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/gateway/config"
)

// checkFolders returns an error if other accounts may replace what a gateway runs:
// its own executable, or the PowerShell of the settings.
func checkFolders(c config.PowerShell) error {
	faults := []error{CheckProgram()}
	if filepath.IsAbs(c.Path) {
		if path, err := filepath.EvalSymlinks(c.Path); err == nil { // a missing one is reported by PowerShell
			faults = append(faults, checkFolder("powershell.path", path))
		}
	}
	return errors.Join(faults...)
}

// CheckProgram returns an error if other accounts may replace this executable.
func CheckProgram() error {
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return fmt.Errorf("the folder of this program cannot be found: %w", err)
	}
	return checkFolder("the folder of this program", executable)
}

// checkFolder checks the folder of a file; what names it in the error.
func checkFolder(what, file string) error {
	if err := settings.Files.ExposedFolder(filepath.Dir(file)); err != nil {
		return fmt.Errorf("%s is not trusted, because what is in it runs with the gateway's rights: %w", what, err)
	}
	return nil
}
