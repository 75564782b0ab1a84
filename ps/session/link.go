package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bhendo/go-powershell/backend"
)

// arguments replace the arguments of the library. -NonInteractive keeps prompts from consuming
// data lines and PSReadLine from loading (facts-5.1 K16). -NoExit is omitted on purpose (facts-5.1 K11).
var arguments = []string{
	"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text",
	"-ExecutionPolicy", "Bypass", "-Command", "-",
}

// A link connects the library's Shell to the process. It is the Shell's Starter, and gives the Shell a writer
// that converts line endings to LF and two readers that return only the end markers.
type link struct {
	inner backend.Starter

	process killer
	stdin   io.WriteCloser
	stdout  io.Reader
	stderr  io.Reader

	exited    chan struct{} // closed when process.Wait has returned
	waitErr   error         // result of process.Wait; valid after exited
	abandoned chan struct{} // closed when the process cannot be killed and nothing waits for it any longer

	marks    atomic.Pointer[marks] // set once the Shell has sent its command
	shellOut *held
	shellErr *held
}

// marks are the markers that the Shell waits for.
type marks struct{ out, err string }

func newLink(inner backend.Starter) *link {
	return &link{
		inner:  inner,
		exited: make(chan struct{}), abandoned: make(chan struct{}),
		shellOut: newHeld(),
		shellErr: newHeld(),
	}
}

// StartProcess starts PowerShell with [arguments] instead of the library's.
func (l *link) StartProcess(
	command string, _ ...string,
) (backend.Waiter, io.Writer, io.Reader, io.Reader, error) {
	waiter, stdin, stdout, stderr, err := l.inner.StartProcess(command, arguments...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	process, canKill := waiter.(killer)
	closer, canClose := stdin.(io.WriteCloser)
	if !canKill || !canClose {
		return nil, nil, nil, nil, fmt.Errorf("%T: its process cannot be killed, or its input cannot be closed",
			l.inner)
	}
	l.process, l.stdin, l.stdout, l.stderr = process, closer, stdout, stderr
	go func() {
		l.waitErr = process.Wait()
		close(l.exited)
	}()
	return linkWaiter{l}, &shellWriter{link: l}, l.shellOut, l.shellErr, nil
}

// outMarker returns the marker on stdout, or "" until the Shell has sent its
// command.
func (l *link) outMarker() string {
	if m := l.marks.Load(); m != nil {
		return m.out
	}
	return ""
}

func (l *link) errMarker() string {
	if m := l.marks.Load(); m != nil {
		return m.err
	}
	return ""
}

// release gives the Shell both markers, so that Execute returns even if the process did not write them. If no
// command was sent, there are no markers, and Execute returns because its write failed.
func (l *link) release() {
	m := l.marks.Load()
	if m == nil {
		return
	}
	l.shellOut.give(m.out)
	l.shellErr.give(m.err)
}

type linkWaiter struct{ link *link }

func (w linkWaiter) Wait() error {
	select {
	case <-w.link.exited:
		return w.link.waitErr
	case <-w.link.abandoned:
		return errAbandoned
	}
}

var errAbandoned = errors.New("the process could not be killed")

// abandon gives up on a process that cannot be killed. It is called at most once.
func (l *link) abandon() { close(l.abandoned) }

// A shellWriter is the Shell's stdin. The first write is the Shell's command,
// which ends with the markers.
type shellWriter struct {
	link *link
	once sync.Once
}

var errCommandForm = errors.New("go-powershell sent its command in an unexpected form")

func (w *shellWriter) Write(p []byte) (int, error) {
	text := string(p)
	first := false
	w.once.Do(func() { first = true })
	if first {
		m, ok := findMarks(text)
		if !ok {
			return 0, errCommandForm
		}
		w.link.marks.Store(m)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if _, err := io.WriteString(w.link.stdin, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *shellWriter) Close() error { return w.link.stdin.Close() }

// findMarks extracts the markers from the end of a command in the form that the Shell sends:
//
//	COMMAND; echo 'MARK'; [Console]::Error.WriteLine('MARK')
func findMarks(command string) (*marks, bool) {
	const echo, between, end = "; echo '", "'; [Console]::Error.WriteLine('", "')\r\n"
	rest, ok := strings.CutSuffix(command, end)
	if !ok {
		return nil, false
	}
	at := strings.LastIndex(rest, between)
	if at < 0 {
		return nil, false
	}
	errMark := rest[at+len(between):]
	rest = rest[:at]
	at = strings.LastIndex(rest, echo)
	if at < 0 {
		return nil, false
	}
	outMark := rest[at+len(echo):]
	if outMark == "" || errMark == "" {
		return nil, false
	}
	return &marks{out: outMark, err: errMark}, true
}

// A held reader blocks until give, then returns the marker with the line ending
// that the Shell waits for.
type held struct {
	once sync.Once
	text chan string
	rest string
}

func newHeld() *held { return &held{text: make(chan string, 1)} }

func (h *held) give(marker string) {
	h.once.Do(func() { h.text <- marker + "\r\n" })
}

func (h *held) Read(p []byte) (int, error) {
	if h.rest == "" {
		h.rest = <-h.text
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}
