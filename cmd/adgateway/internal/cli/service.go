package cli

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/winsvc"
)

func serviceCommand() *cobra.Command {
	commands := program.ServiceCommands(program.ServiceOptions{
		Service: winsvc.Gateway,
		Check: func(file, account string) error {
			_, _, _, err := (&program.Flags{Fallback: file, Account: account}).Read()
			return err
		},
		Init: "adgateway config init", Ending: "running requests are finished first",
		Data: "credentials, audit log and logs",
	})
	return group("service", append(commands, serviceRunCommand())...)
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
