package remotetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"adgateway/ps/session/sessiontest"
)

// FaultVariable is the environment variable that lists the faults of a process, separated by commas.
// NAME is a fault at start-up. NAME@TEXT affects every request whose arguments contain TEXT, except in
// secrets. NAME%RATE affects RATE percent of the requests at random. The names are in [StartFaults] and
// [RequestFaults].
const FaultVariable = "ADGATEWAY_TEST_FAULT"

// Faults at start-up.
const (
	exitAtStart = "exit-at-start" // exits at once with code 7
	hangAtStart = "hang-at-start" // neither reads nor writes
	dieInImport = "die-in-import" // exits instead of sending the ready frame
	noModule    = "no-module"     // cannot import modules
	languageOff = "language-mode" // reports ConstrainedLanguage
	readAhead   = "read-ahead"    // loses input that was read together with the boot line (facts-5.1 K1)
	swallowLine = "swallow-line"  // loses the first data line
)

// Faults of requests. Unless noted otherwise, the request is still run.
const (
	late       = "late"          // delays the answer
	noise      = "noise"         // writes stray text before, between and after frames
	slowDrip   = "drip"          // writes the answer byte by byte
	floodErrs  = "stderr-flood"  // writes two megabytes to stderr
	echo       = "echo"          // writes the data line and its decoded secrets to stdout and stderr
	dieAfter   = "die-after"     // runs the request and exits before the answer
	dieAtPlan  = "die-at-intent" // exits instead of announcing a write
	dieAtStep  = "die-at-step"   // exits after a change, instead of sending the first step
	hangAtStep = "hang-at-step"  // hangs instead of sending the first step
	grandchild = "grandchild"    // exits before the request runs, leaving a process that holds the streams open
)

const (
	startCode = 7
	diedCode  = 3
	lateness  = 300 * time.Millisecond
)

var (
	startFaults = []string{exitAtStart, hangAtStart, dieInImport, noModule, languageOff, readAhead,
		swallowLine}
	requestFaults = []string{late, noise, slowDrip, floodErrs, echo, dieAfter, dieAtPlan, dieAtStep, hangAtStep,
		grandchild}
)

// StartFaults returns the names of the faults at start-up.
func StartFaults() []string { return slices.Clone(startFaults) }

// RequestFaults returns the names of the faults of requests, including [sessiontest.Faults].
func RequestFaults() []string {
	return append(slices.Sorted(maps.Keys(sessiontest.Faults)), requestFaults...)
}

// faults are the faults of one process. The zero value has none.
type faults struct {
	start   []string
	request []trigger

	in          *bufio.Reader
	rest        []byte // unread part of the current line
	booted      bool   // the boot line has been read
	dataLines   int
	out, errs   io.Writer
	active      atomic.Pointer[string] // fault of the running request
	constrained bool                   // the altered ready frame has been written
	exit        func(code int)
}

type trigger struct {
	name string
	text string  // occurs in the request's arguments
	rate float64 // percent of the requests, if text is empty
}

func (t trigger) hits(arguments string) bool {
	return t.text != "" && strings.Contains(arguments, t.text) || rand.Float64()*100 < t.rate
}

func parseFaults(text string) (*faults, error) {
	f := &faults{exit: os.Exit}
	if text == "" {
		return f, nil
	}
	for _, part := range strings.Split(text, ",") {
		name, match, isRequest := strings.Cut(part, "@")
		known := startFaults
		rate := 0.0
		if before, percent, isRate := strings.Cut(part, "%"); isRate && !isRequest {
			name, isRequest = before, true
			rate, _ = strconv.ParseFloat(percent, 64)
		}
		if isRequest {
			known = RequestFaults()
		}
		if !slices.Contains(known, name) || isRequest && match == "" && rate <= 0 {
			return nil, fmt.Errorf("%s: unknown fault %q", FaultVariable, part)
		}
		if isRequest {
			f.request = append(f.request, trigger{name, match, rate})
		} else {
			f.start = append(f.start, name)
		}
	}
	return f, nil
}

func (f *faults) has(name string) bool { return slices.Contains(f.start, name) }

// atStart injects the faults at start-up. over means that the process ends with code.
func (f *faults) atStart(ctx context.Context) (code int, over bool) {
	switch {
	case f.has(exitAtStart):
		return startCode, true
	case f.has(hangAtStart):
		<-ctx.Done()
		return diedCode, true
	}
	return 0, false
}

// wrap returns the streams with the faults injected.
func (f *faults) wrap(stdin io.Reader, stdout, stderr io.Writer) (io.Reader, io.Writer, io.Writer) {
	if len(f.start) == 0 && len(f.request) == 0 {
		return stdin, stdout, stderr
	}
	f.in, f.out, f.errs = bufio.NewReaderSize(stdin, readAheadSize), stdout, stderr
	return f, faultyOutput{f}, stderr
}

// readAheadSize is the buffer size of a console host that reads ahead.
const readAheadSize = 4096

// Read returns the process's input after the faults have altered it.
func (f *faults) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.in.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		f.rest = f.filter(line)
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// filter returns the part of an input line that the console host receives.
func (f *faults) filter(line []byte) []byte {
	if !f.booted {
		f.booted = true
		if f.has(readAhead) {
			_, _ = f.in.Discard(f.in.Buffered())
		}
		return line
	}
	id, arguments, ok := dataLine(line)
	if !ok { // '#', or the answer to an announcement
		return line
	}
	f.active.Store(nil)
	if f.dataLines++; f.dataLines == 1 && f.has(swallowLine) {
		return nil
	}
	for _, t := range f.request {
		if t.hits(arguments) {
			return f.inject(t.name, id, line)
		}
	}
	return line
}

// dataLine decodes the request of a data line in the same way as the prelude. arguments is JSON without the
// secrets. The id is random, so it may contain any short text. ok is false for any other line.
func dataLine(line []byte) (id, arguments string, ok bool) {
	rest, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
	first, _, _ := bytes.Cut(rest, []byte(" "))
	body, err := base64.StdEncoding.DecodeString(string(first))
	if !isData || err != nil || len(body) == 0 {
		return "", "", false
	}
	var request struct {
		ID        string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return "", "", false
	}
	return strings.TrimPrefix(request.ID, "="), string(request.Arguments), true
}

// inject starts a fault of a request. It returns the line that the host must run, or nil if the fault itself
// answers.
func (f *faults) inject(name, id string, line []byte) []byte {
	switch name {
	case late:
		time.Sleep(lateness)
	case floodErrs:
		flood := strings.Repeat("e", 999) + "\n"
		for range 2000 {
			_, _ = io.WriteString(f.errs, flood)
		}
	case echo:
		text := decoded(line)
		_, _ = io.WriteString(f.errs, text)
		_, _ = io.WriteString(f.out, text)
	case grandchild:
		if err := f.leaveGrandchild(); err != nil {
			_, _ = fmt.Fprintln(f.errs, err)
		}
		f.exit(diedCode)
	case noise, slowDrip, dieAfter, dieAtPlan, dieAtStep, hangAtStep:
		f.active.Store(&name)
	default:
		f.play(sessiontest.Faults[name], id)
		return nil
	}
	return line
}

// decoded returns a data line as received, the same line wrapped in the way the console host
// wraps messages, and its secrets in clear text.
func decoded(line []byte) string {
	const width = 80
	text := string(line)
	for i, rest := 0, strings.TrimSpace(text); i < len(rest); i += width {
		text += rest[i:min(i+width, len(rest))] + "\r\n"
	}
	for _, part := range strings.Fields(string(line))[1:] {
		secret, _ := base64.StdEncoding.DecodeString(part) // not base64: echoed as received
		text += string(secret) + "\n"
	}
	return text
}

// play makes a script of sessiontest answer the request.
func (f *faults) play(script func(*sessiontest.Call), id string) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, sessiontest.ErrExit) {
				panic(r)
			}
			f.exit(diedCode)
		}
	}()
	script(&sessiontest.Call{Context: context.Background(), ID: id, Args: map[string]any{}, Stdout: f.out,
		Stderr: f.errs, In: f.in})
}

// leaveGrandchild starts this executable again on the same streams.
func (f *faults) leaveGrandchild() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), FaultVariable+"="+hangAtStart)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Start()
}

// faultyOutput is the process's stdout with the faults injected.
type faultyOutput struct{ f *faults }

// Write writes p, altered by the faults.
func (w faultyOutput) Write(p []byte) (int, error) {
	f := w.f
	for _, piece := range sessiontest.Pieces(p) {
		if piece.Kind != "" && f.has(dieInImport) {
			f.exit(diedCode)
		}
		write := w.write
		if f.has(languageOff) && !f.constrained {
			write = w.constrain
		}
		if err := write(piece); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// write writes a piece, altered by the active fault.
func (w faultyOutput) write(piece sessiontest.Piece) error {
	f := w.f
	before, after := "", ""
	if active := f.active.Load(); active != nil {
		switch *active {
		case dieAfter:
			if piece.Kind == "records" || piece.Kind == "end" || piece.Kind == "error" {
				f.exit(diedCode)
			}
		case dieAtPlan, dieAtStep:
			if piece.Kind == strings.TrimPrefix(*active, "die-at-") {
				f.exit(diedCode)
			}
		case hangAtStep:
			if piece.Kind == "step" {
				select {} // until the process is killed
			}
		case noise:
			if piece.Kind != "" {
				before, after = "\x1b[?1hbefore, without line end", "after\r\n"
			}
		case slowDrip:
			for i := range piece.Bytes {
				if _, err := f.out.Write(piece.Bytes[i : i+1]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	_, err := io.WriteString(f.out, before+string(piece.Bytes)+after)
	return err
}

// constrain replaces the language mode in the first frame.
func (w faultyOutput) constrain(piece sessiontest.Piece) error {
	if piece.Kind == "" {
		return w.write(piece)
	}
	w.f.constrained = true
	head, payload := piece.Bytes[:piece.Head], string(piece.Bytes[piece.Head:len(piece.Bytes)-1])
	payload = strings.Replace(payload, "FullLanguage", "ConstrainedLanguage", 1)
	_, err := fmt.Fprintf(w.f.out, "%s %d\n%s\n", head[:bytes.LastIndexByte(head, ' ')], len(payload), payload)
	return err
}
