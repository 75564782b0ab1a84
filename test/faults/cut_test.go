package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"
)

// cut names the frame of an answer at which a request is cut off.
type cut struct {
	frame int     // index in the answer
	how   cutKind // how the frame is cut off
}

type cutKind string

const (
	cutBefore cutKind = "before" // the process dies before the frame
	cutInside cutKind = "inside" // the process dies in the middle of the frame
	cutAfter  cutKind = "after"  // the process dies after the frame
	hangs     cutKind = "hangs"  // the process hangs before it
)

// cutter cuts off a session in this process at a given frame. A script waits while a frame
// is written, so the cut lies exactly between two steps.
type cutter struct {
	mu     sync.Mutex
	armed  *cut
	script string   // the next request of this script is cut off
	frames []string // kinds of the frames of its answer so far
}

// arm makes the cutter cut off the next request of a script as described by c. If c is nil, the cutter only
// records the frames of the answer.
func (k *cutter) arm(script string, c *cut) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.script, k.armed, k.frames = script, c, nil
}

func (k *cutter) answered() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.frames)
}

// cutStarter starts the sessions of a world through a cutter.
type cutStarter struct {
	*cutter
	world *sandbox.World
}

// StartProcess starts a process with PowerShell's arguments.
func (s cutStarter) StartProcess(
	_ string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	modules, culture := s.world.Modules()
	kill := make(chan func(), 1)
	waiter, stdin, stdout, stderr := sandbox.StartFunc(func(ctx context.Context, c engine.Console) int {
		return sandbox.Serve(ctx, args, os.Getpid(), s.console(ctx, c, <-kill), culture, modules...)
	})
	kill <- func() { _ = waiter.(interface{ Kill() error }).Kill() }
	return waiter, stdin, stdout, stderr, nil
}

// console wraps the streams of a new process.
func (k *cutter) console(ctx context.Context, c engine.Console, kill func()) engine.Console {
	p := &cutProcess{cutter: k, ctx: ctx, out: c.Stdout, kill: kill}
	c.Stdin, c.Stdout = io.TeeReader(c.Stdin, &lineWatcher{p: p}), p
	return c
}

// cutProcess is one process. It is also an io.Writer, which is the standard output of the process.
type cutProcess struct {
	*cutter
	ctx  context.Context
	out  io.Writer
	kill func()

	cut    *cut // of the running request; nil if none
	noting bool
	frame  int
}

// lineWatcher receives the standard input of a process.
type lineWatcher struct {
	p    *cutProcess
	line []byte
}

func (w *lineWatcher) Write(b []byte) (int, error) {
	w.line = append(w.line, b...)
	if !bytes.HasSuffix(b, []byte("\n")) {
		return len(b), nil
	}
	w.p.take(w.line)
	w.line = nil
	return len(b), nil
}

// take handles a line of input: a request, or the answer to an announcement.
func (p *cutProcess) take(line []byte) {
	if !bytes.HasPrefix(line, []byte("#")) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.noting = nil, false
	if p.script != "" && scriptOf(line) == p.script {
		p.cut, p.noting, p.frame = p.armed, true, -1
		p.script = ""
	}
}

// scriptOf returns the script that a data line requests, or "" if the line is not a data line.
func scriptOf(line []byte) string {
	data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
	data, _, _ = bytes.Cut(data, []byte(" "))
	body, err := base64.StdEncoding.DecodeString(string(data))
	var request struct{ Script string }
	if !isData || err != nil || json.Unmarshal(body, &request) != nil {
		return ""
	}
	return strings.TrimPrefix(request.Script, "=")
}

// Write handles one or more frames.
func (p *cutProcess) Write(b []byte) (int, error) {
	for _, piece := range sessiontest.Pieces(b) {
		if err := p.write(piece); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (p *cutProcess) write(piece sessiontest.Piece) error {
	how := cutKind("")
	if p.noting && piece.Kind != "" {
		p.frame++
		p.mu.Lock()
		p.frames = append(p.frames, piece.Kind)
		p.mu.Unlock()
		if p.cut != nil && p.cut.frame == p.frame {
			how = p.cut.how
		}
	}
	switch how {
	case cutBefore:
		return p.die()
	case hangs:
		<-p.ctx.Done()
		return p.die()
	case cutInside:
		_, _ = p.out.Write(piece.Bytes[:(piece.Head+len(piece.Bytes))/2])
		return p.die()
	}
	if _, err := p.out.Write(piece.Bytes); err != nil {
		return err
	}
	if how == cutAfter {
		return p.die()
	}
	return nil
}

// die kills the process, so the script stops here.
func (p *cutProcess) die() error {
	p.kill()
	return io.ErrClosedPipe
}
