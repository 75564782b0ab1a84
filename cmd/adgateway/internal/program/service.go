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

// serviceFiles protects the files of the service. account is the account that the service is about to get. It
// is "" if the service keeps its account.
func serviceFiles(account string) host.Files {
	return host.Files{Service: winsvc.Gateway.Name, Account: account}
}

// ServiceCommands returns the commands below "service", except the one that runs as the service. [Describe]
// sets their texts.
func ServiceCommands() []*cobra.Command {
	return []*cobra.Command{
		installCommand(), uninstallCommand(),
		installerCommand("keep", keepService), installerCommand("restore", restoreService),
		installerCommand("resume", resumeService),
		controlCommand("start", "is running", (*winsvc.Manager).Start),
		controlCommand("stop", "is stopped", (*winsvc.Manager).Stop),
		controlCommand("restart", "is running", (*winsvc.Manager).Restart),
		statusCommand(),
	}
}

// managed returns a command that uses the service manager.
func managed(use string, do func(*cobra.Command, *winsvc.Manager) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager(winsvc.Gateway)
			if err != nil {
				return err
			}
			return do(c, m)
		},
	}
}

func controlCommand(name, result string, do func(*winsvc.Manager, context.Context) error) *cobra.Command {
	return managed(name, func(c *cobra.Command, m *winsvc.Manager) error {
		if err := do(m, c.Context()); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "service %s %s\n", winsvc.Gateway.Name, result)
		return err
	})
}

func installCommand() *cobra.Command {
	r := winsvc.Registration{}
	file, fromStdin, fromMSI := "", false, false
	c := &cobra.Command{
		Use:  "install",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			account, kind, err := winsvc.Gateway.ParseAccount(r.Account)
			if err != nil {
				return err
			}
			if r.Account == "" {
				account = "" // an update keeps the account
			}
			m, err := winsvc.NewManager(winsvc.Gateway)
			if err != nil {
				return err
			}
			if kind == winsvc.UserAccount || fromStdin {
				if r.Password, err = ReadPassword(c, r.Account, fromStdin); err != nil {
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
			if err := CheckProgram(serviceFiles(account)); err != nil {
				return err
			}
			if err := checkSettings(file, account); err != nil {
				return err
			}
			r.Arguments = []string{"service", "run", "--config", file}
			if fromMSI {
				if err := keep(keptFile(), m, true, true); err != nil {
					return err
				}
			}
			if r.Kept, err = keptService(keptFile(), serviceFiles(account)); err != nil {
				return err
			}
			if err := install(c.OutOrStdout(), m, r, file); err != nil {
				return err
			}
			if fromMSI {
				return nil // keep the file: 'service resume' reads it later
			}
			return forgetService(keptFile())
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
	c.Flags().StringVar(&file, "config", filepath.Join(DataDir(), FileName),
		"settings `FILE` of the service; an update keeps the previous one by default")
	return c
}

// install registers the service, prints the steps taken, and performs the remaining ones.
func install(out io.Writer, m *winsvc.Manager, r winsvc.Registration, file string) error {
	done, err := m.Install(r)
	for _, line := range done {
		fmt.Fprintln(out, line)
	}
	if err != nil {
		return err
	}
	return afterwards(out, file)
}

// afterwards performs the steps that follow the registration of the service.
func afterwards(out io.Writer, file string) error {
	if err := restrictData(out, filepath.Dir(file)); err != nil {
		return err
	}
	if _, missing := os.Stat(file); missing != nil {
		_, err := fmt.Fprintf(out, "there are no settings yet: create %s with 'adgateway config init'\n", file)
		return err
	}
	return nil
}

// checkSettings reports mistakes in the settings file of a service to be installed. A
// missing file is not a mistake, because it may be created later.
func checkSettings(file, account string) error {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	if _, _, _, err := (&Flags{Fallback: file, Account: account}).Read(); err != nil {
		return fmt.Errorf("the service would not start with %s, and nothing was changed; correct it and check "+
			"it with '%s': %w", file, winsvc.Gateway.Check, err)
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
func restrictData(out io.Writer, dir string) error {
	if !isDataDir(dir) {
		fmt.Fprintf(out, "make sure that the service's account can write in %s, and that nobody else can read "+
			"there\n", dir)
		return nil
	}
	if err := Files.RestrictFolder(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is restricted to the service's account and the administrators\n", dir)
	return nil
}

func uninstallCommand() *cobra.Command {
	purge, fromMSI := false, false
	c := managed("uninstall", func(c *cobra.Command, m *winsvc.Manager) error {
		if err := keep(keptFile(), m, fromMSI, fromMSI); err != nil {
			return err
		}
		remove := func() error { return m.Uninstall(c.Context()) }
		return uninstall(c.OutOrStdout(), purge, DataDir(), remove)
	})
	c.Flags().BoolVar(&fromMSI, "from-msi", false, "called by the installer")
	_ = c.Flags().MarkHidden("from-msi") // fails only for unknown flags
	c.Flags().BoolVar(&purge, "purge", false,
		"remove settings, credentials, audit log and logs in "+DataDir()+" as well")
	return c
}

// uninstall removes the service and, if purge is set, the folder with its settings and data.
// The folder can also be purged after the service has been removed.
func uninstall(out io.Writer, purge bool, dir string, remove func() error) error {
	switch err := remove(); {
	case purge && errors.Is(err, winsvc.ErrNotInstalled):
		fmt.Fprintf(out, "service %s is not installed\n", winsvc.Gateway.Name)
	case err != nil:
		return err
	default:
		fmt.Fprintf(out, "service %s is uninstalled\n", winsvc.Gateway.Name)
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

func statusCommand() *cobra.Command {
	asJSON := false
	c := managed("status", func(c *cobra.Command, m *winsvc.Manager) error {
		state, problems, err := m.Status()
		if err != nil {
			return err
		}
		status := output.ServiceStatus{Name: winsvc.Gateway.Name, State: string(state),
			Problems: append([]string{}, problems...)}
		if asJSON {
			return output.JSON(c.OutOrStdout(), status)
		}
		return status.Text(c.OutOrStdout())
	})
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

// ReadPassword reads the password of an account from the terminal, or from standard input.
func ReadPassword(c *cobra.Command, account string, fromStdin bool) (string, error) {
	if fromStdin {
		return PipedPassword(c.InOrStdin())
	}
	return Password(c.InOrStdin(), c.ErrOrStderr(), account)
}
