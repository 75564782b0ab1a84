package app

import (
	"errors"
	"path/filepath"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

// checkFolders returns an error if other accounts may replace what a gateway runs:
// its own executable, or the PowerShell of the settings.
func checkFolders(c config.PowerShell) error {
	faults := []error{program.CheckProgram(program.Files)}
	if filepath.IsAbs(c.Path) {
		if path, err := filepath.EvalSymlinks(c.Path); err == nil { // a missing one is reported by PowerShell
			faults = append(faults, program.CheckFolder(program.Files, "powershell.path", path))
		}
	}
	return errors.Join(faults...)
}
