// Package node defines the commands of adgateway-engine, which runs a node of the engine
// on a host of its own or beside a gateway. [Run] runs the command that the arguments
// name; serve.go runs the node, service.go is about the Windows service, doctor.go about
// what the host must be like.
//
// It stands below cmd/adgateway for the sake of the settings, which both executables
// read in the same way. adgateway itself does not contain the engine.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/engine"
)

// commands is what the commands have in common.
type commands struct {
	version string
	stderr  io.Writer
	flags   program.Flags
}

// Run runs one command and returns its exit code: 0 done, 1 not done, 2 the command line
// is wrong. That of doctor is 1 with warnings, 2 with failures.
func Run(ctx context.Context, version string, args []string, stdout, stderr io.Writer) int {
	p := &commands{version: version, stderr: stderr}
	p.flags = newFlags()
	started := false
	var code exitCode
	root := p.root(&started)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	called, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case started:
		fmt.Fprintf(stderr, "adgateway-engine: %v\n", err)
		return 1
	}
	fmt.Fprintf(stderr, "adgateway-engine: %v\nSee '%s --help'.\n", err, called.CommandPath())
	return 2
}

// exitCode is the result of a command that has said all there is to say.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func (p *commands) root(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "adgateway-engine",
		Short: "Run a node of the engine in which several gateways keep what they share",
		Long: "Runs a node of the engine in which several gateways keep what they share: NATS\n" +
			"JetStream " + engine.Version() + " with fixed settings. Three hosts run one node each; one of them\n" +
			"may be lost. Settings are those of the section engine, and cluster.name.\n\n" +
			"Exit code 0: done. 1: not done. 2: the command line is wrong. Of doctor: 1: warnings. 2: failures.",
		Args:             cobra.NoArgs,
		RunE:             func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:     true,
		SilenceErrors:    true,
		PersistentPreRun: func(*cobra.Command, []string) { *started = true },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(p.runCommand(), p.serviceCommand(), p.initCommand(), p.checkCommand(), p.doctorCommand(), p.configCommand(), p.versionCommand())
	return root
}

func (p *commands) checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "check", Short: "Check the settings", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, m, err := readNode(&p.flags)
			if err != nil {
				return err
			}
			o := options(s, m)
			if err := o.Check(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "node %s of cluster %q listens on %s, keeps its data in %s, and has %d peers\n", o.Node, o.Cluster, o.Listen, o.Store, len(o.Peers))
			return err
		},
	}
	p.flags.AddTo(c.Flags())
	return c
}

func (p *commands) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Print the same node as a configuration of nats-server", Args: cobra.NoArgs,
		Long: "Prints the configuration file with which nats-server is the node of the settings,\n" +
			"for those who run an engine of their own.",
		RunE: func(c *cobra.Command, _ []string) error {
			s, m, err := readNode(&p.flags)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), engine.Configuration(options(s, m)))
			return err
		},
	}
	p.flags.AddTo(c.Flags())
	return c
}

func (p *commands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "adgateway-engine %s (nats-server %s)\n", p.version, engine.Version())
			return err
		},
	}
}

var errNoNode = errors.New("the settings have no node for this host: " +
	"let the gateway join a cluster, or set engine.node to a name such as n1, and engine.store to a folder")

// readNode reads the settings of a host that has a node. m is the gateway whose node it is; nil:
// the settings say all.
func readNode(f *program.Flags) (s *config.Settings, m *member, err error) {
	_, s, _, err = f.Read()
	if err != nil {
		return nil, nil, err
	}
	if s.Engine.Node != "" {
		return s, nil, nil
	}
	if m, err = readMember(s); err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, errNoNode
	}
	return m.settings(*s), m, nil
}
