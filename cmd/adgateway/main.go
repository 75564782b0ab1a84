// Command adgateway serves Active Directory, Windows DNS and computers over HTTP.
//
//	adgateway serve      the API with the PowerShell of this computer
//	adgateway sandbox    the whole API over a simulated domain
//	adgateway service    install and control the Windows service
//	adgateway token      say who may call the API, with what limits
//	adgateway user       the same, for callers with name and password
//	adgateway config     write, check and show the settings
//	adgateway doctor     check what an installation needs
//	adgateway audit      read the record of changes and prove that it is whole
//	adgateway version
//
// main only hands over to run, which takes its arguments, streams and context
// from outside, so that tests can call it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"adgateway/gateway/nearest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by the build; without it the module's own version is told.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs one command and returns the exit code: 0 when all went well, 1 when
// it did not, 2 when the command line is wrong. The doctor has its own: 1 stands
// for warnings, 2 for failures.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	root := &cobra.Command{
		Use:           "adgateway",
		Short:         "Manage Active Directory, Windows DNS and computers over HTTP",
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(*cobra.Command, []string) {
			started = true
		},
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(knownFlag)
	root.AddCommand(serveCommand(), sandboxCommand(), serviceCommand(), configCommand(), tokenCommand(), userCommand(), auditCommand(), doctorCommand(), versionCommand(), engineCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		var ended exitCode
		if errors.As(err, &ended) {
			return int(ended)
		}
		fmt.Fprintf(stderr, "adgateway: %v\n", err)
		if !started {
			fmt.Fprintln(stderr, "See 'adgateway --help'.")
			return 2
		}
		return 1
	}
	return 0
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), "adgateway", buildVersion())
			return err
		},
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: knownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// knownCommand refuses what is no command of a group, naming the nearest.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range c.Commands() {
		if !command.Hidden {
			names = append(names, command.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), meant(args[0], "", names))
}

// knownFlag adds the nearest flag to the refusal of an unknown one.
func knownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return fmt.Errorf("%w%s", err, meant(unknown.GetSpecifiedName(), "--", names))
}

// meant suggests what a mistyped word most likely means; nothing when all are
// far away.
func meant(mistyped, prefix string, names []string) string {
	near := nearest.Of(mistyped, names, len(mistyped)/2+1)
	if near == "" {
		return ""
	}
	return "; did you mean " + prefix + near + "?"
}
