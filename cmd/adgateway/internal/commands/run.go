// Package commands holds the commands of adgateway: one function makes each
// cobra command, and [Run] runs the one that the arguments name. What a command
// starts is wired in package app; what the doctor asks stands in package doctor.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"adgateway/gateway/nearest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by the build; when it is empty, the version of the module is used.
var version = ""

// Run runs one command and returns the exit code: 0 when all went well, 1 when
// it did not, 2 when the command line is wrong. The doctor has its own: 1 stands
// for warnings, 2 for failures.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
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
	root.Version = buildVersion()
	root.SetVersionTemplate("adgateway {{.Version}}\n")
	root.SetFlagErrorFunc(knownFlag)
	root.AddCommand(serveCommand(), sandboxCommand(), serviceCommand(), configCommand(), tokenCommand(), userCommand(), auditCommand(), doctorCommand(), versionCommand(), engineCommand())
	sayUsage(root)
	if called, err := root.ExecuteContextC(ctx); err != nil {
		var ended exitCode
		if errors.As(err, &ended) {
			return int(ended)
		}
		fmt.Fprintf(stderr, "adgateway: %v\n", err)
		if !started {
			fmt.Fprintf(stderr, "See '%s --help'.\n", called.CommandPath())
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

// sayUsage makes every command below c say how it is written when it is given
// other arguments than it takes.
func sayUsage(c *cobra.Command) {
	for _, command := range c.Commands() {
		sayUsage(command)
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
			problem = fmt.Sprintf("there is no place for %q", args[len(args)-1])
		}
		return fmt.Errorf("%s; write: %s", problem, c.UseLine())
	}
}

// kinds are the flags' types in words.
var kinds = map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a time such as 30s or 5m"}

// knownFlag adds the nearest flag to the refusal of an unknown one, and says
// what a flag takes that was given something else.
func knownFlag(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if kind, ok := kinds[invalid.GetFlag().Value.Type()]; ok {
			return fmt.Errorf("--%s: %q is not allowed here: it takes %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
	}
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
