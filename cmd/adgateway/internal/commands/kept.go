package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/winsvc"

	"github.com/spf13/cobra"
)

// The installer calls these commands: 'service keep' before it stops the service,
// 'service install' after the files are in place, then 'service resume'; and 'service
// restore' if the installation fails.

// keptFile keeps what 'service install' restores of a service that was removed.
func keptFile() string { return filepath.Join(settings.DataDir(), "service.json") }

// keep writes what is to be kept of the installed service. With once, what is there
// already is left alone: it is of the same installation, and older.
func keep(m *winsvc.Manager, once bool) error {
	path := keptFile()
	if _, err := os.Stat(path); once && err == nil {
		return nil
	}
	found, err := m.Keep()
	if err != nil || found == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := found.Write(path); err != nil {
		return fmt.Errorf("account and start type of the service cannot be kept: %w", err)
	}
	return nil
}

// kept returns what keep has written, or nil. Everybody may create files in ProgramData: a
// file of somebody else could name the account of the service.
func kept(path string) (*winsvc.Kept, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, err := settings.Files.Exposed(path); err != nil {
		return nil, fmt.Errorf("%s, which keeps the service's account and start type: %w", path, err)
	}
	return winsvc.ReadKept(path)
}

// forget removes what was kept; the service has it again.
func forget(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func installerCommand(name, short string, do func(c *cobra.Command, m *winsvc.Manager) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager()
			if err != nil {
				return err
			}
			return do(c, m)
		},
	}
}

func serviceKeepCommand() *cobra.Command {
	return installerCommand("keep", "Write down account, start type and state of the service", func(_ *cobra.Command, m *winsvc.Manager) error {
		return keep(m, false)
	})
}

func serviceRestoreCommand() *cobra.Command {
	return installerCommand("restore", "Undo what a failed installation did to the service", func(c *cobra.Command, m *winsvc.Manager) error {
		before, err := kept(keptFile())
		if err != nil {
			return err
		}
		done, err := m.Restore(c.Context(), before)
		if !done {
			return err // the next installation takes what is kept
		}
		return errors.Join(err, forget(keptFile()))
	})
}

func serviceResumeCommand() *cobra.Command {
	return installerCommand("resume", "Start the service if it ran before the installation", func(c *cobra.Command, m *winsvc.Manager) error {
		before, err := kept(keptFile())
		if err != nil {
			return err
		}
		if err := forget(keptFile()); err != nil || before == nil || !before.Running {
			return err
		}
		return m.Start(c.Context())
	})
}
