package commands

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"adgateway/cmd/adgateway/internal/control"
	"adgateway/cmd/adgateway/internal/serve"
	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/winsvc"
	"adgateway/winsvc/events"

	"github.com/spf13/cobra"
)

func serviceCommand() *cobra.Command {
	commands := control.Commands(control.Options{
		Service: winsvc.Gateway,
		Check: func(file, account string) error {
			_, _, _, err := (&settings.Flags{Fallback: file, Account: account}).Read()
			return err
		},
		Init: "adgateway config init", Ending: "running requests are finished first", Data: "credentials, audit log and logs",
	})
	return group("service", "Install and control the Windows service", append(commands, serviceRunCommand())...)
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
				if err := control.RecordCrashes(s.Settings().Log.File); err != nil {
					s.Log().WithError(err).Warn("crashes cannot be recorded")
				}
				return s.Serve, fmt.Sprintf("adgateway %s listens on %s.", buildVersion(), s.Address()), nil
			}
			return winsvc.Gateway.Run(c.Context(), prepare, os.Exit)
		},
	}
	f.AddTo(c.Flags())
	return c
}
