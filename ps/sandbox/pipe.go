package sandbox

import (
	"io"
	"sync"
)

// pipeSize is the capacity of a pipe, the same as in most systems.
const pipeSize = 64 << 10

// A pipe is one standard stream of a simulated process. Like a pipe of the operating system,
// it has a buffer that can still be read after the writer has gone.
type pipe struct {
	mu         sync.Mutex
	changed    sync.Cond
	buf        []byte // unread bytes
	room       []byte // largest backing array of buf, reused once all is read
	readGone   bool   // writes fail
	writerGone bool   // reads end when buf is empty
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// Read reads the available bytes. It blocks while there are none.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.take(b)
	p.changed.Broadcast()
	return n, err
}

func (p *pipe) take(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) == 0 && !p.writerGone && !p.readGone && len(b) > 0 {
		p.changed.Wait()
	}
	if p.readGone {
		return 0, io.ErrClosedPipe
	}
	n := copy(b, p.buf)
	if p.buf = p.buf[n:]; len(p.buf) == 0 {
		p.buf = p.room[:0]
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all of b. It blocks while the pipe is full.
func (p *pipe) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := p.put(b[written:])
		if err != nil {
			return written, err
		}
		written += n
		p.changed.Broadcast() // without the lock, which the woken reader needs
	}
	return written, nil
}

// put appends as much of b as fits, at least one byte.
func (p *pipe) put(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) >= pipeSize && !p.readGone && !p.writerGone {
		p.changed.Wait()
	}
	if p.readGone || p.writerGone {
		return 0, io.ErrClosedPipe
	}
	n := min(len(b), pipeSize-len(p.buf))
	if p.buf = append(p.buf, b[:n]...); cap(p.buf) > cap(p.room) {
		p.room = p.buf
	}
	return n, nil
}

// closeWrite ends writing. Buffered bytes can still be read.
func (p *pipe) closeWrite() {
	p.mu.Lock()
	p.writerGone = true
	p.mu.Unlock()
	p.changed.Broadcast()
}

// closeRead ends reading. Later writes fail.
func (p *pipe) closeRead() {
	p.mu.Lock()
	p.readGone, p.buf, p.room = true, nil, nil
	p.mu.Unlock()
	p.changed.Broadcast()
}

// pipeWriter is the writing end of a process's input.
type pipeWriter struct{ *pipe }

// Close ends the process's input.
func (w pipeWriter) Close() error {
	w.closeWrite()
	return nil
}

// pipeReader is the reading end of a process's output.
type pipeReader struct{ *pipe }

// Close makes further writes of the process fail.
func (r pipeReader) Close() error {
	r.closeRead()
	return nil
}
