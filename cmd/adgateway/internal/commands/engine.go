package commands

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"adgateway/gateway/config"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/scripts"

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

// scriptEngine is what runs the scripts of a sandbox.
type scriptEngine struct {
	name      string // as replies tell it: "sandbox", "sandbox on pwsh"
	path      string // of a real PowerShell; empty: the sandbox's own
	processes bool   // of the sandbox's own: each session in one
}

// ownEngine is the value of sandbox.engine for the sandbox's own.
const ownEngine = "sandbox"

// engineOf is the engine of these settings. A PowerShell that is not installed
// is an error.
func engineOf(c config.Sandbox) (scriptEngine, error) {
	if c.Engine == ownEngine || c.Engine == "" {
		return scriptEngine{name: ownEngine, processes: c.Processes}, nil
	}
	path, err := proxies.Locate(c.Engine)
	if err != nil {
		return scriptEngine{}, fmt.Errorf("sandbox.engine: %w", err)
	}
	name := filepath.Base(path)
	return scriptEngine{name: ownEngine + " on " + strings.TrimSuffix(name, filepath.Ext(name)), path: path}, nil
}

// print says which PowerShell runs the scripts, when it is not the sandbox's own.
func (e scriptEngine) print(w io.Writer) {
	if e.path != "" {
		fmt.Fprintf(w, "scripts run in %s\n", e.path)
	}
}

// starter starts the sessions of a world: in this process, each in one of its
// own that runs engineCommand, or each in a PowerShell. end comes after the
// last session.
func (e scriptEngine) starter(world *sandbox.World) (starter session.Starter, end func() error, err error) {
	if e.path == "" && !e.processes {
		return world.Starter(), func() error { return nil }, nil
	}
	modules, culture := world.Modules()
	server, err := remote.NewServer(remote.Options{Modules: modules, Declared: sandbox.Declarations(), Culture: culture})
	if err != nil {
		return nil, nil, err
	}
	if e.path == "" {
		return &remote.Starter{Server: server, Arguments: []string{"engine"}}, server.Close, nil
	}
	described, err := scripts.Describe()
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	real, err := proxies.NewStarter(server, e.path, described)
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	return real, func() error { return errors.Join(server.Close(), real.Close()) }, nil
}
