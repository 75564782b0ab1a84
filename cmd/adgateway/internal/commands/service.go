package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"adgateway/cmd/adgateway/internal/report"
	"adgateway/cmd/adgateway/internal/serve"
	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/winsvc"
	"adgateway/winsvc/events"
	"adgateway/winsvc/host"

	"github.com/spf13/cobra"
)

func serviceCommand() *cobra.Command {
	return group("service", "Install and control the Windows service",
		serviceInstallCommand(), serviceUninstallCommand(),
		serviceKeepCommand(), serviceRestoreCommand(), serviceResumeCommand(),
		controlCommand("start", "Start the service", "is running", (*winsvc.Manager).Start),
		controlCommand("stop", "Stop the service; running requests are finished first", "is stopped", (*winsvc.Manager).Stop),
		controlCommand("restart", "Stop the service and start it again", "is running", (*winsvc.Manager).Restart),
		serviceStatusCommand(), serviceRunCommand())
}

func controlCommand(name, short, result string, do func(*winsvc.Manager, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager()
			if err != nil {
				return err
			}
			if err := do(m, c.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "service %s %s\n", winsvc.Name, result)
			return err
		},
	}
}

func serviceInstallCommand() *cobra.Command {
	r := winsvc.Registration{}
	file, fromStdin, fromMSI := "", false, false
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the service, or update the one that is installed",
		Long: "Installs this executable as a service that starts with Windows, or updates the\n" +
			"one that is installed. It runs as --account:\n" +
			"  NT SERVICE\\adgateway   a virtual account without a password (default)\n" +
			"  DOMAIN\\name$           a group managed service account, no password\n" +
			"  DOMAIN\\user            a user; the password is prompted for, or read from\n" +
			"                         standard input with --password-stdin",
		Example: "  adgateway service install --account 'CORP\\adgateway$'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, kind, err := winsvc.ParseAccount(r.Account)
			if err != nil {
				return err
			}
			m, err := winsvc.NewManager()
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
			if err := serve.CheckProgram(); err != nil {
				return err
			}
			if err := checkSettings(file); err != nil {
				return err
			}
			r.Arguments = []string{"service", "run", "--config", file}
			if fromMSI {
				if err := keep(m, true); err != nil {
					return err
				}
			}
			if r.Kept, err = kept(keptFile()); err != nil {
				return err
			}
			done, err := m.Install(r)
			for _, line := range done {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			if err != nil {
				return err
			}
			if err := restrictData(c.OutOrStdout(), filepath.Dir(file)); err != nil {
				return err
			}
			if _, missing := os.Stat(file); missing != nil {
				fmt.Fprintf(c.OutOrStdout(), "there are no settings yet: create %s with 'adgateway config init'\n", file)
			}
			if fromMSI {
				return nil // 'service resume' reads it, too
			}
			return forget(keptFile())
		},
	}
	c.Flags().StringVar(&r.Account, "account", "", "`ACCOUNT` to run as")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the account's password from standard input")
	c.Flags().BoolVar(&r.Reset, "reset", false, "set start type and recovery actions as for a new installation; an update keeps them by default")
	c.Flags().BoolVar(&r.OnDomainController, "on-domain-controller", false, "install even on a domain controller")
	c.Flags().BoolVar(&fromMSI, "from-msi", false, "called by the installer")
	_ = c.Flags().MarkHidden("from-msi") // it exists
	c.Flags().StringVar(&file, "config", settings.DefaultFile(), "settings `FILE` of the service; an update keeps the previous one by default")
	return c
}

// checkSettings reports mistakes in the settings file of a service to be. A missing file
// is none: it may be created later.
func checkSettings(file string) error {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	f := settings.Flags{Fallback: file}
	if _, _, _, err := f.Read(); err != nil {
		return fmt.Errorf("the service would not start with %s, and nothing was changed; correct it and check it with 'adgateway config check': %w", file, err)
	}
	return nil
}

// settingsFileOf returns the settings file in the arguments of a service, or
// fallback if they name none.
func settingsFileOf(arguments []string, fallback string) string {
	at := slices.Index(arguments, "--config")
	if at < 0 || at+1 >= len(arguments) {
		return fallback
	}
	return arguments[at+1]
}

// restrictData restricts the folder of the settings, which also holds credentials,
// audit log and logs, to the service's account and the administrators. Any other
// folder than the gateway's own may contain other things and is left alone.
func restrictData(out io.Writer, dir string) error {
	if !settings.IsDataDir(dir) {
		fmt.Fprintf(out, "make sure that the service's account can write in %s, and that nobody else can read there\n", dir)
		return nil
	}
	if err := (host.Files{Service: winsvc.Name}).RestrictFolder(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is restricted to the service's account and the administrators\n", dir)
	return nil
}

func serviceUninstallCommand() *cobra.Command {
	purge, fromMSI := false, false
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the service; settings and data remain",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager()
			if err != nil {
				return err
			}
			if err := keep(m, fromMSI); err != nil {
				return err
			}
			if err := m.Uninstall(c.Context()); err != nil {
				return err
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "service %s is uninstalled\n", winsvc.Name)
			dir := settings.DataDir()
			if !purge {
				fmt.Fprintf(out, "settings and data remain in %s; --purge removes them\n", dir)
				return nil
			}
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("settings and data: %w", err)
			}
			fmt.Fprintf(out, "%s was removed with all settings and data\n", dir)
			return nil
		},
	}
	c.Flags().BoolVar(&fromMSI, "from-msi", false, "called by the installer")
	_ = c.Flags().MarkHidden("from-msi") // it exists
	c.Flags().BoolVar(&purge, "purge", false, "remove settings, credentials, audit log and logs in "+settings.DataDir()+" as well")
	return c
}

func serviceStatusCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Show whether the service is installed and running",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := winsvc.NewManager()
			if err != nil {
				return err
			}
			state, problems, err := m.Status()
			if err != nil {
				return err
			}
			status := report.ServiceStatus{Name: winsvc.Name, State: string(state), Problems: append([]string{}, problems...)}
			if asJSON {
				return report.JSON(c.OutOrStdout(), status)
			}
			return status.Text(c.OutOrStdout())
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// recordCrashes makes the Go runtime write crashes, such as panics, to a file next
// to the log: a service has no standard error.
func recordCrashes(logFile string) error {
	if logFile == "" {
		return nil
	}
	extension := filepath.Ext(logFile)
	file, err := os.OpenFile(strings.TrimSuffix(logFile, extension)+"-crash"+extension, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(debug.SetCrashOutput(file, debug.CrashOptions{}), file.Close())
}

func serviceRunCommand() *cobra.Command {
	f := settings.Flags{Fallback: settings.DefaultFile(), Beside: true, LogBeside: runtime.GOOS == "windows"} // a service has no console
	c := &cobra.Command{
		Use:   "run",
		Short: "Run as the service; called by the service manager",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			prepare := func(ctx context.Context, write events.Write) (func(context.Context) error, string, error) {
				s, err := serve.Prepare(ctx, serve.Options{Flags: &f, Version: buildVersion(), Stderr: c.ErrOrStderr(), Event: write})
				if err != nil {
					return nil, "", err
				}
				if err := recordCrashes(s.Settings().Log.File); err != nil {
					s.Log().WithError(err).Warn("crashes cannot be recorded")
				}
				return s.Serve, fmt.Sprintf("adgateway %s listens on %s.", buildVersion(), s.Address()), nil
			}
			return winsvc.Run(c.Context(), prepare, os.Exit)
		},
	}
	f.AddTo(c.Flags())
	return c
}
