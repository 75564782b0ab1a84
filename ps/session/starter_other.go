//go:build !windows

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func defaultPath() string { return "pwsh" }

// A group is a process group. Its id is the pid of its leader.
type group struct{}

func startInGroup(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return group{}, cmd.Start()
}

func (group) kill(leader *os.Process) error {
	return syscall.Kill(-leader.Pid, syscall.SIGKILL)
}

// end is called immediately after the leader has been reaped. While the group has members, its id is not
// reused. If it has none, there is most probably no group with that id yet.
func (group) end(leader *os.Process) {
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
}

// notInherited are the variables that children do not inherit, in upper case.
var notInherited []string

// platformEnvironment keeps escape sequences out of the output.
func platformEnvironment([]string) []string { return []string{"TERM=dumb"} }

// alive reports whether a process exists.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// privateBytes returns the anonymous memory of a process, if the system has /proc.
func privateBytes(process *os.Process) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			var kilobytes int64
			_, err := fmt.Sscanf(rest, "%d kB", &kilobytes)
			return kilobytes << 10, err
		}
	}
	return 0, syscall.ENOTSUP
}
