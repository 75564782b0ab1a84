package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// The installer calls these commands: 'service keep' before it stops the service, 'service install' after
// the files are in place, and then 'service resume'. If the installation fails, it calls 'service restore'.

// keptFile returns the path of the file that stores the state of a removed service. 'service
// install' restores that state.
func keptFile() string { return filepath.Join(DataDir(), "service.json") }

// keeper returns the state of the installed service, or nil if there is none. [winsvc.Manager] implements it.
type keeper interface {
	Keep() (*winsvc.Kept, error)
}

// keep writes the state of the installed service to a file. If once is set, it does not replace an existing
// file, which an earlier step of the same installation wrote. It stores whether the service runs only if
// upgrade is set, because the installation after a removal does not start the service.
func keep(path string, m keeper, once, upgrade bool) error {
	if _, err := os.Stat(path); once && err == nil {
		return nil
	}
	found, err := m.Keep()
	if err != nil || found == nil {
		return err
	}
	found.Running = found.Running && upgrade
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := found.Write(path); err != nil {
		return fmt.Errorf("account and start type of the service cannot be kept: %w", err)
	}
	return nil
}

// keptService returns the state that keep has written, or nil. It checks the owner of the file, because
// everybody may create files in ProgramData, and a file from somebody else could choose the account of the
// service.
func keptService(path string, files host.Files) (*winsvc.Kept, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, err := files.Exposed(path); err != nil {
		return nil, fmt.Errorf("%s, which keeps the service's account and start type: %w", path, err)
	}
	return winsvc.ReadKept(path)
}

// forgetService removes the stored state after it has been restored.
func forgetService(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// installerCommand returns a hidden command that only the installer calls.
func installerCommand(name string, do func(*cobra.Command, *winsvc.Manager) error) *cobra.Command {
	c := managed(name, do)
	c.Hidden = true
	return c
}

func keepService(_ *cobra.Command, m *winsvc.Manager) error { return keep(keptFile(), m, false, true) }

func restoreService(c *cobra.Command, m *winsvc.Manager) error {
	before, err := keptService(keptFile(), Files)
	if err != nil {
		return err
	}
	done, err := m.Restore(c.Context(), before)
	if !done {
		return err // the next installation uses the stored state
	}
	return errors.Join(err, forgetService(keptFile()))
}

func resumeService(c *cobra.Command, m *winsvc.Manager) error {
	before, err := keptService(keptFile(), Files)
	if err != nil {
		return err
	}
	if err := forgetService(keptFile()); err != nil || before == nil || !before.Running {
		return err
	}
	return m.Start(c.Context())
}
