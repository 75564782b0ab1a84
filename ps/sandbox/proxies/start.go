package proxies

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"adgateway/ps"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
)

// Locate finds a PowerShell. engine is "pwsh", "powershell", or the path or name of an executable. The error
// names what is missing.
func Locate(engine string) (path string, err error) {
	name, advice := engine, "give the path of a PowerShell"
	switch strings.ToLower(engine) {
	case "pwsh":
		advice = "install PowerShell 7, or give the path of pwsh"
	case "powershell":
		name, advice = "powershell.exe", "Windows PowerShell is part of Windows; elsewhere install PowerShell 7 "+
			"and use pwsh"
	}
	if path, err = exec.LookPath(name); err != nil {
		return "", fmt.Errorf("there is no PowerShell %q (%w): %s", engine, err, advice)
	}
	return filepath.Abs(path)
}

// Starter is a [session.Starter] of real PowerShell processes. Each process gets a new key
// for the server. It is safe for concurrent use.
type Starter struct {
	Server remote.Issuer
	Path   string   // path of the executable
	Env    []string // added to the environment; may be nil

	dir, temp string
}

var _ session.Starter = (*Starter)(nil)

// NewStarter writes the modules for the scripts to a temporary folder, which Close removes. The folder is
// created in temp, the temporary folder of the processes, or in this process's temporary folder if temp is
// empty.
func NewStarter(server remote.Issuer, path string, scripts []ps.Script, temp string) (*Starter, error) {
	modules, err := Modules(scripts)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(temp, "adgateway-modules-")
	if err != nil {
		return nil, err
	}
	if err := Write(dir, modules); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Starter{Server: server, Path: path, dir: dir, temp: temp}, nil
}

// StartProcess starts a process with PowerShell's arguments.
func (s *Starter) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	key, err := s.Server.IssueKey()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	local := session.Local{Path: s.Path, Temp: s.temp, Env: append(key, "PSModulePath="+modulePath(s.dir))}
	local.Env = append(local.Env, s.Env...)
	return local.StartProcess(command, args...)
}

// modulePath returns PSModulePath with the folder in front. PowerShell 7 adds its own
// folders before it; Windows PowerShell uses the path as given.
func modulePath(dir string) string {
	if runtime.GOOS != "windows" {
		return dir
	}
	root := os.Getenv("SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	return dir + ";" + filepath.Join(root, `System32\WindowsPowerShell\v1.0\Modules`)
}

// Close removes the modules. It must be called after the last session has ended.
func (s *Starter) Close() error { return os.RemoveAll(s.dir) }
