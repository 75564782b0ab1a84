package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps"

	powershell "github.com/bhendo/go-powershell"
)

const (
	endWait   = 5 * time.Second // time limit for a process to exit after '#'
	killWait  = 5 * time.Second // time limit for a killed process to end
	drainWait = 2 * time.Second // time limit for the pipes of an ended process to reach their end
)

// A Session is one PowerShell process that handles one request at a time. It is
// safe for concurrent use.
type Session struct {
	cfg   Config
	link  *link
	shell powershell.Shell

	lines    chan string   // data lines for write
	broken   chan struct{} // closed when the session accepts no more requests
	executed chan struct{} // closed when the Shell's Execute has returned
	outDone  chan struct{} // closed when stdout was read to its end, so no more frames arrive
	errDone  chan struct{} // the same for stderr
	gone     chan struct{} // closed when the process and all goroutines have ended

	noise   capture // stdout outside of frames
	stderr  capture
	budget  atomic.Int64 // bytes of frames still allowed
	clutter atomic.Int64 // bytes of noise still allowed

	mu      sync.Mutex
	state   state
	current *run      // receives the frames; nil if none
	cause   *ps.Error // reason why the session broke; nil if it was closed
	ready   Ready
	started bool // Start has returned the session
	ended   bool // the end marker arrived on stdout
	whole   bool // stdout was read to its end
	foreign bool // a frame did not belong to the running request

	lastWords string // noise left over at the end; valid after gone
}

type state uint8

const (
	idle state = iota
	busy
	closing // '#' has been sent or is about to be sent
	broken
)

// Start starts a session and waits until it is ready and has proved that data lines arrive unaltered.
// ctx bounds only the start. The error is an [*ps.Error] with a message for the administrator.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	cfg = cfg.withDefaults()
	line, err := cfg.Boot.line()
	if err != nil {
		return nil, &ps.Error{Kind: ps.KindInternal, Step: "boot",
			Message: "the session's scripts cannot be loaded", Cause: err}
	}
	l := newLink(cfg.Starter)
	shell, err := powershell.New(l)
	if err != nil {
		return nil, refused(err)
	}
	s := &Session{
		cfg: cfg, link: l, shell: shell,
		lines:    make(chan string),
		broken:   make(chan struct{}),
		executed: make(chan struct{}),
		outDone:  make(chan struct{}),
		errDone:  make(chan struct{}),
		gone:     make(chan struct{}),
		state:    busy,
	}
	s.allow(cfg.MaxOutput)
	boot := newRun(bootID)
	s.current = boot
	go s.execute(line)
	go s.write()
	go s.readOut()
	go s.readErr()
	go s.supervise()
	deadline := time.Now().Add(cfg.StartTimeout)
	err = s.handshake(ctx, boot)
	if err == nil {
		s.rehearse(ctx, deadline)
	}
	if err == nil && !s.begin() {
		<-s.gone
		err = s.startError("ready")
	}
	if err != nil {
		s.killFor(CauseStart)
		return nil, err
	}
	return s, nil
}

// begin marks the session as started. It returns false if the session has already ended.
func (s *Session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = s.state == idle
	return s.started
}

func (c Config) withDefaults() Config {
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	if c.MaxList <= 0 {
		c.MaxList = DefaultMaxList
	}
	if c.Meter == nil {
		c.Meter = &Meter{}
	}
	if c.Log == nil {
		c.Log = func(string, map[string]any) {}
	}
	return c
}

// Ready returns the payload of the ready frame.
func (s *Session) Ready() Ready {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// Memory returns the private bytes of the process, or [errors.ErrUnsupported] if
// its Starter does not provide them.
func (s *Session) Memory() (int64, error) {
	if m, ok := s.link.process.(memoryMeter); ok {
		return m.Memory()
	}
	return 0, errors.ErrUnsupported
}

// Dead returns a channel that is closed as soon as the session accepts no more requests.
func (s *Session) Dead() <-chan struct{} { return s.broken }

// Close asks the request loop to end and waits for the process to exit. It kills the process
// if it does not exit in time, if ctx ends, or if a request is running. It returns when the
// process and all goroutines have ended. The error is non-nil if the process had to be killed.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	before := s.state
	if before == idle {
		s.state = closing
		close(s.lines)
	}
	s.mu.Unlock()
	if before == busy {
		s.Kill()
	}
	timer := time.NewTimer(endWait)
	defer timer.Stop()
	select {
	case <-s.gone:
	case <-ctx.Done():
		s.fail(CauseClosing, &ps.Error{Kind: ps.KindDied, Message: "closing was cut short",
			Cause: context.Cause(ctx)})
	case <-timer.C:
		s.fail(CauseClosing, &ps.Error{Kind: ps.KindDied,
			Message: fmt.Sprintf("PowerShell did not exit within %s", endWait)})
	}
	<-s.gone
	return s.brokenError()
}

// Kill ends the session immediately and returns when the process and all goroutines have ended.
func (s *Session) Kill() { s.killFor(CauseClosing) }

func (s *Session) killFor(why Cause) {
	s.fail(why, &ps.Error{Kind: ps.KindDied, Message: "the session was ended"})
	<-s.gone
}

// brokenError returns the reason why the session was broken off, or nil if it was closed normally.
func (s *Session) brokenError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		return nil
	}
	return s.cause
}

// fail ends the session with a cause, unless the session already has one.
func (s *Session) fail(why Cause, cause *ps.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(why, cause)
}

func (s *Session) failLocked(why Cause, cause *ps.Error) {
	if s.cause != nil {
		return
	}
	select {
	case <-s.gone:
		return // already closed cleanly
	default:
	}
	s.cause = cause
	s.state = broken
	s.cfg.Meter.kill(why)
	select {
	case <-s.broken:
	default:
		close(s.broken)
	}
}

// failRun ends the session with a cause if r is still waiting for its answer.
func (s *Session) failRun(r *run, why Cause, cause *ps.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == r {
		s.failLocked(why, cause)
	}
}

// execute runs the single command of the session. The result of Execute is ignored, because the output
// contains only the Shell's markers and the error would quote the whole command.
func (s *Session) execute(line string) {
	defer close(s.executed)
	if _, _, err := s.shell.Execute(line); err != nil {
		s.fail(CauseDied, &ps.Error{Kind: ps.KindDied, Message: "the boot line could not be sent"})
	}
}

// write sends data lines, and '#' at the end. It runs in a separate goroutine, because a process that does
// not read its input blocks write until the process is killed.
func (s *Session) write() {
	send := func(text string) bool {
		if _, err := io.WriteString(s.link.stdin, text); err != nil {
			s.fail(CauseDied, &ps.Error{Kind: ps.KindDied, Message: "PowerShell no longer accepts input", Cause: err})
			return false
		}
		return true
	}
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				send("#\n")
				return
			}
			if !send(line + "\n") {
				return
			}
		case <-s.broken:
			return
		}
	}
}

// readOut reads stdout to its end and delivers each frame to its run.
func (s *Session) readOut() {
	defer close(s.outDone)
	split := newSplitter(s.link.stdout, s.link.outMarker, s.addNoise, s.spend)
	for {
		f, err := split.next()
		switch {
		case errors.Is(err, errMarker):
			s.endOfLoop()
		case errors.Is(err, io.EOF):
			s.endOfOutput()
			return
		case err != nil:
			s.cutFrame(err)
			// The process is being killed and must not block on its output.
			_, _ = io.Copy(io.Discard, s.link.stdout)
			return
		default:
			s.deliver(f)
		}
	}
}

// endOfLoop is called when the end marker has arrived on stdout. The boot line has then finished, which is
// expected only after '#'.
func (s *Session) endOfLoop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != closing {
		s.failLocked(CauseDied, &ps.Error{Kind: ps.KindDied, Message: "the request loop ended by itself"})
	}
	s.ended = true
	s.link.release()
}

// cutFrame is called for a malformed or incomplete frame, after which the output
// cannot be read any further.
func (s *Session) cutFrame(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = errors.Is(err, errCutFrame)
	s.failLocked(causeOf(err), &ps.Error{Kind: ps.KindDied, Message: "PowerShell broke the protocol",
		Cause: err})
}

func (s *Session) endOfOutput() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = true
	if s.ended && s.state == closing {
		return
	}
	s.failLocked(CauseDied, &ps.Error{Kind: ps.KindDied, Message: "PowerShell ended"})
}

// deliver passes a frame to the current run. A frame with another id breaks the session. After that, only
// intents and steps still count, because they determine the outcome of the run.
func (s *Session) deliver(f frame) {
	s.cfg.Meter.frames.Add(1)
	s.cfg.Meter.bytes.Add(int64(len(f.payload)))
	s.mu.Lock()
	r := s.current
	switch {
	case r == nil || r.id != f.id:
		s.foreign = true
		s.failLocked(CauseProtocol, &ps.Error{Kind: ps.KindDied, Message: "PowerShell broke the protocol",
			Cause: fmt.Errorf("%s frame with id %q", f.kind, f.id)})
		s.mu.Unlock()
		return
	case s.foreign && f.kind != frameIntent && f.kind != frameStep:
		s.mu.Unlock()
		return
	case f.kind.last():
		s.current = nil
		if r.id == bootID && f.kind == frameError { // more informative than the exit that follows
			s.failLocked(CauseStart, &ps.Error{Kind: ps.KindUnavailable, Message: notReady})
		}
	}
	s.mu.Unlock()
	select {
	case r.frames <- f:
	case <-r.left:
	}
}

// causeOf returns the cause for an error of the splitter.
func causeOf(err error) Cause {
	switch {
	case errors.Is(err, errTooMuch):
		return CauseOutput
	case errors.Is(err, errCutFrame):
		return CauseDied
	}
	return CauseProtocol
}

func (s *Session) addNoise(b []byte) {
	s.cfg.Meter.noise.Add(int64(len(b)))
	s.noise.add(b)
	if !s.litter(int64(len(b))) {
		s.tooMuch()
	}
}

// allow sets how many more bytes of frames the process may write. The limit for noise is always MaxOutput.
func (s *Session) allow(frames int64) {
	s.budget.Store(frames)
	s.clutter.Store(s.cfg.MaxOutput)
}

// spend consumes n bytes of the limit for frames. It returns false if the limit is exceeded.
func (s *Session) spend(n int64) bool { return n <= s.cfg.MaxOutput && s.budget.Add(-n) >= 0 }

// litter consumes n bytes of the limit for noise. It returns false if the limit is exceeded.
func (s *Session) litter(n int64) bool { return s.clutter.Add(-n) >= 0 }

func (s *Session) tooMuch() {
	s.fail(CauseOutput, &ps.Error{Kind: ps.KindDied, Message: "PowerShell broke the protocol",
		Cause: errTooMuch})
}

// readErr keeps stderr for the log. Nothing else uses stderr.
func (s *Session) readErr() {
	defer close(s.errDone)
	in := bufio.NewReaderSize(s.link.stderr, 16<<10)
	for {
		line, err := in.ReadSlice('\n')
		marker := s.link.errMarker()
		if marker == "" || !bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte(marker)) {
			s.stderr.add(line)
			if !s.litter(int64(len(line))) {
				s.tooMuch()
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// supervise waits for the session to end and cleans up.
func (s *Session) supervise() {
	defer close(s.gone)
	select {
	case <-s.executed:
		// The request loop has ended. If that was expected, the Shell sends exit, closes stdin and waits. A kill
		// ends the wait if necessary.
		left := make(chan struct{})
		if s.brokenError() == nil {
			go func() { defer close(left); s.shell.Exit() }()
			select {
			case <-left:
			case <-s.broken:
				s.kill()
				<-left
			}
			break
		}
		s.kill()
	case <-s.link.exited:
		// The last frames may still be in the pipe, but processes that the session left behind must not keep the
		// pipe open for long.
		select {
		case <-s.outDone:
		case <-time.After(drainWait):
			s.fail(CauseDied, &ps.Error{Kind: ps.KindDied,
				Message: "PowerShell exited, but another process holds its output open"})
		}
		s.kill()
	case <-s.broken:
		s.kill()
	}
	s.waitReaders()
	s.link.release()
	<-s.executed
	s.closeStreams()
	s.markClosed()
	s.lastWords = s.flush("")
}

// markClosed closes broken. It logs why the session ended, unless it was closed normally or
// never started, in which case Start returns the reason.
func (s *Session) markClosed() {
	s.mu.Lock()
	s.state = broken
	select {
	case <-s.broken:
	default:
		close(s.broken)
	}
	cause, pid, started := s.cause, s.ready.PID, s.started
	s.mu.Unlock()
	if cause != nil && started {
		s.cfg.Log("session ended", map[string]any{"reason": cause.Error(), "pid": pid})
	}
}

// kill ends the process and waits until it has ended, for at most killWait.
func (s *Session) kill() {
	err := s.link.process.Kill()
	_ = s.link.stdin.Close()
	select {
	case <-s.link.exited:
	case <-time.After(killWait):
		s.link.abandon()
		s.cfg.Log("PowerShell could not be killed", map[string]any{"error": fmt.Sprint(err), "pid": s.Ready().PID})
	}
}

// waitReaders waits for both readers. It closes our end of a stream that another
// process holds open.
func (s *Session) waitReaders() {
	deadline := time.Now().Add(drainWait)
	for _, stream := range []struct {
		done chan struct{}
		in   io.Reader
	}{{s.outDone, s.link.stdout}, {s.errDone, s.link.stderr}} {
		select {
		case <-stream.done:
			continue
		case <-time.After(time.Until(deadline)):
		}
		if c, ok := stream.in.(io.Closer); ok {
			_ = c.Close()
		}
		select {
		case <-stream.done:
		case <-time.After(drainWait):
			s.cfg.Log("an output of PowerShell remains open", map[string]any{"pid": s.Ready().PID})
		}
	}
}

func (s *Session) closeStreams() {
	for _, stream := range []any{s.link.stdin, s.link.stdout, s.link.stderr} {
		if c, ok := stream.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// flush logs the stray output since the last call and returns its text.
func (s *Session) flush(request string) string {
	var all []string
	for _, c := range []struct {
		name string
		*capture
	}{{"text on standard error", &s.stderr}, {"noise on standard output", &s.noise}} {
		text, total := c.take()
		if m := s.link.outMarker(); m != "" {
			text = strings.TrimSpace(strings.ReplaceAll(text, m, ""))
		}
		if text == "" {
			continue
		}
		s.cfg.Log(c.name, map[string]any{"text": text, "bytes": total, "request": request, "pid": s.Ready().PID})
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
