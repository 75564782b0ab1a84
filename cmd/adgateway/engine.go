package main

import (
	"fmt"

	"adgateway/ps/session"
	"adgateway/ps/sim"
	"adgateway/ps/sim/remote"

	"github.com/spf13/cobra"
)

// exitCode is the error of a command that ends with a code of its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// engineCommand is the process of a session: a PowerShell made of the sandbox's
// engine, started as powershell.exe is. It is no command for users.
func engineCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "engine -Command -",
		Short:              "Run the sandbox's PowerShell over standard input",
		Hidden:             true,
		DisableFlagParsing: true, // the arguments are PowerShell's
		RunE: func(c *cobra.Command, args []string) error {
			if code := remote.Engine(c.Context(), args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

// starterOf starts the sessions of a world: in this process, or each in one of
// its own that runs engineCommand. end comes after the last session.
func starterOf(world *sim.World, processes bool) (starter session.Starter, end func() error, err error) {
	if !processes {
		return world.Starter(), func() error { return nil }, nil
	}
	modules, culture := world.Modules()
	server, err := remote.NewServer(remote.Options{Modules: modules, Declared: sim.Declarations(), Culture: culture})
	if err != nil {
		return nil, nil, err
	}
	return &remote.Starter{Server: server, Arguments: []string{"engine"}}, server.Close, nil
}
