package session

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// A splitter splits the standard output of a session. Its method next returns the frames, and errMarker for
// the Shell's marker. All other output is noise. Only payloads are allocated, and they grow as bytes arrive,
// so that a header alone cannot allocate much memory.
type splitter struct {
	in     io.Reader
	noise  func([]byte)       // receives each piece of noise; must not keep the bytes
	marker func() string      // returns the Shell's end marker, or "" while it is unknown
	budget func(n int64) bool // consumes n bytes; returns false if the limit is exceeded

	buf        []byte
	start, end int    // bounds of the unread bytes in buf
	line       []byte // tail of the current line of noise
	err        error  // error of in after its end
}

var errMarker = errors.New("the command ended")

const (
	splitBuffer = 128 << 10
	growStep    = 1 << 20
	lineTail    = 256
)

func newSplitter(in io.Reader, marker func() string, noise func([]byte), budget func(int64) bool) *splitter {
	return &splitter{
		in: in, noise: noise, marker: marker, budget: budget,
		buf: make([]byte, splitBuffer), line: make([]byte, 0, lineTail),
	}
}

// next returns the next frame. The error is errMarker after a line that ends with the marker, and io.EOF if
// the output ended between frames. Any other error describes a malformed frame. After an error other than
// errMarker, the splitter must not be used again.
func (s *splitter) next() (frame, error) {
	for {
		if s.start == s.end {
			if err := s.fill(); err != nil {
				return frame{}, err
			}
		}
		chunk := s.buf[s.start:s.end]
		at := bytes.IndexByte(chunk, frameStart)
		if at == 0 {
			s.start++
			return s.frame()
		}
		if at > 0 {
			chunk = chunk[:at]
		}
		n, marked := s.scan(chunk)
		s.start += n
		if marked {
			return frame{}, errMarker
		}
	}
}

// scan passes on noise up to a line that ends with the marker. It returns the number of bytes consumed and
// whether it found the marker. If a marker arrives in pieces, all but the last piece are passed on as noise.
func (s *splitter) scan(chunk []byte) (int, bool) {
	marker := s.marker()
	taken := 0
	for taken < len(chunk) {
		rest := chunk[taken:]
		lf := bytes.IndexByte(rest, '\n')
		if lf < 0 {
			s.keepTail(rest)
			s.noise(rest)
			return len(chunk), false
		}
		s.keepTail(rest[:lf])
		text := bytes.TrimSuffix(s.line, []byte{'\r'})
		s.line = s.line[:0]
		taken += lf + 1
		if marker != "" && bytes.HasSuffix(text, []byte(marker)) {
			return taken, true
		}
		s.noise(rest[:lf+1])
	}
	return taken, false
}

// keepTail appends to the current line, but keeps only its last bytes.
func (s *splitter) keepTail(b []byte) {
	if len(b) >= lineTail {
		s.line = append(s.line[:0], b[len(b)-lineTail:]...)
		return
	}
	if over := len(s.line) + len(b) - lineTail; over > 0 {
		s.line = append(s.line[:0], s.line[over:]...)
	}
	s.line = append(s.line, b...)
}

// frame reads the rest of a frame, after its first byte.
func (s *splitter) frame() (frame, error) {
	header, err := s.header()
	if err != nil {
		return frame{}, err
	}
	id, kind, size, err := parseHeader(header)
	if err != nil {
		return frame{}, err
	}
	if !s.budget(size) {
		return frame{}, errTooMuch
	}
	payload, err := s.payload(size)
	if err != nil {
		return frame{}, inFrame(err)
	}
	if s.start == s.end {
		if err := s.fill(); err != nil {
			return frame{}, inFrame(err)
		}
	}
	if s.buf[s.start] != '\n' {
		return frame{}, errNoEnd
	}
	s.start++
	return frame{id: id, kind: kind, payload: payload}, nil
}

// header returns the bytes before the next LF, valid until the next fill.
func (s *splitter) header() ([]byte, error) {
	for {
		chunk := s.buf[s.start:s.end]
		lf := bytes.IndexByte(chunk, '\n')
		if lf > maxHeader || (lf < 0 && len(chunk) > maxHeader) {
			return nil, errHeader
		}
		if lf >= 0 {
			s.start += lf + 1
			return chunk[:lf], nil
		}
		// The header is incomplete, so move it to the front and read more.
		copy(s.buf, chunk)
		s.start, s.end = 0, len(chunk)
		if err := s.more(); err != nil {
			return nil, inFrame(err)
		}
	}
}

// payload returns the next size bytes in a new slice.
func (s *splitter) payload(size int64) ([]byte, error) {
	n := int(min(int64(s.end-s.start), size))
	out := make([]byte, n, min(size, max(growStep, int64(n))))
	copy(out, s.buf[s.start:])
	s.start += n
	for int64(len(out)) < size {
		if s.err != nil {
			return nil, s.err
		}
		if len(out) == cap(out) {
			out = slices.Grow(out, int(min(size-int64(len(out)), int64(len(out)))))
		}
		room := min(int64(cap(out)), size)
		read, err := s.in.Read(out[len(out):room])
		out = out[:len(out)+read]
		s.err = err
	}
	return out, nil
}

// fill reads into the empty buffer.
func (s *splitter) fill() error {
	s.start, s.end = 0, 0
	return s.more()
}

// more appends at least one byte to the buffer.
func (s *splitter) more() error {
	for range maxEmptyReads {
		if s.err != nil {
			return s.err
		}
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

const maxEmptyReads = 100

// inFrame returns errCutFrame for io.EOF inside a frame.
func inFrame(err error) error {
	if errors.Is(err, io.EOF) {
		return errCutFrame
	}
	return err
}
