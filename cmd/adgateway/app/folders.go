package app

import (
	"errors"
	"path/filepath"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

// checkFolders returns an error if other accounts may replace a program that
// the gateway runs: its own executable, or the PowerShell of the settings.
func checkFolders(c config.PowerShell) error {
	faults := []error{program.CheckProgram(program.Files)}
	if filepath.IsAbs(c.Path) {
		if path, err := filepath.EvalSymlinks(c.Path); err == nil { // PowerShell reports a missing one
			faults = append(faults, program.CheckFolder(program.Files, "powershell.path", path))
		}
	}
	return errors.Join(faults...)
}
