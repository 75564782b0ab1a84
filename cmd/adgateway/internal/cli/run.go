// Package cli defines the commands of adgateway, one function for each cobra command, and [Run], which
// runs the command that the arguments name.
//
// Commands translate flags, call the code that does the work and print results. Code that several programs
// or tests share is in the packages next to this one: app runs a gateway, doctor contains the checks,
// jobclient runs jobs, program loads settings, and output formats results. Code of a single command is
// here: [accountStore] edits tokens and users, [certificateFolder] stores a certificate, [benchTarget]
// measures, [examination] runs the doctor, and [grants] lists the Windows rights that a scope needs.
package cli

import (
	"context"
	_ "embed" // commands.txt
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/visible"
)

// commandTexts are the texts of the commands, see [program.Describe].
//
//go:embed commands.txt
var commandTexts string

// Run runs one command and returns its exit code, see [exitTable]. All output of commands goes through
// [visible.Writer], except the content of files that they pass on and the messages between their processes.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = visible.Writer(stdout), visible.Writer(stderr)
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
		fmt.Fprintf(stderr, "See 'adgateway help %s'.\n", topicOf(called, err))
		return int(codeFailed)
	}
	return int(codeDone)
}

// rootCommand returns the root command. *started becomes true when a command begins, after its arguments have
// been parsed.
func rootCommand() (root *cobra.Command, started *bool) {
	started = new(bool)
	root = &cobra.Command{
		Use:           "adgateway",
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
	root.AddCommand(serveCommand(), sandboxCommand(), serviceCommand(), configCommand(), tokenCommand(),
		userCommand(), acmeCommand(), tlsCommand(), changesCommand(), clusterCommand(),
		auditCommand(), doctorCommand(), benchCommand(), jobCommand(), eventsCommand(), rightsCommand(),
		backupCommand(), restoreCommand(), versionCommand(), engineCommand())
	program.Describe(root, strings.ReplaceAll(commandTexts, "{settings}", program.DefaultFile()))
	addUsage(root)
	addExits(root)
	addHelp(root)
	return root, started
}

func versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:  "version",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return show(c, map[string]string{"version": buildVersion()}, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, "adgateway", buildVersion())
				return err
			})
		},
	}
	jsonFlag(c)
	return c
}
