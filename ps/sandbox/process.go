package sandbox

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"adgateway/ps/sandbox/engine"

	"github.com/bhendo/go-powershell/backend"
)

// A Starter starts simulated PowerShell processes on one engine. It is safe for
// concurrent use.
type Starter struct {
	engine *engine.Engine
	setup  func(*engine.Session) error
}

var _ backend.Starter = (*Starter)(nil)

// Aliases are the aliases of the host, which are valid only on its own lines.
// go-powershell's Shell writes its end marker with echo.
var Aliases = map[string]string{"echo": "Write-Output"}

// NewStarter returns a Starter on an engine, whose options should include [Aliases].
// setup prepares each new session before its first line; if it fails, the start
// fails. setup may be nil.
func NewStarter(engine *engine.Engine, setup func(*engine.Session) error) *Starter {
	return &Starter{engine: engine, setup: setup}
}

// StartProcess starts a process. It ignores the name of the command. The arguments must end
// in -Command -. The Waiter also implements Kill() error, and the streams are Closers.
//
// A process ends with its input, by exit or by Kill, and leaves no goroutine behind. Wait
// may be called more than once.
func (s *Starter) StartProcess(
	_ string, args ...string,
) (backend.Waiter, io.Writer, io.Reader, io.Reader, error) {
	if err := checkArguments(args); err != nil {
		return nil, nil, nil, nil, err
	}
	ctx, p, console := newProcess()
	session := s.engine.NewSession(console)
	if s.setup != nil {
		if err := s.setup(session); err != nil {
			p.cancel()
			return nil, nil, nil, nil, fmt.Errorf("prepare the session: %w", err)
		}
	}
	go func() { p.end(newHost(session).run(ctx)) }()
	return p, pipeWriter{p.stdin}, pipeReader{p.stdout}, pipeReader{p.stderr}, nil
}

// StartFunc starts a process like those of a [Starter], with another main function. ctx ends when the process
// is killed.
func StartFunc(
	main func(ctx context.Context, c engine.Console) (code int),
) (backend.Waiter, io.Writer, io.Reader, io.Reader) {
	ctx, p, console := newProcess()
	go func() { p.end(main(ctx, console)) }()
	return p, pipeWriter{p.stdin}, pipeReader{p.stdout}, pipeReader{p.stderr}
}

// switches are the arguments without a value. They have no effect here.
var switches = []string{"-nologo", "-noprofile", "-noninteractive", "-noexit", "-sta", "-mta"}

// checkArguments rejects arguments that the host does not simulate.
func checkArguments(args []string) error {
	for i := 0; i < len(args); i++ {
		name := strings.ToLower(args[i])
		switch {
		case slices.Contains(switches, name):
		case name == "-outputformat" || name == "-inputformat":
			i++
			if i >= len(args) || !strings.EqualFold(args[i], "Text") {
				return fmt.Errorf("%s: only Text is simulated", name)
			}
		case name == "-executionpolicy" || name == "-windowstyle":
			i++
		case name == "-command" && i == len(args)-2 && args[i+1] == "-":
			return nil
		default:
			return fmt.Errorf("argument %q is not simulated", args[i])
		}
	}
	return fmt.Errorf("only -Command - is simulated")
}

// ExitError is the error of Wait for a process that ended with a code other than 0.
type ExitError struct {
	Code   int
	Killed bool
}

func (e *ExitError) Error() string {
	if e.Killed {
		return "killed"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// A process is one run of the host.
type process struct {
	stdin, stdout, stderr *pipe

	cancel context.CancelFunc
	killed atomic.Bool
	done   chan struct{}
	code   int // valid after done
}

func newProcess() (context.Context, *process, engine.Console) {
	p := &process{stdin: newPipe(), stdout: newPipe(), stderr: newPipe(), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	return ctx, p, engine.Console{Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr}
}

// end closes the streams after the main function has returned.
func (p *process) end(code int) {
	p.code = code
	p.cancel()
	p.stdin.closeRead()
	p.stdout.closeWrite()
	p.stderr.closeWrite()
	close(p.done)
}

// Wait waits until the process has ended. The error is an [*ExitError] unless the code is 0.
func (p *process) Wait() error {
	<-p.done
	if p.code != 0 || p.killed.Load() {
		return &ExitError{Code: p.code, Killed: p.killed.Load()}
	}
	return nil
}

// Kill ends the process, or does nothing if it has ended. It does not wait for the engine, which stops at its
// next step.
func (p *process) Kill() error {
	select {
	case <-p.done:
		return nil
	default:
	}
	p.killed.Store(true)
	p.cancel()
	p.stdin.closeRead()
	p.stdout.closeWrite()
	p.stderr.closeWrite()
	return nil
}
