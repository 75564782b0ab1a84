package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/output"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// ServiceOptions describe the service to install and control.
type ServiceOptions struct {
	Service winsvc.Service

	// Check returns the mistakes in a settings file of a service. account is the account that the service is
	// about to get, or "" if it keeps its account.
	Check func(file, account string) error

	Init   string // command that creates the settings file
	Ending string // what happens to work in progress at a stop
	Data   string // content of the data folder, apart from settings
}

// files protects the files of the service. account is the account that the service is about to get, or "" if
// it keeps its account.
func (o ServiceOptions) files(account string) host.Files {
	return host.Files{Service: o.Service.Name, Account: account}
}

// folder returns the data folder of the service.
func (o ServiceOptions) folder() string { return Folder(o.Service) }

// ServiceCommands returns the commands below "service", except the one that runs as the service.
func ServiceCommands(o ServiceOptions) []*cobra.Command {
	return []*cobra.Command{
		o.installCommand(), o.uninstallCommand(),
		o.keepCommand(), o.restoreCommand(), o.resumeCommand(),
		o.controlCommand("start", "Start the service", "is running", (*winsvc.Manager).Start),
		o.controlCommand("stop", "Stop the service; "+o.Ending, "is stopped", (*winsvc.Manager).Stop),
		o.controlCommand("restart", "Stop the service and start it again", "is running", (*winsvc.Manager).Restart),
		o.statusCommand(),
	}
}

func (o ServiceOptions) controlCommand(
	name, short, result string, do func(*winsvc.Manager, context.Context) error,
) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager(o.Service)
			if err != nil {
				return err
			}
			if err := do(m, c.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "service %s %s\n", o.Service.Name, result)
			return err
		},
	}
}

func (o ServiceOptions) installCommand() *cobra.Command {
	r := winsvc.Registration{}
	file, fromStdin, fromMSI := "", false, false
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the service, or update the one that is installed",
		Long: "Installs this executable as a service that starts with Windows, or updates the\n" +
			"one that is installed. It runs as --account:\n" +
			fmt.Sprintf("  %-24sa virtual account without a password (default)\n", o.Service.Account()) +
			"  DOMAIN\\name$           a group managed service account, no password\n" +
			"  DOMAIN\\user            a user; the password is prompted for, or read from\n" +
			"                         standard input with --password-stdin",
		Example: "  " + o.Service.Name + " service install --account 'CORP\\adgateway$'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			account, kind, err := o.Service.ParseAccount(r.Account)
			if err != nil {
				return err
			}
			if r.Account == "" {
				account = "" // an update keeps the account
			}
			m, err := winsvc.NewManager(o.Service)
			if err != nil {
				return err
			}
			if kind == winsvc.UserAccount || fromStdin {
				if r.Password, err = readPassword(c, r.Account, fromStdin); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("config") {
				previous, err := m.Arguments()
				if err != nil {
					return err
				}
				file = settingsFileOf(previous, file)
			}
			if file, err = filepath.Abs(file); err != nil {
				return err
			}
			if err := CheckProgram(o.files(account)); err != nil {
				return err
			}
			if err := o.checkSettings(file, account); err != nil {
				return err
			}
			r.Arguments = []string{"service", "run", "--config", file}
			if fromMSI {
				if err := keep(o.keptFile(), m, true, true); err != nil {
					return err
				}
			}
			if r.Kept, err = keptService(o.keptFile(), o.files(account)); err != nil {
				return err
			}
			if err := o.install(c.OutOrStdout(), m, r, file); err != nil {
				return err
			}
			if fromMSI {
				return nil // keep the file: 'service resume' reads it later
			}
			return forgetService(o.keptFile())
		},
	}
	c.Flags().StringVar(&r.Account, "account", "", "`ACCOUNT` to run as")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the account's password from standard input")
	c.Flags().BoolVar(&r.Reset, "reset", false,
		"set start type and recovery actions as for a new installation; an update keeps them by default")
	c.Flags().BoolVar(&r.OnDomainController, "on-domain-controller", false,
		"install even on a domain controller")
	c.Flags().BoolVar(&fromMSI, "from-msi", false, "called by the installer")
	_ = c.Flags().MarkHidden("from-msi") // fails only for unknown flags
	c.Flags().StringVar(&file, "config", filepath.Join(o.folder(), FileName),
		"settings `FILE` of the service; an update keeps the previous one by default")
	return c
}

// install registers the service, prints the steps taken, and performs the remaining ones.
func (o ServiceOptions) install(out io.Writer, m *winsvc.Manager, r winsvc.Registration, file string) error {
	done, err := m.Install(r)
	for _, line := range done {
		fmt.Fprintln(out, line)
	}
	if err != nil {
		return err
	}
	return o.afterwards(out, file)
}

// afterwards performs the steps that follow the registration of the service.
func (o ServiceOptions) afterwards(out io.Writer, file string) error {
	if err := o.restrictData(out, filepath.Dir(file)); err != nil {
		return err
	}
	if _, missing := os.Stat(file); missing != nil {
		_, err := fmt.Fprintf(out, "there are no settings yet: create %s with '%s'\n", file, o.Init)
		return err
	}
	return nil
}

// checkSettings reports mistakes in the settings file of a service to be installed. A
// missing file is not a mistake, because it may be created later.
func (o ServiceOptions) checkSettings(file, account string) error {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	if err := o.Check(file, account); err != nil {
		return fmt.Errorf("the service would not start with %s, and nothing was changed; correct it and check "+
			"it with '%s': %w", file, o.Service.Check, err)
	}
	return nil
}

// settingsFileOf returns the settings file in a service's arguments, or fallback if they name none.
func settingsFileOf(arguments []string, fallback string) string {
	at := slices.Index(arguments, "--config")
	if at < 0 || at+1 >= len(arguments) {
		return fallback
	}
	return arguments[at+1]
}

// restrictData restricts the folder of the settings and data to the service's account and the administrators.
// It does so only for the service's default folder, because any other folder may contain unrelated files.
func (o ServiceOptions) restrictData(out io.Writer, dir string) error {
	if !IsFolder(o.Service, dir) {
		fmt.Fprintf(out, "make sure that the service's account can write in %s, and that nobody else can read "+
			"there\n", dir)
		return nil
	}
	if err := o.files("").RestrictFolder(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is restricted to the service's account and the administrators\n", dir)
	return nil
}

func (o ServiceOptions) uninstallCommand() *cobra.Command {
	purge, fromMSI := false, false
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the service; settings and data remain",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager(o.Service)
			if err != nil {
				return err
			}
			if err := keep(o.keptFile(), m, fromMSI, fromMSI); err != nil {
				return err
			}
			remove := func() error { return m.Uninstall(c.Context()) }
			return o.uninstall(c.OutOrStdout(), purge, o.folder(), remove)
		},
	}
	c.Flags().BoolVar(&fromMSI, "from-msi", false, "called by the installer")
	_ = c.Flags().MarkHidden("from-msi") // fails only for unknown flags
	c.Flags().BoolVar(&purge, "purge", false, "remove settings, "+o.Data+" in "+o.folder()+" as well")
	return c
}

// uninstall removes the service and, if purge is set, the folder with its settings and data.
// The folder can also be purged after the service has been removed.
func (o ServiceOptions) uninstall(out io.Writer, purge bool, dir string, remove func() error) error {
	switch err := remove(); {
	case purge && errors.Is(err, winsvc.ErrNotInstalled):
		fmt.Fprintf(out, "service %s is not installed\n", o.Service.Name)
	case err != nil:
		return err
	default:
		fmt.Fprintf(out, "service %s is uninstalled\n", o.Service.Name)
	}
	if !purge {
		fmt.Fprintf(out, "settings and data remain in %s; --purge removes them\n", dir)
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("settings and data: %w", err)
	}
	fmt.Fprintf(out, "%s was removed with all settings and data\n", dir)
	return nil
}

func (o ServiceOptions) statusCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Show whether the service is installed and running",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager(o.Service)
			if err != nil {
				return err
			}
			state, problems, err := m.Status()
			if err != nil {
				return err
			}
			status := output.ServiceStatus{Name: o.Service.Name, State: string(state),
				Problems: append([]string{}, problems...)}
			if asJSON {
				return output.JSON(c.OutOrStdout(), status)
			}
			return status.Text(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// RecordCrashes makes the Go runtime write crashes, such as panics, to a file next to the
// log, because a service has no standard error.
func RecordCrashes(logFile string) error {
	if logFile == "" {
		return nil
	}
	extension := filepath.Ext(logFile)
	file, err := os.OpenFile(strings.TrimSuffix(logFile, extension)+"-crash"+extension,
		os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(debug.SetCrashOutput(file, debug.CrashOptions{}), file.Close())
}

// readPassword reads the password of an account from the terminal, or from standard input.
func readPassword(c *cobra.Command, account string, fromStdin bool) (string, error) {
	if fromStdin {
		return PipedPassword(c.InOrStdin())
	}
	return Password(c.InOrStdin(), c.ErrOrStderr(), account)
}
