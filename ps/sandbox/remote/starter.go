package remote

import (
	"io"
	"os"

	"adgateway/ps/session"
)

// Starter starts stand-in processes: an executable that runs [Engine], each
// with a key of its own for the server. It is safe for concurrent use and is a
// [session.Starter].
type Starter struct {
	Server *Server // nil: the language without modules

	// Path is the executable, empty for the one that runs; Arguments come
	// before PowerShell's own.
	Path      string
	Arguments []string
	// Env gives what is added to the environment of the next process. Nil: nothing.
	Env func() []string
}

var _ session.Starter = (*Starter)(nil)

// StartProcess starts a process with PowerShell's arguments.
func (s *Starter) StartProcess(command string, args ...string) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	local := session.Local{Path: s.Path, Arguments: s.Arguments}
	if local.Path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, nil, nil, err
		}
		local.Path = self
	}
	if s.Server != nil {
		local.Env = s.Server.Issue()
	}
	if s.Env != nil {
		local.Env = append(local.Env, s.Env()...)
	}
	return local.StartProcess(command, args...)
}
