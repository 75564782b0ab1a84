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
func (o ServiceOptions) keptFile() string { return filepath.Join(o.folder(), "service.json") }

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

func (o ServiceOptions) installerCommand(
	name, short string, do func(c *cobra.Command, m *winsvc.Manager) error,
) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager(o.Service)
			if err != nil {
				return err
			}
			return do(c, m)
		},
	}
}

func (o ServiceOptions) keepCommand() *cobra.Command {
	return o.installerCommand("keep", "Write down account, start type and state of the service",
		func(_ *cobra.Command, m *winsvc.Manager) error {
			return keep(o.keptFile(), m, false, true)
		})
}

func (o ServiceOptions) restoreCommand() *cobra.Command {
	return o.installerCommand("restore", "Undo what a failed installation did to the service",
		func(c *cobra.Command, m *winsvc.Manager) error {
			before, err := keptService(o.keptFile(), o.files(""))
			if err != nil {
				return err
			}
			done, err := m.Restore(c.Context(), before)
			if !done {
				return err // the next installation uses the stored state
			}
			return errors.Join(err, forgetService(o.keptFile()))
		})
}

func (o ServiceOptions) resumeCommand() *cobra.Command {
	return o.installerCommand("resume", "Start the service if it ran before the installation",
		func(c *cobra.Command, m *winsvc.Manager) error {
			before, err := keptService(o.keptFile(), o.files(""))
			if err != nil {
				return err
			}
			if err := forgetService(o.keptFile()); err != nil || before == nil || !before.Running {
				return err
			}
			return m.Start(c.Context())
		})
}
