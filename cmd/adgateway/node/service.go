package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/engine"
	"adgateway/winsvc"
	"adgateway/winsvc/events"
	"adgateway/winsvc/host"
)

// files protects the files of a node.
var files = host.Files{Service: winsvc.Engine.Name}

// newFlags are the flags of a command that reads the settings of a node. The default
// file is in a folder of its own, because a gateway's is closed to other accounts.
func newFlags() program.Flags {
	return program.Flags{Fallback: defaultFile(), Service: winsvc.Engine.Name, Beside: true, Amend: separateLog}
}

func defaultFile() string {
	return filepath.Join(program.Folder(winsvc.Engine), program.FileName)
}

func (p *commands) serviceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "service", Short: "Install and control the Windows service", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(program.ServiceCommands(program.ServiceOptions{
		Service: winsvc.Engine, Check: checkNode, Installed: restrictStore,
		Init: "adgateway-engine init", Ending: "leadership is handed over first", Data: "logs and streams",
	})...)
	c.AddCommand(p.serviceRunCommand())
	return c
}

// checkNode returns the mistakes in the settings file of a node to be.
func checkNode(file, account string) error {
	f := newFlags()
	f.Fallback, f.Account = file, account
	_, _, err := readNode(&f)
	return err
}

// restrictStore restricts the folder of the streams to the service's account and the
// administrators. A folder with other things in it is left alone.
func restrictStore(out io.Writer, file string) error {
	f := newFlags()
	f.Fallback = file
	s, _, err := readNode(&f)
	if err != nil {
		return err
	}
	store := s.Engine.Store
	own, err := engine.OwnFolder(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("engine.store: %w", err)
	}
	if !own {
		_, err = fmt.Fprintf(out, "%s (engine.store) has other things in it, and its access rights are unchanged: choose a folder for the node alone\n", store)
		return err
	}
	if err := files.RestrictFolder(store); err != nil {
		return fmt.Errorf("engine.store: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s (engine.store) is restricted to the service's account and the administrators\n", store)
	return err
}

func (p *commands) serviceRunCommand() *cobra.Command {
	f := newFlags()
	f.LogBeside = runtime.GOOS == "windows" // a service has no console
	c := &cobra.Command{
		Use: "run", Short: "Run as the service; called by the service manager", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			prepare := func(ctx context.Context, write events.Write) (func(context.Context) error, string, error) {
				return p.prepare(ctx, &f, write)
			}
			return winsvc.Engine.Run(c.Context(), prepare, os.Exit)
		},
	}
	f.AddTo(c.Flags())
	return c
}

func (p *commands) initCommand() *cobra.Command {
	file, force := "", false
	c := &cobra.Command{
		Use: "init", Short: "Create the settings file, with every setting as a comment", Args: cobra.NoArgs,
		Example: "  adgateway-engine init",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := program.WriteTemplate(file, force); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "created %s; set the section engine in it, then run 'adgateway-engine check'\n", file)
			return err
		},
	}
	c.Flags().StringVar(&file, "config", defaultFile(), "settings `FILE` to create")
	c.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return c
}

// separateLog gives the node a log of its own where it shares the settings file with a
// gateway: two processes cannot rotate one file.
func separateLog(s *config.Settings) error {
	if s.Log.File != "" {
		extension := filepath.Ext(s.Log.File)
		s.Log.File = strings.TrimSuffix(s.Log.File, extension) + "-engine" + extension
	}
	return nil
}
