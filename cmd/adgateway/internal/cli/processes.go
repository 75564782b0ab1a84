package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/config"
	"adgateway/gateway/visible"
	"adgateway/winsvc"
	"adgateway/winsvc/events"
	"adgateway/winsvc/supervisor"
)

// childFlag makes a command serve as one of the two processes of a gateway that has a node.
const childFlag = "child"

// addChild declares the flag, which is not meant for users.
func addChild(c *cobra.Command) *bool {
	child := c.Flags().Bool(childFlag, false, "serve as a process of 'adgateway serve' or of the service")
	_ = c.Flags().MarkHidden(childFlag) // it exists
	return child
}

// gatewayAlone returns a function that prepares a gateway in this process.
func gatewayAlone(c *cobra.Command, f *program.Flags) winsvc.Prepare {
	return func(ctx context.Context, write events.Write) (func(context.Context) error, string, error) {
		prepare := func(ctx context.Context) (*app.Server, error) {
			return app.Prepare(ctx, app.ServerOptions{Flags: f, Version: buildVersion(), Stderr: c.ErrOrStderr(),
				Event: write})
		}
		s, err := prepare(ctx)
		if err != nil {
			return nil, "", err
		}
		if write != nil { // nobody reads the output
			if err := program.RecordCrashes(s.Settings().Log.File); err != nil {
				s.Log().WithError(err).Warn("crashes cannot be recorded")
			}
		}
		run := func(ctx context.Context) error { return app.Run(ctx, s, prepare) }
		return run, fmt.Sprintf("adgateway %s listens on %s.", buildVersion(), s.Address()), nil
	}
}

// prepareGateway returns a function that prepares a gateway: in this process, or as one of two
// processes if its host has a node of its cluster.
func prepareGateway(c *cobra.Command, f *program.Flags) winsvc.Prepare {
	return func(ctx context.Context, write events.Write) (func(context.Context) error, string, error) {
		_, s, _, err := f.Read()
		if err != nil {
			return nil, "", err
		}
		node, err := setup.HasNode(s)
		if err != nil {
			return nil, "", err
		}
		if !node {
			return gatewayAlone(c, f)(ctx, write)
		}
		return twoProcesses(ctx, c, f, s, write)
	}
}

// serveChild serves as one of the two processes.
func serveChild(c *cobra.Command, f *program.Flags) error {
	to := visible.Raw(c.OutOrStdout())
	code := supervisor.RunChild(c.Context(), c.InOrStdin(), to, gatewayAlone(c, f), os.Exit)
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// twoProcesses starts a gateway and its node.
func twoProcesses(
	ctx context.Context, c *cobra.Command, f *program.Flags, s *config.Settings, write events.Write,
) (run func(context.Context) error, started string, err error) {
	self, node, err := programs()
	if err != nil {
		return nil, "", err
	}
	logSettings := s.Log
	logSettings.File = beside(logSettings.File, "-service")
	log, closer, err := program.OpenLog(logSettings, c.ErrOrStderr())
	if err != nil {
		return nil, "", err
	}
	forGateway, forNode := stopWaits(s.HTTP.ShutdownTimeout)
	both, started, err := supervisor.Start(ctx, supervisor.Options{
		Gateway: supervisor.Child{Command: append([]string{self}, gatewayLine(c)...), StopWait: forGateway},
		Node:    supervisor.Child{Command: append([]string{node}, nodeLine(f, s)...), StopWait: forNode},
		Output:  log.Out, Log: log, Event: write,
	})
	if err != nil {
		return nil, "", errors.Join(err, closer.Close())
	}
	return func(ctx context.Context) error { return errors.Join(both.Serve(ctx), closer.Close()) }, started, nil
}

// stopSlack is how long before the service manager's time limit both processes must have ended.
const stopSlack = 500 * time.Millisecond

// nodeLeast is the least time that a node gets to hand over the streams that it leads.
const nodeLeast = time.Second

// stopWaits returns how long the gateway and then the node may take to stop.
func stopWaits(shutdown time.Duration) (gateway, node time.Duration) {
	all := winsvc.StopWait - stopSlack
	gateway = min(shutdown+app.CloseWait, all-nodeLeast)
	return gateway, all - gateway
}

// programs returns the paths of this program and of the node's program, which must be in the same folder.
func programs() (self, node string, err error) {
	if self, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("the folder of this program cannot be found: %w", err)
	}
	node = filepath.Join(filepath.Dir(self), "adgateway-engine")
	if runtime.GOOS == "windows" {
		node += ".exe"
	}
	if _, err := os.Stat(node); errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("this gateway has a node, but the node's program is not next to this one: "+
			"put %s there, of the same version", node)
	}
	return self, node, nil
}

// gatewayLine returns the arguments of the gateway's process, which repeat those of this process.
func gatewayLine(c *cobra.Command) []string {
	line := append(strings.Fields(c.CommandPath())[1:], "--"+childFlag)
	c.Flags().Visit(func(f *pflag.Flag) {
		if many, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range many.GetSlice() {
				line = append(line, "--"+f.Name+"="+value)
			}
			return
		}
		line = append(line, "--"+f.Name+"="+f.Value.String())
	})
	return line
}

// nodeLine returns the arguments of the node's process.
func nodeLine(f *program.Flags, s *config.Settings) []string {
	line := []string{"run", "--" + childFlag}
	if f.File != "" {
		line = append(line, "--config="+f.File)
	}
	for _, set := range f.Set {
		line = append(line, "--set="+set)
	}
	if s.Log.File != "" {
		line = append(line, "--set=log.file="+s.Log.File) // the node writes its own log next to it
	}
	return line
}

// beside returns the path of another file next to a log, or "" if log is empty.
func beside(log, what string) string {
	if log == "" {
		return ""
	}
	extension := filepath.Ext(log)
	return strings.TrimSuffix(log, extension) + what + extension
}
