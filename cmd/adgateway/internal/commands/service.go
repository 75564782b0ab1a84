package commands

import (
	"bufio"
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
	"unicode/utf8"

	"adgateway/winsvc"
	"adgateway/winsvc/host"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

func serviceCommand() *cobra.Command {
	return group("service", "Install and control the Windows service",
		serviceInstallCommand(), serviceUninstallCommand(),
		controlCommand("start", "Start the service", "runs", (*winsvc.Manager).Start),
		controlCommand("stop", "Stop the service; requests that run are finished first", "is stopped", (*winsvc.Manager).Stop),
		controlCommand("restart", "Stop the service and start it again", "runs", (*winsvc.Manager).Restart),
		serviceStatusCommand(), serviceRunCommand())
}

// openManager is replaced by tests, which have no service manager.
var openManager = winsvc.NewManager

func controlCommand(name, short, result string, do func(*winsvc.Manager, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := openManager()
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
	file, fromStdin := "", false
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the service, or update the one that is installed",
		Long: "Installs this executable as a service that starts with Windows, or updates the\n" +
			"one that is installed. It runs as --account:\n" +
			"  NT SERVICE\\adgateway   a virtual account without a password (default)\n" +
			"  DOMAIN\\name$           a group managed service account, no password\n" +
			"  DOMAIN\\user            a user; the password is asked for, or read from standard\n" +
			"                         input with --password-stdin",
		Example: "  adgateway service install --account 'CORP\\adgateway$'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, kind, err := winsvc.ParseAccount(r.Account)
			if err != nil {
				return err
			}
			m, err := openManager()
			if err != nil {
				return err
			}
			if kind == winsvc.UserAccount || fromStdin {
				if r.Password, err = readPassword(c, r.Account, fromStdin); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("config") {
				before, err := m.Arguments()
				if err != nil {
					return err
				}
				file = settingsOf(before, file)
			}
			if file, err = filepath.Abs(file); err != nil {
				return err
			}
			r.Arguments = []string{"service", "run", "--config", file}
			done, err := m.Install(r)
			for _, line := range done {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			if err != nil {
				return err
			}
			if err := keepData(c.OutOrStdout(), filepath.Dir(file)); err != nil {
				return err
			}
			if _, missing := os.Stat(file); missing != nil {
				fmt.Fprintf(c.OutOrStdout(), "there are no settings yet: 'adgateway config init' writes %s\n", file)
			}
			return nil
		},
	}
	c.Flags().StringVar(&r.Account, "account", "", "`ACCOUNT` to run as")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the account's password from standard input")
	c.Flags().StringVar(&file, "config", defaultSettingsFile(), "settings `FILE` of the service; of one that is installed: that which it has")
	return c
}

// settingsOf is the settings file that a service with these arguments has;
// fallback where they name none.
func settingsOf(arguments []string, fallback string) string {
	at := slices.Index(arguments, "--config")
	if at < 0 || at+1 >= len(arguments) {
		return fallback
	}
	return arguments[at+1]
}

// keepData gives the folder of the settings, where credentials, audit and logs
// stand as well, to the service's account and the administrators. A folder that
// is not the gateway's own may hold other things: it is left as it is.
func keepData(out io.Writer, dir string) error {
	if !isDataDir(dir) {
		fmt.Fprintf(out, "the service's account must be able to write in %s, and nobody else to read there\n", dir)
		return nil
	}
	if err := (host.Files{Service: winsvc.Name}).RestrictFolder(dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is for the service's account and the administrators only\n", dir)
	return nil
}

// readPassword reads the password of the service's account. It is never an
// argument: those are seen by every process of the computer.
func readPassword(c *cobra.Command, account string, fromStdin bool) (string, error) {
	in := c.InOrStdin()
	if fromStdin {
		marked := unicode.BOMOverride(transform.Nop) // Windows PowerShell begins what it pipes by a mark
		line, err := bufio.NewReader(transform.NewReader(in, marked)).ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			return "", errors.Join(errors.New("standard input holds no password"), ignoreEOF(err))
		case !utf8.ValidString(line):
			return "", errors.New("the password on standard input is not in UTF-8: in Windows PowerShell set " +
				"'$OutputEncoding = [Text.Encoding]::UTF8' before, or leave --password-stdin out and type it")
		}
		return line, nil
	}
	terminal, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return "", fmt.Errorf("%s needs a password, and there is no terminal to ask for it: use --password-stdin", account)
	}
	fmt.Fprintf(c.ErrOrStderr(), "Password of %s: ", account)
	password, err := term.ReadPassword(int(terminal.Fd()))
	fmt.Fprintln(c.ErrOrStderr())
	if err == nil && len(password) == 0 {
		err = errors.New("no password was given")
	}
	return string(password), err
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func serviceUninstallCommand() *cobra.Command {
	purge := false
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the service; settings and data stay",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := openManager()
			if err != nil {
				return err
			}
			if err := m.Uninstall(c.Context()); err != nil {
				return err
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "service %s is uninstalled\n", winsvc.Name)
			dir := dataDir()
			if !purge {
				fmt.Fprintf(out, "settings and data stay in %s; --purge removes them\n", dir)
				return nil
			}
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("settings and data: %w", err)
			}
			fmt.Fprintf(out, "%s is removed with all settings and data\n", dir)
			return nil
		},
	}
	c.Flags().BoolVar(&purge, "purge", false, "remove settings, credentials, audit and logs in "+dataDir()+", too")
	return c
}

func serviceStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Tell whether the service is installed and runs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m, err := openManager()
			if err != nil {
				return err
			}
			state, problems, err := m.Status()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "service %s: %s\n", winsvc.Name, state)
			for _, problem := range problems {
				fmt.Fprintf(c.OutOrStdout(), "problem: %s\n", problem)
			}
			return nil
		},
	}
}

// keepCrashes has what Go writes when it dies, of a panic for example, in a file
// beside the log: the standard error of a service goes nowhere.
func keepCrashes(logFile string) error {
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
	f := settingFlags{fallback: defaultSettingsFile(), logs: runtime.GOOS == "windows"} // a service has no console
	f.amend = f.places
	c := &cobra.Command{
		Use:   "run",
		Short: "Run as the service; the service manager calls this",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			prepare := func(ctx context.Context) (func(context.Context) error, string, error) {
				s, err := prepareServe(ctx, &f, c.ErrOrStderr(), nil)
				if err != nil {
					return nil, "", err
				}
				if err := keepCrashes(s.live.Now().Log.File); err != nil {
					s.log.WithError(err).Warn("if the gateway crashes, nothing will say why")
				}
				return s.serve, fmt.Sprintf("adgateway %s listens on %s.", buildVersion(), s.listener.Addr()), nil
			}
			return winsvc.Run(c.Context(), prepare, os.Exit)
		},
	}
	f.addTo(c)
	return c
}
