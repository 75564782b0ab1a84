package cli

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/winsvc"
)

func serviceCommand() *cobra.Command {
	return group("service", append(program.ServiceCommands(), serviceRunCommand())...)
}

func serviceRunCommand() *cobra.Command {
	// because a service has no console
	f := program.Flags{Fallback: program.DefaultFile(), Beside: true, LogBeside: runtime.GOOS == "windows"}
	var child *bool
	c := &cobra.Command{
		Use:  "run",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if *child {
				return serveChild(c, &f)
			}
			return winsvc.Gateway.Run(c.Context(), prepareGateway(c, &f), os.Exit)
		},
	}
	f.AddTo(c.Flags())
	child = addChild(c)
	return c
}
