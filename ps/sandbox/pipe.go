package sandbox

import (
	"io"
	"sync"
)

// pipeSize is how much a pipe holds before a write waits, as in most systems.
const pipeSize = 64 << 10

// A pipe is one standard stream of a simulated process. Like a pipe of the
// operating system it holds some bytes, and what it holds can be read after
// the writer has gone.
type pipe struct {
	mu         sync.Mutex
	changed    sync.Cond
	buf        []byte // written and not read yet
	room       []byte // the largest array buf has had, used again once all is read
	readGone   bool   // writes fail
	writerGone bool   // reads end when buf is empty
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// Read reads what is there, and waits when there is nothing.
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

// Write writes all of b, and waits for the reader when the pipe is full.
func (p *pipe) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := p.put(b[written:])
		if err != nil {
			return written, err
		}
		written += n
		p.changed.Broadcast() // not under the lock, which the reader takes first
	}
	return written, nil
}

// put takes as much of b as there is room for, at least one byte.
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

// closeWrite is the writer's end: what has been written can still be read.
func (p *pipe) closeWrite() {
	p.mu.Lock()
	p.writerGone = true
	p.mu.Unlock()
	p.changed.Broadcast()
}

// closeRead is the reader's end: nothing more can be written.
func (p *pipe) closeRead() {
	p.mu.Lock()
	p.readGone, p.buf, p.room = true, nil, nil
	p.mu.Unlock()
	p.changed.Broadcast()
}

// pipeWriter is the writing end for those who feed a process.
type pipeWriter struct{ *pipe }

// Close ends the input.
func (w pipeWriter) Close() error {
	w.closeWrite()
	return nil
}

// pipeReader is the reading end for those who read from a process.
type pipeReader struct{ *pipe }

// Close ends the interest in the output: the process then fails to write.
func (r pipeReader) Close() error {
	r.closeRead()
	return nil
}
