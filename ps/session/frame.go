package session

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// A frame is one unit of an answer: 0x1E, id, space, kind, space, length of the
// payload in bytes, LF, payload, LF.
type frame struct {
	id      string
	kind    frameKind
	payload []byte // not shared
}

type frameKind string

// The kinds of frames.
const (
	frameReady   frameKind = "ready"
	frameIntent  frameKind = "intent"
	frameStep    frameKind = "step"
	frameRecords frameKind = "records"
	frameKeyed   frameKind = "keyed"
	frameSecrets frameKind = "secrets"
	frameEnd     frameKind = "end"
	frameError   frameKind = "error"
)

// last reports whether a frame of kind k ends its answer.
func (k frameKind) last() bool {
	return k == frameReady || k == frameEnd || k == frameError
}

const (
	frameStart   = 0x1E
	maxHeader    = 96 // bytes between 0x1E and LF
	maxID        = 64
	maxSizeDigit = 12
)

var (
	errHeader   = errors.New("malformed frame header")
	errTooMuch  = errors.New("output limit exceeded")
	errNoEnd    = errors.New("frame without a final line feed")
	errCutFrame = errors.New("output ended inside a frame")
)

// parseHeader parses the bytes between 0x1E and LF. It accepts only the exact form that the prelude writes.
func parseHeader(header []byte) (id string, kind frameKind, size int64, err error) {
	bad := func(what string) (string, frameKind, int64, error) {
		return "", "", 0, fmt.Errorf("%w: %s", errHeader, what)
	}
	first, rest, ok := bytes.Cut(header, []byte{' '})
	if !ok || len(first) == 0 || len(first) > maxID {
		return bad("id")
	}
	for _, c := range first {
		if c <= ' ' || c > '~' {
			return bad("id")
		}
	}
	second, third, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return bad("kind")
	}
	switch kind = frameKind(second); kind {
	case frameReady, frameIntent, frameStep, frameRecords, frameKeyed, frameSecrets, frameEnd, frameError:
	default:
		return bad("kind")
	}
	if len(third) == 0 || len(third) > maxSizeDigit || (third[0] == '0' && len(third) > 1) {
		return bad("length")
	}
	for _, c := range third {
		if c < '0' || c > '9' {
			return bad("length")
		}
	}
	size, err = strconv.ParseInt(string(third), 10, 64)
	if err != nil {
		return bad("length")
	}
	return string(first), kind, size, nil
}
