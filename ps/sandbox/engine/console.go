package engine

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"adgateway/ps/sandbox/engine/dotnet"
)

// lineReader is standard input, shared by the host and [Console]::In. LF, CR and
// CRLF each end a line; bytes that are not UTF-8 become U+FFFD.
type lineReader struct {
	s      *Session
	in     *bufio.Reader
	skipLF bool // the last line ended with CR
}

// maxLine is the maximum length of a line of input in bytes.
const maxLine = 64 << 20

// ReadLine returns the next line without its line ending, or io.EOF. It resets the limits of the session.
func (r *lineReader) ReadLine() (string, error) {
	r.s.pauseMeter()
	line, err := r.read()
	r.s.resetMeter()
	return line, err
}

func (r *lineReader) read() (string, error) {
	var line []byte
	for {
		_, err := r.in.Peek(1) // reads if nothing is buffered
		chunk, _ := r.in.Peek(r.in.Buffered())
		if len(chunk) == 0 {
			if err == nil || err == io.EOF {
				err = io.EOF
				if len(line) > 0 {
					err = nil
				}
			}
			return dotnet.FromUTF8(line), err
		}
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				r.in.Discard(1)
				continue
			}
		}
		at := lineEnd(chunk)
		if at < 0 {
			line = append(line, chunk...)
			r.in.Discard(len(chunk))
			if len(line) > maxLine {
				return "", &LimitError{Limit: "ValueBytes"}
			}
			continue
		}
		r.skipLF = chunk[at] == '\r'
		if line == nil {
			line = chunk[:at]
		} else {
			line = append(line, chunk[:at]...)
		}
		text := dotnet.FromUTF8(line)
		r.in.Discard(at + 1)
		return text, nil
	}
}

// lineEnd returns the index of the first line ending, or -1.
func lineEnd(text []byte) int {
	at := bytes.IndexByte(text, '\n')
	if at >= 0 {
		text = text[:at]
	}
	if cr := bytes.IndexByte(text, '\r'); cr >= 0 {
		return cr
	}
	return at
}

// ReadLine reads the next line of the session's standard input, for the host.
func (s *Session) ReadLine() (string, error) { return s.stdin.read() }

// meteredWriter counts console output towards the limit.
type meteredWriter struct {
	s *Session
	w io.Writer
}

func (m *meteredWriter) Write(p []byte) (int, error) {
	m.s.meter.output += int64(len(p))
	if m.s.meter.output > m.s.limits.OutputBytes {
		return 0, &LimitError{Limit: "OutputBytes"}
	}
	if m.s.meter.stop.Load() {
		return 0, m.s.canceled(nil)
	}
	return m.w.Write(p)
}

// error passes a record to the host.
func (st *Streams) error(rec *dotnet.ErrorRecord) {
	if st.Error != nil {
		st.Error(rec)
	}
}

// outputSink passes the output of a run to the host.
type outputSink struct{ to func(v any) error }

func (o *outputSink) write(v any) error {
	if o.to == nil {
		return nil
	}
	return o.to(v)
}

// Context returns the context of the current run.
func (s *Session) Context() context.Context { return s.ctx }

// Stdout returns the console's output. It is counted and limited in the same way as for scripts.
func (s *Session) Stdout() io.Writer { return s.stdout }

// Stderr returns the console's error output. It is counted and limited in the same way as for scripts.
func (s *Session) Stderr() io.Writer { return s.stderr }
