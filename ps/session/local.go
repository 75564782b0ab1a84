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

// secretPrefix starts the names of environment variables that are ours and
// never a child's business.
const secretPrefix = "ADGATEWAY_"

// Local starts PowerShell on this machine, in a process group (on Windows a job
// object) of its own, so that Kill ends it with everything it started, and on
// Windows also when the gateway itself crashes. It is a
// [Starter].
type Local struct {
	Path      string   // of the executable; empty: Windows PowerShell on Windows, pwsh elsewhere
	Arguments []string // before PowerShell's own
	Env       []string // added to the process's environment, NAME=VALUE
}

// DefaultPath is the executable of a [Local] that names none.
func DefaultPath() string { return defaultPath() }

// StartProcess starts the executable with args; command, the library's own
// choice, is not used. The pipes are synchronous anonymous ones (facts-5.1 K2).
func (l Local) StartProcess(_ string, args ...string) (Waiter, io.Writer, io.Reader, io.Reader, error) {
	path := l.Path
	if path == "" {
		path = defaultPath()
	}
	fail := func(err error) (Waiter, io.Writer, io.Reader, io.Reader, error) {
		return nil, nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	cmd := exec.Command(path, slices.Concat(l.Arguments, args)...)
	cmd.Env = append(childEnvironment(os.Environ()), l.Env...)
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

// A child is a process that was started in a group.
type child struct {
	process *os.Process
	group   group

	mu   sync.Mutex
	over bool // waited for: the group must not be touched any more
}

// Wait waits for the process, then ends what it left behind in its group. It
// does not close the pipes, so that what they hold can still be read. It is
// called once.
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

// Memory returns the private bytes of the process, without those it started.
func (c *child) Memory() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return 0, os.ErrProcessDone
	}
	return privateBytes(c.process)
}

// Kill ends the process and all it started. Of a process that has ended it
// does nothing.
func (c *child) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	return c.group.kill(c.process)
}

// childEnvironment is ours without what is ours alone, and with what keeps
// PowerShell quiet. The ActiveDirectory module must not look for a domain
// controller to mount its drive (facts A40).
func childEnvironment(ours []string) []string {
	var env []string
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		if !strings.HasPrefix(name, secretPrefix) && !slices.Contains(notInherited, name) {
			env = append(env, entry)
		}
	}
	env = append(env, "ADPS_LoadDefaultDrive=0", "POWERSHELL_TELEMETRY_OPTOUT=1", "POWERSHELL_UPDATECHECK=Off")
	return append(env, platformEnvironment(ours)...)
}
