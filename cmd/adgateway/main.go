// Command adgateway serves Active Directory, Windows DNS and computers over HTTP.
//
//	adgateway sandbox           the whole API over a simulated domain
//	adgateway service status    what the service manager says
//	adgateway audit verify      whether the record of changes is whole
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

	"adgateway/winsvc"

	"github.com/spf13/cobra"
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
// it did not, 2 when the command line is wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	root := &cobra.Command{
		Use:           "adgateway",
		Short:         "Manage Active Directory, Windows DNS and computers over HTTP",
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
	root.AddCommand(sandboxCommand(), serviceCommand(), auditCommand(), versionCommand(), engineCommand())
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

func serviceCommand() *cobra.Command {
	service := &cobra.Command{
		Use:   "service",
		Short: "Control the Windows service",
		Args:  cobra.NoArgs,
	}
	service.AddCommand(&cobra.Command{
		Use:   "status",
		Short: "Tell whether the service is installed and runs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			state, err := winsvc.Status()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "service %s: %s\n", winsvc.Name, state)
			return err
		},
	})
	return service
}
