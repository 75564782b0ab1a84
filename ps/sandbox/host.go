package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"adgateway/ps/sandbox/engine"
)

// A host is the console host of one process. It reads lines and runs them.
type host struct {
	session *engine.Session
	out     *formatter
	history []string
	garbled bool // the last line could not be parsed
}

func newHost(session *engine.Session) *host {
	return &host{session: session, out: newFormatter(session.Stdout())}
}

// run runs lines until the input ends, a line calls exit or ctx ends. It returns the
// exit code (facts-5.1 I8-I13).
func (h *host) run(ctx context.Context) int {
	block := "" // lines of an incomplete block
	for {
		line, err := h.session.ReadLine()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				h.complain(err.Error() + "\n")
				return 1
			}
			return h.lastCode() // an incomplete block is dropped
		}
		blank := strings.TrimSpace(line) == ""
		switch {
		case block != "" && !blank: // parsed once an empty line ends it
			block += "\n" + line
			continue
		case block != "":
			line = block
		case blank:
			continue
		}
		block = ""
		code, more, over := h.runLine(ctx, line)
		if over {
			return code
		}
		if more {
			block = line
		}
	}
}

// lastCode returns the exit code at the end of input: 0 if the last command
// succeeded.
func (h *host) lastCode() int {
	if h.garbled || !h.session.Succeeded() {
		return 1
	}
	return 0
}

// runLine runs one line. more reports that the line is incomplete, and over that the process ends with code.
func (h *host) runLine(ctx context.Context, line string) (code int, more, over bool) {
	err := h.session.RunLine(context.WithValue(ctx, hostKey{}, h), line, h.streams())
	h.out.flush()
	h.garbled = false
	var parse *engine.ParseError
	var thrown *engine.ThrownError
	var exit *engine.ExitError
	switch {
	case errors.As(err, &parse):
		if parse.Incomplete() {
			return 0, true, false
		}
		h.garbled = true
		h.complain(parseErrorText(parse, line))
	case errors.As(err, &thrown):
		h.complain(recordText(thrown.Record, thrown.Thrown))
		if thrown.Refused { // later lines may rely on the refused line
			return 1, false, true
		}
	case errors.As(err, &exit):
		return exit.Code, false, true
	case ctx.Err() != nil:
		return 1, false, true
	case err != nil: // after a limit or a defect the session can no longer be trusted
		h.complain(fmt.Sprintf("%v\n", err))
		return 1, false, true
	}
	h.history = append(h.history, line)
	return 0, false, false
}

// complain writes to stderr. It fails only if the reader has gone, so the error is ignored.
func (h *host) complain(text string) { _, _ = io.WriteString(h.session.Stderr(), text) }
