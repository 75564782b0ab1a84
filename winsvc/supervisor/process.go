package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"adgateway/winsvc/events"
)

// process is a running child.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	started chan string   // receives the child's description of itself, once
	ended   chan struct{} // closed when the process has ended
	// reason why the process ended; nil after a requested end with exit code 0; valid after ended is closed
	err error

	failed string // reason reported by the child
}

// outputWait is how long processes started by a child may hold its output open after the child has ended.
const outputWait = time.Second

// longestLine is the length in bytes above which a line of output is passed on in parts.
const longestLine = 1 << 20

var errUnasked = errors.New("it has ended with exit code 0, although nobody stopped it")

// launch starts a process.
func launch(line []string, o Options) (*process, error) {
	p := &process{started: make(chan string, 1), ended: make(chan struct{})}
	p.command = exec.Command(line[0], line[1:]...)
	background(p.command)
	p.command.WaitDelay = outputWait
	output := func(line []byte) { _, _ = o.Output.Write(line) } // a failure could not be reported anywhere
	stdout := &lines{each: func(line []byte) {
		if !p.take(line, o.Event) {
			output(line)
		}
	}}
	stderr := &lines{each: output}
	p.command.Stdout, p.command.Stderr = stdout, stderr
	var err error
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		err := p.command.Wait() // also waits for the goroutine that copies the output
		stdout.flush()
		stderr.flush()
		switch {
		case p.failed != "":
			p.err = errors.New(p.failed)
		case err != nil && !errors.Is(err, exec.ErrWaitDelay):
			p.err = err
		}
	}()
	return p, nil
}

// take handles a message of the child. It returns false if the line is not a message.
func (p *process) take(line []byte, write events.Write) bool {
	m, ok := parse(line)
	if !ok {
		return false
	}
	switch m.Kind {
	case hasStarted:
		select {
		case p.started <- m.Text:
		default: // a process reports its start once
		}
	case hasFailed:
		p.failed = m.Text
	default:
		if e, known := events.ByName(m.Kind); known && write != nil {
			write(e, m.Text)
		}
	}
	return true
}

// stop asks the process to stop, kills it if it has not stopped in time, and returns the error that the
// process reported when it ended.
func (p *process) stop(wait time.Duration) error {
	_, _ = io.WriteString(p.input, stopLine) // it may have ended
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.err
	case <-timer.C:
		_ = p.command.Process.Kill() // it may just have ended
		<-p.ended
		return fmt.Errorf("it had not stopped after %s, and was killed", wait)
	}
}

// lines is a writer that passes on whole lines.
type lines struct {
	each func(line []byte)
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		end := bytes.IndexByte(l.part, '\n') + 1
		if end == 0 && len(l.part) < longestLine {
			return len(p), nil
		}
		if end == 0 {
			end = len(l.part)
		}
		l.each(l.part[:end])
		l.part = l.part[end:]
	}
}

// flush passes on an unfinished last line.
func (l *lines) flush() {
	if len(l.part) > 0 {
		l.each(append(l.part, '\n'))
	}
}
