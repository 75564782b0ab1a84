// Package commands defines the commands of adgateway, one function for each cobra
// command, and [Run], which runs the command that the arguments name.
//
// Commands only translate flags and print results. The logic is in the packages
// next to this one: settings loads the settings, serve runs a gateway, accounts
// edits tokens and users, examination runs the doctor, report formats output, and
// input parses what users type.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"adgateway/cmd/adgateway/internal/input"
	"adgateway/cmd/adgateway/internal/report"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by the linker; if empty, the version of the module is used.
var version = ""

// Run runs one command and returns its exit code, see [exitTable].
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root, started := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if called, err := root.ExecuteContextC(ctx); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			return int(code)
		}
		fmt.Fprintf(stderr, "adgateway: %v\n", err)
		if !*started {
			fmt.Fprintf(stderr, "See '%s --help'.\n", called.CommandPath())
			return int(codeMisuse)
		}
		return int(codeFailed)
	}
	return int(codeDone)
}

// rootCommand returns the command that all others are below. started becomes true when
// one of them begins, after its arguments were understood.
func rootCommand() (root *cobra.Command, started *bool) {
	started = new(bool)
	root = &cobra.Command{
		Use:           "adgateway",
		Short:         "Manage Active Directory, Windows DNS and computers over HTTP",
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(*cobra.Command, []string) {
			*started = true
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = buildVersion()
	root.SetVersionTemplate("adgateway {{.Version}}\n")
	root.SetFlagErrorFunc(knownFlag)
	root.AddCommand(serveCommand(), sandboxCommand(), serviceCommand(), configCommand(), tokenCommand(), userCommand(), acmeCommand(), tlsCommand(), changesCommand(), clusterCommand(),
		auditCommand(), doctorCommand(), benchCommand(), jobCommand(), eventsCommand(), rightsCommand(), backupCommand(), restoreCommand(), versionCommand(), engineCommand())
	addUsage(root)
	addExits(root)
	return root, started
}

func versionCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return report.JSON(c.OutOrStdout(), map[string]string{"version": buildVersion()})
			}
			_, err := fmt.Fprintln(c.OutOrStdout(), "adgateway", buildVersion())
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
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

// group returns a command that only has subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: knownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// knownCommand rejects an unknown subcommand and suggests the nearest one.
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
	return fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), input.DidYouMean(args[0], "", names))
}

// addUsage makes every command below c answer wrong arguments with its usage line.
func addUsage(c *cobra.Command) {
	for _, command := range c.Commands() {
		addUsage(command)
	}
	check := c.Args
	if check == nil || c.HasSubCommands() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		problem := "an argument is missing"
		if len(args) > 0 {
			problem = fmt.Sprintf("unexpected argument %q", args[len(args)-1])
		}
		return fmt.Errorf("%s; usage: %s", problem, c.UseLine())
	}
}

// typeNames describes the types of flags.
var typeNames = map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a duration such as 30s or 5m"}

// knownFlag suggests the nearest flag for an unknown one, and says what a flag
// takes if its value is invalid.
func knownFlag(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if name, ok := typeNames[invalid.GetFlag().Value.Type()]; ok {
			return fmt.Errorf("--%s: %q is not allowed here: it takes %s", invalid.GetFlag().Name, invalid.GetValue(), name)
		}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return fmt.Errorf("%w%s", err, input.DidYouMean(unknown.GetSpecifiedName(), "--", names))
}
