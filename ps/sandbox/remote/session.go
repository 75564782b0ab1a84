package remote

import (
	"context"
	"errors"
	"io"
	"sync"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
)

// A process is the server's view of a process elsewhere, on whose streams a session runs. Only the session's
// goroutine uses it.
type process struct {
	ctx     context.Context // ends with the process
	wire    *wire
	answers chan *frame
	unread  []byte // input that the process has sent and the session has not read
}

// runSession runs a session until it ends, or until its process does.
func (s *Server) runSession(ctx context.Context, end context.CancelFunc, w *wire, g *grant, start *frame) {
	p := &process{ctx: ctx, wire: w, answers: make(chan *frame)}
	s.work.Go(func() {
		defer end()
		for {
			f, err := w.read(MaxFrame)
			if err != nil {
				return
			}
			select {
			case p.answers <- f:
			case <-ctx.Done():
				return
			}
		}
	})
	code := sandbox.Serve(sandbox.WithProcess(ctx, p.alive), start.Args, start.PID,
		engine.Console{Stdin: p, Stdout: stream{p, "out"}, Stderr: stream{p, "err"}},
		g.modules.culture, g.modules.all...)
	_ = w.send(&frame{F: "exit", Code: code}) // the process may have ended
}

// ask sends a frame and returns the answer of the process, or an error if the process ends.
func (p *process) ask(f *frame) (*frame, error) {
	if err := p.wire.send(f); err != nil {
		return nil, err
	}
	select {
	case answer := <-p.answers:
		return answer, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

// alive reports whether the process still runs. It waits while the process is suspended.
func (p *process) alive() bool {
	_, err := p.ask(&frame{F: "alive"})
	return err == nil
}

// Read reads standard input. The process reads no more of it than the session asks for.
func (p *process) Read(b []byte) (int, error) {
	if len(p.unread) == 0 && len(b) > 0 {
		answer, err := p.ask(&frame{F: "read"})
		if err != nil {
			return 0, io.ErrClosedPipe
		}
		if len(answer.Data) == 0 {
			return 0, io.EOF
		}
		p.unread = answer.Data
	}
	n := copy(b, p.unread)
	p.unread = p.unread[n:]
	return n, nil
}

// stream is an output of a session.
type stream struct {
	*process
	kind string
}

// Write writes to the stream of the process.
func (s stream) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), chunk)
		if err := s.wire.send(&frame{F: s.kind, Data: rest[:n]}); err != nil {
			return 0, io.ErrClosedPipe
		}
		rest = rest[n:]
	}
	return len(b), nil
}

// chunk is the maximum number of bytes of a stream in one frame.
const chunk = 32 << 10

// errRefused is the error of a process whose key the server does not know.
var errRefused = errors.New("the server did not accept the key")

// relay connects the streams of a process with a session at a server, and returns the exit code. The code is
// exitLost if the connection ends before the session, or if ctx does. A goroutine may still read the input
// when relay returns.
func relay(ctx context.Context, address string, start *frame, c engine.Console) (code int, err error) {
	conn, err := dial(ctx, address)
	if err != nil {
		return exitLost, err
	}
	defer conn.Close()
	detach := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer detach()
	w := newWire(conn)
	if answer, err := w.first(conn, start); err != nil || answer.F != "welcome" {
		return exitLost, errors.Join(errRefused, err)
	}
	var sending sync.Mutex // the server may ask again before send has returned
	send := func(f *frame) error {
		sending.Lock()
		defer sending.Unlock()
		return w.send(f)
	}
	for {
		f, err := w.read(MaxFrame)
		if err != nil {
			return exitLost, nil
		}
		switch f.F {
		case "read":
			go func() {
				input := make([]byte, chunk)
				n, _ := c.Stdin.Read(input)                        // no bytes mean the end
				_ = send(&frame{F: "in", Data: input[:max(n, 0)]}) // otherwise the connection has ended
			}()
		case "alive":
			err = send(f)
		case "out":
			_, err = c.Stdout.Write(f.Data)
		case "err":
			_, err = c.Stderr.Write(f.Data)
		case "exit":
			return f.Code, nil
		}
		if err != nil {
			return exitLost, nil
		}
	}
}
