package remote

import (
	"io"
	"os"

	"adgateway/ps/session"
)

// Starter is a [session.Starter] of stand-in processes: an executable that runs [Engine].
// Each process gets a new key for the server. It is safe for concurrent use.
type Starter struct {
	Server Issuer // if nil, processes get no modules

	// Path is the executable; empty means the running one. Arguments precede PowerShell's own.
	Path      string
	Arguments []string
	Temp      string // temporary folder of the processes; empty means this process's own
	// Env returns additional environment variables for the next process. It may be nil.
	Env func() []string
}

var _ session.Starter = (*Starter)(nil)

// StartProcess starts a process with PowerShell's arguments.
func (s *Starter) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	local := session.Local{Path: s.Path, Arguments: s.Arguments, Temp: s.Temp}
	if local.Path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, nil, nil, err
		}
		local.Path = self
	}
	if s.Server != nil {
		env, err := s.Server.IssueKey()
		if err != nil {
			return nil, nil, nil, nil, err
		}
		local.Env = env
	}
	if s.Env != nil {
		local.Env = append(local.Env, s.Env()...)
	}
	return local.StartProcess(command, args...)
}
