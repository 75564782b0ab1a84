package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// secretPrefix is the prefix of the gateway's own environment variables. Child processes
// must not inherit them.
const secretPrefix = "ADGATEWAY_"

// Local is a [Starter] of PowerShell processes on this machine. Each process gets its own process group (on
// Windows a job object), so that Kill also ends the processes that PowerShell started. On Windows all of them
// also end if the gateway crashes.
type Local struct {
	Path      string   // executable; empty means Windows PowerShell on Windows, pwsh elsewhere
	Arguments []string // placed before PowerShell's own
	Env       []string // additional environment variables, NAME=VALUE
	Temp      string   // temporary folder of the process; empty means the gateway's
}

// DefaultPath returns the executable of a [Local] without a Path.
func DefaultPath() string { return defaultPath() }

// StartProcess starts the executable with args and ignores the library's command.
// The pipes are anonymous and synchronous (facts-5.1 K2).
func (l Local) StartProcess(_ string, args ...string) (Waiter, io.Writer, io.Reader, io.Reader, error) {
	path := l.Path
	if path == "" {
		path = defaultPath()
	}
	fail := func(err error) (Waiter, io.Writer, io.Reader, io.Reader, error) {
		return nil, nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	cmd := exec.Command(path, slices.Concat(l.Arguments, args)...)
	cmd.Env = slices.Concat(childEnvironment(os.Environ()), temporary(l.Temp), l.Env)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fail(err)
	}
	group, err := startInGroup(cmd)
	if err != nil {
		return fail(err)
	}
	return &child{process: cmd.Process, group: group}, stdin, stdout, stderr, nil
}

// A child is a process in a group of its own.
type child struct {
	process *os.Process
	group   group

	mu   sync.Mutex
	over bool // Wait has returned, so the group must no longer be used
}

// Wait waits for the process, then kills the rest of its group. It leaves the pipes open, so
// that buffered output can still be read. It must be called once.
func (c *child) Wait() error {
	state, err := c.process.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.group.end(c.process)
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	return err
}

// Memory returns the private bytes of the process, without its child processes.
func (c *child) Memory() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return 0, os.ErrProcessDone
	}
	return privateBytes(c.process)
}

// Kill ends the process and all processes that it started. It does nothing if the process has ended.
func (c *child) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	return c.group.kill(c.process)
}

// quiet contains environment variables that keep PowerShell quiet. The ActiveDirectory module must not look
// for a domain controller to mount its drive (facts A40).
var quiet = []string{"ADPS_LoadDefaultDrive=0", "POWERSHELL_TELEMETRY_OPTOUT=1", "POWERSHELL_UPDATECHECK=Off",
	"NO_COLOR=1"}

// cheap contains environment variables that make a new session of PowerShell 7 cheaper. Values in the
// gateway's environment take precedence. Without profiling, the first 900 requests of a session cost a fifth
// less, and later ones cost the same. Without diagnostics, PowerShell opens no socket or pipe for debuggers.
var cheap = []string{"DOTNET_TieredPGO=0", "DOTNET_EnableDiagnostics=0"}

// childEnvironment returns the environment of a child: ours without the gateway's variables, plus quiet and
// cheap.
func childEnvironment(ours []string) []string {
	var env []string
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		if !strings.HasPrefix(name, secretPrefix) && !slices.Contains(notInherited, name) {
			env = append(env, entry)
		}
	}
	return slices.Concat(cheap, env, quiet, platformEnvironment(ours)) // the last value of a name counts
}
