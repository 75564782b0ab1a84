package cli

import (
	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/visible"
	"adgateway/ps/sandbox/remote"
)

// engineCommand runs the process of a session: the sandbox's engine, started with the
// arguments of powershell.exe. It is not meant for users.
func engineCommand() *cobra.Command {
	return &cobra.Command{
		Use:                app.EngineCommand + " -Command -",
		Hidden:             true,
		DisableFlagParsing: true, // PowerShell's arguments
		RunE: func(c *cobra.Command, args []string) error {
			to := visible.Raw(c.OutOrStdout())
			if code := remote.Engine(c.Context(), args, c.InOrStdin(), to, c.ErrOrStderr()); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}
