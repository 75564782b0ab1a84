package host

import "os/exec"

// Background makes a process that is about to be started independent of the terminal of
// this one: it does not get the signals of the keyboard, and on Windows no window.
func Background(command *exec.Cmd) { background(command) }

// TieChildren makes Windows end every process that this one starts from now on, and those
// that they start, when this process ends in whatever way. It is called once, before the
// first of them is started. On other systems it does nothing.
func TieChildren() error { return tieChildren() }
