package remote

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

// FaultVariable makes a process fail on purpose, for tests of what stands above
// it: faults with commas between them. Each is a name, for faults of the start,
// NAME@TEXT, which strikes at every request whose data contains the text, or
// NAME%RATE, which strikes at random at so many of a hundred requests. The names are those below and those of sessiontest.Faults.
const FaultVariable = "ADGATEWAY_ENGINE_FAULT"

// Faults of the start.
const (
	exitAtStart = "exit-at-start" // ends at once, with code 7
	hangAtStart = "hang-at-start" // reads and writes nothing
	dieInImport = "die-in-import" // ends where the ready frame should come
	noModule    = "no-module"     // there are no modules to import
	languageOff = "language-mode" // says that its language is constrained
	readAhead   = "read-ahead"    // loses what comes in one read with the boot line (facts-5.1 K1)
	swallowLine = "swallow-line"  // loses the first data line
)

// Faults of requests that run as they should otherwise.
const (
	late       = "late"          // the answer comes late
	noise      = "noise"         // other text before, between and after frames
	slowDrip   = "drip"          // every byte of the answer alone
	floodErrs  = "stderr-flood"  // two megabytes on stderr
	echo       = "echo"          // the data line and its secrets in clear on stdout and stderr, then it runs
	dieAfter   = "die-after"     // the request is run, its answer never comes
	dieAtPlan  = "die-at-intent" // it ends where a write would be announced
	dieAtStep  = "die-at-step"   // it ends after a change, where the first step would be told
	hangAtStep = "hang-at-step"  // it is silent from there on
	grandchild = "grandchild"    // a process is left that keeps the streams open; then it dies
)

const (
	startCode = 7
	diedCode  = 3
	lateness  = 300 * time.Millisecond
)

var (
	startFaults   = []string{exitAtStart, hangAtStart, dieInImport, noModule, languageOff, readAhead, swallowLine}
	requestFaults = []string{late, noise, slowDrip, floodErrs, echo, dieAfter, dieAtPlan, dieAtStep, hangAtStep, grandchild}
)

// StartFaults are the names of the faults of the start.
func StartFaults() []string { return slices.Clone(startFaults) }

// RequestFaults are the names of the faults of requests, those of
// sessiontest.Faults included.
func RequestFaults() []string {
	return append(slices.Sorted(maps.Keys(sessiontest.Faults)), requestFaults...)
}

// faults are what a process shall do wrong. The zero value does nothing wrong.
type faults struct {
	start   []string
	request []trigger

	in          *bufio.Reader
	rest        []byte // of the line that is being read
	booted      bool   // the boot line has been read
	dataLines   int
	out, errs   io.Writer
	active      atomic.Pointer[string] // the fault of the request that runs
	constrained bool                   // it has been written
	exit        func(code int)
}

type trigger struct {
	name string
	text string  // in the data of the request
	rate float64 // without a text: of a hundred requests
}

func (t trigger) strikes(data string) bool {
	return t.text != "" && strings.Contains(data, t.text) || rand.Float64()*100 < t.rate
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
			return nil, fmt.Errorf("%s: there is no fault %q", FaultVariable, part)
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

// atStart strikes before anything else happens.
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

// wrap puts the faults between the process and its streams.
func (f *faults) wrap(stdin io.Reader, stdout, stderr io.Writer) (io.Reader, io.Writer, io.Writer) {
	if len(f.start) == 0 && len(f.request) == 0 {
		return stdin, stdout, stderr
	}
	f.in, f.out, f.errs = bufio.NewReaderSize(stdin, readAheadSize), stdout, stderr
	return f, faultyOutput{f}, stderr
}

// readAheadSize is the buffer of a console host that reads ahead.
const readAheadSize = 4096

// Read gives the host its lines.
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

// filter sees a line before the host does, and gives what the host shall see of it.
func (f *faults) filter(line []byte) []byte {
	if !f.booted {
		f.booted = true
		if f.has(readAhead) {
			_, _ = f.in.Discard(f.in.Buffered())
		}
		return line
	}
	f.active.Store(nil)
	id, text, ok := dataLine(line)
	if !ok {
		return line
	}
	if f.dataLines++; f.dataLines == 1 && f.has(swallowLine) {
		return nil
	}
	for _, t := range f.request {
		if t.strikes(text) {
			return f.strike(t.name, id, line)
		}
	}
	return line
}

// dataLine reads a request as the prelude does, as far as its id.
func dataLine(line []byte) (id, text string, ok bool) {
	rest, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
	first, _, _ := bytes.Cut(rest, []byte(" "))
	body, err := base64.StdEncoding.DecodeString(string(first))
	if !isData || err != nil || len(body) == 0 {
		return "", "", false
	}
	var request struct{ ID string }
	if err := json.Unmarshal(body, &request); err != nil {
		return "", "", false
	}
	return strings.TrimPrefix(request.ID, "="), string(body), true
}

// strike lets a fault happen to a request. What it gives the host runs.
func (f *faults) strike(name, id string, line []byte) []byte {
	switch name {
	case late:
		time.Sleep(lateness)
	case floodErrs:
		flood := strings.Repeat("e", 999) + "\n"
		for range 2000 {
			_, _ = io.WriteString(f.errs, flood)
		}
	case echo:
		text := clear(line)
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

// clear is a data line as it came and wrapped as the console host wraps
// messages, and its secrets decoded.
func clear(line []byte) string {
	const width = 80
	text := string(line)
	for i, rest := 0, strings.TrimSpace(text); i < len(rest); i += width {
		text += rest[i:min(i+width, len(rest))] + "\r\n"
	}
	for _, part := range strings.Fields(string(line))[1:] {
		secret, _ := base64.StdEncoding.DecodeString(part) // what is none is echoed as it came
		text += string(secret) + "\n"
	}
	return text
}

// play lets a script of sessiontest answer.
func (f *faults) play(script func(*sessiontest.Call), id string) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, sessiontest.ErrExit) {
				panic(r)
			}
			f.exit(diedCode)
		}
	}()
	script(&sessiontest.Call{Context: context.Background(), ID: id, Args: map[string]any{}, Stdout: f.out, Stderr: f.errs})
}

// leaveGrandchild starts this executable once more, with the same streams.
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

// faultyOutput is the process's stdout.
type faultyOutput struct{ f *faults }

// Write writes what the host says, or something else.
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

// write writes a piece as the fault that is active has it.
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
				select {} // until it is killed
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

// constrain tells of another language mode in the first frame.
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
