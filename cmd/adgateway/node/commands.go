// Package node defines the commands of adgateway-engine, which runs the node on the host of a
// cluster's gateway. [Run] runs the command that the arguments name. member.go reads the node's
// configuration from the cluster folder, serve.go runs the node, and doctor.go checks its host.
//
// The package is below cmd/adgateway because both executables read the settings in the same way. They are
// separate executables so that adgateway does not contain the NATS server.
package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/engine"
	"adgateway/gateway/visible"
	"adgateway/winsvc"
)

// commands is the common state of the commands.
type commands struct {
	version string
	stderr  io.Writer
	flags   program.Flags
}

// Run runs one command and returns its exit code: 0 if it succeeded, 1 if it failed, 2 if
// the command line is wrong. The doctor returns 1 for warnings and 2 for failures.
func Run(ctx context.Context, version string, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = visible.Writer(stdout), visible.Writer(stderr)
	p := &commands{version: version, stderr: stderr}
	p.flags = program.Flags{
		Fallback: program.DefaultFile(), Service: winsvc.Gateway.Name, Beside: true, Amend: separateLog,
	}
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

// exitCode is the result of a command that has already printed everything.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func (p *commands) root(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "adgateway-engine",
		Short: "Run the node with the log of a cluster, next to a gateway",
		Long: "Runs the node with the log of a cluster on the host of a gateway: NATS JetStream\n" +
			engine.Version() + " with fixed settings. The service adgateway and 'adgateway serve' start it. It is\n" +
			"described by the folder that 'adgateway cluster init' or 'join' has written, and by the\n" +
			"settings in the section engine.\n\n" +
			"Exit code 0: done. 1: not done. 2: the command line is wrong. For doctor: 1: warnings. 2: failures.",
		Args:             cobra.NoArgs,
		RunE:             func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage:     true,
		SilenceErrors:    true,
		PersistentPreRun: func(*cobra.Command, []string) { *started = true },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(p.runCommand(), p.doctorCommand(), p.configCommand(), p.versionCommand())
	return root
}

func (p *commands) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Print the configuration of the node for nats-server", Args: cobra.NoArgs,
		Long: "Prints the configuration file with which a nats-server of your own runs the node in the\n" +
			"settings.",
		RunE: func(c *cobra.Command, _ []string) error {
			s, m, err := readNode(&p.flags)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), engine.Configuration(m.options(s)))
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
			_, err := fmt.Fprintf(c.OutOrStdout(), "adgateway-engine %s (nats-server %s)\n", p.version,
				engine.Version())
			return err
		},
	}
}

var errNoNode = errors.New("the gateway in the settings is not in a cluster whose hosts have nodes: " +
	"join one with 'adgateway cluster join', or create one with 'adgateway cluster init'")

// readNode reads the settings of a host with a node, and the gateway that the node belongs to.
func readNode(f *program.Flags) (s *config.Settings, m *member, err error) {
	_, s, _, err = f.Read()
	if err != nil {
		return nil, nil, err
	}
	if m, err = readMember(s); err != nil {
		return nil, nil, err
	}
	if m == nil {
		for _, advice := range s.Former.Advice() {
			err = errors.Join(err, errors.New(advice))
		}
		return nil, nil, errors.Join(errNoNode, err)
	}
	s.Engine.Store = cmp.Or(s.Engine.Store, filepath.Join(filepath.Dir(m.folder.Path), "node"))
	return s, m, nil
}

// separateLog gives the node its own log file, because two processes cannot rotate the same file.
func separateLog(s *config.Settings) error {
	if s.Log.File != "" {
		extension := filepath.Ext(s.Log.File)
		s.Log.File = strings.TrimSuffix(s.Log.File, extension) + "-engine" + extension
	}
	return nil
}
