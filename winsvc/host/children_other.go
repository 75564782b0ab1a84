//go:build !windows

package host

import (
	"os/exec"
	"syscall"
)

func background(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func tieChildren() error { return nil }
