//go:build !windows

package supervisor

import (
	"os/exec"
	"syscall"
)

// background makes a command independent of the terminal of this process: it gets no
// signals of the keyboard.
func background(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// tieChildren does nothing: there are no job objects.
func tieChildren() error { return nil }
