//go:build !windows

package supervisor

import (
	"os/exec"
	"syscall"
)

// background detaches a command from the terminal of this process, so that it gets no
// signals from the keyboard.
func background(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// tieChildren does nothing, because there are no job objects.
func tieChildren() error { return nil }
