package engine

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"adgateway/ps/sandbox/engine/dotnet"
)

// lineReader is standard input: the host's and [Console]::In are one reader.
// LF, CR and CRLF each end a line; bytes that are no UTF-8 become U+FFFD.
type lineReader struct {
	s      *Session
	in     *bufio.Reader
	skipLF bool // the last line ended with CR
}

// maxLine bounds one line of input.
const maxLine = 64 << 20

// ReadLine gives the next line without its end, io.EOF at the end of input. It
// starts the limits of the session anew.
func (r *lineReader) ReadLine() (string, error) {
	r.s.pauseMeter()
	line, err := r.read()
	r.s.resetMeter()
	return line, err
}

func (r *lineReader) read() (string, error) {
	var line []byte
	for {
		chunk, err := r.in.Peek(max(r.in.Buffered(), 1))
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
		line = append(line, chunk[:at]...)
		r.skipLF = chunk[at] == '\r'
		r.in.Discard(at + 1)
		return dotnet.FromUTF8(line), nil
	}
}

// lineEnd is where the first line of a text ends, -1: not in it.
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

// meteredWriter counts what a script writes to the console.
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
		return 0, m.s.cancelled(nil)
	}
	return m.w.Write(p)
}

// streams are where the streams other than the output go. A redirection makes
// a copy with another target.
type streams struct {
	to Streams

	merged [7]sink        // stream n goes here instead: n>&1 or n>$null
	lists  []*dotnet.List // of -ErrorVariable of the functions around
	warned []*dotnet.List // of -WarningVariable
	told   []*dotnet.List // of -InformationVariable
}

// tell notes what Write-Information and Write-Host said in the variables that want all.
func (st *streams) tell(v any) {
	for _, list := range st.told {
		list.Items = append(list.Items, v)
	}
}

func newStreams(to Streams) *streams { return &streams{to: to} }

// Numbers of the streams.
const (
	streamError       = 2
	streamWarning     = 3
	streamVerbose     = 4
	streamDebug       = 5
	streamInformation = 6
)

// collect notes an error in the variables that want all, shown or not.
func (st *streams) collect(rec *dotnet.ErrorRecord) {
	for _, list := range st.lists {
		if n := len(list.Items); n == 0 || list.Items[n-1] != any(rec) {
			list.Items = append(list.Items, rec)
		}
	}
}

func (st *streams) error(rec *dotnet.ErrorRecord) {
	if to := st.merged[streamError]; to != nil {
		_ = to.write(rec) // a failing target has reported its own error
		return
	}
	if st.to.Error != nil {
		st.to.Error(rec)
	}
}

// record writes a record of the streams 3 to 6.
func (st *streams) record(stream int, typeName, text string) error {
	if to := st.merged[stream]; to != nil {
		return to.write(messageRecord(typeName, text))
	}
	switch stream {
	case streamWarning:
		call(st.to.Warning, text)
	case streamVerbose:
		call(st.to.Verbose, text)
	case streamDebug:
		call(st.to.Debug, text)
	}
	return nil
}

func call(to func(string), text string) {
	if to != nil {
		to(text)
	}
}

// information writes an information record: Write-Information and Write-Host.
func (st *streams) information(v any) error {
	if to := st.merged[streamInformation]; to != nil {
		return to.write(v)
	}
	if st.to.Information != nil {
		st.to.Information(v)
	}
	return nil
}

// outputSink hands what a run emits to the host.
type outputSink struct{ to func(v any) error }

func (o *outputSink) write(v any) error {
	if o.to == nil {
		return nil
	}
	return o.to(v)
}

// Context is the context of the run in progress.
func (s *Session) Context() context.Context { return s.ctx }

// Stdout is the console's output as scripts write to it, counted and limited.
func (s *Session) Stdout() io.Writer { return s.stdout }

// Stderr is the console's error output, counted and limited.
func (s *Session) Stderr() io.Writer { return s.stderr }
