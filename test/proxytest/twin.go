// Package proxytest runs the text of the proxies on the sandbox's own engine, for tests. It
// shows that the functions of the modules work even where there is no PowerShell.
//
// The types that C# declares for a real engine (sandbox.cs) are implemented in Go here, with
// the same behavior: kit.go contains the types, link.go the connection. The engine parses,
// binds and runs the functions, and the sandbox answers over the same socket.
package proxytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
)

// Starter starts sessions whose commands are the functions of the modules. It is a
// [session.Starter] and safe for concurrent use.
type Starter struct {
	Server  *remote.Server
	Modules []proxies.Module
}

var _ session.Starter = (*Starter)(nil)

// StartProcess starts a session with PowerShell's arguments.
func (s *Starter) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	l := &link{server: s.Server}
	w, stdin, stdout, stderr, err := sandbox.NewStarter(newEngine(l), s.load).StartProcess(command, args...)
	if err != nil {
		return nil, nil, nil, nil, errors.Join(err, l.close())
	}
	killer, ok := w.(process)
	if !ok {
		return nil, nil, nil, nil, errors.Join(fmt.Errorf("%T cannot be killed", w), l.close())
	}
	return &waiter{process: killer, link: l}, stdin, stdout, stderr, nil
}

// NewSession returns a session without a console. The caller must call end to end it.
func (s *Starter) NewSession() (session *engine.Session, end func() error, err error) {
	l := &link{server: s.Server}
	session = newEngine(l).NewSession(engine.Console{})
	if err := s.load(session); err != nil {
		return nil, nil, errors.Join(err, l.close())
	}
	return session, l.close, nil
}

// load runs the modules' text in a new session, which has the effect of importing them.
func (s *Starter) load(session *engine.Session) error {
	for _, m := range s.Modules {
		err := session.Run(context.Background(), m.Name+".psm1", "Import-Module -Name "+kitName+"\n"+m.Text(),
			engine.Streams{})
		if err != nil {
			return fmt.Errorf("module %s: %w", m.Name, err)
		}
	}
	return nil
}

// newEngine returns an engine that knows the modules by name, so that they can be imported.
// Their only commands are the functions.
func newEngine(l *link) *engine.Engine {
	modules := []*engine.Module{sandbox.HostModule(), kitModule(l)}
	for _, m := range sandbox.Declarations() {
		modules = append(modules, &engine.Module{Name: m.Name, Version: m.Version, GUID: m.GUID})
	}
	return engine.NewEngine(engine.Options{Modules: modules, Aliases: sandbox.Aliases, AutoLoad: true,
		PID: os.Getpid()})
}

// process is a handle to await and kill a simulated process.
type process interface {
	Wait() error
	Kill() error
}

// waiter closes the connection when the process has ended.
type waiter struct {
	process
	link *link
	once sync.Once
}

func (w *waiter) Wait() error {
	err := w.process.Wait()
	w.once.Do(func() { err = errors.Join(err, w.link.close()) })
	return err
}
